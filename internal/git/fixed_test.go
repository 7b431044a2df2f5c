package git

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fixed(t *testing.T, files map[string][]byte) *Fixed {
	t.Helper()
	f, err := NewFixed(files)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFixedIsCloned has Git itself clone and fetch.
func TestFixedIsCloned(t *testing.T) {
	files := map[string][]byte{"guards/a.yaml": []byte("a: 1\n"), "guards.txt": []byte("x"), "guards/deep/b": nil, "guards-2": []byte("y")}
	f := fixed(t, files)
	if again := fixed(t, files); again.Commit() != f.Commit() || !bytes.Equal(again.pack, f.pack) {
		t.Error("the same files make another repository")
	}
	s := httptest.NewServer(f)
	defer s.Close()
	dir := t.TempDir()
	runGit(t, dir, "clone", "--quiet", s.URL+"/a/b", "x")
	runGit(t, filepath.Join(dir, "x"), "fsck", "--strict")
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, "x", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if head := runGit(t, filepath.Join(dir, "x"), "rev-parse", "HEAD", "origin/main"); strings.Count(head, f.Commit()) != 2 {
		t.Errorf("head %q, commit %s", head, f.Commit())
	}
	runGit(t, filepath.Join(dir, "x"), "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "--allow-empty", "-m", "mine")
	runGit(t, filepath.Join(dir, "x"), "fetch", "--quiet", "--tags", "--force", "--prune", "origin", f.Commit())
	// Of what another had before, nothing is known.
	runGit(t, dir, "init", "--quiet", "y")
	y := filepath.Join(dir, "y")
	runGit(t, y, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "--allow-empty", "-m", "mine")
	runGit(t, y, "fetch", "--quiet", s.URL+"/z", "main")
	if got := runGit(t, y, "cat-file", "-t", f.Commit()); strings.TrimSpace(got) != "commit" {
		t.Errorf("fetched %q", got)
	}
}

func TestFixedRefusesTheRest(t *testing.T) {
	f := fixed(t, map[string][]byte{"a": []byte("b")})
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodGet, "/info/refs", "", http.StatusNotFound},
		{http.MethodGet, "/info/refs?service=git-receive-pack", "", http.StatusNotFound},
		{http.MethodPost, "/git-receive-pack", "", http.StatusNotFound},
		{http.MethodGet, "/objects/info/packs", "", http.StatusNotFound},
		{http.MethodPost, "/git-upload-pack", "zzzz", http.StatusBadRequest},
		{http.MethodPost, "/git-upload-pack", "0032want " + strings.Repeat("1", 40) + "\n0000", http.StatusBadRequest},
		{http.MethodPost, "/git-upload-pack", strings.Repeat("0004", 1<<19), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(c.body)))
		if w.Code != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
}
