package gitops_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/git/proposed"
	"github.com/fairlead-dev/fairlead/internal/store"
)

const (
	shopFile   = "shop/kustomization.yaml"
	shopBefore = "resources: [../base]\nimages:\n  - name: a/shop\n    newTag: v1\n"
	shopAfter  = "resources: [../base]\nimages:\n  - name: a/shop\n    newTag: v2\n"
	shopEntity = `kind: Component
metadata: {name: shop}
spec:
  type: service
  lifecycle: production
  owner: team
  fairlead:
    deployRepo: https://forge.test/acme/deploy
    environments:
      - {name: staging, path: shop, argocd: {instance: main, app: shop}}
      - {name: nowhere, path: shop}
      - {name: far, path: shop, argocd: {instance: other, app: shop}}
      - {name: guarded, path: shop, protected: true, argocd: {instance: main, app: shop}}
`
	teamEntity = "kind: Group\nmetadata: {name: team, annotations: {forge.test/team-slug: acme/crew}}\nspec: {type: team, children: []}"
)

// gitRepos are the repository of a forge, over real Git.
type gitRepos struct {
	forge *gitopstest.Forge
	src   *git.Source
}

func (r *gitRepos) Locate(*catalog.Entity) (gitops.Place, error) { return r.Named("", "") }

func (r *gitRepos) Named(string, string) (gitops.Place, error) {
	return gitops.Place{Repository: "https://forge.test/acme/deploy", Forge: "f", Name: r.forge.Repository}, nil
}

func (r *gitRepos) Open(ctx context.Context, _ gitops.Place) (gitops.Repository, gitops.Base, error) {
	return proposed.Base(ctx, r.src, "main", git.Signature{Name: "Fairlead", Email: "fairlead@forge.test"})
}

func (r *gitRepos) At(ctx context.Context, _ gitops.Place, commit string) (gitops.Past, error) {
	return proposed.At(ctx, r.src, commit)
}

func (r *gitRepos) Contains(ctx context.Context, _ gitops.Place, revision, commit string) (bool, error) {
	return r.src.Contains(ctx, revision, commit)
}

func (r *gitRepos) LastChange(ctx context.Context, _ gitops.Place, revision, path string) (string, time.Time, error) {
	return proposed.LastChange(ctx, r.src, revision, path)
}

// loop is a room with a forge over real Git, a fake Argo CD and a clock that
// tests turn.
type loop struct {
	*gitops.Service
	t     *testing.T
	forge *gitopstest.Forge
	argo  *gitopstest.Fake
	state string
	cfg   gitops.Config
	audit *accesstest.Log
	hook  *interrupted

	mu    sync.Mutex
	ahead time.Duration
}

func newLoop(t *testing.T, change ...func(*gitops.Config)) *loop {
	t.Helper()
	l := &loop{t: t, forge: gitopstest.NewForge(t, map[string]string{shopFile: shopBefore, "base/kustomization.yaml": "resources: []\n"}), state: t.TempDir()}
	l.argo = gitopstest.NewFake("shop", l.forge.Head(t, "main"), "a/shop:v1")
	src, err := git.NewSource("deploy", git.SourceConfig{URL: l.forge.Dir, Ref: "refs/heads/main"}, filepath.Join(t.TempDir(), "src"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	policy, repos, docs := accesstest.OpenPolicy(), &gitRepos{l.forge, src}, catalogtest.New(t, shopEntity, teamEntity)
	guard, log := accesstest.Guard(t, policy)
	l.audit, l.hook = log, &interrupted{Repositories: repos}
	health, err := gitops.NewHealth(gitops.HealthConfig{Policy: policy, Catalog: docs, Instances: map[string]gitops.Deployments{"main": l.argo}, Keep: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = health.Close() })
	l.cfg = gitops.Config{Policy: policy, Guard: guard, Catalog: docs, Repositories: l.hook, Forges: map[string]gitops.Forge{"f": l.forge}, Now: l.now,
		Mail: func(name string) string { return name + "@forge.test" }, Follow: gitops.FollowConfig{Health: health, Lineage: repos}}
	for _, c := range change {
		c(&l.cfg)
	}
	l.restart()
	return l
}

// restart makes the room anew over the same state.
func (l *loop) restart() {
	l.t.Helper()
	s, err := store.Open(l.t.Context(), l.state)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	l.cfg.Records, l.cfg.Reads = s, s
	if l.Service, err = gitops.New(l.cfg); err != nil {
		l.t.Fatal(err)
	}
}

func (l *loop) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Add(l.ahead)
}

// pass turns the clock and has proposals looked at.
func (l *loop) pass(d time.Duration) {
	l.t.Helper()
	l.mu.Lock()
	l.ahead += d
	l.mu.Unlock()
	if err := l.Follow(l.t.Context(), 10); err != nil {
		l.t.Errorf("following: %v", err)
	}
}

func agent() access.Caller { return accesstest.As("alice", accesstest.Agent("claude")) }

// shopTo wants another version of the shop.
func shopTo(tag string, more ...func(*gitops.ProposeChangeInput)) gitops.ProposeChangeInput {
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "the fix", Change: gitops.Change{Image: &gitops.ImageChange{Tag: tag}}}
	for _, m := range more {
		m(&in)
	}
	return in
}

// propose proposes as the agent; it has to become a pull request.
func (l *loop) propose(in gitops.ProposeChangeInput) *gitops.Proposal {
	l.t.Helper()
	p, err := l.ProposeChange(l.t.Context(), agent(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	if p.State != gitops.Open {
		l.t.Fatalf("proposed: %+v", p)
	}
	return p
}

// get is a proposal as it is kept.
func (l *loop) get(id string) *gitops.Proposal {
	l.t.Helper()
	r, err := l.cfg.Reads.Proposal(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return r.View()
}

// merged proposes, merges and has that seen.
func (l *loop) merged(in gitops.ProposeChangeInput) (p *gitops.Proposal, commit string) {
	l.t.Helper()
	p = l.propose(in)
	commit = l.forge.Merge(l.t, 1)
	if err := l.Tell(l.t.Context(), "f", l.forge.Repository, p.Branch); err != nil {
		l.t.Fatal(err)
	}
	l.pass(0)
	return l.get(p.ID), commit
}
