package gitops_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// renders is a renderer that says one thing.
type renders struct {
	says  gitops.Rendered
	asked []gitops.Rendering
}

func (r *renders) Render(_ context.Context, in gitops.Rendering) (*gitops.Rendered, error) {
	r.asked = append(r.asked, in)
	return new(r.says), nil
}

func TestWhatIsRendered(t *testing.T) {
	m := &memory{files: map[string]string{"shop/kustomization.yaml": "images: [{name: a/shop, newTag: v1}]\n", "shop/old.yaml": "a: b\n"}, branches: map[string]string{}}
	r := &renders{says: gitops.Rendered{Tool: "kustomize", OK: true, Changed: []string{"Deployment/shop"}, Diff: "--- Deployment/shop\n+++ Deployment/shop\n-a: ```\n+b: AKIAIOSFODNN7EXAMPLE\n", Unstable: []string{"Secret/drawn"}}}
	g := room(t, m, func(c *gitops.Config) { c.Renderer = r })
	who := accesstest.As("alice", accesstest.Agent("claude"))
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v2"}}}
	p, err := g.ProposeChange(t.Context(), who, in)
	if err != nil || p.Rendered == nil || !slices.Equal(p.Rendered.Changed, []string{"Deployment/shop"}) || strings.Contains(p.Rendered.Diff, "AKIAIOSFODNN7EXAMPLE") {
		t.Fatalf("%+v, %v", p, err)
	}
	body := m.opened[0].Body
	for _, want := range []string{"<details><summary>What kustomize renders: 1 changed</summary>", "``````diff\n--- Deployment/shop", "Secret/drawn"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if len(r.asked) != 1 {
		t.Errorf("rendered %d times for one call", len(r.asked))
	}
	asked := r.asked[0]
	text, err := asked.After.Read(t.Context(), "shop/kustomization.yaml")
	if err != nil || !strings.Contains(string(text), "v2") || asked.Dir != "shop" || asked.Environment != "staging" || !slices.Equal(asked.Edited, []string{"shop/kustomization.yaml"}) {
		t.Errorf("asked for %+v: %s", asked, text)
	}
	if names, err := asked.After.List(t.Context(), "shop"); err != nil || !slices.Equal(names, []string{"kustomization.yaml", "old.yaml"}) {
		t.Errorf("%q, %v", names, err)
	}
	kept, err := g.GetProposal(t.Context(), who, gitops.GetProposalInput{ID: p.ID})
	if err != nil || kept.Rendered == nil || kept.Rendered.Diff != p.Rendered.Diff {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	if page, err := g.ListProposals(t.Context(), who, gitops.ListProposalsInput{}); err != nil || page.Items[0].Rendered.Diff != "" || page.Items[0].Rendered.Omitted == 0 {
		t.Errorf("listed: %+v, %v", page, err)
	}
}

func TestRenderingThatFails(t *testing.T) {
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v2"}}}
	for what, c := range map[string]struct {
		says gitops.Rendered
		note string
		want fault.Code
	}{
		"it never did":     {gitops.Rendered{Tool: "helm", Error: "it depends on redis"}, "the manifests could not be rendered: it depends on redis", ""},
		"it does not now":  {gitops.Rendered{Tool: "helm", Error: "nil pointer", Broken: true}, "", fault.FailedPrecondition},
		"nothing comes of": {gitops.Rendered{Tool: "kustomize", OK: true}, "nothing that kustomize renders changes by it", ""},
	} {
		for _, dry := range []bool{true, false} {
			m := &memory{files: map[string]string{"shop/kustomization.yaml": "images: [{name: a/shop, newTag: v1}]\n"}, branches: map[string]string{}}
			g := room(t, m, func(cfg *gitops.Config) { cfg.Renderer = &renders{says: c.says} })
			in.DryRun = dry
			p, err := g.ProposeChange(t.Context(), accesstest.As("alice"), in)
			if c.want != "" {
				if fault.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.says.Error) || len(m.branches) != 0 {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			if err != nil || !slices.Contains(p.Notes, c.note) {
				t.Errorf("%s: %+v, %v", what, p, err)
			}
		}
	}
}
