package git

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestMergeBase(t *testing.T) {
	r := newRepo(t)
	r.write("a", "1")
	base := r.commit("base")
	r.git("checkout", "-q", "-b", "side")
	r.write("b", "1")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.write("c", "1")
	r.commit("main")
	r.git("tag", "-a", "-m", "x", "v1")
	r.git("checkout", "-q", "--orphan", "alone")
	r.commit("alone")
	for _, pair := range [][2]string{{"main", "side"}, {"side", "v1"}, {"main~1", "side"}} {
		got, err := MergeBase(r.dir, pair[0], pair[1])
		check(t, fmt.Sprint(pair, err), got, string(base))
	}
	_, err := MergeBase(r.dir, "main", "HEAD")
	checkFault(t, err, `"main" and "HEAD" have no commit in common`, "Name a revision")
	_, err = MergeBase(r.dir, "nope", "HEAD")
	checkFault(t, err, `no branch, tag or commit "nope"`, "Correct the revision")
	_, err = MergeBase(t.TempDir(), "main", "HEAD")
	check(t, "no repository", fault.CodeOf(err), fault.NotFound)
}

func checkFault(t *testing.T, err error, message, fix string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != fault.NotFound || !strings.Contains(f.Message, message) || !strings.Contains(f.Fix, fix) {
		t.Errorf("%v (fix: %v), want %q and %q", err, f, message, fix)
	}
}

func TestExplain(t *testing.T) {
	r := newRepo(t)
	r.write("a", "1")
	first := r.commit("first")
	explained := func(dir, rev string) error {
		_, err := OpenLocal(dir, rev)
		return Explain(dir, rev, err)
	}
	checkFault(t, explained(r.dir, "mian"), `"mian" in `+r.dir+", which has the branch main and no tags", "Correct")
	for i := range 12 {
		r.git("branch", fmt.Sprintf("feature/%d", i))
	}
	r.git("tag", "v1")
	r.git("tag", "v2")
	checkFault(t, explained(r.dir, "mai"), "has the branches main, feature/0, feature/1, feature/10, feature/11, feature/2, feature/3, feature/4 and 5 more and the tags v1, v2", "Correct")
	checkFault(t, explained(r.dir, strings.Repeat("1", 40)), "no branch, tag or commit", "Correct")
	r.write("a", "2")
	r.commit("second")
	runGit(t, filepath.Dir(r.dir), "clone", "-q", "--depth=1", "file://"+r.dir, "shallow")
	shallow := filepath.Join(filepath.Dir(r.dir), "shallow")
	checkFault(t, explained(shallow, "HEAD~1"), "is a shallow clone, and HEAD~1 is not in it", "--unshallow")
	checkFault(t, explained(shallow, string(first)), "is a shallow clone", "--unshallow")
	checkFault(t, explained(shallow, "v1"), "no branch, tag or commit", "The clone is shallow")
	r.git("checkout", "-q", "feature/1")
	r.write("b", "1")
	r.commit("third")
	runGit(t, shallow, "fetch", "-q", "--depth=1", "origin", "feature/1:feature/1")
	_, err := MergeBase(shallow, "feature/1", "HEAD")
	checkFault(t, err, "its history does not reach", "--unshallow")
	other := fault.New(fault.Unavailable, "x")
	if got := Explain(r.dir, "main", other); !errors.Is(got, other) {
		t.Errorf("%v", got)
	}
}
