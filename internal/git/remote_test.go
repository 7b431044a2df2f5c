package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestRemoteRepository(t *testing.T) {
	for _, filter := range []string{"true", "false"} {
		r := newRemoteRepo(t)
		r.git("config", "uploadpack.allowFilter", filter)
		r.write("catalog-info.yaml", "one")
		r.write("a/b/c.yaml", "two")
		r.write("big.bin", strings.Repeat("x", 2000))
		r.commit("history")
		r.write("a/b/c.yaml", "three")
		head := r.commit("first")
		src := r.source(SourceConfig{Limits: Limits{FileBytes: 1000}})
		check(t, "revision", observe(t, src), head)
		tree := open(t, src)
		got, incremental := changed(t, tree, "")
		check(t, "files", got, []string{"a/b/c.yaml", "big.bin", "catalog-info.yaml"})
		check(t, "incremental", incremental, false)
		check(t, "content", read(t, tree, "a/b/c.yaml"), "three")
		check(t, "info", []string{tree.Info().Commit, tree.Info().Author}, []string{string(head), "Ada Lovelace"})
		if _, err := tree.Read(context.Background(), "big.bin"); !errors.Is(err, ingest.ErrTooLarge) {
			t.Errorf("filter %s: big file: %v", filter, err)
		}
		if _, err := tree.Read(context.Background(), "nowhere"); !errors.Is(err, ingest.ErrNotFound) {
			t.Errorf("missing file: %v", err)
		}
	}
}

func TestRemoteRefs(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.git("tag", "light")
	r.git("tag", "-a", "-m", "x", "v1.0")
	r.git("branch", "feature/x")
	r.write("a.yaml", "two")
	second := r.commit("second")
	r.git("config", "uploadpack.allowReachableSHA1InWant", "true")
	for ref, want := range map[string]ingest.Revision{"": second, "main": second, "light": first, "v1.0": first, "refs/tags/v1.0": first,
		"feature/x": first, string(first): first} {
		src := r.source(SourceConfig{Ref: ref})
		check(t, ref, observe(t, src), want)
		check(t, ref, open(t, src).Info().Commit, string(want))
	}
	_, err := r.source(SourceConfig{Ref: "nowhere"}).Observe(context.Background())
	check(t, "missing ref", fault.CodeOf(err), fault.NotFound)
	lost := strings.Repeat("1", 40)
	_, err = r.source(SourceConfig{Ref: lost}).Open(context.Background(), ingest.Revision(lost))
	wantFault(t, err, fault.NotFound, "no such commit")
}

// A commit that no ref names is served only by servers that allow it.
func TestRemoteCommitWithoutRef(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.write("a.yaml", "two")
	r.commit("second")
	_, err := r.source(SourceConfig{Ref: string(first)}).Open(context.Background(), first)
	check(t, "pinned", fault.CodeOf(err), fault.FailedPrecondition)
	_, err = r.source(SourceConfig{}).Open(context.Background(), first)
	check(t, "moved on", fault.CodeOf(err), fault.Unavailable)
}

// Each fetch sends what is new, the tree before stays readable, and what is
// kept on disk stays flat.
func TestRemoteFollowsChanges(t *testing.T) {
	r := newRemoteRepo(t)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		noise := make([]byte, 4000)
		for j := range noise {
			noise[j] = byte('a' + random.IntN(26))
		}
		r.write(fmt.Sprintf("d%d/f%d.yaml", i%7, i), string(noise))
	}
	src := r.source(SourceConfig{})
	since := r.commit("first")
	tree, err := src.Open(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := changed(t, tree, "")
	prefetch(t, tree, first...)
	whole := r.server.sent.Swap(0)
	for i := range 2*maxPacks + 5 {
		r.write("d3/f3.yaml", fmt.Sprint("edit ", i))
		r.commit("edit")
		before := tree
		rev := observe(t, src)
		if tree, err = src.Open(context.Background(), rev); err != nil {
			t.Fatal(err)
		}
		got, incremental := changed(t, tree, since)
		check(t, "changes", got, []string{"d3/f3.yaml"})
		check(t, "incremental", incremental, true)
		check(t, "content", read(t, tree, "d3/f3.yaml"), fmt.Sprint("edit ", i))
		if i > 0 {
			check(t, "content before", read(t, before, "d3/f3.yaml"), fmt.Sprint("edit ", i-1))
		}
		before.Close()
		since = rev
		if n := len(r.kept()); n > 2 {
			t.Errorf("%d folders are kept", n)
		}
		if n := r.packs(); n > 4*maxPacks {
			t.Errorf("%d packs are kept", n)
		}
	}
	if sent := r.server.sent.Load(); sent > 4*whole {
		t.Errorf("all edits together sent %d bytes, the first fetch %d", sent, whole)
	}
	all, incremental := changed(t, tree, "")
	check(t, "files", []any{len(all), incremental}, []any{50, false})
	for _, p := range all {
		read(t, tree, p)
	}
	tree.Close()
	check(t, "kept in the end", len(r.kept()), 1)
}

