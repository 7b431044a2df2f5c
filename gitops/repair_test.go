package gitops_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
)

// otherBefore is the file once somebody has changed the line beside.
const otherBefore = "resources: [../base]\nimages:\n  - name: a/shop # ours\n    newTag: v1\n"

// TestRepaired makes anew what is in conflict with the base, twice and no more.
func TestRepaired(t *testing.T) {
	l := newLoop(t)
	p := l.propose(shopTo("v2"))
	l.forge.Push(t, "main", map[string]string{shopFile: otherBefore})
	l.pass(11 * time.Minute)
	got := l.get(p.ID)
	if l.forge.Pull(1).State != gitops.Open || got.State != gitops.Open || l.forge.Read(t, p.Branch, shopFile) != strings.Replace(otherBefore, "v1", "v2", 1) {
		t.Fatalf("made anew: %+v\n%s", got, l.forge.Read(t, p.Branch, shopFile))
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "system:fairlead/proposals made it anew") || !strings.Contains(got.Notes[0], "on behalf of claude for user:default/alice: it was in conflict with the base") {
		t.Errorf("notes: %q", got.Notes)
	}
	if author := l.forge.Author(t, p.Branch); !strings.HasPrefix(author, "alice <") || !strings.Contains(author, "Co-authored-by: claude") {
		t.Errorf("by %s", author)
	}
	if opened, _ := l.forge.Opened(); len(opened) != 1 {
		t.Errorf("%d pull requests", len(opened))
	}
	audited := 0
	for _, e := range l.audit.Entries() {
		if e.Subject == "system:fairlead/proposals" && e.Action == access.ProposeChange && e.Status == access.StatusOK && strings.Contains(e.Input, p.ID) && strings.Contains(e.Input, "claude for user:default/alice") {
			audited++
		}
	}
	if audited != 1 {
		t.Logf("%+v", l.audit.Entries())
		t.Errorf("it is in the audit %d times", audited)
	}
	l.pass(11 * time.Minute)
	if n := len(l.get(p.ID).Notes); n != 1 {
		t.Errorf("made anew without need: %q", l.get(p.ID).Notes)
	}
	for i, comment := range []string{"# theirs", "# everybody's"} {
		l.forge.Push(t, "main", map[string]string{shopFile: strings.Replace(otherBefore, "# ours", comment, 1)})
		l.pass(11 * time.Minute)
		has := strings.Contains(l.forge.Read(t, p.Branch, shopFile), comment)
		if has != (i == 0) {
			t.Errorf("the %dth conflict: %s", i+2, l.forge.Read(t, p.Branch, shopFile))
		}
	}
	got = l.get(p.ID)
	if b := got.Blocking; len(b) == 0 || b[0].What != gitops.BlockedByConflict || !strings.Contains(got.Next, "Ask again with the same key") {
		t.Errorf("blocked by %+v, next %q", b, got.Next)
	}
	if again := l.propose(shopTo("v2")); again.ID != p.ID || !strings.Contains(l.forge.Read(t, p.Branch, shopFile), "everybody's") {
		t.Errorf("asked again: %+v", again)
	}
}

