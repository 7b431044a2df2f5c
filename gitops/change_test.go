package gitops_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/store"
)

// memory is one repository, and its forge, in memory.
type memory struct {
	mu       sync.Mutex
	files    map[string]string
	branches map[string]string
	pulls    []gitops.Pull
	opened   []gitops.NewPull
	down     bool
}

func (m *memory) Locate(*catalog.Entity) (gitops.Place, error) { return gitops.Place{}, nil }

func (m *memory) Named(repository, _ string) (gitops.Place, error) {
	return gitops.Place{Repository: repository, Forge: "f", Name: "acme/deploy"}, nil
}

func (m *memory) Open(context.Context, gitops.Place) (gitops.Repository, gitops.Base, error) {
	return m, gitops.Base{Branch: "main", Commit: "base"}, nil
}

func (m *memory) Read(_ context.Context, p string) ([]byte, error) {
	if text, ok := m.files[p]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("%s: %w", p, gitops.ErrNoFile)
}

func (m *memory) List(_ context.Context, dir string) (out []string, err error) {
	for p := range m.files {
		if path.Dir(p) == dir {
			out = append(out, path.Base(p))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (m *memory) Below(_ context.Context, dir string) (out []gitops.Entry, err error) {
	for p, text := range m.files {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			out = append(out, gitops.Entry{Path: p, ID: text})
		}
	}
	return out, nil
}

func (m *memory) At(context.Context, gitops.Place, string) (gitops.Past, error) {
	return nil, gitops.ErrNoCommit
}

func (m *memory) Head(_ context.Context, branch string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.branches[branch], nil
}

func (m *memory) Push(_ context.Context, p gitops.Push) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.branches[p.Branch] != p.Expected {
		return "", gitops.ErrMoved
	}
	sum := sha256.Sum256([]byte(p.Message + string(p.Files[0].Data)))
	m.branches[p.Branch] = hex.EncodeToString(sum[:20])
	return m.branches[p.Branch], nil
}

func (m *memory) FindPull(_ context.Context, _, _, branch string) (*gitops.Pull, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, fault.New(fault.Unavailable, "the forge is down").WithFix("Wait.")
	}
	for i := range m.pulls {
		if m.pulls[i].Branch == branch {
			return new(m.pulls[i]), nil
		}
	}
	return nil, nil
}

func (m *memory) OpenPull(_ context.Context, _ string, p gitops.NewPull) (*gitops.Pull, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened = append(m.opened, p)
	m.pulls = append(m.pulls, gitops.Pull{Number: int64(len(m.pulls) + 1), URL: "https://f.test/1", State: gitops.PullOpen, Base: p.Base, Branch: p.Branch})
	return new(m.pulls[len(m.pulls)-1]), nil
}

func (m *memory) UpdatePull(ctx context.Context, r string, n int64, _, _ string) (*gitops.Pull, error) {
	return m.GetPull(ctx, r, n)
}

func (m *memory) GetPull(_ context.Context, _ string, n int64) (*gitops.Pull, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return new(m.pulls[n-1]), nil
}

