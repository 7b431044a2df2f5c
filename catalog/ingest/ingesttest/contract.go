package ingesttest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// Fixture is a source under test and a way to change what it holds.
type Fixture struct {
	Source ingest.Source
	// Write changes files in one step; "" removes one.
	Write func(files map[string]string)
}

// Contract checks that a source does what ingestion relies on.
func Contract(t *testing.T, make func(t *testing.T) Fixture) {
	t.Run("revisions follow changes", func(t *testing.T) { revisionsFollow(t, make(t)) })
	t.Run("first listing", func(t *testing.T) { firstListing(t, make(t)) })
	t.Run("differences", func(t *testing.T) { differences(t, make(t)) })
	t.Run("unknown revision", func(t *testing.T) { unknownRevision(t, make(t)) })
	t.Run("reading", func(t *testing.T) { reading(t, make(t)) })
}

func observe(t *testing.T, s ingest.Source) ingest.Revision {
	t.Helper()
	rev, err := s.Observe(t.Context())
	if err != nil || rev == "" {
		t.Fatalf("observe: %q %v", rev, err)
	}
	return rev
}

func open(t *testing.T, s ingest.Source) (ingest.Tree, ingest.Revision) {
	t.Helper()
	rev := observe(t, s)
	tree, err := s.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree, rev
}

func revisionsFollow(t *testing.T, f Fixture) {
	f.Write(map[string]string{"catalog-info.yaml": "a: 1\n"})
	first := observe(t, f.Source)
	if again := observe(t, f.Source); again != first {
		t.Errorf("the revision changed from %s to %s by itself", first, again)
	}
	f.Write(map[string]string{"catalog-info.yaml": "a: 22\n"})
	if second := observe(t, f.Source); second == first {
		t.Error("a change made no new revision")
	}
}

func listed(t *testing.T, tree ingest.Tree, since ingest.Revision) (paths map[string]ingest.Change, incremental bool) {
	t.Helper()
	changes, incremental, err := tree.Changes(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	paths = map[string]ingest.Change{}
	for _, c := range changes {
		if _, twice := paths[c.Path]; twice {
			t.Errorf("%s is listed twice", c.Path)
		}
		if !c.Gone && c.ID == "" {
			t.Errorf("%s has no id", c.Path)
		}
		paths[c.Path] = c
	}
	return paths, incremental
}

func equalPaths(t *testing.T, got map[string]ingest.Change, want ...string) {
	t.Helper()
	have := slices.Sorted(maps.Keys(got))
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("listed %q, want %q", have, want)
	}
}

func firstListing(t *testing.T, f Fixture) {
	f.Write(map[string]string{"catalog-info.yaml": "a: 1\n", "svc/a b/catalog-info.yaml": "b: 1\n"})
	tree, _ := open(t, f.Source)
	got, incremental := listed(t, tree, "")
	equalPaths(t, got, "catalog-info.yaml", "svc/a b/catalog-info.yaml")
	if incremental {
		t.Error("a first listing cannot be incremental")
	}
}

func differences(t *testing.T, f Fixture) {
	f.Write(map[string]string{"a/catalog-info.yaml": "a: 1\n", "b/catalog-info.yaml": "b: 1\n", "c/catalog-info.yaml": "c: 1\n"})
	before, first := open(t, f.Source)
	listed(t, before, "")
	f.Write(map[string]string{"a/catalog-info.yaml": "a: 22\n", "b/catalog-info.yaml": "", "d/catalog-info.yaml": "d: 1\n"})
	tree, second := open(t, f.Source)
	got, incremental := listed(t, tree, first)
	if !incremental {
		equalPaths(t, got, "a/catalog-info.yaml", "c/catalog-info.yaml", "d/catalog-info.yaml")
		return
	}
	equalPaths(t, got, "a/catalog-info.yaml", "b/catalog-info.yaml", "d/catalog-info.yaml")
	if !got["b/catalog-info.yaml"].Gone || got["a/catalog-info.yaml"].Gone {
		t.Errorf("got %+v", got)
	}
	if same, incremental := listed(t, tree, second); incremental {
		equalPaths(t, same)
	}
}

func unknownRevision(t *testing.T, f Fixture) {
	f.Write(map[string]string{"catalog-info.yaml": "a: 1\n"})
	tree, _ := open(t, f.Source)
	got, incremental := listed(t, tree, ingest.Revision(strings.Repeat("f", 40)))
	equalPaths(t, got, "catalog-info.yaml")
	if incremental {
		t.Error("a revision that nobody knows cannot be compared with")
	}
}

func reading(t *testing.T, f Fixture) {
	large := strings.Repeat("# large\n", 1<<18)
	f.Write(map[string]string{"catalog-info.yaml": "a: 1\n", "large/catalog-info.yaml": large})
	tree, _ := open(t, f.Source)
	listed(t, tree, "")
	if data, err := tree.Read(t.Context(), "catalog-info.yaml"); err != nil || string(data) != "a: 1\n" {
		t.Errorf("read %q %v", data, err)
	}
	for _, path := range []string{"gone.yaml", "../catalog-info.yaml", "/catalog-info.yaml", "catalog-info.yaml/x", ""} {
		if _, err := tree.Read(t.Context(), path); !errors.Is(err, ingest.ErrNotFound) {
			t.Errorf("reading %q: %v", path, err)
		}
	}
	if _, err := tree.Read(t.Context(), "large/catalog-info.yaml"); !errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("reading a large file: %v", err)
	}
	if limit := f.Source.Describe().FileBytes; limit < 6 || limit >= int64(len(large)) {
		t.Errorf("the source says that it reads files of up to %d bytes", limit)
	}
}
