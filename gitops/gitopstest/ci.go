package gitopstest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// FakeCI is a forge with one repository and the checks of its commits.
type FakeCI struct {
	// Repository is its full name.
	Repository string

	mu       sync.Mutex
	refs     map[string]string // branches and tags
	commits  []string
	required []string
	checks   map[string]map[string]gitops.CheckRun // by commit and name
	blind    []string
	err      error
	asked    int
}

// NewFakeCI makes one whose branch main is at a commit.
func NewFakeCI(repository, commit string) *FakeCI {
	return &FakeCI{Repository: repository, refs: map[string]string{"main": commit}, commits: []string{commit}, checks: map[string]map[string]gitops.CheckRun{}}
}

// Ref has a branch or tag be at a commit.
func (f *FakeCI) Ref(name, commit string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refs[name] = commit
	f.commits = append(f.commits, commit)
}

// Report has a check of a commit be so.
func (f *FakeCI) Report(commit string, c gitops.CheckRun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.checks[commit] == nil {
		f.checks[commit] = map[string]gitops.CheckRun{}
	}
	f.checks[commit][c.Name] = c
}

// Require has the default branch ask for checks.
func (f *FakeCI) Require(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.required = names
}

// Fail has every call end in an error, nil for none; blind names what cannot be
// read.
func (f *FakeCI) Fail(err error, blind ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.blind = err, blind
}

// Asked is how often checks were asked for.
func (f *FakeCI) Asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

func (f *FakeCI) may(ctx context.Context, repository string) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f.err != nil:
		return f.err
	case repository != f.Repository:
		return fault.New(fault.NotFound, "there is no repository %s", repository).WithFix("Name another.")
	}
	return nil
}

// Gate tells of main.
func (f *FakeCI) Gate(ctx context.Context, repository string) (*gitops.Gate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(ctx, repository); err != nil {
		return nil, err
	}
	return &gitops.Gate{Branch: "main", Required: slices.Clone(f.required)}, nil
}

// FindCommit knows branches, tags and how ids begin.
func (f *FakeCI) FindCommit(ctx context.Context, repository, revision string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.may(ctx, repository); err != nil {
		return "", err
	}
	if commit, ok := f.refs[revision]; ok {
		return commit, nil
	}
	if i := slices.IndexFunc(f.commits, func(c string) bool { return len(revision) >= 7 && strings.HasPrefix(c, revision) }); i >= 0 {
		return f.commits[i], nil
	}
	return "", fault.New(fault.NotFound, "there is no commit, branch or tag %q in %s", revision, repository).WithFix("Push it.")
}

// CommitChecks are those that were reported.
func (f *FakeCI) CommitChecks(ctx context.Context, repository, commit string) (*gitops.CommitChecks, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if err := f.may(ctx, repository); err != nil {
		return nil, err
	}
	out := &gitops.CommitChecks{Blind: slices.Clone(f.blind)}
	for _, c := range f.checks[commit] {
		out.Checks = append(out.Checks, c)
	}
	return out, nil
}
