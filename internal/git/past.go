package git

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// maxNames bounds how many branches or tags a message names.
const maxNames = 8

// MergeBase gives the newest commit that two revisions of the repository
// whose root is given have in common. It is not_found where they
// have none, or where the clone's history does not reach that far.
func MergeBase(root, a, b string) (string, error) {
	at, err := openLayout(root)
	if err != nil {
		return "", err
	}
	repo, err := at.engine()
	if err != nil {
		return "", fault.New(fault.Unavailable, "the repository %s cannot be read", at.work).WithFix("Check it with `git fsck`.").Because(err)
	}
	var ids [2]plumbing.Hash
	for i, rev := range []string{a, b} {
		t, err := OpenLocal(root, rev)
		if err != nil {
			return "", Explain(root, rev, err)
		}
		ids[i] = plumbing.Hash(t.commit.id)
		t.Close()
	}
	first, err := repo.CommitObject(ids[0])
	if err != nil {
		return "", at.noBase(a, b, err)
	}
	second, err := repo.CommitObject(ids[1])
	if err != nil {
		return "", at.noBase(a, b, err)
	}
	bases, err := first.MergeBase(second)
	if err != nil || len(bases) == 0 {
		return "", at.noBase(a, b, err)
	}
	return bases[0].Hash.String(), nil
}

func (l layout) engine() (*gogit.Repository, error) {
	return gogit.PlainOpenWithOptions(l.work, &gogit.PlainOpenOptions{EnableDotGitCommonDir: true})
}

func (l layout) noBase(a, b string, cause error) error {
	f := fault.New(fault.NotFound, "%q and %q have no commit in common in %s", a, b, l.work).WithFix("Name a revision that %s descends from.", b)
	if l.shallow() {
		f = fault.New(fault.NotFound, "%s is a shallow clone: its history does not reach what %q and %q have in common", l.work, a, b).
			WithFix("%s", deepen)
	}
	return f.Because(cause)
}

const deepen = "Fetch the whole history with `git fetch --unshallow` (in GitHub Actions: fetch-depth: 0 for actions/checkout; in GitLab CI: GIT_DEPTH: 0)."

// shallow tells whether history was left out when the repository was fetched.
func (l layout) shallow() bool {
	data, err := readSmall(filepath.Join(l.common, "shallow"))
	return err == nil && strings.TrimSpace(string(data)) != ""
}

// Explain says more about a revision that OpenLocal did not find: what there
// is instead, or that the clone is shallow. Other errors are returned as they
// are.
func Explain(root, rev string, err error) error {
	at, ok := layoutOf(root)
	if fault.CodeOf(err) != fault.NotFound || !ok {
		return err
	}
	if _, isID := objects.ParseID(rev); at.shallow() && (isID || strings.ContainsAny(rev, "~^@")) {
		return fault.New(fault.NotFound, "%s is a shallow clone, and %s is not in it", at.work, rev).WithFix("%s", deepen).Because(err)
	}
	has := at.names(rev)
	f := fault.New(fault.NotFound, "there is no branch, tag or commit %q in %s, which %s", rev, at.work, has).
		WithFix("Correct the revision, or fetch it: git fetch origin BRANCH:refs/remotes/origin/BRANCH.")
	if at.shallow() {
		f = f.WithFix("The clone is shallow, so it may lack it. Fetch it with `git fetch --depth=1 origin BRANCH:refs/remotes/origin/BRANCH`, or fetch everything with `git fetch --unshallow`.")
	}
	return f.Because(err)
}

// names says which branches and tags there are, those like rev first.
func (l layout) names(rev string) string {
	repo, err := l.engine()
	if err != nil {
		return "has no branches"
	}
	refs, err := repo.References()
	if err != nil {
		return "has no branches"
	}
	defer refs.Close()
	var branches, tags []string
	for {
		ref, err := refs.Next()
		if err != nil {
			break
		}
		switch n := ref.Name(); {
		case n.IsTag():
			tags = append(tags, n.Short())
		case n.IsBranch(), n.IsRemote() && !strings.HasSuffix(n.String(), "/HEAD"):
			branches = append(branches, n.Short())
		}
	}
	return "has " + listNames(branches, rev, "branch", "branches") + " and " + listNames(tags, rev, "tag", "tags")
}

// listNames names a few; those that hold what was asked for come first.
func listNames(names []string, rev, one, many string) string {
	like := func(n string) int {
		if rev != "" && strings.Contains(strings.ToLower(n), strings.ToLower(rev)) {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := like(a) - like(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	switch n := len(names); {
	case n == 0:
		return "no " + many
	case n == 1:
		return "the " + one + " " + names[0]
	case n > maxNames:
		return fmt.Sprintf("the %s %s and %d more", many, strings.Join(names[:maxNames], ", "), n-maxNames)
	default:
		return "the " + many + " " + strings.Join(names, ", ")
	}
}
