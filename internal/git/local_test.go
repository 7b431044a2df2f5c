package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestLocalRepository(t *testing.T) {
	r := newRepo(t)
	r.write("catalog-info.yaml", "one")
	r.write("a/b/c.yaml", "two")
	r.write("a/exec.sh", "#!")
	os.Chmod(filepath.Join(r.dir, "a/exec.sh"), 0o755)
	head := r.commit("first")
	src := r.source(SourceConfig{})
	check(t, "revision", observe(t, src), head)
	tree := open(t, src)
	got, incremental := changed(t, tree, "")
	check(t, "files", got, []string{"a/b/c.yaml", "a/exec.sh", "catalog-info.yaml"})
	check(t, "incremental", incremental, false)
	check(t, "content", read(t, tree, "a/b/c.yaml"), "two")
	info := tree.Info()
	check(t, "info", []any{info.Commit, info.Author, info.Time.Unix(), info.Time.Format("-0700")}, []any{string(head), "Ada Lovelace", int64(1700000000), "+0130"})
	fresh := open(t, src) // without a listing, paths are walked
	check(t, "content", read(t, fresh, "a/b/c.yaml"), "two")
	for _, p := range []string{"", "a", "a/b", "a/b/x", "catalog-info.yaml/x", "/catalog-info.yaml", "a//b/c.yaml", "../repo/catalog-info.yaml", "a/../catalog-info.yaml", ".git/HEAD", "a/b/c.yaml/"} {
		if data, err := fresh.Read(context.Background(), p); !errors.Is(err, ingest.ErrNotFound) {
			t.Errorf("Read(%q) = %q, %v", p, data, err)
		}
	}
}

func TestLocalChanges(t *testing.T) {
	r := newRepo(t)
	for i := range 20 {
		r.write(fmt.Sprintf("dir%d/file%d.yaml", i%4, i), fmt.Sprint(i))
	}
	r.write("was/file", "x")
	r.write("becomes-dir", "x")
	src := r.source(SourceConfig{})
	first := r.commit("first")
	r.write("dir1/file1.yaml", "changed")
	r.write("dir1/new/deep.yaml", "new")
	r.git("rm", "-q", "dir2/file2.yaml", "becomes-dir", "-r", "was")
	r.write("becomes-dir/inner", "x")
	r.write("was", "x")
	os.Chmod(filepath.Join(r.dir, "dir3/file3.yaml"), 0o755)
	second := r.commit("second")
	got, incremental := changed(t, open(t, src), first)
	check(t, "incremental", incremental, true)
	slices.Sort(got)
	check(t, "changes", got, []string{"-becomes-dir", "-dir2/file2.yaml", "-was/file", "becomes-dir/inner", "dir1/file1.yaml", "dir1/new/deep.yaml", "was"})
	got, incremental = changed(t, open(t, src), second)
	check(t, "nothing", got, []string(nil))
	check(t, "incremental", incremental, true)
	for _, since := range []ingest.Revision{"", "unknown", ingest.Revision(strings.Repeat("1", 40))} {
		got, incremental = changed(t, open(t, src), since)
		check(t, "all", len(got), 22)
		check(t, "incremental", incremental, false)
	}
}

// A tree stays readable while the repository moves on and is repacked.
func TestLocalStaysReadable(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	src := r.source(SourceConfig{})
	tree := open(t, src)
	r.write("a.yaml", "two")
	r.git("add", "-A")
	r.git("commit", "-q", "--amend", "-m", "forced")
	r.git("reflog", "expire", "--expire=now", "--all")
	second := observe(t, src)
	if second == first {
		t.Fatal("the forced commit went unnoticed")
	}
	next := open(t, src)
	r.git("gc", "-q")
	check(t, "old content", read(t, tree, "a.yaml"), "one")
	r.git("gc", "-q", "--prune=now")
	check(t, "new content", read(t, next, "a.yaml"), "two")
	_, incremental := changed(t, next, first)
	check(t, "incremental", incremental, false)
	if _, err := src.Open(context.Background(), first); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("opening the lost commit: %v", err)
	}
}

func TestLocalRefs(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.git("tag", "light")
	r.git("tag", "-a", "-m", "x", "v1.0")
	r.git("branch", "feature/x")
	r.write("a.yaml", "two")
	second := r.commit("second")
	r.git("update-ref", "refs/remotes/origin/elsewhere", string(first))
	cases := map[string]ingest.Revision{"": second, "HEAD": second, "main": second, "refs/heads/main": second, "light": first, "v1.0": first,
		"refs/tags/v1.0": first, "feature/x": first, string(first): first, "elsewhere": first, "origin/elsewhere": first}
	for _, packed := range []bool{false, true} {
		if packed {
			r.git("pack-refs", "--all")
		}
		for ref, want := range cases {
			check(t, fmt.Sprintf("%q, packed %v", ref, packed), observe(t, r.source(SourceConfig{Ref: ref})), want)
		}
		_, err := r.source(SourceConfig{Ref: "eature/x"}).Observe(context.Background())
		check(t, "missing", fault.CodeOf(err), fault.NotFound)
	}
	_, err := r.source(SourceConfig{Ref: strings.Repeat("1", 40)}).Observe(context.Background())
	check(t, "missing commit", fault.CodeOf(err), fault.NotFound)
}

