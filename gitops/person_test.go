package gitops_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// own is the account at a forge that alice has linked.
type own struct {
	*memory
	err  error // of finding the account
	find error // of asking the forge as her
	push error // of pushing as her
	as   []string
}

func (o *own) AccountOf(_ context.Context, person, forge string) (*gitops.Account, error) {
	if o.err != nil || person != "user:default/alice" || forge != "f" {
		return nil, o.err
	}
	return &gitops.Account{Name: "alice-there", Forge: o, Token: gitops.NewToken("at-secret")}, nil
}

func (o *own) FindPull(ctx context.Context, r, base, branch string) (*gitops.Pull, error) {
	if o.find != nil {
		return nil, o.find
	}
	return o.memory.FindPull(ctx, r, base, branch)
}

func (o *own) OpenPull(ctx context.Context, r string, p gitops.NewPull) (*gitops.Pull, error) {
	o.as = append(o.as, "opened")
	return o.memory.OpenPull(ctx, r, p)
}

func (o *own) Open(context.Context, gitops.Place) (gitops.Repository, gitops.Base, error) {
	return o, gitops.Base{Branch: "main", Commit: "base"}, nil
}

func (o *own) Push(ctx context.Context, p gitops.Push) (string, error) {
	if p.As != nil {
		o.as = append(o.as, "pushed by "+p.As.Name)
		if o.push != nil {
			return "", o.push
		}
	}
	return o.memory.Push(ctx, p)
}

func TestProposedAsThePerson(t *testing.T) {
	files := map[string]string{"shop/kustomization.yaml": "images:\n- name: a/shop\n  newTag: v1\n"}
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Name: "shop", Tag: "v2"}}}
	gone := fault.New(fault.FailedPrecondition, "it refuses the account: it was revoked").WithFix("Link the account anew: fairlead login --forge f.")
	for name, tt := range map[string]struct {
		who    string
		change func(o *own)
		did    string // what was done as the person
		words  string // of the refusal; "" where it is proposed
	}{
		"linked":              {"user:default/alice", func(*own) {}, "pushed by alice-there opened", ""},
		"by another":          {"user:default/bob", func(*own) {}, "", ""},
		"cannot be opened":    {"user:default/alice", func(o *own) { o.err = gone }, "", "--forge f"},
		"revoked":             {"user:default/alice", func(o *own) { o.find = gone }, "", "--forge f"},
		"may not write there": {"user:default/alice", func(o *own) { o.push = gitops.ErrDenied }, "pushed by alice-there", "--forge f --unlink"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &own{memory: &memory{files: files, branches: map[string]string{}}}
			tt.change(o)
			g := room(t, o.memory, func(c *gitops.Config) { c.Repositories, c.Accounts = o, o })
			p, err := g.ProposeChange(t.Context(), accesstest.As(tt.who, accesstest.Agent("claude")), in)
			if did := strings.Join(o.as, " "); did != tt.did {
				t.Errorf("as the person: %q", did)
			}
			if tt.words == "" {
				if err != nil || p.State != gitops.Open || len(o.opened) != 1 {
					t.Errorf("%+v %v", p, err)
				}
				return
			}
			if f := fault.From(err); f == nil || f.Code != fault.FailedPrecondition || !strings.Contains(f.Fix, tt.words) || len(o.branches)+len(o.opened) > 0 {
				t.Errorf("%v; %d branches, %d opened", err, len(o.branches), len(o.opened))
			}
		})
	}
}

// TestNothingIsOpenedBeyondTheLimits has a forge's budget be used up: the
// proposal says when to go on, and goes on then.
func TestNothingIsOpenedBeyondTheLimits(t *testing.T) {
	m := &memory{files: map[string]string{"shop/kustomization.yaml": "images:\n- name: a/shop\n  newTag: v1\n"}, branches: map[string]string{}}
	o := &limited{memory: m, spent: true}
	g := room(t, m, func(c *gitops.Config) { c.Forges = map[string]gitops.Forge{"f": o} })
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Name: "shop", Tag: "v2"}}}
	_, err := g.ProposeChange(t.Context(), alice, in)
	if f := fault.From(err); f == nil || f.Code != fault.QuotaExceeded || f.RetryAfter != limitedFor || len(m.opened) > 0 {
		t.Fatalf("%v, %d opened", err, len(m.opened))
	}
	o.spent = false
	if p, err := g.ProposeChange(t.Context(), alice, in); err != nil || p.State != gitops.Open || len(m.opened) != 1 || len(m.branches) != 1 {
		t.Errorf("%+v %v", p, err)
	}
}

const limitedFor = 90e9

// limited is a forge whose limits may be used up.
type limited struct {
	*memory
	spent bool
}

func (l *limited) FindPull(ctx context.Context, r, base, branch string) (*gitops.Pull, error) {
	if l.spent {
		return nil, fault.New(fault.QuotaExceeded, "the request limit is used up").WithFix("Wait.").After(limitedFor)
	}
	return l.memory.FindPull(ctx, r, base, branch)
}
