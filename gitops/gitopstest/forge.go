package gitopstest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Forge is a forge of one repository, a bare one of Git on disk, that passes
// the contract of the real ones. What people do there are its methods that take
// a test.
type Forge struct {
	// Dir is where the repository is, Repository its full name.
	Dir, Repository string
	// People may be asked to review.
	People []string

	mu       sync.Mutex
	pulls    []gitops.Pull
	comments map[int64][]comment
	checks   map[string][]gitops.Check
	opened   []gitops.NewPull
	err      error
	calls    int
	losing   error
}

type comment struct{ body, mine string }

// NewForge makes one whose branch main holds files.
func NewForge(t testing.TB, files map[string]string) *Forge {
	t.Helper()
	f := &Forge{Dir: filepath.Join(t.TempDir(), "deploy.git"), Repository: "acme/deploy", comments: map[int64][]comment{}, checks: map[string][]gitops.Check{}}
	f.git(t, "", "init", "-q", "--bare", "-b", "main", f.Dir)
	f.git(t, f.Dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	f.Push(t, "main", files)
	return f
}

// git runs git in a folder.
func (f *Forge) git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func run(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := command(ctx, dir, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // tests alone name what it runs
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@example.com", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@example.com")
	return cmd
}

// Push has somebody push a commit to a branch, which is made of main where it is
// not there. It gives the commit.
func (f *Forge) Push(t testing.TB, branch string, files map[string]string) string {
	t.Helper()
	var in strings.Builder
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter P <p@example.com> %d +0000\ndata 6\nChange\n", branch, time.Now().Unix())
	for _, from := range []string{branch, "main"} {
		if head, err := run(t.Context(), f.Dir, "rev-parse", "--verify", "-q", "refs/heads/"+from); err == nil {
			fmt.Fprintf(&in, "from %s\n", head)
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
	}
	cmd := command(t.Context(), f.Dir, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("pushing to %s: %v\n%s", branch, err, out)
	}
	return f.Head(t, branch)
}

// Read is a file of a branch or commit.
func (f *Forge) Read(t testing.TB, revision, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", f.Dir, "show", revision+":"+path).Output() //nolint:gosec // tests alone name what it reads
	if err != nil {
		t.Fatalf("reading %s of %s: %v", path, revision, err)
	}
	return string(out)
}

// Branches are the names of those that proposals made.
func (f *Forge) Branches(t testing.TB) []string {
	t.Helper()
	return strings.Fields(f.git(t, f.Dir, "for-each-ref", "--format=%(refname:short)", "refs/heads/"+gitops.BranchPrefix))
}

// Remove has somebody remove a branch.
func (f *Forge) Remove(t testing.TB, branch string) {
	t.Helper()
	f.git(t, f.Dir, "update-ref", "-d", "refs/heads/"+branch)
}

// Head is the commit that a branch is at.
func (f *Forge) Head(t testing.TB, branch string) string {
	t.Helper()
	return f.git(t, f.Dir, "rev-parse", "refs/heads/"+branch)
}

// Parent is the commit before that.
func (f *Forge) Parent(t testing.TB, branch string) string {
	t.Helper()
	return f.git(t, f.Dir, "rev-parse", branch+"^")
}

// Merge merges a pull request and gives the commit.
func (f *Forge) Merge(t testing.TB, number int64) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	p := &f.pulls[number-1]
	tree := f.git(t, f.Dir, "merge-tree", "--write-tree", p.Base, p.Branch)
	p.Head = f.git(t, f.Dir, "rev-parse", "refs/heads/"+p.Branch)
	p.Merged = f.git(t, f.Dir, "commit-tree", tree, "-p", p.Base, "-p", p.Head, "-m", "Merge "+p.Title)
	f.git(t, f.Dir, "update-ref", "refs/heads/"+p.Base, p.Merged)
	p.State, p.Ended = gitops.PullMerged, time.Now().UTC().Truncate(time.Second)
	return p.Merged
}

// Check reports a check of a commit.
func (f *Forge) Check(_ testing.TB, commit, name, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.DeleteFunc(f.checks[commit], func(c gitops.Check) bool { return c.Name == name })
	f.checks[commit] = append(all, gitops.Check{Name: name, State: state, URL: "https://ci.test/" + name})
	slices.SortFunc(f.checks[commit], func(a, b gitops.Check) int { return strings.Compare(a.Name, b.Name) })
}

// Change lets a test change a pull request: who approved it, whether it is a
// draft.
func (f *Forge) Change(number int64, change func(p *gitops.Pull)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.pulls[number-1])
}

// Comment has somebody comment, and Comments are the texts of all.
func (f *Forge) Comment(_ testing.TB, number int64, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.comments[number] = append(f.comments[number], comment{body: body})
}

// Comments are the texts of all comments, in order.
func (f *Forge) Comments(_ testing.TB, number int64) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.comments[number] {
		out = append(out, c.body)
	}
	return out
}

// Down has every call answer an error, nil for none.
func (f *Forge) Down(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Lose has the next pull request be opened and the answer be an error, as where
// the connection breaks.
func (f *Forge) Lose(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.losing = err
}

// Opened are the pull requests that were opened, and Calls how often the forge
// was asked anything.
func (f *Forge) Opened() (opened []gitops.NewPull, calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.opened), f.calls
}

// Pull is a pull request as the forge has it.
func (f *Forge) Pull(number int64) gitops.Pull {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pulls[number-1]
}

// call counts a call, and refuses it where the forge is down or does not know
// the repository.
func (f *Forge) call(ctx context.Context, repository string) error {
	f.calls++
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f.err != nil:
		return f.err
	case strings.Count(repository, "/") != 1:
		return fault.New(fault.Invalid, "%q is no full name of a repository", repository).WithFix("Write owner/name.")
	case repository != f.Repository:
		return fault.New(fault.NotFound, "there is no repository %s", repository).WithFix("Correct the name.")
	}
	return nil
}

// Author is who made the newest commit of a branch, and its message.
func (f *Forge) Author(t testing.TB, branch string) string {
	t.Helper()
	return f.git(t, f.Dir, "log", "-1", "--format=%an <%ae>%n%B", branch)
}
