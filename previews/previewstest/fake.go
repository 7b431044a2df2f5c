// Package previewstest has what tests of previews need: a deployer in memory,
// and the contract that every deployer is held to.
package previewstest

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// Fake is a deployer in memory. The zero value is one in which everything
// works. It is safe for concurrent use, and outlives those who use it as a
// cluster would.
type Fake struct {
	// Looks is how many looks it takes until a preview is ready, or gone.
	Looks int
	// Hook is called before each call, outside of the lock; its error is the
	// call's. nil is nothing.
	Hook func(call, id string) error

	mu   sync.Mutex
	made map[string]*thing
	// applied and removed count what was begun, by preview.
	applied, removed map[string]int
}

// thing is what there is of one preview.
type thing struct {
	wish   previews.Wish
	ready  int // looks until it is ready
	going  bool
	left   int // looks until it is gone
	failed string
}

var (
	_ previews.Deployer = (*Fake)(nil)
	_ previews.Sweeper  = (*Fake)(nil)
	_ previews.Carrier  = (*Fake)(nil)
)

// Carries tells that the fake takes what is given.
func (f *Fake) Carries(previews.Wish) error { return nil }

// Given is what a preview was given, by variable.
func (f *Fake) Given(id string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	if t := f.made[id]; t != nil {
		for _, g := range t.wish.Given {
			out[g.Env] = g.Value.Reveal()
		}
	}
	return out
}

func (f *Fake) hook(call, id string) error {
	if f.Hook == nil {
		return nil
	}
	return f.Hook(call, id)
}

// Apply begins to make a preview; one that is there is put right.
func (f *Fake) Apply(ctx context.Context, w previews.Wish) error {
	if err := f.hook("apply", w.ID); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil {
		f.made, f.applied, f.removed = map[string]*thing{}, map[string]int{}, map[string]int{}
	}
	t := f.made[w.ID]
	if t == nil {
		t = &thing{ready: f.Looks}
		f.made[w.ID] = t
		f.applied[w.ID]++
	}
	t.wish, t.failed, t.going = w, "", false
	return ctx.Err()
}

// Observe tells what there is, which is further with each look.
func (f *Fake) Observe(ctx context.Context, w previews.Wish) (previews.Observed, error) {
	if err := f.hook("observe", w.ID); err != nil {
		return previews.Observed{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.made[w.ID]
	switch {
	case t == nil:
		return previews.Observed{}, ctx.Err()
	case t.going && t.left <= 0:
		delete(f.made, w.ID)
		return previews.Observed{}, ctx.Err()
	case t.going:
		t.left--
		return previews.Observed{Exists: true, Reason: "being removed", Remains: []string{"process of " + w.ID}}, ctx.Err()
	case t.failed != "":
		return previews.Observed{Exists: true, Failed: true, Reason: t.failed}, ctx.Err()
	case t.ready > 0:
		t.ready--
		return previews.Observed{Exists: true, Reason: "starting"}, ctx.Err()
	}
	return previews.Observed{Exists: true, Ready: true, Commit: t.wish.Commit, URL: "http://" + w.ID + ".preview.test/"}, ctx.Err()
}

// Remove begins to remove a preview.
func (f *Fake) Remove(ctx context.Context, w previews.Wish) error {
	if err := f.hook("remove", w.ID); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.made[w.ID]; t != nil && !t.going {
		t.going, t.left = true, f.Looks
		f.removed[w.ID]++
	}
	return ctx.Err()
}

// Logs are a line that says what it is.
func (f *Fake) Logs(ctx context.Context, w previews.Wish, tail int) ([]previews.LogLine, error) {
	if err := f.hook("logs", w.ID); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made[w.ID] == nil || tail < 1 {
		return nil, ctx.Err()
	}
	return []previews.LogLine{{At: time.Now().UTC(), Text: "serving " + w.Commit}}, ctx.Err()
}

// Break has a preview fail until it is applied again.
func (f *Fake) Break(id, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.made[id]; t != nil {
		t.failed = why
	}
}

// Lose removes a preview behind everybody's back.
func (f *Fake) Lose(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.made, id)
}

// There are the ids of the previews of which something is there.
func (f *Fake) There() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]string, 0, len(f.made))
	for id := range f.made {
		out = append(out, id)
	}
	return out
}

// Made is how often a preview was made anew.
func (f *Fake) Made(id string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied[id]
}

// Strays are the previews that known does not know.
func (f *Fake) Strays(ctx context.Context, known func(id string) bool) ([]previews.Stray, error) {
	if err := f.hook("strays", ""); err != nil {
		return nil, err
	}
	f.mu.Lock()
	seen := make(map[string]previews.Wish, len(f.made))
	for id, t := range f.made {
		if t.going && t.left <= 0 {
			delete(f.made, id)
			continue
		}
		seen[id] = t.wish
	}
	f.mu.Unlock()
	var out []previews.Stray
	for id, w := range seen {
		if !known(id) {
			out = append(out, previews.Stray{ID: id, Wish: w, What: []string{"process of " + id}})
		}
	}
	return out, ctx.Err()
}

// RemoveStray begins to remove a preview; each call is a look at it.
func (f *Fake) RemoveStray(ctx context.Context, id string) error {
	if err := f.Remove(ctx, previews.Wish{ID: id}); err != nil {
		return err
	}
	_, err := f.Observe(ctx, previews.Wish{ID: id})
	return err
}
