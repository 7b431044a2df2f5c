package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// repo is a repository that a test makes with the git program.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed")
	}
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return runGit(r.t, r.dir, args...)
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1700000000 +0130",
		"GIT_COMMITTER_NAME=Bot", "GIT_COMMITTER_EMAIL=bot@example.com", "GIT_COMMITTER_DATE=1700000100 +0000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, content string) {
	r.t.Helper()
	at := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits everything and gives the commit's id.
func (r *repo) commit(message string) ingest.Revision {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return ingest.Revision(r.git("rev-parse", "HEAD"))
}

func (r *repo) source(cfg SourceConfig) *Source {
	r.t.Helper()
	if cfg.URL == "" {
		cfg.URL = r.dir
	}
	src, err := NewSource("test", cfg, filepath.Join(r.t.TempDir(), "state"), "", NewLimiter(4))
	if err != nil {
		r.t.Fatal(err)
	}
	return src
}

func observe(t *testing.T, src ingest.Source) ingest.Revision {
	t.Helper()
	rev, err := src.Observe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// open opens what a source is at now, until the test ends.
func open(t *testing.T, src ingest.Source) ingest.Tree {
	t.Helper()
	tree, err := src.Open(context.Background(), observe(t, src))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

// changed lists changes as path, or -path for what is gone, sorted.
func changed(t *testing.T, tree ingest.Tree, since ingest.Revision) (out []string, incremental bool) {
	t.Helper()
	changes, incremental, err := tree.Changes(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		switch {
		case c.Gone:
			out = append(out, "-"+c.Path)
		case len(c.ID) != 40:
			t.Errorf("%s has the id %q", c.Path, c.ID)
		default:
			out = append(out, c.Path)
		}
	}
	return out, incremental
}

func read(t *testing.T, tree ingest.Tree, path string) string {
	t.Helper()
	data, err := tree.Read(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
