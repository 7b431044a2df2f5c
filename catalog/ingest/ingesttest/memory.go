// Package ingesttest holds what tests of sources and of ingestion share: a
// source in memory, and the contract that it and every real source pass.
package ingesttest

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// Memory is a source whose files are in memory. Every change makes a revision.
type Memory struct {
	desc ingest.Description

	mu       sync.Mutex
	files    map[string]string
	versions []map[string]string
	err      error
	reads    map[string]int
}

// NewMemory makes an empty source that names its files below base, a URL.
func NewMemory(name, base string) *Memory {
	m := &Memory{files: map[string]string{}, reads: map[string]int{}, desc: ingest.Description{Name: name, Type: "memory", URL: base, Repository: base,
		BaseType: "url", Base: base + "/blob/main/", Include: []string{"**/catalog-info.yaml"}, FileBytes: 1 << 20}}
	m.versions = []map[string]string{{}}
	return m
}

// Include sets the globs; call it before the source is used.
func (m *Memory) Include(globs ...string) { m.desc.Include = globs }

// Limit sets the size that files may have; call it before the source is used.
func (m *Memory) Limit(bytes int64) { m.desc.FileBytes = bytes }

// Write changes files, by path, in one revision; "" removes one.
func (m *Memory) Write(files map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = maps.Clone(m.files)
	for path, text := range files {
		if text == "" {
			delete(m.files, path)
		} else {
			m.files[path] = text
		}
	}
	m.versions = append(m.versions, m.files)
}

// Fail makes every use of the source fail with err, until nil.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// Reads tells how often a path was read.
func (m *Memory) Reads(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads[path]
}

// Describe says what the source is.
func (m *Memory) Describe() ingest.Description { return m.desc }

// Observe tells the newest revision.
func (m *Memory) Observe(context.Context) (ingest.Revision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return revision(len(m.versions) - 1), m.err
}

func revision(n int) ingest.Revision { return ingest.Revision(fmt.Sprintf("%040d", n)) }

// Open makes a revision readable.
func (m *Memory) Open(_ context.Context, rev ingest.Revision) (ingest.Tree, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return nil, m.err
	}
	n, ok := m.version(rev)
	if !ok {
		return nil, fmt.Errorf("no revision %s", rev)
	}
	return &tree{m: m, rev: rev, files: m.versions[n]}, nil
}

func (m *Memory) version(rev ingest.Revision) (int, bool) {
	n, err := strconv.Atoi(string(rev))
	return n, err == nil && n >= 0 && n < len(m.versions)
}

type tree struct {
	m     *Memory
	rev   ingest.Revision
	files map[string]string
}

// Changes compares with an earlier revision.
func (t *tree) Changes(_ context.Context, since ingest.Revision) ([]ingest.Change, bool, error) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	old := map[string]string{}
	n, known := t.m.version(since)
	if known {
		old = t.m.versions[n]
	}
	var out []ingest.Change
	for path, text := range t.files {
		if was, there := old[path]; !there || was != text {
			out = append(out, ingest.Change{Path: path, ID: text, Size: int64(len(text))})
		}
	}
	for path := range old {
		if _, there := t.files[path]; !there {
			out = append(out, ingest.Change{Path: path, Gone: true})
		}
	}
	return out, known, nil
}

// Read gives a file.
func (t *tree) Read(_ context.Context, path string) ([]byte, error) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	t.m.reads[path]++
	text, there := t.files[path]
	switch {
	case t.m.err != nil:
		return nil, t.m.err
	case !there:
		return nil, fmt.Errorf("%s: %w", path, ingest.ErrNotFound)
	case int64(len(text)) > t.m.desc.FileBytes:
		return nil, fmt.Errorf("%s: %w", path, ingest.ErrTooLarge)
	}
	return []byte(text), nil
}

// Info names the revision as a commit.
func (t *tree) Info() ingest.CommitInfo {
	return ingest.CommitInfo{Commit: string(t.rev), Author: "test"}
}

// Close does nothing.
func (t *tree) Close() error { return nil }
