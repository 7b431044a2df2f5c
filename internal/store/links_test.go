package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestLinks(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, ctx := open(t, dsn(t)), t.Context()
		now := time.Now().UTC().Truncate(time.Microsecond)
		l := gitops.Link{Person: "user:default/ada", Forge: "tea", Account: "ada", Sealed: []byte{0, 255, 1}, Expires: now.Add(time.Hour), LinkedAt: now, ChangedAt: now, Version: 1}
		if err := s.SaveLink(ctx, l); err != nil {
			t.Fatal(err)
		}
		other := l
		other.Person, other.Forge = "user:default/eve", "hub"
		if err := s.SaveLink(ctx, other); err != nil {
			t.Fatal(err)
		}
		l.Version, l.Sealed = 2, []byte("two")
		if err := s.SaveLink(ctx, l); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveLink(ctx, l); fault.CodeOf(err) != fault.Conflict { // 2 is not in the place of 2
			t.Errorf("written twice: %v", err)
		}
		got, err := s.Links(ctx, l.Person)
		if d := cmp.Diff([]gitops.Link{l}, got); d != "" || err != nil {
			t.Errorf("%s %v", d, err)
		}
		l.Version = 1 // linked anew
		if err := s.SaveLink(ctx, l); err != nil {
			t.Error(err)
		}
		if err := s.DropLink(ctx, l.Person, "hub"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("what there is not: %v", err)
		}
		if err := s.DropLink(ctx, l.Person, "tea"); err != nil {
			t.Error(err)
		}
		if got, err = s.Links(ctx, l.Person); len(got) > 0 || err != nil {
			t.Errorf("%v %v", got, err)
		}
	})
}

func TestLinkWishes(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		s, ctx := open(t, dsn(t)), t.Context()
		now := time.Now().UTC().Truncate(time.Microsecond)
		w := gitops.LinkWish{ID: "a", Person: "user:default/ada", Forge: "tea", Stage: gitops.LinkAsked, Secret: "hash", Sealed: []byte("v"), ExpiresAt: now.Add(time.Minute)}
		for _, id := range []string{"before", "a"} {
			w.ID = id
			if err := s.AddLinkWish(ctx, w, now); err != nil {
				t.Fatal(err)
			}
		}
		for name, find := range map[string]func() ([]gitops.LinkWish, error){
			"by person": func() ([]gitops.LinkWish, error) { return s.LinkWishes(ctx, w.Person, "", now) },
			"by secret": func() ([]gitops.LinkWish, error) { return s.LinkWishes(ctx, "", "hash", now) },
		} {
			got, err := find()
			if d := cmp.Diff([]gitops.LinkWish{w}, got); d != "" || err != nil {
				t.Errorf("%s: %s %v", name, d, err)
			}
		}
		for name, find := range map[string]func() ([]gitops.LinkWish, error){
			"by nothing":          func() ([]gitops.LinkWish, error) { return s.LinkWishes(ctx, "", "", now) },
			"when it has expired": func() ([]gitops.LinkWish, error) { return s.LinkWishes(ctx, w.Person, "hash", now.Add(time.Hour)) },
		} {
			if got, err := find(); len(got) > 0 || err != nil {
				t.Errorf("%s: %v %v", name, got, err)
			}
		}
		moved, refused := 0, 0
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 10 { // a callback that comes often counts once
			all.Go(func() {
				next := w
				next.Stage, next.Secret = gitops.LinkTaken, ""
				err := s.MoveLinkWish(ctx, next, gitops.LinkAsked)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					moved++
				case fault.CodeOf(err) == fault.Conflict:
					refused++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if moved != 1 || refused != 9 {
			t.Errorf("%d moved it, %d were refused", moved, refused)
		}
	})
}
