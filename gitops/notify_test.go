package gitops_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
)

// receiver keeps what it is sent, and refuses as often as it is told to.
type receiver struct {
	mu     sync.Mutex
	refuse int
	ids    []string
	got    []gitops.Ending
	tried  int
}

func (r *receiver) as(name string) gitops.Receiver {
	return gitops.Receiver{Name: name, Send: func(_ context.Context, id string, text []byte) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.tried++; r.refuse > 0 {
			r.refuse--
			return errors.New("503")
		}
		var e gitops.Ending
		if err := json.Unmarshal(text, &e); err != nil {
			return err
		}
		r.ids, r.got = append(r.ids, id), append(r.got, e)
		return nil
	}}
}

// TestReceiversAreTold tells each receiver once that a proposal has ended: one
// that answers, one that is down at first, and one that is gone from the
// configuration, over a restart and with replicas at work.
func TestReceiversAreTold(t *testing.T) {
	well, slow, gone := &receiver{}, &receiver{refuse: 2}, &receiver{refuse: 1000}
	l := newLoop(t, func(c *gitops.Config) {
		c.Follow.Notify = []gitops.Receiver{well.as("well"), slow.as("slow"), gone.as("gone")}
	})
	p, commit := l.merged(shopTo("v2"))
	if well.tried != 0 {
		t.Fatal("told before it has ended")
	}
	l.argo.Deploy(commit, "a/shop:v2")
	l.pass(time.Minute)
	l.pass(11 * time.Minute)
	l.pass(0)
	if len(well.got) != 1 || len(slow.got) != 0 || slow.tried != 1 {
		t.Fatalf("told %d and %d, tried %d", len(well.got), len(slow.got), slow.tried)
	}
	if e := well.got[0]; e.Event != gitops.EndedEvent || e.ID != p.ID || e.Follow.Outcome != gitops.OutcomeHealthy || e.Follow.Merged != commit || e.Environment != "staging" || e.URL == "" || e.At.IsZero() || well.ids[0] != p.ID+".well" {
		t.Errorf("told %+v", e)
	}
	l.cfg.Follow.Notify = l.cfg.Follow.Notify[:2]
	l.restart()
	for range 12 {
		l.mu.Lock()
		l.ahead += 10 * time.Second
		l.mu.Unlock()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _ = l.Follow(t.Context(), 10) })
		}
		all.Wait()
	}
	if len(well.got) != 1 || well.tried != 1 || len(slow.got) != 1 || slow.tried != 3 || gone.tried != 1 {
		t.Errorf("told %d and %d; tried %d, %d, %d", len(well.got), len(slow.got), well.tried, slow.tried, gone.tried)
	}
}

// TestReceiversAreGivenUp bounds how often one is tried that never answers.
func TestReceiversAreGivenUp(t *testing.T) {
	down := &receiver{refuse: 1000}
	l := newLoop(t, func(c *gitops.Config) { c.Follow.Notify, c.Follow.Health = []gitops.Receiver{down.as("down")}, nil })
	p, _ := l.merged(shopTo("v2"))
	for range 60 {
		l.pass(2 * time.Hour)
	}
	got := l.get(p.ID)
	if down.tried != 32 || got.Follow.Outcome != gitops.OutcomeMerged || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "could not be told") {
		t.Errorf("tried %d times, %q", down.tried, got.Notes)
	}
}

// TestWatched tells who watches of what they may see, and of nothing twice.
func TestWatched(t *testing.T) {
	l := newLoop(t)
	ctx, cancel := context.WithCancel(t.Context())
	all, one, none := l.Watch(ctx, agent(), gitops.WatchInput{}), l.Watch(ctx, agent(), gitops.WatchInput{Service: "other"}), (*gitops.Service)(nil).Watch(ctx, agent(), gitops.WatchInput{})
	if _, open := <-none; open {
		t.Error("a room that is not there tells something")
	}
	nobody := accesstest.Policy(t, "rules: [{name: r, effect: allow, who: {subjects: [\"*\"]}, actions: [catalog.read]}]")
	cfg := l.cfg
	cfg.Policy = nobody
	blind, err := gitops.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, open := <-blind.Watch(ctx, agent(), gitops.WatchInput{}); open {
		t.Error("who may see nothing is told something")
	}
	p := l.propose(shopTo("v2"))
	next := func(what string, is func(p *gitops.Proposal) bool) {
		t.Helper()
		end := time.After(time.Minute)
		for {
			select {
			case got := <-all:
				if got.ID != p.ID || got.Plan.Diff != "" {
					t.Fatalf("told of %+v", got)
				}
				if is(&got) {
					return
				}
			case <-end:
				t.Fatalf("nothing tells that it is %s", what)
			}
		}
	}
	next("open", func(p *gitops.Proposal) bool { return p.State == gitops.Open })
	l.forge.Merge(t, 1)
	l.pass(11 * time.Minute)
	next("merged", func(p *gitops.Proposal) bool { return p.State == gitops.Merged && p.Follow.Merged != "" })
	select {
	case got := <-all:
		t.Errorf("told again: %+v", got.Follow)
	case got := <-one:
		t.Errorf("told who asked for another: %+v", got)
	case <-time.After(1500 * time.Millisecond):
	}
	cancel()
	for range all { //nolint:revive // it ends once nobody listens any more
	}
	for range one { //nolint:revive // the same
	}
}
