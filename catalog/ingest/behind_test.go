package ingest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// TestBehindOthers has a source read between its polls, because another server
// has, and tells of each revision that is served newly, once.
func TestBehindOthers(t *testing.T) {
	m, moved := repository("a"), make(chan string, 9)
	in := ingest.New(ingest.Config{Sources: []ingest.Source{m}, Processor: descriptor.New(descriptor.Options{}), Fingerprint: "1", Refresh: time.Hour,
		Publish: func([]index.Change) {}, Moved: func(source string, to ingest.Revision) { moved <- source + " " + string(to) }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	want := func(n int) {
		t.Helper()
		select {
		case got := <-moved:
			if got != fmt.Sprintf("a %040d", n) {
				t.Errorf("moved to %s", got)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing was read")
		}
	}
	want(1)
	m.Write(map[string]string{"catalog-info.yaml": component("b")})
	rev, err := m.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !in.Behind("a", rev) {
		t.Error("it says that it is not behind")
	}
	want(2)
	if in.Behind("a", rev) || in.Behind("nobody", rev) {
		t.Error("it says that it is behind what it has, or at a source that it does not have")
	}
	if _, err := in.Refresh(ctx, "a"); err != nil { // what is the same is not told of
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil || len(moved) > 0 {
		t.Errorf("%v, and %d are told of", err, len(moved))
	}
}
