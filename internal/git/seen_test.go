package git

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// countLists counts how often the list of refs is asked for.
func (r *remoteRepo) countLists() *atomic.Int32 {
	var n atomic.Int32
	r.server.before = func(_ http.ResponseWriter, req *http.Request) bool {
		if req.Method == http.MethodGet && req.Header.Get("Git-Protocol") == "" {
			n.Add(1)
		}
		return false
	}
	return &n
}

func TestRefsAreListedOnce(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.git("tag", "-a", "-m", "x", "v1")
	for _, ref := range []string{"", "main", "v1", "refs/tags/v1"} {
		r.state = t.TempDir()
		lists := r.countLists()
		src := r.source(SourceConfig{Ref: ref})
		check(t, ref, read(t, open(t, src), "a.yaml"), "one")
		check(t, ref+": lists for a first read", lists.Load(), int32(1))
	}
	r.state = t.TempDir()
	src := r.source(SourceConfig{})
	open(t, src)
	r.write("a.yaml", "two")
	r.commit("second")
	lists := r.countLists()
	tree := open(t, src)
	check(t, "content", read(t, tree, "a.yaml"), "two")
	check(t, "lists for a change", lists.Load(), int32(1))
	got, incremental := changed(t, tree, first)
	check(t, "changes", []any{got, incremental}, []any{[]string{"a.yaml"}, true})
}

// What a look has shown may be gone when it is fetched.
func TestRefsChangeAfterTheLook(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.commit("first")
	src := r.source(SourceConfig{})
	gone := observe(t, src)
	r.write("a.yaml", "two")
	r.git("commit", "-qa", "--amend", "-m", "forced")
	r.git("reflog", "expire", "--expire=now", "--all")
	r.git("gc", "-q", "--prune=now")
	_, err := src.Open(context.Background(), gone)
	wantFault(t, err, fault.Unavailable, "has moved on")
	os.Rename(r.dir, r.dir+"2")
	os.MkdirAll(filepath.Dir(r.dir), 0o755)
	_, err = src.Observe(context.Background())
	wantFault(t, err, fault.NotFound, "no such repository")
	os.Rename(r.dir+"2", r.dir)
	check(t, "content", strings.TrimSpace(read(t, open(t, src), "a.yaml")), "two")
}
