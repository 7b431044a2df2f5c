// Package knowledgetest makes rooms of documents for tests of what stands on
// them, over an index in memory.
package knowledgetest

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// New makes a room of documents and code by path, in the source and the repository of
// catalogtest's entities.
func New(t testing.TB, c *catalog.Service, files map[string]string) *knowledge.Service {
	t.Helper()
	x := &memory{entries: map[int64]*knowledge.Entry{}}
	log := slog.New(slog.DiscardHandler)
	y := &codeMemory{files: map[int64]knowledge.CodeEntry{}}
	codes := knowledge.NewCode(knowledge.CodeConfig{}, y, y, log)
	s, err := knowledge.New(knowledge.Config{Catalog: c, Index: x, Keeper: x, Code: codes, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	m := ingesttest.NewMemory(catalogtest.Source, catalogtest.Repository)
	m.Write(files)
	rev, err := m.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := m.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	v := ingest.View{Source: m.Describe(), Revision: rev, Info: tree.Info(), Files: map[string]string{}, Tree: tree}
	for at, text := range files {
		v.Files[at] = text
	}
	for _, f := range []ingest.Follower{s, codes} {
		if err := f.Follow(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// memory is an index without ranks.
type memory struct {
	mu      sync.Mutex
	entries map[int64]*knowledge.Entry
}

func (m *memory) Each(context.Context, func(string, knowledge.State, []*knowledge.Card)) error {
	return nil
}

func (m *memory) Replace(_ context.Context, _ string, b knowledge.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range b.Gone {
		delete(m.entries, id)
	}
	for e, err := range b.Entries {
		if err != nil {
			return err
		}
		m.entries[e.ID] = e
	}
	return nil
}

func (m *memory) Drop(context.Context, string) error { return nil }

func (m *memory) Find(_ context.Context, q knowledge.Query) (*knowledge.Found, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &knowledge.Found{Weights: slices.Repeat([]float64{1}, len(q.Words))}
	for id, e := range m.entries {
		text := strings.ToLower(e.Title + " " + e.Text)
		n := 0
		for _, w := range q.Words {
			n += min(1, strings.Count(text, w))
		}
		if n > 0 && q.Keep(id) {
			out.Matches = append(out.Matches, knowledge.Match{ID: id, Text: float64(n), Share: float64(n) / float64(len(q.Words))})
		}
	}
	return out, nil
}

func (m *memory) Text(_ context.Context, id int64) (*knowledge.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e != nil {
		return &knowledge.Entry{Sections: e.Sections, Text: e.Text}, nil
	}
	return nil, nil
}
