package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestFindRepository(t *testing.T) {
	r := newRepo(t)
	r.write("a/b/c.yaml", "x")
	r.commit("first")
	r.git("worktree", "add", "-q", "../tree", "-b", "side")
	base := filepath.Dir(r.dir)
	runGit(t, base, "clone", "-q", "--bare", "repo", "bare.git")
	for dir, want := range map[string]string{
		r.dir: r.dir, filepath.Join(r.dir, "a/b"): r.dir, filepath.Join(base, "tree/a"): filepath.Join(base, "tree"),
		filepath.Join(base, "bare.git"): filepath.Join(base, "bare.git"), filepath.Join(base, "bare.git/refs"): filepath.Join(base, "bare.git"),
	} {
		got, err := FindRepository(dir)
		check(t, dir, []any{got, err}, []any{want, error(nil)})
	}
	t.Chdir(filepath.Join(r.dir, "a"))
	got, err := FindRepository(".")
	check(t, "relative", []any{got, err}, []any{r.dir, error(nil)})
	_, err = FindRepository(base)
	check(t, "none", fault.CodeOf(err), fault.NotFound)
}

func TestRemotes(t *testing.T) {
	r := newRepo(t)
	got, err := Remotes(r.dir)
	check(t, "none", []any{len(got), err}, []any{0, error(nil)})
	r.git("remote", "add", "fork", "git@github.com:me/x.git")
	r.git("remote", "add", "origin", "https://user:s3cret@github.com/acme/x.git")
	r.git("remote", "add", "another", "/srv/x")
	got, err = Remotes(r.dir)
	check(t, "remotes", []any{got, err}, []any{[]string{"https://github.com/acme/x.git", "/srv/x", "git@github.com:me/x.git"}, error(nil)})
	os.WriteFile(filepath.Join(r.dir, ".git/config"), []byte("[broken"), 0o644)
	_, err = Remotes(r.dir)
	check(t, "broken", fault.CodeOf(err), fault.FailedPrecondition)
	_, err = Remotes(t.TempDir())
	check(t, "no repository", fault.CodeOf(err), fault.NotFound)
}

func TestOpenLocal(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.git("tag", "v1")
	r.write("a.yaml", "two")
	second := r.commit("second")
	r.git("worktree", "add", "-q", "../tree", "-b", "side")
	for _, dir := range []string{r.dir, filepath.Join(filepath.Dir(r.dir), "tree")} {
		for rev, want := range map[string]ingest.Revision{"": second, "HEAD": second, "main": second, "v1": first, "HEAD~1": first, "main^": first,
			string(first): first, string(first[:10]): first} {
			tree, err := OpenLocal(dir, rev)
			if err != nil {
				t.Errorf("%s: %v", rev, err)
				continue
			}
			check(t, rev, tree.Info().Commit, string(want))
			got, incremental := changed(t, tree, first)
			check(t, rev, []any{len(got), incremental}, []any{map[bool]int{true: 0, false: 1}[want == first], true})
			tree.Close()
		}
		for _, rev := range []string{"nowhere", "HEAD~9", "--help", "a b", "../../etc/passwd"} {
			_, err := OpenLocal(dir, rev)
			check(t, rev, fault.CodeOf(err), fault.NotFound)
		}
	}
}
