package git

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestPushOntoAMovedBranch(t *testing.T) {
	for _, url := range []string{"", "path"} {
		r, base := pushable(t)
		if url != "" {
			url = r.dir
		}
		src := r.source(SourceConfig{URL: url})
		x := Change{Path: "x", Data: []byte("x")}
		first := publish(t, src, publication(base, x))
		check(t, "a repeat whose answer was lost", publish(t, src, publication(base, x)), first)

		y := publication(base, Change{Path: "y", Data: []byte("y")})
		_, err := src.Publish(context.Background(), y) // the branch must not exist
		wantMoved(t, err, "proposal")
		y.Expected = base
		_, err = src.Publish(context.Background(), y)
		wantMoved(t, err, first[:12])
		y.Expected = first
		second := publish(t, src, y)
		check(t, "replaced", []string{r.git("rev-parse", "proposal"), r.git("rev-parse", "proposal^")}, []string{second, base})

		r.git("branch", "-q", "-D", "proposal")
		z := publication(base, x)
		z.Expected = second
		_, err = src.Publish(context.Background(), z)
		wantMoved(t, err, "no branch proposal")

		r.write("README.md", "moved")
		r.commit("moved on")
		_, err = src.Publish(context.Background(), publication(base, x))
		wantMoved(t, err, "the branch main")
	}
}

func wantMoved(t *testing.T, err error, words string) {
	t.Helper()
	wantFault(t, err, fault.Conflict, words)
	if !errors.Is(err, ErrMoved) {
		t.Errorf("not told as moved: %v", err)
	}
}

// Many push to one branch at once, each on what it has seen: nobody's commit
// is lost, and nobody is told a success that is none.
func TestPushesAtOnce(t *testing.T) {
	r, base := pushable(t)
	bare := filepath.Join(filepath.Dir(r.dir), "bare")
	runGit(t, r.dir, "clone", "-q", "--bare", r.dir, bare)
	runGit(t, bare, "config", "http.receivepack", "true")
	runGit(t, bare, "config", "uploadpack.allowFilter", "true")
	const n = 6
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			cfg := SourceConfig{URL: r.server.URL + "/bare", Ref: "main"}
			if i%2 == 0 {
				cfg.URL = bare
			}
			src, err := NewSource("test", cfg, filepath.Join(t.TempDir(), "state"), "", r.limit)
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 * n {
				p := publication(string(observe(t, src)), Change{Path: fmt.Sprintf("by/%d", i), Data: fmt.Append(nil, i)})
				p.Branch, p.Expected = "main", p.Base
				_, err = src.Publish(context.Background(), p)
				if !errors.Is(err, ErrMoved) {
					break
				}
			}
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	wg.Wait()
	check(t, "commits", runGit(t, bare, "rev-list", "--count", base+"..main"), fmt.Sprint(n))
	check(t, "files", strings.Count(runGit(t, bare, "ls-tree", "-r", "--name-only", "main", "by/"), "by/"), n)
	runGit(t, bare, "fsck", "--strict", "--full")
}

func TestPushRefused(t *testing.T) {
	for _, url := range []string{"", "path"} {
		r, base := pushable(t)
		if url != "" {
			url = r.dir
		}
		src := r.source(SourceConfig{URL: url})
		hook := filepath.Join(r.dir, ".git/hooks/update")
		os.WriteFile(hook, []byte("#!/bin/sh\nprintf 'GL-HOOK-ERR: \\033[31mbranches begin with a ticket\\n%s' \"$(head -c 5000 /dev/zero | tr '\\0' x)\"\nenv | grep SECRET\nexit 1\n"), 0o755)
		t.Setenv("SECRET_TOKEN", "s3cret")
		_, err := src.Publish(context.Background(), publication(base, Change{Path: "x", Data: []byte("x")}))
		if url == "" {
			wantFault(t, err, fault.FailedPrecondition, "hook declined (GL-HOOK-ERR: [31mbranches begin with a ticket")
		} else {
			wantFault(t, err, fault.FailedPrecondition, "hook declined")
		}
		if n := len(fault.From(err).Message); n > 600 {
			t.Errorf("the message has %d bytes", n)
		}
		mustNotSay(t, err, "s3cret")
		os.Remove(hook)

		r.git("config", "receive.denyNonFastForwards", "true")
		first := publish(t, src, publication(base, Change{Path: "x", Data: []byte("x")}))
		p := publication(base, Change{Path: "y", Data: []byte("y")})
		p.Expected = first
		_, err = src.Publish(context.Background(), p)
		wantFault(t, err, fault.FailedPrecondition, "refused: non-fast-forward")

		p.Branch, p.Expected = "main", base
		_, err = src.Publish(context.Background(), p)
		wantFault(t, err, fault.FailedPrecondition, "branch is currently checked out")
		check(t, "main", r.git("rev-parse", "main"), base)
	}
}