func TestLocalForms(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "one")
	head := r.commit("first")
	base := filepath.Dir(r.dir)
	runGit(t, base, "clone", "-q", "--bare", "repo", "bare.git")
	runGit(t, base, "clone", "-q", "--shared", "repo", "borrows")
	r.git("worktree", "add", "-q", "../tree", "-b", "side")
	for _, url := range []string{r.dir, "file://" + r.dir, filepath.Join(base, "bare.git"), filepath.Join(base, "borrows"), filepath.Join(base, "tree"), filepath.Join(r.dir, ".git")} {
		tree := open(t, r.source(SourceConfig{URL: url}))
		check(t, url, []string{tree.Info().Commit, read(t, tree, "a.yaml")}, []string{string(head), "one"})
	}
	src, err := NewSource("test", SourceConfig{URL: "./repo"}, "", base, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "relative", observe(t, src), head)
}

func TestLocalLinksAndSubmodules(t *testing.T) {
	r := newRepo(t)
	r.write("real.yaml", "x")
	os.Symlink("real.yaml", filepath.Join(r.dir, "link.yaml"))
	os.Symlink("/etc", filepath.Join(r.dir, "etc"))
	head := r.commit("first")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+string(head)+",sub")
	r.git("commit", "-q", "-m", "submodule")
	tree := open(t, r.source(SourceConfig{}))
	got, _ := changed(t, tree, "")
	check(t, "files", got, []string{"real.yaml"})
	for p, words := range map[string]string{"link.yaml": "symbolic link", "etc/passwd": "no such file", "sub": "submodule"} {
		_, err := tree.Read(context.Background(), p)
		if !errors.Is(err, ingest.ErrNotFound) || !strings.Contains(err.Error(), words) {
			t.Errorf("Read(%q): %v", p, err)
		}
	}
}

func TestLocalLimits(t *testing.T) {
	r := newRepo(t)
	r.write("big.yaml", strings.Repeat("x", 1001))
	r.write("fits.yaml", strings.Repeat("x", 1000))
	r.commit("first")
	src := r.source(SourceConfig{Limits: Limits{FileBytes: 1000}})
	for range 2 {
		tree := open(t, src)
		if _, err := tree.Read(context.Background(), "big.yaml"); !errors.Is(err, ingest.ErrTooLarge) {
			t.Errorf("big: %v", err)
		}
		check(t, "fits", len(read(t, tree, "fits.yaml")), 1000)
		r.git("gc", "-q")
		src = r.source(SourceConfig{Limits: Limits{FileBytes: 1000}})
	}
	_, _, err := open(t, r.source(SourceConfig{Limits: Limits{Files: 2}})).Changes(context.Background(), "")
	check(t, "too many files", fault.CodeOf(err), fault.FailedPrecondition)
}

// A few trees that hold one another many times unfold into endless files.
func TestTreeBomb(t *testing.T) {
	r := newRepo(t)
	r.write("f", "x")
	r.commit("first")
	tree := r.git("rev-parse", "HEAD^{tree}")
	for range 12 {
		var lines strings.Builder
		for i := range 10 {
			fmt.Fprintf(&lines, "040000 tree %s\tdir%d\n", tree, i)
		}
		in := filepath.Join(t.TempDir(), "in")
		os.WriteFile(in, []byte(lines.String()), 0o644)
		tree = runGit(t, r.dir, "-c", "alias.mk=!git mktree < "+in, "mk")
	}
	commit := r.git("commit-tree", "-m", "bomb", tree)
	_, _, err := open(t, r.source(SourceConfig{Ref: commit, Limits: Limits{Files: 100_000}})).Changes(context.Background(), "")
	check(t, "code", fault.CodeOf(err), fault.FailedPrecondition)
}

func TestLocalProblems(t *testing.T) {
	empty := newRepo(t)
	dir := t.TempDir()
	damaged := newRepo(t)
	damaged.write("a.yaml", "x")
	head := damaged.commit("x")
	object := filepath.Join(damaged.dir, ".git/objects", string(head[:2]), string(head[2:]))
	os.Chmod(object, 0o644)
	os.WriteFile(object, []byte("junk"), 0o644)
	sha256 := &repo{t, t.TempDir()}
	sha256.git("init", "-q", "--object-format=sha256")
	sha256.write("a", "x")
	sha256.git("add", "-A")
	sha256.git("commit", "-qm", "x")
	for _, c := range []struct {
		name, url string
		code      fault.Code
	}{
		{"no folder", filepath.Join(dir, "nowhere"), fault.NotFound},
		{"no repository", dir, fault.NotFound},
		{"no commits", empty.dir, fault.NotFound},
		{"damaged", damaged.dir, fault.Unavailable},
		{"SHA-256", sha256.dir, fault.FailedPrecondition},
	} {
		_, err := empty.source(SourceConfig{URL: c.url}).Observe(context.Background())
		f := fault.From(err)
		if f == nil || f.Code != c.code || f.Fix == "" || !strings.Contains(f.Message, c.url) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLocalConcurrentReads(t *testing.T) {
	r := newRepo(t)
	for i := range 50 {
		r.write(fmt.Sprintf("d%d/f%d.yaml", i%5, i), strings.Repeat(fmt.Sprint(i), 100+i))
	}
	r.commit("first")
	r.git("gc", "-q")
	r.write("loose.yaml", "x")
	r.commit("second")
	tree := open(t, r.source(SourceConfig{}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				data, err := tree.Read(context.Background(), fmt.Sprintf("d%d/f%d.yaml", i%5, i))
				if err != nil || string(data) != strings.Repeat(fmt.Sprint(i), 100+i) {
					t.Errorf("file %d: %v", i, err)
				}
			}
			if _, _, err := tree.Changes(context.Background(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEndedContext(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "x")
	head := r.commit("first")
	src := r.source(SourceConfig{})
	tree := open(t, src)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := src.Observe(ctx)
	_, err2 := src.Open(ctx, head)
	_, err3 := tree.Read(ctx, "a.yaml")
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
}
