package gitopstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// CISubject is a forge under test, with a repository whose default branch is
// main, whose branch feature/x is one commit further, and whose tag v1 is on
// main.
type CISubject struct {
	CI         gitops.CI
	Repository string
	// Main and Feature are the commits.
	Main, Feature string
	// Report has somebody report one of the states of a check of a commit; it has
	// the page https://ci.example.com/NAME.
	Report func(t *testing.T, commit, name, state string)
	// Require has main ask for checks, and gives what it then asks for.
	Require func(t *testing.T, names ...string) gitops.Gate
	// Break has a job of a workflow or pipeline fail on a commit, in a step whose
	// name it gives, and say "expected 3, got 4"; nil where there are none.
	Break func(t *testing.T, commit string) (check, step string)
}

// CIContract holds a forge to what the room relies on.
func CIContract(t *testing.T, s CISubject) {
	t.Run("finds commits", func(t *testing.T) { findsCommits(t, &s) })
	t.Run("tells what is required", func(t *testing.T) { tellsGate(t, &s) })
	t.Run("tells what ran", func(t *testing.T) { tellsChecks(t, &s) })
	if s.Break != nil {
		t.Run("tells what failed", func(t *testing.T) { tellsFailure(t, &s) })
	}
	t.Run("knows what is not there", func(t *testing.T) { tellsOfNothing(t, &s) })
}

func findsCommits(t *testing.T, s *CISubject) {
	for revision, want := range map[string]string{"main": s.Main, "feature/x": s.Feature, "v1": s.Main, s.Feature: s.Feature, s.Main[:8]: s.Main} {
		if got, err := s.CI.FindCommit(t.Context(), s.Repository, revision); got != want || err != nil {
			t.Errorf("%s is %s, not %s: %v", revision, got, want, err)
		}
	}
	for _, revision := range []string{"no-such-branch", "feature/none", strings.Repeat("0", 39) + "1"} {
		got, err := s.CI.FindCommit(t.Context(), s.Repository, revision)
		if fault.CodeOf(err) != fault.NotFound || fault.From(err).Fix == "" {
			t.Errorf("%s is %q, %v", revision, got, err)
		}
	}
}

func tellsGate(t *testing.T, s *CISubject) {
	g, err := s.CI.Gate(t.Context(), s.Repository)
	if err != nil || g.Branch != "main" || len(g.Required) > 0 || g.All {
		t.Errorf("before anything is required: %+v, %v", g, err)
	}
	want := s.Require(t, "lint", "unit")
	if g, err = s.CI.Gate(t.Context(), s.Repository); err != nil {
		t.Fatal(err)
	}
	slices.Sort(g.Required)
	if d := cmp.Diff(&want, g); d != "" {
		t.Errorf("required (-want +got):\n%s", d)
	}
}

// checks are those of a commit by name.
func (s *CISubject) checks(t *testing.T, commit string) map[string]gitops.CheckRun {
	t.Helper()
	found, err := s.CI.CommitChecks(t.Context(), s.Repository, commit)
	if err != nil || len(found.Blind) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	out := map[string]gitops.CheckRun{}
	for _, c := range found.Checks {
		if _, twice := out[c.Name]; twice {
			t.Errorf("%s is there twice: %+v", c.Name, found.Checks)
		}
		out[c.Name] = c
	}
	return out
}

func tellsChecks(t *testing.T, s *CISubject) {
	if found := s.checks(t, s.Feature); len(found) > 0 {
		t.Fatalf("before anything ran: %+v", found)
	}
	s.Report(t, s.Feature, "lint", gitops.CheckFailed)
	s.Report(t, s.Feature, "unit", gitops.CheckPending)
	s.Report(t, s.Feature, "lint", gitops.CheckPassed)
	s.Report(t, s.Feature, "e2e/chrome", gitops.CheckFailed)
	found := s.checks(t, s.Feature)
	states := map[string]string{}
	for name, c := range found {
		states[name] = c.State
		if c.URL != "https://ci.example.com/"+name {
			t.Errorf("the page of %s is %q", name, c.URL)
		}
		if over := c.State != gitops.CheckPending; over == c.FinishedAt.IsZero() || over && (c.FinishedAt.Before(c.StartedAt) || time.Since(c.FinishedAt) > 24*time.Hour) {
			t.Errorf("%s began %s and ended %s", name, c.StartedAt, c.FinishedAt)
		}
	}
	if d := cmp.Diff(map[string]string{"lint": gitops.CheckPassed, "unit": gitops.CheckPending, "e2e/chrome": gitops.CheckFailed}, states); d != "" {
		t.Errorf("states (-want +got):\n%s", d)
	}
	if main := s.checks(t, s.Main); len(main) > 0 {
		t.Errorf("another commit has %+v", main)
	}
}

func tellsFailure(t *testing.T, s *CISubject) {
	check, step := s.Break(t, s.Main)
	c, ok := s.checks(t, s.Main)[check]
	switch {
	case !ok || c.State != gitops.CheckFailed:
		t.Fatalf("%s is %+v", check, c)
	case !slices.Contains(c.Failed, step):
		t.Errorf("failed: %q, not %q", c.Failed, step)
	case !strings.Contains(strings.Join(c.Detail, "\n"), "expected 3, got 4"):
		t.Errorf("it says %q", c.Detail)
	case c.Run == "" || c.URL == "" || c.FinishedAt.IsZero():
		t.Errorf("%+v of the run %q", c, c.Run)
	}
}

func tellsOfNothing(t *testing.T, s *CISubject) {
	if g, err := s.CI.Gate(t.Context(), s.Repository+"-none"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a repository that is not there: %+v, %v", g, err)
	}
	if _, err := s.CI.FindCommit(t.Context(), s.Repository+"-none", "main"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("its commit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.CI.CommitChecks(ctx, s.Repository, s.Main); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
