package previewstest

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/previews"
)

// FakeData makes data in memory. The zero value is one in which everything
// works. It is safe for concurrent use, and outlives those who use it as a
// server would.
type FakeData struct {
	// Hook is called before each call, outside of the lock; its error is the
	// call's. nil is nothing.
	Hook func(call, id string) error

	mu   sync.Mutex
	made map[[2]string]*datum
}

// datum is what there is of one thing.
type datum struct {
	filled bool
	failed string
}

var _ previews.Data = (*FakeData)(nil)

func (f *FakeData) at(call string, w previews.Wish, d previews.DataTemplate) (key [2]string, err error) {
	if f.Hook != nil {
		err = f.Hook(call, w.ID)
	}
	return [2]string{w.ID, d.Name}, err
}

// Provide makes a thing in two steps, between which it may be interrupted.
func (f *FakeData) Provide(ctx context.Context, w previews.Wish, d previews.DataTemplate) (access.Secret, error) {
	for _, step := range []string{"provide", "fill"} {
		key, err := f.at(step, w, d)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return access.Secret{}, err
		}
		f.mu.Lock()
		if f.made == nil {
			f.made = map[[2]string]*datum{}
		}
		if f.made[key] == nil {
			f.made[key] = &datum{}
		}
		f.made[key].filled = f.made[key].filled || step == "fill"
		f.mu.Unlock()
	}
	return access.NewSecret("fake://" + w.ID + ":secret@data.test/" + d.Name), nil
}

// Observe tells what there is.
func (f *FakeData) Observe(ctx context.Context, w previews.Wish, d previews.DataTemplate) (previews.DataObserved, error) {
	key, err := f.at("observe data", w, d)
	if err != nil {
		return previews.DataObserved{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch t := f.made[key]; {
	case t == nil:
		return previews.DataObserved{Reason: "there is nothing of it"}, ctx.Err()
	case t.failed != "":
		return previews.DataObserved{Exists: true, Failed: true, Reason: t.failed, Remains: []string{"data " + d.Name}}, ctx.Err()
	default:
		return previews.DataObserved{Exists: true, Ready: t.filled, Reason: "being filled", Remains: []string{"data " + d.Name}}, ctx.Err()
	}
}

// Remove removes a thing.
func (f *FakeData) Remove(ctx context.Context, w previews.Wish, d previews.DataTemplate) error {
	key, err := f.at("remove data", w, d)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.made, key)
	return nil
}

// Break has a preview's things be of no more use.
func (f *FakeData) Break(id, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, t := range f.made {
		if key[0] == id {
			t.failed = why
		}
	}
}

// Lose removes a preview's things behind everybody's back.
func (f *FakeData) Lose(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key := range f.made {
		if key[0] == id {
			delete(f.made, key)
		}
	}
}

// There counts the things that there are.
func (f *FakeData) There() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.made)
}
