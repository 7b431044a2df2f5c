package previewstest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// Subject is a deployer under test.
type Subject struct {
	// Deployer is the deployer.
	Deployer previews.Deployer
	// Wish is for a service that becomes ready and writes at least one line.
	Wish previews.Wish
	// Another is a second commit of the same, which becomes ready, too; ""
	// leaves that part out.
	Another string
	// Restarted gives the deployer as another process would have it after this
	// one died; nil leaves that part out.
	Restarted func() previews.Deployer
	// Within bounds each wait, a minute if 0.
	Within time.Duration
}

// Contract holds a deployer to what every deployer does. make gives a subject
// of which nothing is there; it is called for each part.
func Contract(t *testing.T, make func(t *testing.T) Subject) {
	for _, part := range []struct {
		name string
		test func(t *testing.T, s *Subject)
	}{
		{"nothing is there at first", nothingAtFirst}, {"becomes ready and goes", becomesReady}, {"every call may come twice", everyCallTwice},
		{"goes before it was ready", goesEarly}, {"another process goes on", anotherProcess}, {"an ended context ends a call", endedContext},
		{"what nobody knows is found and removed", strays},
		{"goes on to another commit", anotherCommit},
	} {
		t.Run(part.name, func(t *testing.T) {
			s := make(t)
			if s.Within == 0 {
				s.Within = time.Minute
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), s.Within)
				defer cancel()
				if err := s.Deployer.Remove(ctx, s.Wish); err != nil {
					t.Errorf("clearing up: %v", err)
				}
			})
			part.test(t, &s)
		})
	}
}