func room(t *testing.T, m *memory, with ...func(*gitops.Config)) *gitops.Service {
	t.Helper()
	docs := []string{"kind: Component\nmetadata: {name: shop}\nspec: {type: service, lifecycle: production, owner: team, fairlead: {deployRepo: 'https://f.test/acme/deploy', environments: [{name: staging, path: shop}]}}",
		"kind: Group\nmetadata: {name: team, annotations: {f.test/team-slug: acme/crew}}\nspec: {type: team, children: []}",
		"kind: User\nmetadata: {name: bob, annotations: {f.test/user-login: bobby}}\nspec: {memberOf: [team]}"}
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	guard, _ := accesstest.Guard(t, accesstest.OpenPolicy())
	cfg := gitops.Config{Policy: accesstest.OpenPolicy(), Guard: guard, Catalog: catalogtest.New(t, docs...), Repositories: m, Forges: map[string]gitops.Forge{"f": m}, Records: s, Reads: s,
		Mail: func(name string) string { return name + "@f.test" }}
	for _, more := range with {
		more(&cfg)
	}
	g, err := gitops.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOneProposalWhateverHappens(t *testing.T) {
	m := &memory{files: map[string]string{"shop/kustomization.yaml": "images:\n- name: a/shop\n  newTag: v1\n- {name: a/side, newTag: v1}\n", "shop/values.yaml": "x: 1\n"}, branches: map[string]string{}, down: true}
	g := room(t, m)
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Name: "shop", Tag: "v2"}}}
	who := accesstest.As("alice", accesstest.Agent("claude"))
	if _, err := g.ProposeChange(t.Context(), who, in); fault.CodeOf(err) != fault.Unavailable {
		t.Fatalf("with the forge down: %v", err)
	}
	m.down = false
	var wg sync.WaitGroup
	seen := make([]string, 8)
	for i := range seen {
		wg.Go(func() { // the agent again, and others who want the same at once
			caller := []access.Caller{who, accesstest.As("bob"), accesstest.As("carol", accesstest.Agent("codex"))}[i%3]
			p, err := g.ProposeChange(t.Context(), caller, in)
			if seen[i] = fmt.Sprint(fault.CodeOf(err)); err == nil {
				seen[i] = p.URL
			}
		})
	}
	wg.Wait()
	if len(m.opened) != 1 || len(m.branches) != 1 || !slices.Contains(seen, "https://f.test/1") {
		t.Fatalf("%d pull requests, %d branches: %q", len(m.opened), len(m.branches), seen)
	}
	for _, s := range seen {
		if s != "https://f.test/1" && s != string(fault.Conflict) {
			t.Errorf("somebody was told %q", s)
		}
	}
	if o := m.opened[0]; o.Title != "shop: a/shop v2 in staging" || strings.Join(o.Teams, " ") != "crew" || len(o.Reviewers) != 0 || !strings.Contains(o.Body, "`v1` → `v2`") {
		t.Errorf("%+v", o)
	}
	// Another image is another matter; two images need a name.
	in.Change.Image.Name = "a/side"
	if p, err := g.ProposeChange(t.Context(), who, in); err != nil || p.State != gitops.Open || len(m.opened) != 2 {
		t.Errorf("another image: %+v %v", p, err)
	}
	m.files["shop/kustomization.yaml"] += "- {name: b/shop, newTag: v1}\n"
	in.Change.Image.Name = "shop"
	if _, err := g.ProposeChange(t.Context(), who, in); err == nil || !strings.Contains(fault.From(err).Fix, "a/shop, b/shop") {
		t.Errorf("a name that fits two: %v", err)
	}
	in.Change.Image.Name = ""
	if _, err := g.ProposeChange(t.Context(), who, in); err == nil || !strings.Contains(fault.From(err).Fix, "a/shop, a/side, b/shop") {
		t.Errorf("without a name: %v", err)
	}
}

func TestPlanThatWasShown(t *testing.T) {
	m := &memory{files: map[string]string{"shop/kustomization.yaml": "images:\n- name: a/shop\n  newTag: v1\n"}, branches: map[string]string{}}
	g := room(t, m)
	in := gitops.ProposeChangeInput{Service: "shop", Environment: "staging", Reason: "why", Change: gitops.Change{Image: &gitops.ImageChange{Tag: "v2"}}, DryRun: true}
	who := accesstest.As("alice")
	shown, err := g.ProposeChange(t.Context(), who, in)
	if err != nil {
		t.Fatal(err)
	}
	in.DryRun, in.PlanHash = false, shown.Plan.Hash
	m.files["shop/kustomization.yaml"] += "# more\n" // somebody else's
	_, err = g.ProposeChange(t.Context(), who, in)
	if f := fault.From(err); fault.CodeOf(err) != fault.Conflict || f.Fix == "" || f.Details["planHash"] == shown.Plan.Hash || len(m.branches) != 0 {
		t.Fatalf("another plan: %v, %v", err, m.branches)
	}
	m.files["shop/kustomization.yaml"] = "images:\n- name: a/shop\n  newTag: v1\n"
	p, err := g.ProposeChange(t.Context(), who, in)
	if err != nil || p.State != gitops.Open || p.Plan.Hash != shown.Plan.Hash {
		t.Fatalf("the plan that was shown: %+v %v", p, err)
	}
	if again, err := g.ProposeChange(t.Context(), who, in); err != nil || again.ID != p.ID || len(m.opened) != 1 {
		t.Errorf("once more: %+v %v", again, err)
	}
}
