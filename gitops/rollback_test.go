package gitops_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var (
	claude = accesstest.As("user:default/alice", accesstest.Agent("claude"))
	orders = gitops.ProposeRollbackInput{Service: "shop", Environment: "staging", Reason: "orders fail"}
)

func kustomized(tag string) string {
	return "resources: [../base]\nimages:\n- name: ghcr.io/acme/shop # ours\n  newTag: " + tag + "\n"
}

// back asks for a way back, which there has to be.
func (r *rollbackRoom) back(who access.Caller, change ...func(*gitops.ProposeRollbackInput)) *gitops.Proposal {
	r.t.Helper()
	in := orders
	for _, c := range change {
		c(&in)
	}
	p, err := r.ProposeRollback(r.t.Context(), who, in)
	if err != nil {
		r.t.Fatalf("%v: %+v", err, fault.From(err))
	}
	return p
}

// refused asks for a way back that there is not.
func (r *rollbackRoom) refused(code fault.Code, says string) {
	r.t.Helper()
	p, err := r.ProposeRollback(r.t.Context(), claude, orders)
	f := fault.From(err)
	if fault.CodeOf(err) != code || !strings.Contains(f.Message+" "+f.Fix, says) {
		r.t.Errorf("refused by %v, not by %q; proposed %+v", err, says, p)
	}
}

const latin = "caf\xe9 \x00\r\nno newline at the end"

// broken deploys a revision that is healthy, and then one that is not, and gives
// both.
func (r *rollbackRoom) broken() (good, bad string) {
	good = r.commit(map[string]string{"shop/staging/kustomization.yaml": kustomized("v1"), "shop/staging/deep/blob.bin": latin, "shop/staging/gone.yaml": "a: 1\r\n", "shop/base/kustomization.yaml": "resources: [web.yaml]\n",
		"shop/base/web.yaml": "kind: Deployment\n", "other/a.yaml": "a: 1\n"})
	r.deploy(good, "shop:v1", true)
	bad = r.commit(map[string]string{"shop/staging/kustomization.yaml": kustomized("v2"), "shop/staging/deep/blob.bin": "caf\xe9 2", "shop/staging/gone.yaml": "", "shop/staging/new/more.yaml": "b: 2\n", "other/a.yaml": "a: 2\n"})
	r.deploy(bad, "shop:v2", false)
	return good, bad
}

func TestRollback(t *testing.T) {
	r := newRollbackRoom(t)
	good, bad := r.broken()
	newer := r.commit(map[string]string{"other/a.yaml": "a: 3\n"}) // somebody else's
	dry := r.back(claude, func(in *gitops.ProposeRollbackInput) { in.DryRun = true })
	if dry.State != gitops.Planned || r.git("branch", "--list", "fairlead/*") != "" || len(dry.Notes) > 0 {
		t.Fatalf("%+v", dry)
	}
	p := r.back(claude)
	if p.State != gitops.Open || p.Kind != "rollback" || p.Title != "shop: back to shop v1 in staging" || p.Plan.Hash != dry.Plan.Hash || strings.Join(p.Paths, " ") != "shop/staging/deep/blob.bin shop/staging/gone.yaml shop/staging/kustomization.yaml shop/staging/new/more.yaml" {
		t.Fatalf("%+v", p)
	}
	if is, was := r.git("rev-parse", p.Branch+":shop/staging"), r.git("rev-parse", good+":shop/staging"); is != was {
		t.Errorf("the folder is not what it was:\n%s", r.git("diff", good, p.Branch, "--", "shop"))
	}
	if r.git("rev-parse", p.Branch+"^") != newer || r.git("diff", "--name-only", newer, p.Branch, "--", "other", "shop/base") != "" {
		t.Error("it is not made on the newest base, or changes more than the folder")
	}
	if len(p.Evidence) != 1 || !strings.HasPrefix(p.Evidence[0], "health of "+bad[:10]+": degraded: Pod shop-1 is Degraded: CrashLoopBackOff") {
		t.Errorf("%q", p.Evidence)
	}
	o := r.opened[0]
	for _, want := range []string{"orders fail", "`shop/staging` to exactly what it was at `" + good[:10] + "`", "was healthy from", "Deployed now is `" + bad[:10] + "`", "image `ghcr.io/acme/shop`: `v2` → `v1`", "`shop/staging/gone.yaml` is restored", "`shop/staging/new/more.yaml` is removed", "To roll forward again", "CrashLoopBackOff"} {
		if !strings.Contains(o.Body, want) {
			t.Errorf("%q is not in\n%s", want, o.Body)
		}
	}
	if again := r.back(claude); again.ID != p.ID || len(r.opened) != 1 || r.git("rev-list", "--count", newer+".."+p.Branch) != "1" {
		t.Errorf("asked again: %+v", again)
	}
	// It is merged, and well: there is nothing to do any more.
	r.deploy(r.merge(p), "shop:v1", true)
	if done := r.back(claude); done.State != gitops.Unchanged || !strings.Contains(strings.Join(done.Notes, "\n"), "has the same files as") || !strings.Contains(strings.Join(done.Notes, "\n"), "is healthy now") {
		t.Errorf("%+v", done)
	}
	r.git("fsck", "--strict")
}