// until looks until something holds.
func (s *Subject) until(t *testing.T, what string, holds func(previews.Observed) bool) previews.Observed {
	t.Helper()
	deadline := time.Now().Add(s.Within)
	for {
		o, err := s.Deployer.Observe(t.Context(), s.Wish)
		if err != nil {
			t.Fatalf("observing: %v", err)
		}
		if o.Ready && (!o.Exists || o.Failed || o.URL == "") {
			t.Fatalf("ready, and yet %+v", o)
		}
		if holds(o) {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("in vain waited for: %s; there is %+v", what, o)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ready waits until it is ready at a commit, and applies where that has not
// come to its end, as the reconciler does.
func (s *Subject) ready(t *testing.T, what, commit string) previews.Observed {
	t.Helper()
	return s.until(t, what, func(o previews.Observed) bool {
		if o.Stale {
			s.apply(t)
		}
		return o.Ready && o.Commit == commit
	})
}

func gone(o previews.Observed) bool { return !o.Exists && len(o.Remains) == 0 }

func (s *Subject) apply(t *testing.T) {
	t.Helper()
	if err := s.Deployer.Apply(t.Context(), s.Wish); err != nil {
		t.Fatalf("applying: %v", err)
	}
}

func (s *Subject) remove(t *testing.T) {
	t.Helper()
	if err := s.Deployer.Remove(t.Context(), s.Wish); err != nil {
		t.Fatalf("removing: %v", err)
	}
}

// goes removes until it is gone, as the reconciler does.
func (s *Subject) goes(t *testing.T) {
	t.Helper()
	s.until(t, "it is gone", func(o previews.Observed) bool {
		s.remove(t)
		return gone(o)
	})
}

func nothingAtFirst(t *testing.T, s *Subject) {
	if o, err := s.Deployer.Observe(t.Context(), s.Wish); err != nil || !gone(o) || o.Ready || o.Failed {
		t.Errorf("there is %+v, %v", o, err)
	}
	s.remove(t) // of nothing
	if lines, err := s.Deployer.Logs(t.Context(), s.Wish, 10); err == nil && len(lines) > 0 {
		t.Errorf("it wrote %v", lines)
	}
}

func becomesReady(t *testing.T, s *Subject) {
	s.apply(t)
	if o := s.ready(t, "it is ready", s.Wish.Commit); o.Commit != s.Wish.Commit {
		t.Errorf("it runs %q, not %q", o.Commit, s.Wish.Commit)
	}
	deadline := time.Now().Add(s.Within)
	for {
		lines, err := s.Deployer.Logs(t.Context(), s.Wish, 1)
		if err != nil || len(lines) > 1 {
			t.Fatalf("the last line: %v, %v", lines, err)
		}
		if len(lines) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it wrote nothing")
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.goes(t)
	if o, err := s.Deployer.Observe(t.Context(), s.Wish); err != nil || !gone(o) {
		t.Errorf("once gone there is %+v, %v", o, err)
	}
}

func everyCallTwice(t *testing.T, s *Subject) {
	s.apply(t)
	s.apply(t)
	first := s.ready(t, "it is ready", s.Wish.Commit)
	s.apply(t)
	if again := s.ready(t, "it is ready", s.Wish.Commit); again.URL != first.URL {
		t.Errorf("it was at %s and is at %s, though nothing was to be done", first.URL, again.URL)
	}
	s.remove(t)
	s.remove(t)
	s.goes(t)
}

func goesEarly(t *testing.T, s *Subject) {
	s.apply(t)
	s.goes(t)
}

func anotherProcess(t *testing.T, s *Subject) {
	if s.Restarted == nil {
		t.Log("the deployer keeps nothing that another process could take up")
		return
	}
	s.apply(t)
	s.ready(t, "it is ready", s.Wish.Commit)
	s.Deployer = s.Restarted()
	s.apply(t)
	s.ready(t, "it is ready after a restart", s.Wish.Commit)
	s.Deployer = s.Restarted()
	s.goes(t)
}

func anotherCommit(t *testing.T, s *Subject) {
	if s.Another == "" {
		t.Log("the subject has one commit alone")
		return
	}
	s.apply(t)
	first := s.ready(t, "it is ready", s.Wish.Commit)
	s.Wish.Commit = s.Another
	s.apply(t)
	o := s.ready(t, "it is ready at the other commit", s.Another)
	if o.URL != first.URL {
		t.Errorf("it moved from %s to %s", first.URL, o.URL)
	}
	s.goes(t)
}

func endedContext(t *testing.T, s *Subject) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	_ = s.Deployer.Apply(ctx, s.Wish) // it may have done it, or not
	_, _ = s.Deployer.Observe(ctx, s.Wish)
	if took := time.Since(began); took > s.Within/2 {
		t.Errorf("with an ended context it took %s", took)
	}
	s.goes(t)
}

// strays holds those who can sweep to what previews.Sweeper says.
func strays(t *testing.T, s *Subject) {
	sweeper, ok := s.Deployer.(previews.Sweeper)
	if !ok {
		t.Log("the deployer cannot tell what nobody knows")
		return
	}
	unknown := func(string) bool { return false }
	if found := s.strays(t, sweeper, unknown); len(found) > 0 {
		t.Fatalf("at first there is %+v", found)
	}
	if err := sweeper.RemoveStray(t.Context(), s.Wish.ID); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
	s.apply(t)
	s.ready(t, "it is ready", s.Wish.Commit)
	var asked []string
	if found := s.strays(t, sweeper, func(id string) bool { asked = append(asked, id); return true }); len(found) > 0 || !slices.Contains(asked, s.Wish.ID) {
		t.Errorf("though %q are known there is %+v", asked, found)
	}
	found := s.strays(t, sweeper, unknown)
	if len(found) != 1 || found[0].ID != s.Wish.ID || len(found[0].What) == 0 || found[0].Wish.Service != s.Wish.Service || found[0].Wish.Person != s.Wish.Person {
		t.Fatalf("found %+v of %+v", found, s.Wish)
	}
	if o, err := s.Deployer.Observe(t.Context(), s.Wish); err != nil || !o.Ready {
		t.Errorf("a look has left %+v, %v", o, err)
	}
	for deadline := time.Now().Add(s.Within); ; time.Sleep(20 * time.Millisecond) {
		if err := sweeper.RemoveStray(t.Context(), s.Wish.ID); err != nil {
			t.Fatalf("removing: %v", err)
		}
		found := s.strays(t, sweeper, unknown)
		if len(found) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is still %+v", found)
		}
	}
	if o, err := s.Deployer.Observe(t.Context(), s.Wish); err != nil || !gone(o) {
		t.Errorf("once swept there is %+v, %v", o, err)
	}
}

// strays are those of the subject: others may be at the same place.
func (s *Subject) strays(t *testing.T, sweeper previews.Sweeper, known func(string) bool) []previews.Stray {
	t.Helper()
	found, err := sweeper.Strays(t.Context(), known)
	if err != nil {
		t.Fatalf("looking for strays: %v", err)
	}
	return slices.DeleteFunc(found, func(it previews.Stray) bool { return it.ID != s.Wish.ID })
}
