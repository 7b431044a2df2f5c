package keep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	bolt "go.etcd.io/bbolt"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

func sample() *ingest.File {
	at := entity.Position{Line: 3, Column: 7}
	root := &entity.Object{At: at, Members: []entity.Member{
		{Key: "kind", Value: "Component", At: at},
		{Key: "spec", At: at, Value: &entity.Object{Members: []entity.Member{
			{Key: "list", Value: entity.List{{Value: 1.5, At: at}, {Value: true}, {Value: false}, {Value: nil}, {Value: "ü\x00"}}, At: at},
			{Key: "empty", Value: entity.List{}}, {Key: "none", Value: &entity.Object{Members: []entity.Member{}}},
		}}},
	}}
	changed := &entity.History{}
	changed.Know(entity.LastChange{Commit: "e", At: time.Unix(7, 0).UTC()})
	problem := entity.Problem{Severity: entity.SeverityError, Name: "InputError", Message: "m", Fix: "f", File: "p", Line: 1, Column: 2, Ref: "r"}
	return &ingest.File{Path: "a/catalog-info.yaml", ID: "id", Origin: "https://x.test", Readable: true, Owner: "group:default/a",
		Problems: []entity.Problem{problem}, Reads: []string{"x", "y"},
		Documents: []*ingest.Document{{Index: 1, Ref: "component:default/x", Line: 9, Owner: "o", Followed: true, Stale: "abc", Since: 12,
			Problems: []entity.Problem{problem},
			Edges:    []entity.Edge{{Source: "a", Type: "ownedBy", Target: "b"}},
			Targets:  []descriptor.Target{{Location: descriptor.Location{Type: "url", Target: "t"}, Optional: true, Glob: true, At: at, Written: "w"}},
			Entity: &entity.Entity{Ref: entity.Ref{Kind: "component", Namespace: "default", Name: "x"}, Root: root,
				From:   entity.Provenance{Source: "s", Repository: "r", Commit: "c", Path: "p", Line: 4, VerifiedAt: time.Unix(5, 6).UTC(), History: changed, StaleSince: "d"},
				Status: []entity.StatusItem{{Type: "t", Level: "l", Message: "m", Error: &entity.StatusError{Name: "n", Message: "m"}}, {Type: "plain"}}},
		}, {Ref: "no entity"}}}
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	past := cmp.Transformer("history", func(h *entity.History) entity.LastChange { c, _ := h.Last(); return c })
	if d := cmp.Diff(want, got, past, cmpopts.IgnoreUnexported(entity.Entity{}, ingest.File{}, ingest.Document{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func encode(f *ingest.File) []byte {
	w := newWriter()
	w.file(f)
	return w.record()
}

func TestRecordsComeBack(t *testing.T) {
	got, err := decode(encode(sample()), map[string]entity.Value{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, sample())
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(sample()))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := decode(b, map[string]entity.Value{})
		if err == nil {
			if _, err := decode(encode(file), map[string]entity.Value{}); err != nil {
				t.Errorf("what was decoded does not encode: %v", err)
			}
		}
	})
}

func TestTruncatedRecordsAreErrors(t *testing.T) {
	b := encode(sample())
	for i := range b {
		if _, err := decode(b[:i], map[string]entity.Value{}); err == nil {
			t.Fatalf("the first %d of %d bytes decoded", i, len(b))
		}
	}
}

func open1(t *testing.T, dir string) *Keeper {
	t.Helper()
	k, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	k := open1(t, dir)
	ctx := context.Background()
	if kept, err := k.Load(ctx, "s"); kept != nil || err != nil {
		t.Fatalf("got %v %v", kept, err)
	}
	meta := ingest.Meta{Revision: "r1", Fingerprint: "f", Changed: ingest.Sighting{Commit: "c", At: time.Unix(1, 0).UTC()},
		Seen: map[string]ingest.Seen{"k": {First: ingest.Sighting{Commit: "c"}}}}
	f := sample()
	save(t, k, ingest.Delta{Meta: meta, Paths: map[string]string{"a": "1", "b": "2"}, Files: map[string]*ingest.File{f.Path: f, "b": {Path: "b"}},
		Pasts: map[string]*ingest.Dated{"a": {}, "b": {Sought: true}, "c": {Commit: "x", Time: time.Unix(8, 0).UTC()}}})
	meta.Revision = "r2"
	save(t, k, ingest.Delta{Meta: meta, Paths: map[string]string{"b": "", "c": "3"}, Files: map[string]*ingest.File{"b": nil}, Pasts: map[string]*ingest.Dated{"b": nil, "d": {Sought: true}}})
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := open1(t, dir).Load(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, kept, &ingest.Kept{Meta: meta, Paths: map[string]string{"a": "1", "c": "3"}, Files: []*ingest.File{f},
		Pasts: map[string]ingest.Dated{"a": {}, "c": {Commit: "x", Time: time.Unix(8, 0).UTC()}, "d": {Sought: true}}})
}

func save(t *testing.T, k *Keeper, d ingest.Delta) {
	t.Helper()
	if err := k.Save(context.Background(), "s", d); err != nil {
		t.Fatal(err)
	}
}

func TestReplaceForgetsTheRest(t *testing.T) {
	k := open1(t, t.TempDir())
	save(t, k, ingest.Delta{Paths: map[string]string{"a": "1"}, Files: map[string]*ingest.File{"a": {Path: "a"}}})
	save(t, k, ingest.Delta{Replace: true, Paths: map[string]string{"b": "1"}, Files: map[string]*ingest.File{"b": {Path: "b"}}})
	kept, err := k.Load(context.Background(), "s")
	if err != nil || len(kept.Files) != 1 || kept.Files[0].Path != "b" || len(kept.Paths) != 1 {
		t.Errorf("got %+v %v", kept, err)
	}
}

func TestDamagedFileIsPutAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "catalog.db")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	open1(t, dir)
	if _, err := os.Stat(path + ".damaged"); err != nil {
		t.Error(err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	open1(t, dir)
	if k, err := Open(dir); err == nil {
		k.Close()
		t.Error("the file was opened twice")
	}
}

// TestLargeStateTakesTurns replaces a state that takes several transactions,
// and ends one replacement halfway.
func TestLargeStateTakesTurns(t *testing.T) {
	dir := t.TempDir()
	k := open1(t, dir)
	state := func(owner string) ingest.Delta {
		d := ingest.Delta{Replace: true, Meta: ingest.Meta{Revision: ingest.Revision(owner)}, Paths: map[string]string{}, Files: map[string]*ingest.File{}}
		for i := range 200 {
			path := fmt.Sprintf("%03d.yaml", i)
			d.Paths[path] = owner
			d.Files[path] = &ingest.File{Path: path, Owner: owner, Origin: strings.Repeat("x", 50_000)}
		}
		return d
	}
	check := func(k *Keeper, owner string) {
		t.Helper()
		kept, err := k.Load(t.Context(), "s")
		if err != nil || kept == nil || len(kept.Files) != 200 || len(kept.Paths) != 200 || kept.Meta.Revision != ingest.Revision(owner) {
			t.Fatalf("kept %v, %v", kept, err)
		}
		for _, f := range kept.Files {
			if f.Owner != owner || kept.Paths[f.Path] != owner {
				t.Fatalf("%s is of %s", f.Path, f.Owner)
			}
		}
	}
	for _, owner := range []string{"first", "second", "third"} {
		save(t, k, state(owner))
		check(k, owner)
	}
	half := &saving{source: []byte("s"), delta: state("fourth"), writer: newWriter()}
	half.paths, half.files = []string{"000.yaml"}, []string{"000.yaml"}
	if err := k.db.Update(func(tx *bolt.Tx) error {
		b, err := half.begin(tx)
		if err != nil {
			return err
		}
		_, err = half.batch(b.Bucket(half.set))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	k.Close()
	k = open1(t, dir)
	check(k, "third")
	save(t, k, state("fifth"))
	check(k, "fifth")
}

func TestFileThatCouldNotBeOpenedAnewIsOpenedLater(t *testing.T) {
	k := open1(t, t.TempDir())
	save(t, k, ingest.Delta{Meta: ingest.Meta{Revision: "r1"}})
	path := k.path
	k.path = filepath.Join(t.TempDir(), "none", "catalog.db")
	k.mapped.Store(maxMapped)
	if err := k.unmap(); err == nil {
		t.Fatal("a file that is not there was opened")
	}
	k.path = path
	if _, err := k.Load(t.Context(), "s"); err == nil {
		t.Error("a closed file was read")
	}
	if kept, err := k.Load(t.Context(), "s"); err != nil || kept == nil || kept.Meta.Revision != "r1" {
		t.Errorf("got %v, %v", kept, err)
	}
}
