// Package forgetest holds what every forge's client has to do, as tests that
// run against a real host or one that behaves as recorded.
package forgetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Client is what is tested.
type Client interface {
	gitops.Forge
	forge.Commenter
}

// Host is a host with one repository whose branch main holds something, and
// what people do there.
type Host struct {
	// Client is the one under test.
	Client Client
	// Repository is the full name.
	Repository string
	// Branch makes a branch with one commit more than main and gives that.
	Branch func(t *testing.T, name string) string
	// Merge merges a pull request.
	Merge func(t *testing.T, number int64)
	// Check reports one of the check states for a commit.
	Check func(t *testing.T, commit, name, state string)
	// Approve has somebody else approve.
	Approve func(t *testing.T, number int64)
	// Comment has somebody else comment.
	Comment func(t *testing.T, number int64, body string)
	// Comments are the texts of all comments, in order.
	Comments func(t *testing.T, number int64) []string
	// Reviewer is somebody who may be asked to review; Approver who Approve is.
	Reviewer, Approver string
}

// Run runs the tests.
func Run(t *testing.T, h Host) {
	t.Run("opened, found and merged", func(t *testing.T) { opened(t, h) })
	t.Run("closed and opened again", func(t *testing.T) { closed(t, h) })
	t.Run("draft", func(t *testing.T) { draft(t, h) })
	t.Run("refused", func(t *testing.T) { refused(t, h) })
	t.Run("comments", func(t *testing.T) { comments(t, h) })
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (h Host) open(t *testing.T, branch string, change func(*gitops.NewPull)) *gitops.Pull {
	t.Helper()
	p := gitops.NewPull{Title: "Say how to restart " + branch, Body: "Because it was asked.\n\n- evidence", Base: "main", Branch: branch}
	if change != nil {
		change(&p)
	}
	return must[*gitops.Pull](t)(h.Client.OpenPull(t.Context(), h.Repository, p))
}

func opened(t *testing.T, h Host) {
	ctx := t.Context()
	head := h.Branch(t, "fairlead/restart")
	found := must[*gitops.Pull](t)(h.Client.FindPull(ctx, h.Repository, "main", "fairlead/restart"))
	if found != nil {
		t.Fatalf("found %+v before there is one", found)
	}
	p := h.open(t, "fairlead/restart", func(p *gitops.NewPull) {
		p.Labels, p.Reviewers = []string{"fairlead", "docs"}, []string{h.Reviewer, "nobody-of-that-name"}
	})
	check(t, "opened", []any{p.State, p.Base, p.Branch, p.Head, p.Title, p.Draft, p.Merged}, []any{gitops.PullOpen, "main", "fairlead/restart", head, "Say how to restart fairlead/restart", false, ""})
	if p.Number == 0 || p.Author == "" || p.Fork || !strings.Contains(p.Ref, "/") || !strings.HasPrefix(p.URL, "http") || !strings.Contains(p.Body, "- evidence") {
		t.Errorf("opened %+v", p)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "nobody-of-that-name is not asked to review") {
		t.Errorf("notes %q", p.Notes)
	}
	found = must[*gitops.Pull](t)(h.Client.FindPull(ctx, h.Repository, "main", "fairlead/restart"))
	if found == nil || found.Number != p.Number {
		t.Fatalf("found %+v", found)
	}
	p = must[*gitops.Pull](t)(h.Client.UpdatePull(ctx, h.Repository, p.Number, "Say it better", "Another reason."))
	check(t, "updated", []any{p.Title, strings.TrimSpace(p.Body), p.State}, []any{"Say it better", "Another reason.", gitops.PullOpen})
	p = must[*gitops.Pull](t)(h.Client.UpdatePull(ctx, h.Repository, p.Number, "", "Yet another."))
	check(t, "body alone", []any{p.Title, strings.TrimSpace(p.Body)}, []any{"Say it better", "Yet another."})

	h.Check(t, head, "lint", gitops.CheckFailed)
	h.Check(t, head, "test", gitops.CheckPending)
	h.Check(t, head, "lint", gitops.CheckPassed)
	h.Approve(t, p.Number)
	p = must[*gitops.Pull](t)(h.Client.GetPull(ctx, h.Repository, p.Number))
	for i := range p.Checks {
		p.Checks[i].URL = ""
	}
	check(t, "checks", p.Checks, []gitops.Check{{Name: "lint", State: gitops.CheckPassed}, {Name: "test", State: gitops.CheckPending}})
	check(t, "approved", p.Approved, []string{h.Approver})
	if !slices.Contains([]string{gitops.MergeClean, gitops.MergeUnknown}, p.Mergeable) {
		t.Errorf("mergeable: %q %q", p.Mergeable, p.Blocked)
	}
	h.Merge(t, p.Number)
	p = must[*gitops.Pull](t)(h.Client.GetPull(ctx, h.Repository, p.Number))
	if p.State != gitops.PullMerged || len(p.Merged) != 40 || p.Ended.IsZero() || p.Mergeable != "" {
		t.Errorf("merged: %+v", p)
	}
	found = must[*gitops.Pull](t)(h.Client.FindPull(ctx, h.Repository, "main", "fairlead/restart"))
	check(t, "found merged", []any{found.Number, found.State}, []any{p.Number, gitops.PullMerged})
}

func closed(t *testing.T, h Host) {
	ctx := t.Context()
	h.Branch(t, "again")
	first := h.open(t, "again", nil)
	if err := h.Client.ClosePull(ctx, h.Repository, first.Number); err != nil {
		t.Fatal(err)
	}
	found := must[*gitops.Pull](t)(h.Client.FindPull(ctx, h.Repository, "main", "again"))
	check(t, "closed", []any{found.Number, found.State, found.Merged}, []any{first.Number, gitops.PullClosed, ""})
	second := h.open(t, "again", nil)
	found = must[*gitops.Pull](t)(h.Client.FindPull(ctx, h.Repository, "main", "again"))
	check(t, "the open one", []any{found.Number, found.State}, []any{second.Number, gitops.PullOpen})
	listed := must[[]gitops.Pull](t)(h.Client.OpenPulls(ctx, h.Repository))
	numbers := map[int64]bool{}
	for _, p := range listed {
		numbers[p.Number] = true
	}
	check(t, "listed", []bool{numbers[first.Number], numbers[second.Number]}, []bool{false, true})
	files, all, err := h.Client.ChangedFiles(ctx, h.Repository, second.Number)
	check(t, "files", []any{len(files) > 0, all, err}, []any{true, true, error(nil)})
}

func draft(t *testing.T, h Host) {
	h.Branch(t, "drafted")
	p := h.open(t, "drafted", func(p *gitops.NewPull) { p.Draft = true })
	check(t, "draft", []any{p.Draft, p.Title}, []any{true, "Say how to restart drafted"})
	p = must[*gitops.Pull](t)(h.Client.UpdatePull(t.Context(), h.Repository, p.Number, "Say more", ""))
	check(t, "still a draft", []any{p.Draft, p.Title}, []any{true, "Say more"})
	p = must[*gitops.Pull](t)(h.Client.GetPull(t.Context(), h.Repository, p.Number))
	check(t, "blocked", p.Mergeable, gitops.MergeBlocked)
}

func refused(t *testing.T, h Host) {
	ctx := t.Context()
	h.Branch(t, "twice")
	h.open(t, "twice", nil)
	p := gitops.NewPull{Title: "t", Body: "b", Base: "main", Branch: "twice"}
	_, err := h.Client.OpenPull(ctx, h.Repository, p)
	wantFault(t, "a second one", err, fault.FailedPrecondition)
	p.Branch = "never-pushed"
	if _, err = h.Client.OpenPull(ctx, h.Repository, p); err == nil {
		t.Error("a branch that is not there has a pull request")
	}
	_, err = h.Client.GetPull(ctx, h.Repository, 99999)
	wantFault(t, "a number that is none", err, fault.NotFound)
	_, err = h.Client.FindPull(ctx, "nobody", "main", "x")
	wantFault(t, "a name that is none", err, fault.Invalid)
	_, err = h.Client.OpenPulls(ctx, h.Repository+"-gone")
	wantFault(t, "a repository that is not there", err, fault.NotFound)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Client.GetPull(ended, h.Repository, 1); err == nil {
		t.Error("answered after the caller had gone")
	}
}

func wantFault(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != code || fault.From(err).Fix == "" {
		t.Errorf("%s: %v", what, err)
	}
}

func comments(t *testing.T, h Host) {
	ctx := t.Context()
	h.Branch(t, "commented")
	p := h.open(t, "commented", nil)
	const marker, hidden = "fairlead:preview:1", "<!-- fairlead:preview:1 -->"
	h.Comment(t, p.Number, "nice\n\n"+hidden) // somebody else's stays theirs
	say := func(body string) {
		t.Helper()
		if err := h.Client.UpsertComment(ctx, h.Repository, p.Number, marker, body); err != nil {
			t.Fatal(err)
		}
	}
	say("pending")
	say("pending")
	check(t, "said once", h.Comments(t, p.Number), []string{"nice\n\n" + hidden, "pending\n\n" + hidden})
	say("ready at http://x.example.com")
	check(t, "kept up to date", h.Comments(t, p.Number), []string{"nice\n\n" + hidden, "ready at http://x.example.com\n\n" + hidden})
	if err := h.Client.UpsertComment(ctx, h.Repository, p.Number, "other", "another"); err != nil {
		t.Fatal(err)
	}
	say("")
	check(t, "removed", h.Comments(t, p.Number), []string{"nice\n\n" + hidden, "another\n\n<!-- other -->"})
	wantFault(t, "a marker that ends the comment", h.Client.UpsertComment(ctx, h.Repository, p.Number, "a --> b", "x"), fault.Invalid)
}
