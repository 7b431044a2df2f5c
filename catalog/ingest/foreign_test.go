package ingest_test

import (
	"context"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// TestOthersAreReadAfterARestart changes a source that reads a file of another
// one, of which nothing has been read since the restart because it has not
// changed.
func TestOthersAreReadAfterARestart(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.writeTo(1, map[string]string{"catalog-info.yaml": component("b"), "shared/one.yaml": component("one"), "shared/two.yaml": component("two")})
	const shared = "https://git.example.test/acme/b/blob/main/shared/"
	w.writeTo(0, map[string]string{"catalog-info.yaml": location("l", "target: "+shared+"one.yaml")})
	w.has("component:default/b", "component:default/one")
	w.start()
	w.refresh(1)
	w.writeTo(0, map[string]string{"catalog-info.yaml": location("l", "targets: ["+shared+"one.yaml, "+shared+"two.yaml]")})
	w.has("component:default/one", "component:default/two")
	w.quiet()
}

// overlooked is a source that tells of each file before it is read.
type overlooked struct {
	*ingesttest.Memory
	reads func(path string)
}

func (o *overlooked) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	t, err := o.Memory.Open(ctx, rev)
	return &overlookedTree{t, o.reads}, err
}

type overlookedTree struct {
	ingest.Tree
	reads func(path string)
}

func (t *overlookedTree) Read(ctx context.Context, path string) ([]byte, error) {
	t.reads(path)
	return t.Tree.Read(ctx, path)
}

// TestOthersThatChangeMeanwhileAreReadAgain changes a file of another source
// after it has been read and before the reading ends.
func TestOthersThatChangeMeanwhileAreReadAgain(t *testing.T) {
	w := newWorld(t, "a", "b")
	a := &overlooked{Memory: w.sources[0], reads: func(path string) {
		if path == "last.yaml" {
			w.writeTo(1, map[string]string{"shared/one.yaml": component("new")})
		}
	}}
	w.in = ingest.New(ingest.Config{Sources: []ingest.Source{a, w.sources[1]}, Processor: descriptor.New(descriptor.Options{}), Fingerprint: "1",
		Publish: func(c []index.Change) { w.snap = w.snap.Apply(c) }})
	w.writeTo(1, map[string]string{"shared/one.yaml": component("old")})
	w.writeTo(0, map[string]string{
		"catalog-info.yaml": location("l", "targets: [https://git.example.test/acme/b/blob/main/shared/one.yaml, ./next.yaml]"),
		"next.yaml":         location("m", "target: ./last.yaml"), "last.yaml": component("last")})
	w.has("component:default/last")
	w.refresh(0)
	w.has("component:default/new")
	w.lacks("component:default/old")
}

// TestWhoHangsUpLeavesNoTrouble refreshes for callers who are gone before the
// source has been read.
func TestWhoHangsUpLeavesNoTrouble(t *testing.T) {
	w := newWorld(t, "a")
	w.write(map[string]string{"catalog-info.yaml": component("x")})
	w.sources[0].Write(map[string]string{"y/catalog-info.yaml": component("y")})
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for range 30 { // some find the source free before they notice
		if _, err := w.in.Refresh(gone, "a"); err == nil {
			t.Fatal("a refresh outlived its caller")
		}
	}
	if st := w.in.Sources()[0]; st.State != "ok" {
		t.Errorf("the source is %s: %s", st.State, st.Error)
	}
	w.quiet()
	w.refresh(0)
	w.has("component:default/y")
}

// TestPastOfOthersFiles dates a file that another source reads.
func TestPastOfOthersFiles(t *testing.T) {
	a, b := newChronicle("a", "git.example.test"), newChronicle("b", "git.example.test")
	b.Write(map[string]string{"shared/one.yaml": component("one")})
	a.Write(map[string]string{"catalog-info.yaml": location("l", "target: https://git.example.test/acme/b/blob/main/shared/one.yaml")})
	keeper := newKeeper()
	r := startDating(t, keeper, a, b)
	r.refresh(a)
	r.dated("one", 1)
	r.write(b, map[string]string{"shared/one.yaml": component("one") + "# new\n"})
	r.dated("one", 2)
	r.stop()
	r = startDating(t, keeper, a, b)
	r.dated("one", 2)
}

// TestPastOfOthersFilesReadLater dates a file of a source that had been looked
// back at when another began to read the file.
func TestPastOfOthersFilesReadLater(t *testing.T) {
	a, b := newChronicle("a", "git.example.test"), newChronicle("b", "git.example.test")
	b.Write(map[string]string{"catalog-info.yaml": component("own"), "shared/one.yaml": component("one")})
	a.Write(map[string]string{"catalog-info.yaml": component("x")})
	r := startDating(t, newKeeper(), a, b)
	r.dated("own", 1)
	r.dated("x", 1)
	r.write(a, map[string]string{"catalog-info.yaml": location("l", "target: https://git.example.test/acme/b/blob/main/shared/one.yaml")})
	r.dated("one", 1)
}