func TestPushWithoutTheRight(t *testing.T) {
	r, base := pushable(t)
	change := Change{Path: "x", Data: []byte("x")}
	r.git("config", "http.receivepack", "false")
	_, err := r.source(SourceConfig{}).Publish(context.Background(), publication(base, change))
	wantFault(t, err, fault.FailedPrecondition, "lets nobody push without credentials")

	r.git("config", "http.receivepack", "true")
	r.requireAuth("git", "s3cret")
	t.Setenv("FAIRLEAD_TEST_TOKEN", "s3cret")
	src := r.source(SourceConfig{Credentials: Credentials{TokenEnv: "FAIRLEAD_TEST_TOKEN"}})
	publish(t, src, publication(base, change))
	auth := r.server.before
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool { // revoked midway
		if strings.HasSuffix(req.URL.Path, "/git-receive-pack") {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return auth(w, req)
	}
	p := publication(base, change)
	p.Branch = "other"
	_, err = src.Publish(context.Background(), p)
	wantFault(t, err, fault.FailedPrecondition, "does not let this token push (HTTP 401)")
	mustNotSay(t, err, "s3cret")
	check(t, "branches", r.git("branch", "--list", "other"), "")

	s := serveSSH(t, true)
	gone := SourceConfig{URL: "ssh://git@" + s.addr + r.dir, Credentials: Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}}
	over := r.source(gone)
	tree := open(t, over) // so that nothing has to be fetched any more
	defer tree.Close()
	os.Rename(r.dir, r.dir+"-gone")
	_, err = over.Publish(context.Background(), publication(base, change))
	wantFault(t, err, fault.FailedPrecondition, "the key may not write to it")
}

func TestPushThatHangs(t *testing.T) {
	r, base := pushable(t)
	os.WriteFile(filepath.Join(r.dir, ".git/hooks/pre-receive"), []byte("#!/bin/sh\nsleep 5\n"), 0o755)
	for _, url := range []string{"", r.dir} {
		src := r.source(SourceConfig{URL: url})
		tree := open(t, src)
		defer tree.Close()
		src = r.source(SourceConfig{URL: url, Limits: Limits{Timeout: 600 * time.Millisecond}})
		_, err := src.Publish(context.Background(), publication(base, Change{Path: "x", Data: []byte("x")}))
		wantFault(t, err, fault.Unavailable, "took longer than 600ms")
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		_, err = r.source(SourceConfig{URL: url}).Publish(ctx, publication(base, Change{Path: "y", Data: []byte("x")}))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up by the caller: %v", err)
		}
	}
}

// One file of a large repository is changed without reading the others.
func TestPublishInALargeRepository(t *testing.T) {
	r := newRemoteRepo(t)
	r.git("config", "http.receivepack", "true")
	manyFiles(t, r.repo, 60_000)
	base := r.git("rev-parse", "main")
	src := r.source(SourceConfig{})
	began := time.Now()
	var id string
	peak := peakMemory(func() {
		id = publish(t, src, publication(base, Change{Path: "apps/group3/service43/file43.yaml", Data: []byte("changed")}))
	})
	t.Logf("%s, %d kB received, %d MB at most", time.Since(began).Round(time.Millisecond), r.server.sent.Load()>>10, peak>>20)
	check(t, "changes", r.git("diff-tree", "-r", "--name-status", "--format=", base, id), "M\tapps/group3/service43/file43.yaml")
	if peak > 48<<20 {
		t.Errorf("took %d MB", peak>>20)
	}
	r.git("fsck", "--connectivity-only", "--no-dangling")
}

// manyFiles commits so many files to main.
func manyFiles(t *testing.T, r *repo, n int) {
	t.Helper()
	var feed strings.Builder
	feed.WriteString("commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	for i := range n {
		text := fmt.Sprintf("file %d %s", i, strings.Repeat("filling ", 40))
		fmt.Fprintf(&feed, "M 100644 inline apps/group%d/service%d/file%d.yaml\ndata %d\n%s\n", i%40, i%1500, i, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(feed.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
