package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

// goTree is Go's own source, several times over, as one revision of a source.
type goTree struct {
	files map[string]string // paths on disk
	dirty string            // a file that has other content now
}

// newGoTree makes a tree of so many files.
func newGoTree(ctx context.Context, files int) (*goTree, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	var all []string
	err = filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".go") {
			all = append(all, p)
		}
		return err
	})
	t := &goTree{files: map[string]string{}}
	for i := range files {
		p := all[i%len(all)]
		t.files[fmt.Sprintf("part%d/%s", i/len(all), strings.TrimPrefix(filepath.ToSlash(p), filepath.ToSlash(src)+"/"))] = p
	}
	return t, err
}

// Changes is not asked for.
func (t *goTree) Changes(context.Context, ingest.Revision) ([]ingest.Change, bool, error) {
	return nil, false, nil
}

// Read gives a file's bytes.
func (t *goTree) Read(_ context.Context, path string) ([]byte, error) {
	data, err := os.ReadFile(t.files[path])
	if path == t.dirty {
		data = append(bytes.Clone(data), "\n// changed\n"...)
	}
	return data, err
}

// Info says which commit this is.
func (t *goTree) Info() ingest.CommitInfo { return ingest.CommitInfo{Commit: strings.Repeat("0", 40)} }

// Close does nothing.
func (t *goTree) Close() error { return nil }

func (t *goTree) view(revision string) ingest.View {
	v := ingest.View{Source: ingest.Description{Name: "large", Repository: "https://git.corp.test/large"}, Revision: ingest.Revision(revision), Info: t.Info(), Files: map[string]string{}, Tree: t}
	for p, on := range t.files {
		v.Files[p] = on
	}
	if t.dirty != "" {
		v.Files[t.dirty] += " changed"
	}
	return v
}

// codeTask is to index Go's own source as one large repository and search it.
type codeTask struct {
	Files   int
	State   string // a folder
	Profile string // the beginning of the names of profiles; "" for none
}

// codeSearched is what came of a codeTask.
type codeSearched struct {
	Files, Indexed int
	Read, OnDisk   int64
	Index, Edit    spent
	Heap           int64
	Rest, Peak     int64 // bytes resident
	Asked          []askedTimes
}

// code measures the index of a large repository's code, and searches in it.
func (s settings) code(ctx context.Context, r report, dir string) error {
	t := codeTask{Files: s.files, State: filepath.Join(dir, "code")}
	if s.profiles != "" {
		t.Profile = filepath.Join(s.profiles, "code")
	}
	res := &codeSearched{}
	if err := (task{Code: &t}).apart(ctx, res); err != nil {
		return err
	}
	r.section("Code: a repository of %d files of Go's own source", res.Files)
	r.line("read and indexed, wall / CPU", fmt.Sprintf("%s / %s, %d files, %s", seconds(res.Index.Wall), seconds(res.Index.CPU), res.Indexed, megabytes(res.Read)), "")
	r.line("on disk", megabytes(res.OnDisk), "")
	r.line("one file changed, wall / CPU", millis(res.Edit.Wall)+" / "+millis(res.Edit.CPU), "")
	r.line("searches:", "p50 / p99 / worst; CPU p50 / p99 / worst", "")
	for _, a := range res.Asked {
		r.timing(fmt.Sprintf("  %s, %d times", a.Name, len(a.Wall)), a.timing, a.Goal)
	}
	r.line("heap held by the index", megabytes(res.Heap), "")
	r.line("resident, settled / peak", megabytes(res.Rest)+" / "+megabytes(res.Peak), "stated")
	return nil
}

// do indexes and searches, and prints what came of it.
func (t codeTask) do(ctx context.Context) (err error) {
	tree, err := newGoTree(ctx, t.Files)
	if err != nil {
		return err
	}
	before := held()
	db, err := store.OpenCode(ctx, t.State)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	x, err := fts.NewCode(ctx, db.Read, db.Write)
	if err != nil {
		return err
	}
	log := slog.New(slog.DiscardHandler)
	codes := knowledge.NewCode(knowledge.CodeConfig{MaxRepositoryBytes: 2 << 30}, x, x, log)
	c, err := catalog.New(catalog.Config{Policy: accesstest.OpenPolicy()})
	if err != nil {
		return err
	}
	room, err := knowledge.New(knowledge.Config{Catalog: c, Index: nowhere{}, Keeper: nowhere{}, Code: codes, Logger: log})
	if err != nil {
		return err
	}
	res := &codeSearched{Files: len(tree.files)}
	if err := errors.Join(t.index(ctx, tree, codes, res), codeOnDisk(ctx, db, t.State, res)); err != nil {
		return err
	}
	tree.dirty = "part0/archive/tar/common.go"
	took := stopwatch()
	if err := codes.Follow(ctx, tree.view("2")); err != nil {
		return err
	}
	res.Edit = took()
	if err := t.search(ctx, room, tree, res); err != nil {
		return err
	}
	res.Heap = held() - before
	if res.Rest, res.Peak, err = settled(ctx, os.Getpid()); err != nil {
		return err
	}
	runtime.KeepAlive(room)
	return json.NewEncoder(os.Stdout).Encode(res)
}

