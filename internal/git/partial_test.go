package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// noise is text that does not compress well.
func noise(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('a' + random.IntN(26))
	}
	return string(out)
}

// monorepo has 200 files of noise and 5 of the catalog.
func (r *repo) monorepo() (head ingest.Revision, catalog []string) {
	for i := range 200 {
		r.write(fmt.Sprintf("s%d/src/f%d.go", i%5, i), noise(uint64(i), 8000))
	}
	for i := range 5 {
		path := fmt.Sprintf("s%d/catalog-info.yaml", i)
		r.write(path, fmt.Sprint("name: ", i))
		catalog = append(catalog, path)
	}
	r.write("big.bin", noise(1000, 3<<20))
	return r.commit("first"), catalog
}

// versionZero has the server speak as it did before version 2.
func (r *remoteRepo) versionZero() {
	r.server.before = func(_ http.ResponseWriter, req *http.Request) bool {
		req.Header.Del("Git-Protocol")
		return false
	}
}

// TestContentInPart reads a few files of many, from servers that can and that
// cannot give them alone.
func TestContentInPart(t *testing.T) {
	for name, c := range map[string]struct {
		inPart bool
		set    func(r *remoteRepo) SourceConfig
	}{
		"http": {true, func(*remoteRepo) SourceConfig { return SourceConfig{} }},
		"no filter": {false, func(r *remoteRepo) SourceConfig {
			r.git("config", "uploadpack.allowFilter", "false")
			return SourceConfig{}
		}},
		"version 0":    {false, func(r *remoteRepo) SourceConfig { r.versionZero(); return SourceConfig{} }},
		"ssh":          {true, func(r *remoteRepo) SourceConfig { return r.overSSH(true) }},
		"ssh, no env":  {false, func(r *remoteRepo) SourceConfig { return r.overSSH(false) }},
		"on disk":      {false, func(r *remoteRepo) SourceConfig { return SourceConfig{URL: r.dir} }},
		"on disk, URL": {false, func(r *remoteRepo) SourceConfig { return SourceConfig{URL: "file://" + r.dir} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRemoteRepo(t)
			head, catalog := r.monorepo()
			src := r.source(c.set(r))
			tree := open(t, src)
			check(t, "commit", tree.Info().Commit, string(head))
			got, _ := changed(t, tree, "")
			check(t, "files", len(got), 206)
			if err := ingest.Fetch(t.Context(), tree, append(catalog, "nowhere")); err != nil {
				t.Fatal(err)
			}
			for i, path := range catalog {
				check(t, path, read(t, tree, path), fmt.Sprint("name: ", i))
			}
			if c.inPart {
				if n := r.keptBytes(); n > 100_000 {
					t.Errorf("%d bytes were fetched for five small files", n)
				}
			}
			check(t, "read as it is wanted", read(t, tree, "s3/src/f13.go"), noise(13, 8000))
			if _, err := tree.Read(t.Context(), "big.bin"); !errors.Is(err, ingest.ErrTooLarge) {
				t.Errorf("big file: %v", err)
			}
			if _, err := tree.Read(t.Context(), "nowhere"); !errors.Is(err, ingest.ErrNotFound) {
				t.Errorf("missing file: %v", err)
			}
			if c.inPart && r.keptBytes() > 1<<20 {
				t.Errorf("%d bytes are kept", r.keptBytes())
			}
		})
	}
}

func (r *remoteRepo) overSSH(env bool) SourceConfig {
	s := serveSSH(r.t, env)
	return SourceConfig{URL: "ssh://git@" + s.addr + r.dir, Credentials: Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}}
}

// TestPushesCostWhatChanged follows pushes to a repository of which little is
// there, and counts requests and bytes.
func TestPushesCostWhatChanged(t *testing.T) {
	r := newRemoteRepo(t)
	since, catalog := r.monorepo()
	src := r.source(SourceConfig{})
	tree := open(t, src)
	prefetch(t, tree, catalog...)
	check(t, "requests of a first read", r.server.posts.Load(), int32(2))
	prefetch(t, tree, catalog...)
	check(t, "requests for what is there", r.server.posts.Load(), int32(2))
	for i := range 2*maxPacks + 3 {
		r.write("s1/catalog-info.yaml", fmt.Sprint("edit ", i))
		r.write("s1/src/f1.go", noise(uint64(i), 8000))
		r.commit("edit")
		r.server.posts.Store(0)
		r.server.sent.Store(0)
		next := open(t, src)
		got, incremental := changed(t, next, since)
		check(t, "changes", []any{got, incremental}, []any{[]string{"s1/catalog-info.yaml", "s1/src/f1.go"}, true})
		prefetch(t, next, "s1/catalog-info.yaml")
		check(t, "content", read(t, next, "s1/catalog-info.yaml"), fmt.Sprint("edit ", i))
		check(t, "requests", r.server.posts.Load(), int32(2))
		if sent := r.server.sent.Load(); sent > 30_000 {
			t.Errorf("push %d sent %d bytes", i, sent)
		}
		check(t, "before", read(t, next, "s4/catalog-info.yaml"), "name: 4")
		since = ingest.Revision(next.Info().Commit)
	}
}

