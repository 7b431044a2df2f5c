package previewstest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// DataSubject is what makes data, under test.
type DataSubject struct {
	// Data makes it, and Restarted gives it as another process would have it
	// after this one died.
	Data      previews.Data
	Restarted func() previews.Data
	// Wish asks for what Template says.
	Wish     previews.Wish
	Template previews.DataTemplate
	// Use uses what is given and fails where that does not work.
	Use func(ctx context.Context, url string) error
	// Within bounds each call, half a minute if 0.
	Within time.Duration
}

// DataContract holds what makes data to what all of it does. make gives a
// subject of which nothing is there; it is called for each part.
func DataContract(t *testing.T, make func(t *testing.T) DataSubject) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, s *DataSubject)
	}{
		{"nothing is there at first", noDataAtFirst}, {"is made and goes", dataIsMade}, {"every call may come twice", dataTwice},
		{"another process goes on", dataElsewhere}, {"previews do not share", dataApart}, {"an ended context ends a call", dataEnded},
	} {
		t.Run(part.name, func(t *testing.T) {
			s := make(t)
			if s.Within == 0 {
				s.Within = 30 * time.Second
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), s.Within)
				defer cancel()
				if err := s.Data.Remove(ctx, s.Wish, s.Template); err != nil {
					t.Errorf("clearing up: %v", err)
				}
			})
			part.test(t, &s)
		})
	}
}

// call bounds one call.
func (s *DataSubject) call(t *testing.T, what string, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.Within)
	defer cancel()
	if err := do(ctx); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (s *DataSubject) provide(t *testing.T, w previews.Wish) (url string) {
	t.Helper()
	s.call(t, "providing", func(ctx context.Context) error {
		secret, err := s.Data.Provide(ctx, w, s.Template)
		url = secret.Reveal()
		return err
	})
	if url == "" || strings.Contains(fmt.Sprintf("%v %+v", s, w), url) {
		t.Fatalf("given %q, which is nothing or no secret", url)
	}
	return url
}

func (s *DataSubject) use(t *testing.T, url string) {
	t.Helper()
	s.call(t, "using it", func(ctx context.Context) error { return s.Use(ctx, url) })
}

func (s *DataSubject) remove(t *testing.T, w previews.Wish) {
	t.Helper()
	s.call(t, "removing", func(ctx context.Context) error { return s.Data.Remove(ctx, w, s.Template) })
}

func (s *DataSubject) observe(t *testing.T, w previews.Wish) (o previews.DataObserved) {
	t.Helper()
	s.call(t, "observing", func(ctx context.Context) (err error) {
		o, err = s.Data.Observe(ctx, w, s.Template)
		return err
	})
	if o.Ready && (!o.Exists || o.Failed) {
		t.Fatalf("ready, and yet %+v", o)
	}
	return o
}

func (s *DataSubject) ready(t *testing.T, w previews.Wish) {
	t.Helper()
	if o := s.observe(t, w); !o.Ready || len(o.Remains) == 0 {
		t.Errorf("it was made, and there is %+v", o)
	}
}

func (s *DataSubject) absent(t *testing.T, w previews.Wish) {
	t.Helper()
	if o := s.observe(t, w); o.Exists || o.Ready || o.Failed || len(o.Remains) > 0 {
		t.Errorf("there is %+v", o)
	}
}

func noDataAtFirst(t *testing.T, s *DataSubject) {
	s.absent(t, s.Wish)
	s.remove(t, s.Wish) // of nothing
	s.absent(t, s.Wish)
}

func dataIsMade(t *testing.T, s *DataSubject) {
	url := s.provide(t, s.Wish)
	s.ready(t, s.Wish)
	s.use(t, url)
	s.remove(t, s.Wish)
	s.absent(t, s.Wish)
	if err := s.Use(t.Context(), url); err == nil {
		t.Error("what was removed can be used")
	}
}

func dataTwice(t *testing.T, s *DataSubject) {
	first := s.provide(t, s.Wish)
	s.use(t, first)
	if again := s.provide(t, s.Wish); again != first {
		t.Error("given something else the second time")
	}
	s.use(t, first)
	s.remove(t, s.Wish)
	s.remove(t, s.Wish)
	s.absent(t, s.Wish)
}

func dataElsewhere(t *testing.T, s *DataSubject) {
	first := s.provide(t, s.Wish)
	s.Data = s.Restarted()
	s.ready(t, s.Wish)
	if again := s.provide(t, s.Wish); again != first {
		t.Error("another process gives something else")
	}
	s.use(t, first)
	s.Data = s.Restarted()
	s.remove(t, s.Wish)
	s.absent(t, s.Wish)
}

func dataApart(t *testing.T, s *DataSubject) {
	other := s.Wish
	other.ID += "x"
	mine, theirs := s.provide(t, s.Wish), s.provide(t, other)
	if mine == theirs {
		t.Error("two previews are given the same")
	}
	s.remove(t, s.Wish)
	s.absent(t, s.Wish)
	s.ready(t, other)
	s.use(t, theirs)
	s.remove(t, other)
	s.absent(t, other)
}

func dataEnded(t *testing.T, s *DataSubject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	_, _ = s.Data.Provide(ctx, s.Wish, s.Template) // it may have done it, or not
	_, _ = s.Data.Observe(ctx, s.Wish, s.Template)
	if took := time.Since(began); took > s.Within/2 {
		t.Errorf("with an ended context it took %s", took)
	}
	s.remove(t, s.Wish)
	s.absent(t, s.Wish)
}
