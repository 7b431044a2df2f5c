package gitops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var bob = accesstest.As("user:default/bob", accesstest.Agent("codex"))

// TestRollbackBesideAChange: an open change to the same file does not stand
// against going back, and who proposed it is told, once.
func TestRollbackBesideAChange(t *testing.T) {
	r := newRollbackRoom(t)
	r.broken()
	tag := func(tag string) *gitops.Proposal {
		p, err := r.ProposeChange(t.Context(), bob, gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "newer", Change: gitops.Change{Image: &gitops.ImageChange{Tag: tag}}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	other := tag("v3")
	p := r.back(claude)
	if p.State != gitops.Open || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "proposal "+other.ID+", which is open, changes the same files; who proposed it is told") {
		t.Fatalf("%+v", p)
	}
	r.back(claude)
	told, err := r.GetProposal(t.Context(), bob, gitops.GetProposalInput{ID: other.ID})
	if err != nil || len(told.Notes) != 1 || !strings.HasPrefix(told.Notes[0], "rollback "+p.ID+" takes staging of shop back to ") {
		t.Errorf("%q %v", told.Notes, err)
	}
	if len(r.said) != 1 || !strings.HasPrefix(r.said[0], "1: **Rollback "+p.ID) || !strings.HasSuffix(r.said[0], p.URL) {
		t.Errorf("%q", r.said)
	}
	if again := tag("v3"); again.ID != other.ID {
		t.Errorf("%+v", again)
	}
}

// TestTakenBackByPeople: a way back, and a change, that people have reverted
// after they were merged are not proposed again, by nobody, unless with a key.
func TestTakenBackByPeople(t *testing.T) {
	r := newRollbackRoom(t)
	r.broken()
	p := r.back(claude)
	head := r.merge(p)
	r.deploy(head, "shop:v1", true)
	r.git("revert", "-m", "1", "--no-edit", head)
	r.deploy(r.git("rev-parse", "HEAD"), "shop:v2", false)
	held := func(err error) bool {
		return fault.CodeOf(err) == fault.FailedPrecondition && strings.Contains(fault.From(err).Message, p.ID+" made exactly this change, was merged, and has been taken back since")
	}
	if q, err := r.ProposeRollback(t.Context(), claude, orders); !held(err) {
		t.Errorf("%+v %v", q, err)
	}
	if q, err := r.ProposeRollback(t.Context(), bob, orders); !held(err) {
		t.Errorf("of somebody else: %+v %v", q, err)
	}
	if q := r.back(bob, func(in *gitops.ProposeRollbackInput) { in.Key = "all the same" }); q.State != gitops.Open {
		t.Errorf("%+v", q)
	}

	change := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "newer", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v3"}}}
	c, err := r.ProposeChange(t.Context(), bob, change)
	if err != nil {
		t.Fatal(err)
	}
	p = c
	head = r.merge(c)
	if _, err := r.GetProposal(t.Context(), bob, gitops.GetProposalInput{ID: c.ID}); err != nil {
		t.Fatal(err)
	}
	r.git("revert", "-m", "1", "--no-edit", head)
	if q, err := r.ProposeChange(t.Context(), claude, change); !held(err) {
		t.Errorf("a change that was reverted, of somebody else: %+v %v", q, err)
	}
	if q, err := r.ProposeChange(t.Context(), bob, change); !held(err) {
		t.Errorf("by who had proposed it: %+v %v", q, err)
	}
	// What went on from there is another matter, to both.
	r.commit(map[string]string{"shop/staging/kustomization.yaml": kustomized("v4")})
	for _, who := range []access.Caller{claude, bob} {
		if q, err := r.ProposeChange(t.Context(), who, change); err != nil || q.State != gitops.Open {
			t.Errorf("%+v %v", q, err)
		}
	}
}

// TestRollbackAndItsBases: what the environment is made of elsewhere stays, and
// is named where it has changed.
func TestRollbackAndItsBases(t *testing.T) {
	r := newRollbackRoom(t)
	good, _ := r.broken()
	r.commit(map[string]string{"shop/base/web.yaml": "kind: Deployment\nspec: {replicas: 2}\n", "shop/base/kustomization.yaml": "resources: [web.yaml, ../common]\n", "shop/common/kustomization.yaml": "resources: [c.yaml]\n", "shop/common/c.yaml": "a: 1\n"})
	p := r.back(claude)
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "stays as it is now, as others may share it: shop/base/kustomization.yaml, shop/base/web.yaml, shop/common/c.yaml, shop/common/kustomization.yaml") {
		t.Errorf("%q", p.Notes)
	}
	if r.git("rev-parse", p.Branch+":shop/staging") != r.git("rev-parse", good+":shop/staging") || r.git("diff", "--name-only", "main", p.Branch, "--", "shop/base", "shop/common") != "" {
		t.Error("more than the folder is changed")
	}
}

// TestRollbackOfOneFile: an environment may be one file.
func TestRollbackOfOneFile(t *testing.T) {
	r := newRollbackRoom(t)
	r.argo.Set(func(s gitopstest.State) { s.App.Sources[0].Path = "." })
	good := r.commit(map[string]string{"one.yaml": "a: 1\r\n", "two.yaml": "b: 1\n"})
	bad := r.commit(map[string]string{"one.yaml": "a: 2\n", "two.yaml": "b: 2\n"})
	for i, revision := range []string{good, bad} {
		r.sync(revision, "shop:v1", i == 0)
		if _, err := r.health.GetDeploymentHealth(t.Context(), alice, gitops.GetDeploymentHealthInput{Service: "shop", Environment: "file"}); err != nil {
			t.Fatal(err)
		}
	}
	p := r.back(claude, func(in *gitops.ProposeRollbackInput) { in.Environment = "file" })
	if strings.Join(p.Paths, " ") != "one.yaml" || r.git("rev-parse", p.Branch+":one.yaml") != r.git("rev-parse", good+":one.yaml") {
		t.Errorf("%+v", p)
	}
}

// TestRollbackOfMany: the text of a pull request tells how much it leaves out.
func TestRollbackOfMany(t *testing.T) {
	r := newRollbackRoom(t)
	r.broken()
	more := map[string]string{}
	for i := range 46 { // with the others as many files as may differ
		more[fmt.Sprintf("shop/staging/new/%02d.yaml", i)] = "c: 3\n"
	}
	r.deploy(r.commit(more), "shop:v2", false)
	r.back(claude)
	if body := r.opened[0].Body; !strings.Contains(body, "\n- and 1 more\n") { // an image, 3 restored, 47 removed
		t.Error(body)
	}
}
