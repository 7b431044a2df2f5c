package catalog_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

// living is an ingestion whose sources change.
type living struct {
	sources
	mu  sync.Mutex
	all []catalog.SourceStatus
}

func (l *living) Sources() []catalog.SourceStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func (l *living) become(all ...catalog.SourceStatus) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = all
}

// TestWatchIngestion names the sources of which something has changed, to who
// may know of them.
func TestWatchIngestion(t *testing.T) {
	in := &living{}
	known, other := catalog.SourceStatus{Name: "test", State: "ok"}, catalog.SourceStatus{Name: "other", State: "ok"}
	in.become(known, other)
	s := catalogtest.NewWith(t, town(), catalogtest.WithPolicy(accesstest.Policy(t, redRules)), catalogtest.WithIngestion(in))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all, red := s.WatchIngestion(ctx, alice, ""), s.WatchIngestion(ctx, accesstest.As("user:default/rita"), "")
	one := s.WatchIngestion(ctx, alice, "other")
	want := func(told <-chan catalog.IngestionChange, names string) {
		t.Helper()
		if c := <-told; strings.Join(c.Sources, " ") != names || c.Many {
			t.Errorf("told %+v, not %q", c, names)
		}
	}
	known.Print, other.State = 1, "failing"
	in.become(known, other)
	want(all, "other test")
	want(red, "test") // which she may read something of
	want(one, "other")
	known.Checked.At = time.Now() // is no change
	in.become(known)
	want(all, "other")
	want(one, "other") // is gone
	known.Problems = 1
	in.become(known)
	want(all, "test")
	want(red, "test")
	var many []catalog.SourceStatus
	for i := range 200 {
		many = append(many, catalog.SourceStatus{Name: fmt.Sprint("s", i)})
	}
	in.become(append(many, known)...)
	if c := <-all; !c.Many || len(c.Sources) > 0 {
		t.Errorf("of 200 new sources is told %+v", c)
	}
	cancel()
	for c := range red {
		t.Errorf("who may not know of them is told %+v", c)
	}
	for _, who := range []access.Caller{accesstest.As("user:default/sam"), {}} {
		for c := range s.WatchIngestion(t.Context(), who, "") {
			t.Errorf("a stranger is told %+v", c)
		}
	}
}