func prefetch(t *testing.T, tree ingest.Tree, paths ...string) {
	t.Helper()
	if err := ingest.Fetch(t.Context(), tree, paths); err != nil {
		t.Fatal(err)
	}
}

// TestFilesReadOneByOne reads many files that were not asked for in advance,
// after one another and at a time.
func TestFilesReadOneByOne(t *testing.T) {
	r := newRemoteRepo(t)
	r.monorepo()
	src := r.source(SourceConfig{})
	tree, err := src.Open(t.Context(), observe(t, src))
	if err != nil {
		t.Fatal(err)
	}
	path := func(i int) string { return fmt.Sprintf("s%d/src/f%d.go", i%5, i) }
	for i := range 3 * maxPacks {
		check(t, path(i), read(t, tree, path(i)), noise(uint64(i), 8000))
	}
	if n := r.packs(); n > maxPacks+2 {
		t.Errorf("%d packs are kept", n)
	}
	r.server.posts.Store(0)
	var g errgroup.Group
	for i := range 200 {
		g.Go(func() error {
			data, err := tree.Read(context.Background(), path(i))
			if err == nil && string(data) != noise(uint64(i), 8000) {
				err = fmt.Errorf("%s is %q", path(i), data)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := r.server.posts.Load(); n > 100 {
		t.Errorf("%d requests for 152 files that were read at a time", n)
	}
	tree.Close()
	r.server.posts.Store(0)
	again := open(t, r.source(SourceConfig{}))
	for i := range 200 {
		check(t, path(i), read(t, again, path(i)), noise(uint64(i), 8000))
	}
	check(t, "requests after a restart", r.server.posts.Load(), int32(0))
}

// TestWholeCommitsOfEarlierRuns goes on with what was fetched whole, and back.
func TestWholeCommitsOfEarlierRuns(t *testing.T) {
	r := newRemoteRepo(t)
	r.git("config", "uploadpack.allowFilter", "false")
	since, catalog := r.monorepo()
	tree, err := r.source(SourceConfig{}).Open(t.Context(), since)
	if err != nil {
		t.Fatal(err)
	}
	tree.Close()
	for _, filter := range []string{"true", "false", "true"} {
		r.git("config", "uploadpack.allowFilter", filter)
		src := r.source(SourceConfig{})
		r.server.posts.Store(0)
		kept, err := src.Open(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "requests for what is kept", r.server.posts.Load(), int32(0))
		check(t, "content", read(t, kept, catalog[0]), "name: 0")
		kept.Close()
		r.write("new.yaml", filter+string(since))
		rev := r.commit("next")
		next, err := src.Open(t.Context(), rev)
		if err != nil {
			t.Fatal(err)
		}
		got, incremental := changed(t, next, since)
		check(t, "changes", []any{got, incremental}, []any{[]string{"new.yaml"}, true})
		check(t, "new", read(t, next, "new.yaml"), filter+string(since))
		check(t, "old", []string{read(t, next, catalog[0]), read(t, next, "s2/src/f7.go")}, []string{"name: 0", noise(7, 8000)})
		next.Close()
		since = rev
	}
	check(t, "kept in the end", len(r.kept()), 1)
}

// keptBytes is the size of what is kept.
func (r *remoteRepo) keptBytes() (n int64) {
	all, err := filepath.Glob(filepath.Join(r.state, "*", "objects", "pack", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, p := range all {
		n += fileSize(r.t, p)
	}
	return n
}

// refusing has the server answer requests for objects by ids with what a test
// says.
func (r *remoteRepo) refusing(answer func(w http.ResponseWriter, req *http.Request)) {
	r.server.before = func(w http.ResponseWriter, req *http.Request) bool {
		if req.Method != http.MethodPost || !strings.Contains(req.Header.Get("Git-Protocol"), "version=2") {
			return false
		}
		w.Header().Set("Content-Type", answerType)
		answer(w, req)
		return true
	}
}
