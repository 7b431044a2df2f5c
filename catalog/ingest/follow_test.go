package ingest_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
)

// follower notes what it is shown.
type follower struct {
	mu    sync.Mutex
	at    map[string]ingest.Revision
	seen  map[string]map[string]string // what files say, by source and path
	fail  error
	shown chan string
}

func newFollower() *follower {
	return &follower{at: map[string]ingest.Revision{}, seen: map[string]map[string]string{}, shown: make(chan string, 100)}
}

func (f *follower) Followed(source ingest.Description) ingest.Revision {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at[source.Name]
}

func (f *follower) Follow(ctx context.Context, v ingest.View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.shown <- v.Source.Name }()
	if f.fail != nil {
		err := f.fail
		f.fail = nil
		return err
	}
	said := map[string]string{}
	for path := range maps.Clone(v.Files) {
		data, err := v.Tree.Read(ctx, path)
		if err != nil {
			return err
		}
		said[path] = string(data)
	}
	f.at[v.Source.Name], f.seen[v.Source.Name] = v.Revision, said
	return nil
}

func (f *follower) Drop(_ context.Context, source string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.at, source)
	return nil
}

var errFollow = errors.New("not now")

func (f *follower) await(t *testing.T) {
	t.Helper()
	select {
	case <-f.shown:
	case <-time.After(time.Minute):
		t.Fatal("nothing was shown to the follower")
	}
}

// A follower sees every revision once, is shown one that failed again, and
// forgets a source that is gone.
func TestFollower(t *testing.T) {
	repo := ingesttest.NewMemory("a", "https://git.example.test/acme/a/")
	repo.Write(map[string]string{"catalog-info.yaml": component("a"), "AGENTS.md": "one"})
	org := &organization{}
	org.set(nil, repo)
	f := newFollower()
	f.fail = errFollow
	in := ingest.New(ingest.Config{Providers: []ingest.Provider{org}, Processor: descriptor.New(descriptor.Options{}), Fingerprint: "1",
		Refresh: 5 * time.Millisecond, Turn: time.Hour, Followers: []ingest.Follower{f}, Publish: func([]index.Change) {}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	f.await(t) // fails
	f.await(t)
	repo.Write(map[string]string{"AGENTS.md": "two"})
	f.await(t)
	f.mu.Lock()
	if got := f.seen["a"]["AGENTS.md"]; got != "two" {
		t.Errorf("the follower knows %q", got)
	}
	f.mu.Unlock()
	if tree, rev, err := in.Open(ctx, "a"); err != nil || rev != f.Followed(ingest.Description{Name: "a"}) {
		t.Errorf("opening what is in force: %v, revision %q", err, rev)
	} else if data, err := tree.Read(ctx, "AGENTS.md"); err != nil || string(data) != "two" || tree.Close() != nil {
		t.Errorf("read %q, %v", data, err)
	}
	org.set(nil, ingesttest.NewMemory("b", "https://git.example.test/acme/b/"))
	deadline := time.After(time.Minute)
	for f.Followed(ingest.Description{Name: "a"}) != "" {
		select {
		case <-deadline:
			t.Fatal("the follower was not told that the source is gone")
		case <-f.shown:
		case <-time.After(time.Millisecond):
		}
	}
	if _, _, err := in.Open(ctx, "a"); err == nil {
		t.Error("a source that is gone can be opened")
	}
}

// pondering is a follower that takes its time, and notes if it is shown two
// revisions of one source at a time.
type pondering struct {
	*follower
	resume chan struct{}
	begun  chan struct{}
	inside atomic.Int32
	twice  atomic.Bool
}

func (p *pondering) Follow(ctx context.Context, v ingest.View) error {
	if p.inside.Add(1) > 1 {
		p.twice.Store(true)
	}
	defer p.inside.Add(-1)
	p.begun <- struct{}{}
	<-p.resume
	return p.follower.Follow(ctx, v)
}

// A source that is read again while a follower is still at work is followed
// afterwards, and Refresh waits for that.
func TestFollowersSeeOneRevisionAtATime(t *testing.T) {
	repo := ingesttest.NewMemory("a", "https://git.example.test/acme/a/")
	repo.Write(map[string]string{"AGENTS.md": "one"})
	p := &pondering{follower: newFollower(), resume: make(chan struct{}), begun: make(chan struct{}, 100)}
	in := ingest.New(ingest.Config{Sources: []ingest.Source{repo}, Processor: descriptor.New(descriptor.Options{}), Fingerprint: "1",
		Refresh: time.Millisecond, Followers: []ingest.Follower{p}, Publish: func([]index.Change) {}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	<-p.begun
	repo.Write(map[string]string{"AGENTS.md": "two"})
	refreshed := make(chan error, 1)
	go func() {
		_, err := in.Refresh(ctx, "a")
		refreshed <- err
	}()
	select { // many polls meanwhile
	case err := <-refreshed:
		t.Fatalf("it did not wait: %v", err)
	case <-p.begun:
		t.Fatal("two at a time")
	case <-time.After(100 * time.Millisecond):
	}
	close(p.resume)
	if err := <-refreshed; err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := p.seen["a"]["AGENTS.md"]; got != "two" || p.twice.Load() {
		t.Errorf("the follower knows %q; two at a time: %t", got, p.twice.Load())
	}
}
