package gitops_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// interrupted are repositories where something happens before a push.
type interrupted struct {
	gitops.Repositories
	before func()
}

func (i *interrupted) Open(ctx context.Context, at gitops.Place) (gitops.Repository, gitops.Base, error) {
	r, base, err := i.Repositories.Open(ctx, at)
	return &interruptedOne{r, i}, base, err
}

type interruptedOne struct {
	gitops.Repository
	i *interrupted
}

func (r *interruptedOne) Push(ctx context.Context, p gitops.Push) (string, error) {
	if before := r.i.before; before != nil {
		r.i.before = nil
		before()
	}
	return r.Repository.Push(ctx, p)
}

// only fails unless there is one pull request, of one branch that has the
// change, which a proposal is about.
func (l *loop) only(p *gitops.Proposal, err error) {
	l.t.Helper()
	opened, _ := l.forge.Opened()
	branches := l.forge.Branches(l.t)
	if err != nil || len(opened) != 1 || len(branches) != 1 || p.State != gitops.Open || p.URL != l.forge.Pull(1).URL || p.Branch != branches[0] {
		l.t.Fatalf("%d pull requests, branches %q; %+v, %v", len(opened), branches, p, err)
	}
	if text := l.forge.Read(l.t, p.Branch, shopFile); !strings.Contains(text, "newTag: v2") {
		l.t.Errorf("the branch has\n%s", text)
	}
}

// refused fails unless nothing came of it, and why is said.
func (l *loop) refused(err error, code fault.Code, why string) {
	l.t.Helper()
	opened, _ := l.forge.Opened()
	f := fault.From(err)
	if err == nil || f.Code != code || !strings.Contains(f.Message, why) || f.Fix == "" || len(opened) > 0 || len(l.forge.Branches(l.t)) > 0 {
		l.t.Errorf("%d pull requests, branches %q: %v", len(opened), l.forge.Branches(l.t), err)
	}
}

// TestOnePullRequest has everything go wrong that may: there is one pull request
// in the end.
func TestOnePullRequest(t *testing.T) {
	ask := func(l *loop) (*gitops.Proposal, error) { return l.ProposeChange(l.t.Context(), agent(), shopTo("v2")) }
	down := fault.New(fault.Unavailable, "the forge is down").WithFix("Wait.")
	revoked := fault.New(fault.FailedPrecondition, "the forge refused its token").WithFix("Have the operators renew the token.")
	for name, test := range map[string]func(l *loop){
		"asked again": func(l *loop) {
			first, _ := ask(l)
			again, err := ask(l)
			if l.only(again, err); first.ID != again.ID || first.Commit != again.Commit {
				t.Errorf("%s %s, then %s %s", first.ID, first.Commit, again.ID, again.Commit)
			}
		},
		"the answer is lost": func(l *loop) {
			l.forge.Lose(down)
			if _, err := ask(l); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("the first time: %v", err)
			}
			l.only(ask(l))
		},
		"the forge is down": func(l *loop) {
			l.forge.Down(down)
			if _, err := ask(l); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("the first time: %v", err)
			}
			l.forge.Down(nil)
			l.only(ask(l))
		},
		"the token is revoked midway": func(l *loop) {
			l.hook.before = func() { l.forge.Down(revoked) }
			if _, err := ask(l); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "token") {
				t.Errorf("the first time: %v", err)
			}
			l.forge.Down(nil)
			l.restart()
			l.only(ask(l))
		},
		"the caller hangs up midway": func(l *loop) {
			ctx, cancel := context.WithCancel(t.Context())
			l.hook.before = cancel
			if _, err := l.ProposeChange(ctx, agent(), shopTo("v2")); err == nil {
				t.Error("a caller who had gone was answered")
			}
			l.only(ask(l))
		},
		"the base moves": func(l *loop) {
			moved := ""
			l.hook.before = func() { moved = l.forge.Push(t, "main", map[string]string{"other.md": "x\n"}) }
			p, err := ask(l)
			if l.only(p, err); l.forge.Parent(t, p.Branch) != moved {
				t.Errorf("it is made on %s", l.forge.Parent(t, p.Branch))
			}
		},
		"the base moves and is in the way": func(l *loop) {
			l.hook.before = func() { l.forge.Push(t, "main", map[string]string{shopFile: otherBefore}) }
			_, err := ask(l)
			l.refused(err, fault.Conflict, "was changed in the repository at this moment")
			l.only(ask(l))
		},
		"the branch is deleted": func(l *loop) {
			p, _ := ask(l)
			l.forge.Remove(t, p.Branch)
			l.only(ask(l))
		},
		"calls at once": func(l *loop) { l.atOnce(8, ask) },
		"agents at once": func(l *loop) {
			l.atOnce(8, func(l *loop) (*gitops.Proposal, error) { return l.ProposeChange(t.Context(), agent(), shopTo("v2")) },
				func(l *loop) (*gitops.Proposal, error) {
					return l.ProposeChange(t.Context(), accesstest.As("bob", accesstest.Agent("codex")), shopTo("v2"))
				})
		},
	} {
		t.Run(name, func(t *testing.T) { test(newLoop(t)) })
	}
}