// TestRollbackAtOnce has several ask at once, on a base that moves meanwhile.
func TestRollbackAtOnce(t *testing.T) {
	r := newRollbackRoom(t)
	good, _ := r.broken()
	r.moves = func() { r.commit(map[string]string{"other/b.yaml": "b: 1\n"}) }
	var wg sync.WaitGroup
	said := make([]string, 9)
	for i := range said {
		wg.Go(func() {
			who := []access.Caller{claude, accesstest.As("user:default/bob"), accesstest.As("user:default/carol", accesstest.Agent("codex"))}[i%3]
			p, err := r.ProposeRollback(t.Context(), who, orders)
			if said[i] = string(fault.CodeOf(err)); err == nil {
				said[i] = p.URL
			}
		})
	}
	wg.Wait()
	if len(r.opened) != 1 || strings.Count(r.git("branch", "--list", "fairlead/*"), "fairlead/") != 1 {
		t.Fatalf("%d pull requests of %q, branches:\n%s", len(r.opened), said, r.git("branch", "--list"))
	}
	for _, s := range said {
		if s != "https://f.test/1" && s != string(fault.Conflict) {
			t.Errorf("somebody was told %q", s)
		}
	}
	p := r.back(claude)
	if r.git("rev-parse", p.Branch+":shop/staging") != r.git("rev-parse", good+":shop/staging") || r.git("merge-base", "main", p.Branch) != r.git("rev-parse", "main") {
		t.Errorf("%+v", p)
	}
	// The folder itself moves: the same proposal is brought up to date.
	r.commit(map[string]string{"shop/staging/late.yaml": "c: 1\n"})
	owner := []access.Caller{claude, accesstest.As("user:default/bob"), accesstest.As("user:default/carol", accesstest.Agent("codex"))}
	for _, who := range owner {
		if who.Subject() == p.Person && who.Agent() == p.Agent {
			if q := r.back(who); q.ID != p.ID || r.git("rev-parse", q.Branch+":shop/staging") != r.git("rev-parse", good+":shop/staging") {
				t.Errorf("%+v", q)
			}
		}
	}
}

