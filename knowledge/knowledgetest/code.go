package knowledgetest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/code"
)

// codeMemory is an index of the code of one source, which looks at every file.
type codeMemory struct {
	mu    sync.Mutex
	files map[int64]knowledge.CodeEntry
}

func (m *codeMemory) Sources(context.Context, func(string, int64, knowledge.CodeState)) error {
	return nil
}

func (m *codeMemory) Files(context.Context, int64) ([]knowledge.CodeFile, error) { return nil, nil }

func (m *codeMemory) Change(_ context.Context, c knowledge.CodeChange) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range c.Add {
		first, _ := knowledge.CodeIDs(e.Tier, 1)
		e.ID = first + int64(len(m.files))
		m.files[e.ID] = e
	}
	return 1, nil
}

func (m *codeMemory) Drop(context.Context, string) error { return nil }

func (m *codeMemory) Scan(_ context.Context, q knowledge.CodeQuery, visit func(knowledge.CodeFile) (bool, error)) error {
	m.mu.Lock()
	ids := slices.Sorted(maps.Keys(m.files))
	m.mu.Unlock()
	for _, id := range ids {
		if id <= q.After || code.Tier(id>>60) == code.None {
			continue
		}
		m.mu.Lock()
		f := m.files[id].CodeFile
		m.mu.Unlock()
		if more, err := visit(f); err != nil || !more {
			return err
		}
	}
	return nil
}

func (m *codeMemory) Text(_ context.Context, id int64) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.files[id]
	return e.Text, ok, nil
}