// atOnce has several calls made at once; each is given the pull request, or is
// told that somebody else is at it.
func (l *loop) atOnce(n int, calls ...func(*loop) (*gitops.Proposal, error)) {
	l.t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	var got *gitops.Proposal
	for i := range n {
		all.Go(func() {
			p, err := calls[i%len(calls)](l)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && p.State == gitops.Open:
				got = p
			case fault.CodeOf(err) != fault.Conflict || fault.From(err).Fix == "":
				l.t.Errorf("somebody was told %+v, %v", p, err)
			}
		})
	}
	all.Wait()
	if got == nil {
		l.t.Fatal("nobody was given a pull request")
	}
	l.only(got, nil)
}

// TestClearRefusals refuses what cannot be changed exactly, and what people have
// decided on, and leaves nothing behind.
func TestClearRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		code fault.Code
		why  string
	}{
		"5 MB":         {shopBefore + strings.Repeat("# filler\n", 5<<20/9), fault.FailedPrecondition, "too large"},
		"just too big": {shopBefore + strings.Repeat("# filler\n", 1<<20/9), fault.FailedPrecondition, "too large"},
		"no UTF-8":     {shopBefore + "# \xff\xfe\n", fault.FailedPrecondition, "UTF-8"},
		"UTF-16":       {"\xff\xfer\x00e\x00s\x00", fault.FailedPrecondition, "UTF-8"},
		"no YAML":      {"images: [\n", fault.FailedPrecondition, ""},
		"an empty one": {"", fault.FailedPrecondition, ""},
		"a template":   {"images:\n  - name: a/shop\n    newTag: {{ .Values.tag }}\n", fault.FailedPrecondition, ""},
		"an alias":     {"x: &v v1\nimages:\n  - {name: a/shop, newTag: *v}\n  - {name: b/shop, newTag: *v}\n", fault.FailedPrecondition, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t)
			l.forge.Push(t, "main", map[string]string{shopFile: c.text})
			in := shopTo("v2")
			in.Change.Image.Name = "a/shop"
			p, err := l.ProposeChange(t.Context(), agent(), in)
			l.refused(err, c.code, c.why)
			if p != nil {
				t.Errorf("%+v", p)
			}
		})
	}
	t.Run("closed by people", func(t *testing.T) {
		l := newLoop(t)
		l.propose(shopTo("v2"))
		if err := l.forge.ClosePull(t.Context(), l.forge.Repository, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := l.ProposeChange(t.Context(), agent(), shopTo("v2")); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "not opened again behind people's backs") {
			t.Errorf("%v", err)
		}
	})
	t.Run("taken back by people", func(t *testing.T) {
		l := newLoop(t)
		l.merged(shopTo("v2"))
		l.forge.Push(t, "main", map[string]string{shopFile: shopBefore})
		if _, err := l.ProposeChange(t.Context(), agent(), shopTo("v2")); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "has been taken back since") {
			t.Errorf("%v", err)
		}
	})
	t.Run("pushed to by people", func(t *testing.T) {
		l := newLoop(t)
		p := l.propose(shopTo("v2"))
		theirs := l.forge.Push(t, p.Branch, map[string]string{"theirs.md": "x\n"})
		if _, err := l.ProposeChange(t.Context(), agent(), shopTo("v3")); fault.CodeOf(err) != fault.Conflict || l.forge.Head(t, p.Branch) != theirs {
			t.Errorf("%v", err)
		}
	})
	t.Run("so already", func(t *testing.T) {
		l := newLoop(t)
		if p, err := l.ProposeChange(t.Context(), agent(), shopTo("v1")); err != nil || p.State != gitops.Unchanged || len(l.forge.Branches(t)) > 0 {
			t.Errorf("%+v %v", p, err)
		}
	})
}

