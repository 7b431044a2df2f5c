package gitopstest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var _ gitops.Forge = (*Forge)(nil)

// FindPull gives the open one of a branch, else the newest.
func (f *Forge) FindPull(ctx context.Context, repository, base, branch string) (*gitops.Pull, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call(ctx, repository); err != nil {
		return nil, err
	}
	var found *gitops.Pull
	for i := range f.pulls {
		if p := &f.pulls[i]; p.Base == base && p.Branch == branch && (found == nil || found.State != gitops.PullOpen) {
			found = p
		}
	}
	if found == nil {
		return nil, nil
	}
	return f.read(ctx, found), nil
}

// OpenPull opens one.
func (f *Forge) OpenPull(ctx context.Context, repository string, n gitops.NewPull) (*gitops.Pull, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call(ctx, repository); err != nil {
		return nil, err
	}
	head, err := run(ctx, f.Dir, "rev-parse", "--verify", "refs/heads/"+n.Branch)
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "there is no branch %s", n.Branch).WithFix("Push it.")
	}
	if slices.ContainsFunc(f.pulls, func(p gitops.Pull) bool {
		return p.Branch == n.Branch && p.Base == n.Base && p.State == gitops.PullOpen
	}) {
		return nil, fault.New(fault.FailedPrecondition, "there is a pull request of %s", n.Branch).WithFix("Use that.")
	}
	number := int64(len(f.pulls) + 1)
	p := gitops.Pull{Number: number, URL: fmt.Sprintf("https://forge.test/%s/pulls/%d", repository, number), Title: n.Title, Body: n.Body, State: gitops.PullOpen, Draft: n.Draft, Author: "fairlead",
		Base: n.Base, Branch: n.Branch, Head: head, Ref: fmt.Sprintf("refs/pull/%d/head", number)}
	f.pulls, f.opened = append(f.pulls, p), append(f.opened, n)
	if err := f.losing; err != nil {
		f.losing = nil
		return nil, err
	}
	out := f.read(ctx, &p)
	for _, who := range n.Reviewers {
		if !slices.Contains(f.People, who) {
			out.Notes = append(out.Notes, who+" is not asked to review: nobody is called so")
		}
	}
	return out, nil
}

// UpdatePull gives one another title and body.
func (f *Forge) UpdatePull(ctx context.Context, repository string, number int64, title, body string) (*gitops.Pull, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pull(ctx, repository, number)
	if err != nil {
		return nil, err
	}
	if title != "" {
		p.Title = title
	}
	if body != "" {
		p.Body = body
	}
	return f.read(ctx, p), nil
}

// GetPull gives one.
func (f *Forge) GetPull(ctx context.Context, repository string, number int64) (*gitops.Pull, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pull(ctx, repository, number)
	if err != nil {
		return nil, err
	}
	return f.read(ctx, p), nil
}

func (f *Forge) pull(ctx context.Context, repository string, number int64) (*gitops.Pull, error) {
	if err := f.call(ctx, repository); err != nil {
		return nil, err
	}
	if number < 1 || number > int64(len(f.pulls)) {
		return nil, fault.New(fault.NotFound, "there is no pull request %d", number).WithFix("Correct the number.")
	}
	return &f.pulls[number-1], nil
}

// read is a pull request as its branches are now.
func (f *Forge) read(ctx context.Context, p *gitops.Pull) *gitops.Pull {
	if p.State == gitops.PullOpen {
		if head, err := run(ctx, f.Dir, "rev-parse", "--verify", "refs/heads/"+p.Branch); err == nil {
			p.Head = head
		}
	}
	out := *p
	out.Checks = slices.Clone(f.checks[p.Head])
	if p.State != gitops.PullOpen {
		return &out
	}
	out.Mergeable = gitops.MergeClean
	switch {
	case out.Blocked != "":
		out.Mergeable = gitops.MergeBlocked
	case p.Draft:
		out.Mergeable, out.Blocked = gitops.MergeBlocked, "draft"
	default:
		if _, err := run(ctx, f.Dir, "merge-tree", "--write-tree", p.Base, p.Head); err != nil {
			out.Mergeable = gitops.MergeConflict
		}
	}
	return &out
}

// OpenPulls lists the open ones, newest first.
func (f *Forge) OpenPulls(ctx context.Context, repository string) (out []gitops.Pull, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.call(ctx, repository); err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(f.pulls) {
		if p.State == gitops.PullOpen {
			out = append(out, p)
		}
	}
	return out, nil
}

// ClosePull closes one without merging it.
func (f *Forge) ClosePull(ctx context.Context, repository string, number int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pull(ctx, repository, number)
	if err == nil {
		p.State = gitops.PullClosed
	}
	return err
}

// ChangedFiles are the paths that one changes.
func (f *Forge) ChangedFiles(ctx context.Context, repository string, number int64) (paths []string, all bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pull(ctx, repository, number)
	if err != nil {
		return nil, false, err
	}
	out, err := run(ctx, f.Dir, "diff", "--name-only", p.Base+"..."+p.Head)
	return strings.Fields(out), true, err
}

// UpsertComment writes the one comment that carries a marker.
func (f *Forge) UpsertComment(ctx context.Context, repository string, number int64, marker, body string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.pull(ctx, repository, number); err != nil {
		return err
	}
	if strings.ContainsAny(marker, " >") {
		return fault.New(fault.Invalid, "the marker %q is no word", marker).WithFix("Use another.")
	}
	all := f.comments[number]
	i := slices.IndexFunc(all, func(c comment) bool { return c.mine == marker })
	text := comment{body + "\n\n<!-- " + marker + " -->", marker}
	switch {
	case body == "" && i >= 0:
		f.comments[number] = slices.Delete(all, i, i+1)
	case body == "":
	case i >= 0:
		all[i] = text
	default:
		f.comments[number] = append(all, text)
	}
	return nil
}