func TestRemoteForcedPush(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.write("b.yaml", "one")
	first := r.commit("first")
	src := r.source(SourceConfig{})
	tree := open(t, src)
	r.write("a.yaml", "two")
	r.git("commit", "-qa", "--amend", "-m", "forced")
	r.git("reflog", "expire", "--expire=now", "--all")
	r.git("gc", "-q", "--prune=now")
	next := open(t, src)
	got, incremental := changed(t, next, first)
	check(t, "changes", got, []string{"a.yaml"})
	check(t, "incremental", incremental, true)
	check(t, "content", []string{read(t, tree, "a.yaml"), read(t, next, "a.yaml"), read(t, next, "b.yaml")}, []string{"one", "two", "one"})
}

// After a restart the commit on disk is used again and compared with.
func TestRemoteRestart(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.write("b.yaml", "one")
	first := r.commit("first")
	tree, err := r.source(SourceConfig{}).Open(context.Background(), first)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "content", read(t, tree, "a.yaml"), "one")
	tree.Close()
	os.Mkdir(filepath.Join(r.state, partial+"left"), 0o755)
	os.Mkdir(filepath.Join(r.state, strings.Repeat("1", 40)+"-1048576-x"), 0o755)
	posts := r.server.posts.Load()
	src := r.source(SourceConfig{})
	check(t, "content", read(t, open(t, src), "a.yaml"), "one")
	check(t, "fetches", r.server.posts.Load(), posts)
	r.write("a.yaml", "two")
	r.commit("second")
	src = r.source(SourceConfig{})
	next := open(t, src)
	got, incremental := changed(t, next, first)
	check(t, "changes", got, []string{"a.yaml"})
	check(t, "incremental", incremental, true)
	other := r.source(SourceConfig{Limits: Limits{FileBytes: 10}}) // what was fetched under other limits is not used
	check(t, "content", read(t, open(t, other), "b.yaml"), "one")
}

func TestRemoteCredentials(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.commit("first")
	r.requireAuth("git", "s3cret")
	t.Setenv("FAIRLEAD_TEST_TOKEN", "s3cret")
	t.Setenv("FAIRLEAD_TEST_WRONG", "wr0ng")
	file := filepath.Join(t.TempDir(), "token")
	os.WriteFile(file, []byte("s3cret\n"), 0o600)
	for _, c := range []Credentials{{TokenEnv: "FAIRLEAD_TEST_TOKEN"}, {TokenFile: file}} {
		check(t, "content", read(t, open(t, r.source(SourceConfig{Credentials: c})), "a.yaml"), "one")
	}
	for words, c := range map[string]Credentials{
		"asks for credentials":             {},
		"refuses the credentials":          {TokenEnv: "FAIRLEAD_TEST_WRONG"},
		"FAIRLEAD_TEST_NONE, which should": {TokenEnv: "FAIRLEAD_TEST_NONE"},
		"cannot be read":                   {TokenFile: filepath.Join(t.TempDir(), "none")},
	} {
		_, err := r.source(SourceConfig{Credentials: c}).Observe(context.Background())
		f := fault.From(err)
		if f == nil || f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, words) || f.Fix == "" {
			t.Errorf("want %q, got %v", words, err)
		}
		mustNotSay(t, err, "wr0ng")
		mustNotSay(t, err, "s3cret")
	}
	// A token is read anew each time.
	src := r.source(SourceConfig{Credentials: Credentials{TokenFile: file}})
	r.requireAuth("git", "rotated")
	os.WriteFile(file, []byte("rotated"), 0o600)
	observe(t, src)
}

// With many refs one of them is asked for, once it is known that there are.
func TestRemoteManyRefs(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	first := r.commit("first")
	r.git("tag", "-a", "-m", "x", "v1")
	var packed strings.Builder
	for i := range 2 * manyRefs {
		fmt.Fprintf(&packed, "%s refs/pull/%d/head\n", first, i)
	}
	os.WriteFile(filepath.Join(r.dir, ".git/packed-refs"), []byte(packed.String()), 0o644)
	for _, ref := range []string{"", "main", "v1"} {
		src := r.source(SourceConfig{Ref: ref})
		check(t, ref, observe(t, src), first)
		r.server.sent.Store(0)
		check(t, ref, observe(t, src), first)
		if sent := r.server.sent.Load(); sent > 1000 {
			t.Errorf("%q: the second look sent %d bytes", ref, sent)
		}
	}
	src := r.source(SourceConfig{Ref: "main"})
	observe(t, src)
	r.write("a.yaml", "two")
	second := r.commit("second")
	check(t, "moved", observe(t, src), second)
	lists := r.countLists()
	next, err := src.Open(context.Background(), second)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "content", read(t, next, "a.yaml"), "two")
	next.Close()
	check(t, "lists for the fetch", lists.Load(), int32(0))
	r.git("config", "protocol.version", "0")
	r.server.before = func(_ http.ResponseWriter, req *http.Request) bool { // a server that knows no version 2
		req.Header.Del("Git-Protocol")
		return false
	}
	third := r.commit("third")
	check(t, "version 0", observe(t, src), third)
	r.git("checkout", "-q", "--detach")
	r.git("branch", "-D", "main")
	_, err = src.Observe(context.Background())
	check(t, "missing", fault.CodeOf(err), fault.NotFound)
}
