package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

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

// code measures the index of a large repository's code, and searches in it.
func (s settings) code(ctx context.Context, r report, dir string) (err error) {
	tree, err := newGoTree(ctx, s.files)
	if err != nil {
		return err
	}
	db, err := store.OpenCode(ctx, dir)
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
	r.section("Code: a repository of %d files of Go's own source", len(tree.files))
	start := time.Now()
	if err := codes.Follow(ctx, tree.view("1")); err != nil {
		return err
	}
	took := time.Since(start)
	files, read := codes.Files()
	r.line("read and indexed", fmt.Sprintf("%s, %d files, %s", seconds(took), files, megabytes(read)), "")
	if err := s.codeOnDisk(ctx, r, db, dir); err != nil {
		return err
	}
	tree.dirty = "part0/archive/tar/common.go"
	start = time.Now()
	if err := codes.Follow(ctx, tree.view("2")); err != nil {
		return err
	}
	r.line("one file changed", millis(time.Since(start)), "")
	return s.codeSearches(ctx, r, room, tree)
}

func (s settings) codeOnDisk(ctx context.Context, r report, db *store.Local, dir string) error {
	if _, err := db.Write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return err
	}
	st, err := os.Stat(filepath.Join(dir, "code.db"))
	if err != nil {
		return err
	}
	r.line("on disk", megabytes(st.Size()), "")
	return nil
}

// codeSearches times searches for names, lines and expressions out of the
// files.
func (s settings) codeSearches(ctx context.Context, r report, room *knowledge.Service, tree *goTree) error {
	who := accesstest.As("user:default/bench")
	word := regexp.MustCompile(`[A-Za-z][A-Za-z0-9]{5,}`)
	queries := map[string][]knowledge.SearchCodeInput{}
	paths := make([]string, 0, len(tree.files))
	for p := range tree.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for i := 0; i < len(paths); i += len(paths)/150 + 1 {
		data, err := tree.Read(ctx, paths[i])
		if err != nil {
			return err
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
	for _, kind := range []string{"a name", "a line", "an expression", "what is nowhere", "the commonest words"} {
		var times []time.Duration
		for _, in := range queries[kind] {
			start := time.Now()
			if _, err := room.SearchCode(ctx, who, in); err != nil {
				return fmt.Errorf("%+v: %w", in, err)
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		r.line("searching "+kind+", p50 / p99 / most", fmt.Sprintf("%s / %s / %s", millis(quantile(times, 0.5)), millis(quantile(times, 0.99)), millis(times[len(times)-1])), "")
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
