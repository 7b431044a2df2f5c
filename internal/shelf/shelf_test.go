package shelf_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/shelf"
)

// TestOneLookServesMany: who asks while a look is under way waits for it, one
// who hangs up takes it from nobody, and it is kept for a while.
func TestOneLookServesMany(t *testing.T) {
	var now atomic.Int64
	s := shelf.New[int](time.Second, time.Minute, func() time.Time { return time.Unix(now.Load(), 0) })
	defer s.Close()
	looks, go1 := 0, make(chan struct{})
	look := func(context.Context) int { <-go1; looks++; return looks }
	first := s.Book("a", look)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if _, err := first.Wait(gone); err == nil {
		t.Error("who hung up was answered")
	}
	second := s.Book("a", look)
	close(go1)
	for _, l := range []*shelf.Look[int]{first, second} {
		if v, err := l.Wait(t.Context()); v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	}
	now.Add(2)
	if v, err := s.Book("a", look).Wait(t.Context()); v != 2 || err != nil {
		t.Errorf("later: %d, %v", v, err)
	}
}

// TestLooksAreBounded: in their time, in their number, and by the shelf's end.
func TestLooksAreBounded(t *testing.T) {
	s := shelf.New[error](time.Hour, 10*time.Millisecond, nil)
	s.Most = 3
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if err, _ := s.Book("a", hang).Wait(t.Context()); err == nil {
		t.Error("a look that hangs was not ended")
	}
	looks := 0
	for i := range 20 {
		for range 2 {
			if _, err := s.Book(strconv.Itoa(i), func(context.Context) error { looks++; return nil }).Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if looks != 20 {
		t.Errorf("%d looks for 20 answers", looks)
	}
	s.Close()
	if err, _ := s.Book("b", hang).Wait(t.Context()); err == nil {
		t.Error("a look was begun after the end")
	}
}