// TestKilledMidway has a server die while it works on a proposal: another goes
// on once the hold is over.
func TestKilledMidway(t *testing.T) {
	l := newLoop(t)
	p := l.propose(shopTo("v2"))
	if _, ok, err := l.cfg.Records.ClaimProposal(t.Context(), p.ID, "dead", l.now(), l.now().Add(time.Minute)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	l.forge.Merge(t, 1)
	l.restart()
	if err := l.Tell(t.Context(), "f", l.forge.Repository, p.Branch); err != nil {
		t.Fatal(err)
	}
	if l.pass(0); l.get(p.ID).State != gitops.Open {
		t.Error("what somebody is at work on was taken over")
	}
	if l.pass(2 * time.Minute); l.get(p.ID).State != gitops.Merged {
		t.Errorf("%+v", l.get(p.ID))
	}
	if !slices.ContainsFunc(l.list(), func(p gitops.Proposal) bool { return p.State == gitops.Merged }) {
		t.Error("it is not listed")
	}
}

// list are the proposals that there are.
func (l *loop) list() []gitops.Proposal {
	l.t.Helper()
	page, err := l.ListProposals(l.t.Context(), agent(), gitops.ListProposalsInput{})
	if err != nil {
		l.t.Fatal(err)
	}
	return page.Items
}

// closing lets people close a pull request just before a proposal is entered
// that goes on with it.
type closing struct {
	gitops.Records
	close func()
}

func (c *closing) AddProposal(ctx context.Context, r gitops.Record) (gitops.Record, error) {
	if r.Follows != "" {
		c.close()
	}
	return c.Records.AddProposal(ctx, r)
}

func TestWhatIsClosedMeanwhileIsNotBegunAnew(t *testing.T) {
	m := &memory{files: map[string]string{"shop/kustomization.yaml": "images:\n- name: a/shop\n  newTag: v1\n"}, branches: map[string]string{}}
	var c closing
	var later atomic.Int64 // the forge is not asked again at once
	g := room(t, m, func(cfg *gitops.Config) {
		c.Records, cfg.Records = cfg.Records, &c
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Name: "shop", Tag: "v2"}}}
	who := accesstest.As("alice", accesstest.Agent("claude"))
	p, err := g.ProposeChange(t.Context(), who, in)
	if err != nil {
		t.Fatal(err)
	}
	c.close = func() {
		later.Store(int64(time.Minute))
		m.mu.Lock()
		m.pulls[0].State = gitops.PullClosed
		m.mu.Unlock()
		if now, err := g.GetProposal(t.Context(), who, gitops.GetProposalInput{ID: p.ID}); err != nil || now.State != gitops.Closed {
			t.Errorf("closed by people: %+v %v", now, err)
		}
	}
	if _, err := g.ProposeChange(t.Context(), who, in); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), p.ID+" with this key was closed") {
		t.Errorf("asked for again: %v", err)
	}
	if len(m.opened) != 1 {
		t.Errorf("%d pull requests", len(m.opened))
	}
}