func (t codeTask) index(ctx context.Context, tree *goTree, codes *knowledge.Code, res *codeSearched) error {
	profiled, err := profile(t.Profile, "index")
	if err != nil {
		return err
	}
	defer profiled()
	took := stopwatch()
	err = codes.Follow(ctx, tree.view("1"))
	res.Index = took()
	res.Indexed, res.Read = codes.Files()
	return err
}

func codeOnDisk(ctx context.Context, db *store.Local, dir string, res *codeSearched) error {
	if _, err := db.Write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	st, err := os.Stat(filepath.Join(dir, "code.db"))
	if err != nil {
		return err
	}
	res.OnDisk = st.Size()
	return nil
}

// searchedFiles is out of how many files searches are made.
const searchedFiles = 50

// searches are for names, lines and expressions out of the files.
func (t codeTask) searches(ctx context.Context, tree *goTree) (map[string][]knowledge.SearchCodeInput, error) {
	word := regexp.MustCompile(`[A-Za-z][A-Za-z0-9]{5,}`)
	queries := map[string][]knowledge.SearchCodeInput{}
	paths := slices.Sorted(maps.Keys(tree.files))
	for i := 0; i < len(paths); i += len(paths)/searchedFiles + 1 {
		data, err := tree.Read(ctx, paths[i])
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(data), "\n")
		line := strings.TrimSpace(lines[len(lines)/2])
		names := word.FindAllString(string(data), 400)
		if len(names) == 0 || len(line) < 8 || len(line) > 200 {
			continue
		}
		name := names[len(names)/2]
		queries["a name"] = append(queries["a name"], knowledge.SearchCodeInput{Query: name})
		queries["a line"] = append(queries["a line"], knowledge.SearchCodeInput{Query: line})
		queries["an expression"] = append(queries["an expression"], knowledge.SearchCodeInput{Query: `func \w*` + name[:5] + `\w*\(`, Regexp: true})
		queries["what is nowhere"] = append(queries["what is nowhere"], knowledge.SearchCodeInput{Query: name + "Zzq"})
	}
	queries["the commonest words"] = []knowledge.SearchCodeInput{{Query: "return nil"}, {Query: "the", Limit: 50}, {Query: "err != nil", Limit: 50}, {Query: `if err :?= \w+\(`, Regexp: true}, {Query: "func main", Path: "**/*_test.go"}}
	return queries, nil
}

// search times searches.
func (t codeTask) search(ctx context.Context, room *knowledge.Service, tree *goTree, res *codeSearched) error {
	profiled, err := profile(t.Profile, "search")
	if err != nil {
		return err
	}
	defer profiled()
	who := accesstest.As("user:default/bench")
	queries, err := t.searches(ctx, tree)
	if err != nil {
		return err
	}
	for _, kind := range []string{"a name", "a line", "an expression", "what is nowhere", "the commonest words"} {
		out := askedTimes{Name: kind}
		for _, in := range queries[kind] {
			err := out.call(func() error {
				_, err := room.SearchCode(ctx, who, in)
				return err
			})
			if err != nil {
				return fmt.Errorf("%+v: %w", in, err)
			}
		}
		res.Asked = append(res.Asked, out)
	}
	return nil
}

// nowhere is an index of no documents.
type nowhere struct{}

// Each calls nothing.
func (nowhere) Each(context.Context, func(string, knowledge.State, []*knowledge.Card)) error {
	return nil
}

// Replace keeps nothing.
func (nowhere) Replace(context.Context, string, knowledge.Batch) error { return nil }

// Drop drops nothing.
func (nowhere) Drop(context.Context, string) error { return nil }

// Find finds nothing.
func (nowhere) Find(context.Context, knowledge.Query) (*knowledge.Found, error) {
	return &knowledge.Found{}, nil
}

// Text is of no document.
func (nowhere) Text(context.Context, int64) (*knowledge.Entry, error) { return nil, nil }
