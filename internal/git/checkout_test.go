package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// checkedOut makes a repository with two commits, of which the first is
// tagged, and gives it with sources of it on disk and over HTTP.
func checkedOut(t *testing.T) (r *repo, first, second string, sources map[string]*Source) {
	t.Helper()
	r = newRepo(t)
	r.write("run.sh", "#!/bin/sh\necho one\n")
	r.write("docs/a.md", "one\n")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("docs/a.md", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	first = string(r.commit("first"))
	r.git("tag", "-m", "v1", "v1")
	r.write("docs/a.md", "two\n")
	second = string(r.commit("second"))
	r.git("branch", "topic/x")
	s := serve(t, filepath.Dir(r.dir))
	return r, first, second, map[string]*Source{"disk": r.source(SourceConfig{}), "http": r.source(SourceConfig{URL: s.URL + "/repo/.git"})}
}

func TestResolve(t *testing.T) {
	_, first, second, sources := checkedOut(t)
	for kind, src := range sources {
		t.Run(kind, func(t *testing.T) {
			for rev, want := range map[string]string{"": second, "main": second, "topic/x": second, "v1": first, first: first, second: second, second[:10]: second, first[:10]: first} {
				if got, err := src.Resolve(t.Context(), rev); err != nil || got != want {
					t.Errorf("%q is %s, %v; not %s", rev, got, err, want)
				}
			}
			for rev, code := range map[string]fault.Code{"nobody": fault.NotFound, "0123456789012345678901234567890123456789": fault.NotFound, "abcdef01": fault.NotFound,
				"main~1": fault.Invalid, "-x": fault.Invalid, "a..b": fault.Invalid, "--upload-pack=x": fault.Invalid} {
				if got, err := src.Resolve(t.Context(), rev); fault.CodeOf(err) != code || fault.From(err).Fix == "" {
					t.Errorf("%q is %s, %v; not %s", rev, got, err, code)
				}
			}
		})
	}
}

func TestCheckout(t *testing.T) {
	_, first, _, sources := checkedOut(t)
	for kind, src := range sources {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			if err := src.Checkout(t.Context(), first, dir); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "link")) // through the link
			if err != nil || string(text) != "one\n" {
				t.Errorf("the link leads to %q, %v", text, err)
			}
			info, err := os.Stat(filepath.Join(dir, "run.sh"))
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("run.sh: %v, %v", info, err)
			}
		})
	}
}

func TestCheckoutWithinBounds(t *testing.T) {
	r := newRepo(t)
	r.write("a", "0123456789")
	r.write("b", "0123456789")
	id := string(r.commit("files"))
	for name, l := range map[string]Limits{"file": {FileBytes: 9}, "disk": {DiskBytes: 15}, "files": {Files: 1}} {
		err := r.source(SourceConfig{Limits: l}).Checkout(t.Context(), id, t.TempDir())
		if fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFile(t *testing.T) {
	_, first, second, sources := checkedOut(t)
	for kind, src := range sources {
		t.Run(kind, func(t *testing.T) {
			for commit, want := range map[string]string{first: "one\n", second: "two\n"} {
				if data, err := src.File(t.Context(), commit, "docs/a.md"); err != nil || string(data) != want {
					t.Errorf("%q, %v; not %q", data, err, want)
				}
			}
			for _, path := range []string{"nobody", "docs", "link", "../run.sh", "", "docs/../run.sh"} {
				if data, err := src.File(t.Context(), first, path); fault.CodeOf(err) != fault.NotFound || fault.From(err).Fix == "" {
					t.Errorf("%q: %q, %v", path, data, err)
				}
			}
		})
	}
}
