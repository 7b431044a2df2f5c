package ingest_test

import (
	"context"
	"testing"
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
