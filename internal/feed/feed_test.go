package feed_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/feed"
)

type row struct{ id, text string }

// table is what is watched.
type table struct {
	mu    sync.Mutex
	rows  map[string]string
	reads int
	err   error
	hang  bool
}

func (b *table) set(id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rows == nil {
		b.rows = map[string]string{}
	}
	if b.rows[id] = text; text == "" {
		delete(b.rows, id)
	}
}

func (b *table) fail(err error) { b.mu.Lock(); b.err = err; b.mu.Unlock() }

func (b *table) looks() int { b.mu.Lock(); defer b.mu.Unlock(); return b.reads }

func (b *table) feed(every time.Duration) *feed.Feed[row] {
	f := feed.New(func(ctx context.Context, _ time.Time) ([]row, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reads++
		if b.hang {
			b.mu.Unlock()
			<-ctx.Done()
			b.mu.Lock()
			return nil, ctx.Err()
		}
		var out []row
		for _, id := range slices.Sorted(maps.Keys(b.rows)) {
			out = append(out, row{id, b.rows[id]})
		}
		return out, b.err
	}, func(r *row) string { return r.id }, func(r *row) string { return r.text })
	f.Every = every
	return f
}

func watch(ctx context.Context, f *feed.Feed[row]) <-chan string {
	return feed.Watch(ctx, f, func(changed []row, tell func(string) bool) {
		var all []string
		for _, r := range changed {
			all = append(all, r.id+r.text)
		}
		tell(strings.Join(all, " "))
	})
}

func want(t *testing.T, told <-chan string, text string) {
	t.Helper()
	select {
	case got, ok := <-told:
		if !ok || got != text {
			t.Fatalf("told %q, not %q", got, text)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%q is not told", text)
	}
}

// TestChangesAreTold once each, in order, to all who watch from before them.
func TestChangesAreTold(t *testing.T) {
	b := &table{}
	b.set("a", "1")
	f := b.feed(5 * time.Millisecond)
	f.Gone = func(r row) row { return row{r.id, " is gone"} }
	ctx, cancel := context.WithCancel(t.Context())
	first := watch(ctx, f)
	b.set("b", "1")
	want(t, first, "b1")
	second := watch(ctx, f)
	b.set("a", "2")
	for _, w := range []<-chan string{first, second} {
		want(t, w, "a2")
	}
	b.set("a", "")
	want(t, first, "a is gone")
	b.set("a", "2") // as it was before
	want(t, first, "a2")
	cancel()
	for range first {
		t.Log("told at the end")
	}
}

// TestWhoDoesNotListen holds nobody up, and hears of the last change alone.
func TestWhoDoesNotListen(t *testing.T) {
	b := &table{}
	f := b.feed(5 * time.Millisecond)
	slow, quick := watch(t.Context(), f), watch(t.Context(), f)
	for i := range 20 {
		b.set("a", fmt.Sprint(i))
		want(t, quick, fmt.Sprintf("a%d", i))
	}
	var last string
	for last != "a19" {
		select {
		case last = <-slow:
		case <-time.After(time.Minute):
			t.Fatalf("the last that is told is %s", last)
		}
	}
}

// TestManyShareOneLook: the looks do not grow with those who watch, and nobody
// looks while none does.
func TestManyShareOneLook(t *testing.T) {
	b := &table{}
	f := b.feed(100 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan string
	for range 500 {
		all = append(all, watch(ctx, f))
	}
	b.set("a", "1")
	for _, w := range all {
		want(t, w, "a1")
	}
	began := time.Now()
	before := b.looks()
	b.set("a", "2")
	for _, w := range all {
		want(t, w, "a2")
	}
	if n, most := b.looks()-before, int(time.Since(began)/(50*time.Millisecond))+2; n > most {
		t.Errorf("%d looks, where there may be %d", n, most)
	}
	cancel()
	for _, w := range all {
		for range w {
			continue
		}
	}
	ended := b.looks()
	time.Sleep(3 * f.Every) // to see that nothing happens
	if n := b.looks(); n != ended {
		t.Errorf("%d looks while nobody watched", n-ended)
	}
}

// TestLooksThatFail are made up for; one that hangs ends with who began it.
func TestLooksThatFail(t *testing.T) {
	b := &table{err: errors.New("down")}
	f := b.feed(5 * time.Millisecond)
	told := watch(t.Context(), f)
	b.set("early", "1") // before anything is known
	b.fail(nil)
	ready := watch(t.Context(), f) // which looks
	b.set("a", "1")
	want(t, ready, "a1")
	b.fail(errors.New("down"))
	b.set("a", "2")
	b.set("b", "1")
	b.fail(nil)
	want(t, ready, "a2 b1")
	for heard, i := false, 0; !heard; i++ { // by who watched when nothing was known
		b.set("c", fmt.Sprint(i))
		select {
		case <-told:
			heard = true
		case <-time.After(10 * time.Millisecond):
		}
		if i > 2000 {
			t.Fatal("who watched when nothing was known is told nothing")
		}
	}

	b.mu.Lock()
	b.hang = true
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range watch(ctx, f) {
		t.Error("a look that hangs has told something")
	}
	for range feed.None[string]() {
		t.Error("nothing is something")
	}
}