// TestRollbackChooses: the newest that was left healthy, however much there was
// since.
func TestRollbackChooses(t *testing.T) {
	for name, c := range map[string]struct {
		tell func(r *rollbackRoom, at []string)
		want int // of the commits, -1 for none
		says string
	}{
		"the one before": {func(r *rollbackRoom, at []string) {
			r.deploy(at[0], "shop:v1", true)
			r.deploy(at[1], "shop:v2", true)
			r.deploy(at[2], "shop:v3", false)
		}, 1, ""},
		"not one that was degraded": {func(r *rollbackRoom, at []string) {
			r.deploy(at[0], "shop:v1", true)
			r.deploy(at[1], "shop:v2", false)
			r.deploy(at[2], "shop:v3", false)
		}, 0, ""},
		"not one that was taken back": {func(r *rollbackRoom, at []string) {
			r.deploy(at[0], "shop:v1", true)
			r.deploy(at[1], "shop:v2", true)
			r.deploy(at[0], "shop:v1", true)
			r.deploy(at[2], "shop:v3", false)
		}, 0, ""},
		"the healthy one before those that nobody saw": {func(r *rollbackRoom, at []string) {
			r.deploy(at[0], "shop:v1", true)
			r.sync(at[1], "shop:v2", true)
			r.deploy(at[2], "shop:v3", false)
		}, 0, ""},
		"one that nobody saw, where there is no other": {func(r *rollbackRoom, at []string) {
			r.sync(at[0], "shop:v1", true)
			r.sync(at[1], "shop:v2", true)
			r.deploy(at[2], "shop:v3", false)
		}, 1, "nobody observed whether"},
		"the sync of the last one failed": {func(r *rollbackRoom, at []string) {
			r.deploy(at[1], "shop:v2", true)
			r.argo.Set(func(s gitopstest.State) {
				s.App.Sync, s.App.Revisions = "OutOfSync", []string{at[2]}
				s.App.Operation = &gitops.Operation{Phase: gitops.OperationFailed, Revision: at[2], StartedAt: r.clock.Add(60e9), FinishedAt: r.clock.Add(70e9), Message: "no such kind"}
			})
			r.look()
		}, 1, ""},
		"Argo CD does not answer": {func(r *rollbackRoom, at []string) {
			r.deploy(at[1], "shop:v2", true)
			r.deploy(at[2], "shop:v3", false)
			r.argo.Set(func(s gitopstest.State) {
				*s.Err = fault.New(fault.Unavailable, "it does not answer")
			})
		}, 1, ""},
		"only degraded ones": {func(r *rollbackRoom, at []string) {
			r.deploy(at[1], "shop:v2", false)
			r.deploy(at[2], "shop:v3", false)
		}, -1, "no earlier revision of component:default/shop in staging that was healthy: before"},
		"none before": {func(r *rollbackRoom, at []string) { r.deploy(at[2], "shop:v3", false) }, -1, "is the first that is known"},
		"nothing":     {func(*rollbackRoom, []string) {}, -1, "nothing is known of what was deployed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRollbackRoom(t)
			var at []string
			for i := range 3 {
				at = append(at, r.commit(map[string]string{"shop/staging/kustomization.yaml": kustomized(fmt.Sprint("v", i+1))}))
			}
			c.tell(r, at)
			if c.want < 0 {
				r.refused(fault.FailedPrecondition, c.says)
				return
			}
			p := r.back(claude)
			if p.State != gitops.Open || r.git("rev-parse", p.Branch+":shop") != r.git("rev-parse", at[c.want]+":shop") || !strings.Contains(strings.Join(p.Notes, "\n"), c.says) || c.says == "" && len(p.Notes) > 0 {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestRollbackOfARollback: where what it was gone back to is degraded, too, an
// older one is taken.
func TestRollbackOfARollback(t *testing.T) {
	r := newRollbackRoom(t)
	oldest := r.commit(map[string]string{"shop/staging/kustomization.yaml": kustomized("v0")})
	r.deploy(oldest, "shop:v0", true)
	r.broken()
	p := r.back(claude)
	head := r.merge(p)
	r.deploy(head, "shop:v1", false)
	q := r.back(claude)
	if q.ID == p.ID || q.State != gitops.Open || r.git("rev-parse", q.Branch+":shop/staging") != r.git("rev-parse", oldest+":shop/staging") {
		t.Errorf("%+v", q)
	}
}

func TestRollbackIsRefused(t *testing.T) {
	large := strings.Repeat("x", 5<<20)
	for name, c := range map[string]struct {
		tell func(r *rollbackRoom, good, bad string)
		says string
	}{
		"fixed to a commit": {func(r *rollbackRoom, _, bad string) {
			r.argo.Set(func(s gitopstest.State) { s.App.Sources[0].Target = bad })
		}, "is fixed to"},
		"fixed to a tag": {func(r *rollbackRoom, _, _ string) {
			r.git("tag", "v1.2.3")
			r.argo.Set(func(s gitopstest.State) { s.App.Sources[0].Target = "v1.2.3" })
		}, "v1.2.3\" of"},
		"a chart": {func(r *rollbackRoom, _, _ string) {
			r.argo.Set(func(s gitopstest.State) {
				s.App.Sources = []gitops.AppSource{{Repository: "https://charts.test", Chart: "shop", Target: "1.2.*"}}
			})
		}, "comes of the chart shop 1.2.*, which is fixed in the Application itself"},
		"a commit that is gone": {func(r *rollbackRoom, good, _ string) {
			r.git("checkout", "-q", "--orphan", "fresh")
			r.git("commit", "-q", "-m", "anew")
			r.git("branch", "-M", "fresh", "main")
			r.git("reflog", "expire", "--expire=now", "--all")
			r.git("gc", "-q", "--prune=now")
		}, "is not in the deploy repository any more"},
		"a link": {func(r *rollbackRoom, _, _ string) {
			if err := os.Symlink("kustomization.yaml", filepath.Join(r.dir, "shop/staging/link")); err != nil {
				t.Fatal(err)
			}
			r.commit(nil)
		}, "git checkout"},
		"5 MB": {func(r *rollbackRoom, _, _ string) { r.commit(map[string]string{"shop/staging/deep/blob.bin": large}) }, "is too large"},
		"many files": {func(r *rollbackRoom, _, _ string) {
			files := map[string]string{}
			for i := range 60 {
				files[fmt.Sprintf("shop/staging/f%d.yaml", i)] = "a: 1\n"
			}
			r.commit(files)
		}, "more than 50"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRollbackRoom(t)
			good, bad := r.broken()
			c.tell(r, good, bad)
			r.refused(fault.FailedPrecondition, c.says)
			if out := r.git("branch", "--list", "fairlead/*"); out != "" {
				t.Errorf("there are branches: %s", out)
			}
		})
	}
	r := newRollbackRoom(t)
	r.broken()
	for says, in := range map[string]gitops.ProposeRollbackInput{"reason is empty": {Service: "shop", Environment: "staging"}, "There is staging, file.": {Service: "shop", Environment: "moon", Reason: "x"}, "nobody": {Service: "nobody", Environment: "staging", Reason: "x"},
		"more than 4000": {Service: "shop", Environment: "staging", Reason: large}} {
		if _, err := r.ProposeRollback(t.Context(), claude, in); err == nil || !strings.Contains(fault.From(err).Message+fault.From(err).Fix, says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := r.ProposeRollback(t.Context(), access.Caller{}, orders); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("nobody: %v", err)
	}
}
