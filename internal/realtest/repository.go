package realtest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // of a Go that is newer than that attack
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitServer serves the bare repositories of a folder over HTTP, at one URL to
// this machine and to a place.
type gitServer struct {
	url, dir string
}

// startGit serves repositories for as long as the process lives.
func (a *Argo) startGit() (*gitServer, error) {
	path, err := exec.Command("git", "--exec-path").Output() //nolint:noctx // at once
	if err != nil {
		return nil, fmt.Errorf("git --exec-path: %w", err)
	}
	g := &gitServer{dir: filepath.Join(a.Dir, "repositories")}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		return nil, err
	}
	outside, err := net.Listen("tcp", loopback(0)) //nolint:noctx // numeric: nothing to wait for
	if err != nil {
		return nil, err
	}
	listeners := []net.Listener{outside}
	if a.at.shared == nil {
		inside, err := a.at.listen(outside.Addr().String())
		if err != nil {
			return nil, errors.Join(err, outside.Close())
		}
		listeners = append(listeners, inside)
	}
	g.url = "http://" + outside.Addr().String()
	log, err := os.Create(filepath.Join(a.Dir, "git.log")) // open as long as the process lives
	if err != nil {
		return nil, err
	}
	handler := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"), Stderr: log,
		Env: []string{"GIT_PROJECT_ROOT=" + g.dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=anybody"}}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: startWithin}
	for _, l := range listeners {
		go func() { _ = server.Serve(l) }() // it ends with the process
	}
	return g, nil
}

// Repository is a Git repository that everybody may read and write.
type Repository struct {
	// URL is where this machine and Argo CD find it.
	URL string

	bare, work string
}

// Repository makes a repository with a first commit of files by their paths on
// its branch main.
func (a *Argo) Repository(t testing.TB, files map[string]string) *Repository {
	t.Helper()
	name := lowerText() + ".git"
	r := &Repository{URL: a.repositories.url + "/" + name, bare: filepath.Join(a.repositories.dir, name), work: t.TempDir()}
	r.git(t, "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.git(t, "-C", r.bare, "config", "http.receivepack", "true")
	r.git(t, "-C", r.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	r.git(t, "init", "--quiet", "--initial-branch=main", r.work)
	r.Commit(t, files)
	return r
}

// Commit writes files, of which empty ones go, onto main, and gives the new
// commit.
func (r *Repository) Commit(t testing.TB, files map[string]string) string {
	t.Helper()
	for path, text := range files {
		file := filepath.Join(r.work, filepath.FromSlash(path))
		var err error
		if text == "" {
			err = os.Remove(file)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r.git(t, "-C", r.work, "add", "--all")
	r.git(t, "-C", r.work, "-c", "user.name=test", "-c", "user.email=test@example.invalid", "commit", "--quiet", "--allow-empty", "--message=Change")
	r.git(t, "-C", r.work, "push", "--quiet", r.bare, "main")
	return r.Head(t)
}

// Head is the last commit of main.
func (r *Repository) Head(t testing.TB) string {
	t.Helper()
	return r.git(t, "-C", r.bare, "rev-parse", "main")
}

// Move gives the repository another URL. It is no longer at the old one.
func (r *Repository) Move(t testing.TB) {
	t.Helper()
	name := lowerText() + ".git"
	to := filepath.Join(filepath.Dir(r.bare), name)
	if err := os.Rename(r.bare, to); err != nil {
		t.Fatal(err)
	}
	r.URL, r.bare = r.URL[:strings.LastIndex(r.URL, "/")+1]+name, to
}

func (r *Repository) git(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput() //nolint:noctx,gosec // a local folder; arguments of ours
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