// TestNotRepaired leaves alone what people have pushed to, what would be another
// change by now, and what policy wants more for.
func TestNotRepaired(t *testing.T) {
	approval := `rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: system, effect: approval, who: {subjects: ["system:fairlead/proposals"]}, actions: [gitops.propose], approval: {by: {roles: [sre]}, expires: 1h}}
`
	denied := `rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: none, effect: deny, who: {subjects: ["system:fairlead/proposals"]}, actions: [gitops.propose]}
`
	for name, c := range map[string]struct {
		policy string
		moves  map[string]string // on main
		pushed bool
		draft  bool
		why    string
	}{
		"people have pushed":     {"", map[string]string{shopFile: otherBefore}, true, false, "somebody has pushed to the branch"},
		"another value":          {"", map[string]string{shopFile: strings.Replace(shopBefore, "v1", "v1.5", 1)}, false, false, "images[0].newTag is v1.5 there"},
		"the file is gone":       {"", map[string]string{shopFile: "resources: []\n"}, false, false, "has 0 images"},
		"the policy denies it":   {denied, map[string]string{shopFile: otherBefore}, false, false, `rule "none" denies`},
		"it needs approval":      {approval, map[string]string{shopFile: otherBefore}, false, false, "it needs the approval of role:sre again"},
		"people made it a draft": {"", map[string]string{shopFile: otherBefore}, false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoop(t, func(cfg *gitops.Config) {
				if c.policy != "" {
					cfg.Policy = accesstest.Policy(t, c.policy)
					cfg.Guard, _ = accesstest.Guard(t, cfg.Policy)
				}
			})
			p := l.propose(shopTo("v2"))
			if c.pushed {
				l.forge.Push(t, p.Branch, map[string]string{"theirs.md": "x\n"})
			}
			l.forge.Change(1, func(p *gitops.Pull) { p.Draft = c.draft })
			head := l.forge.Head(t, p.Branch)
			l.forge.Push(t, "main", c.moves)
			for range 3 {
				l.pass(11 * time.Minute)
			}
			got := l.get(p.ID)
			if l.forge.Head(t, p.Branch) != head {
				t.Errorf("it was made anew: %+v", got)
			}
			if c.why == "" {
				if len(got.Notes) > 0 || got.Blocking[0].What != gitops.BlockedByDraft {
					t.Errorf("%q %+v", got.Notes, got.Blocking)
				}
				return
			}
			if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], c.why) || !slices.ContainsFunc(got.Blocking, func(b gitops.Blocker) bool {
				return (b.What == gitops.BlockedByApproval) == (c.policy != "") && strings.Contains(b.Detail, c.why)
			}) {
				t.Errorf("%q %+v", got.Notes, got.Blocking)
			}
		})
	}
}

// TestBlocking names what keeps a proposal from being merged, and what to do.
func TestBlocking(t *testing.T) {
	l := newLoop(t)
	p := l.propose(shopTo("v2"))
	look := func() (what string, got *gitops.Proposal) {
		t.Helper()
		l.pass(11 * time.Minute)
		got = l.get(p.ID)
		words := []string{}
		for _, b := range got.Blocking {
			words = append(words, b.What)
			if b.Detail == "" || b.Next == "" {
				t.Errorf("%+v says too little", b)
			}
		}
		return strings.Join(words, " "), got
	}
	if what, got := look(); what != "review" || !strings.Contains(got.Blocking[0].Detail, "asked to review: crew") || got.Blocking[0].Since.IsZero() {
		t.Errorf("%s: %+v", what, got.Blocking)
	}
	l.forge.Check(t, l.forge.Head(t, p.Branch), "lint", gitops.CheckFailed)
	l.forge.Check(t, l.forge.Head(t, p.Branch), "test", gitops.CheckPending)
	l.forge.Change(1, func(p *gitops.Pull) { p.Rejected = []string{"rita"} })
	if what, got := look(); what != "checks review" || got.Blocking[0].Detail != "failed: lint https://ci.test/lint" || !strings.Contains(got.Blocking[1].Detail, "asked for by rita") || !strings.HasPrefix(got.Next, "Look at why the checks failed") {
		t.Errorf("%s: %+v", what, got.Blocking)
	}
	l.forge.Check(t, l.forge.Head(t, p.Branch), "lint", gitops.CheckPassed)
	l.forge.Change(1, func(p *gitops.Pull) { p.Rejected, p.Approved, p.Draft = nil, []string{"rita"}, true })
	if what, got := look(); what != "draft" || !strings.Contains(got.Next, "ready") {
		t.Errorf("%s: %+v", what, got.Blocking)
	}
	l.forge.Change(1, func(p *gitops.Pull) { p.Draft = false })
	if what, got := look(); what != "" || got.Next != "Wait for people to merge it." {
		t.Errorf("%s: %q", what, got.Next)
	}
	l.pass(0)
}
