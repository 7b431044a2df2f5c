package gitops_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/git/proposed"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// wholeRepo is a real Git repository that describes what is deployed, with a
// forge in memory before it.
type wholeRepo struct {
	*memory
	t   testing.TB
	dir string
	src *git.Source
	// moves is done before the next push, once.
	moves func()
	// said are the comments on pull requests.
	said []string
}

func newWholeRepo(t testing.TB) *wholeRepo {
	t.Helper()
	r := &wholeRepo{memory: &memory{branches: map[string]string{}}, t: t, dir: filepath.Join(t.TempDir(), "deploy")}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	var err error
	if r.src, err = git.NewSource("deploy", git.SourceConfig{URL: r.dir, Ref: "refs/heads/main"}, t.TempDir(), "", nil); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *wholeRepo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.dir, "-c", "user.name=Olga", "-c", "user.email=olga@test"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, removes those that are "", and gives the commit.
func (r *wholeRepo) commit(files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				r.t.Fatal(err)
			}
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "change")
	return r.git("rev-parse", "HEAD")
}

// merge merges a proposal's branch, as people do by its pull request.
func (r *wholeRepo) merge(p *gitops.Proposal) string {
	r.t.Helper()
	r.git("merge", "-q", "--no-ff", "-m", "merge", p.Branch)
	head := r.git("rev-parse", "HEAD")
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.pulls {
		if r.pulls[i].Branch == p.Branch {
			r.pulls[i].State, r.pulls[i].Merged = gitops.PullMerged, head
		}
	}
	return head
}

func (r *wholeRepo) Named(_, base string) (gitops.Place, error) {
	return gitops.Place{Repository: "https://f.test/acme/deploy", Base: base, Forge: "f", Name: "acme/deploy"}, nil
}

func (r *wholeRepo) Locate(*catalog.Entity) (gitops.Place, error) { return r.Named("", "") }

func (r *wholeRepo) Open(ctx context.Context, at gitops.Place) (gitops.Repository, gitops.Base, error) {
	if at.Base != "" && at.Base != "main" {
		return nil, gitops.Base{}, fault.New(fault.NotFound, "there is no branch %q", at.Base).WithFix("Correct it.")
	}
	repo, base, err := proposed.Base(ctx, r.src, "main", git.Signature{Name: "Fairlead", Email: "fairlead@f.test"})
	return moving{repo, r}, base, err
}

func (r *wholeRepo) At(ctx context.Context, _ gitops.Place, commit string) (gitops.Past, error) {
	return proposed.At(ctx, r.src, commit)
}

// moving is a repository whose base moves before the next push.
type moving struct {
	gitops.Repository
	r *wholeRepo
}

func (m moving) Push(ctx context.Context, p gitops.Push) (string, error) {
	if m.r.moves != nil {
		m.r.moves()
		m.r.moves = nil
	}
	return m.Repository.Push(ctx, p)
}

func (r *wholeRepo) UpsertComment(_ context.Context, _ string, number int64, _, body string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprint(number, ": ", body))
	return nil
}

// rollbackRoom is a room before a real repository and a fake Argo CD.
type rollbackRoom struct {
	*gitops.Service
	*wholeRepo
	argo   *gitopstest.Fake
	state  *store.Store
	health *gitops.HealthService
	// clock tells the time to Argo CD, which counts seconds.
	clock time.Time
}

const deployedShop = `kind: Component
metadata: {name: shop}
spec: {type: service, lifecycle: production, owner: team, fairlead: {deployRepo: 'https://f.test/acme/deploy', environments: [{name: staging, path: shop/staging, argocd: {app: shop}}, {name: file, path: one.yaml, argocd: {app: shop}}]}}`

func newRollbackRoom(t testing.TB) *rollbackRoom {
	t.Helper()
	r := &rollbackRoom{wholeRepo: newWholeRepo(t), argo: gitopstest.NewFake("shop", "", "shop:0"), state: state(t), clock: time.Now().UTC().Truncate(time.Second).Add(-10 * time.Hour)}
	r.argo.Set(func(s gitopstest.State) {
		*s.App, *s.Running = gitops.Application{Sources: []gitops.AppSource{{Repository: "https://f.test/acme/deploy.git", Path: "shop/staging", Target: "main"}}}, gitops.Running{}
	})
	text := catalogtest.New(t, deployedShop)
	var err error
	r.health, err = gitops.NewHealth(gitops.HealthConfig{Policy: accesstest.OpenPolicy(), Catalog: text, Instances: map[string]gitops.Deployments{"main": r.argo}, Keep: time.Nanosecond, Recorder: quiet(r.state)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.health.Close() })
	guard, _ := accesstest.Guard(t, accesstest.OpenPolicy())
	r.Service, err = gitops.New(gitops.Config{Policy: accesstest.OpenPolicy(), Guard: guard, Catalog: text, Repositories: r, Forges: map[string]gitops.Forge{"f": r.wholeRepo}, Records: r.state, Reads: r.state,
		Health: r.health, Lives: r.health, Mail: func(name string) string { return name + "@f.test" }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// deploy has Argo CD sync a revision that runs an image, and be healthy or
// not; somebody asks for its health, so that it is written down.
func (r *rollbackRoom) deploy(revision, image string, healthy bool) {
	r.t.Helper()
	r.sync(revision, image, healthy)
	r.look()
}

// look has somebody ask for the health.
func (r *rollbackRoom) look() *gitops.DeploymentHealth {
	r.t.Helper()
	h, err := r.health.GetDeploymentHealth(r.t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "shop", Environment: "staging"})
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// sync has Argo CD sync a revision while nobody looks.
func (r *rollbackRoom) sync(revision, image string, healthy bool) {
	r.clock = r.clock.Add(time.Minute)
	at, name, tag := r.clock, "", ""
	name, tag, _ = strings.Cut(image, ":")
	r.argo.Set(func(s gitopstest.State) {
		images := []gitops.DeployedImage{{Name: name, Tag: tag}}
		*s.Wanted, *s.Running = images, gitops.Running{Images: images}
		s.App.Revisions, s.App.Sync, s.App.Health, s.App.HealthSince, s.App.Namespace = []string{revision}, "Synced", "Healthy", at, "shop"
		s.App.Operation = &gitops.Operation{Phase: gitops.OperationSucceeded, Revision: revision, StartedAt: at, FinishedAt: at}
		s.App.ComparedAt = time.Now().UTC().Truncate(time.Second)
		s.App.History = append(s.App.History, gitops.PastDeployment{Revision: revision, At: at})
		if !healthy {
			s.App.Health = "Degraded"
			s.Running.Unwell = []gitops.UnwellResource{{Resource: "Pod shop-1", Health: "Degraded", Message: "CrashLoopBackOff"}}
		}
	})
}
