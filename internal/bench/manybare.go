package main

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // Git names objects by it
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// bare is a bare repository that is written without the git program, which
// would take minutes for a thousand of them. All have one file of their own at
// the root, beside the sources that they share with others.
type bare struct {
	dir    string
	shared *shared
	head   string
	turn   int
}

// shared is what many repositories have in common, kept once.
type shared struct {
	objects string // the folder of its objects
	root    []treeEntry
}

type treeEntry struct {
	mode, name string
	id         []byte
}

const catalogFile = "catalog-info.yaml"

// newShared makes a repository of a service's sources with Git.
func newShared(ctx context.Context, dir string) (*shared, error) {
	var files []file
	for _, folder := range words("cmd docs internal/api internal/store internal/work test") {
		for i := range 6 {
			files = append(files, text(fmt.Sprintf("%s/%s-%d.go", folder, filepath.Base(folder), i), strings.Repeat("// A line of a service's source.\n", 40)))
		}
	}
	files = append(files, text("README.md", "# A service\n"), text("go.mod", "module corp.test/service\n"), text("Makefile", "build:\n\tgo build ./...\n"))
	if err := imported(ctx, dir, true, files); err != nil {
		return nil, err
	}
	out, err := gitIn(ctx, dir, nil, "ls-tree", "main")
	s := &shared{objects: filepath.Join(dir, "objects")}
	for line := range strings.Lines(string(out)) {
		head, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		f := strings.Fields(head)
		id, err := hex.DecodeString(f[2])
		if err != nil {
			return nil, err
		}
		s.root = append(s.root, treeEntry{strings.TrimLeft(f[0], "0"), name, id})
	}
	return s, err
}

// newBare makes a repository with a catalog file.
func newBare(dir string, s *shared, catalog string) (*bare, error) {
	b := &bare{dir: dir, shared: s}
	for _, d := range words("objects/info refs/heads refs/tags") {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/info/alternates": s.objects + "\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	return b, b.commit(catalog)
}

// commit makes a commit with another catalog file.
func (b *bare) commit(catalog string) error {
	blob, err := b.put("blob", []byte(catalog))
	if err != nil {
		return err
	}
	entries := append(slices.Clone(b.shared.root), treeEntry{"100644", catalogFile, blob})
	slices.SortFunc(entries, func(x, y treeEntry) int { return strings.Compare(x.sortsAs(), y.sortsAs()) })
	var tree bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&tree, "%s %s\x00%s", e.mode, e.name, e.id)
	}
	root, err := b.put("tree", tree.Bytes())
	if err != nil {
		return err
	}
	parent := ""
	if b.head != "" {
		parent = "parent " + b.head + "\n"
	}
	b.turn++
	who := fmt.Sprintf("Bench <bench@corp.test> %d +0000", 1_700_000_000+b.turn)
	id, err := b.put("commit", fmt.Appendf(nil, "tree %x\n%sauthor %s\ncommitter %s\n\nDescribe the service\n", root, parent, who, who))
	if err != nil {
		return err
	}
	b.head = hex.EncodeToString(id)
	ref := filepath.Join(b.dir, "refs", "heads", "main")
	if err := os.WriteFile(ref+".new", []byte(b.head+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(ref+".new", ref)
}

// sortsAs is what Git sorts an entry of a tree by.
func (e treeEntry) sortsAs() string {
	if e.mode == "40000" {
		return e.name + "/"
	}
	return e.name
}

// put writes an object.
func (b *bare) put(kind string, data []byte) ([]byte, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(data)), data...)
	id := sha1.Sum(whole) //nolint:gosec // Git names objects by it
	name := hex.EncodeToString(id[:])
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "objects", name[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return id[:], os.WriteFile(filepath.Join(dir, name[2:]), packed.Bytes(), 0o644)
}

// file is one file of a repository that Git makes.
type file struct {
	path string
	size int64
	from io.Reader
}

func text(path, content string) file {
	return file{path, int64(len(content)), strings.NewReader(content)}
}

// imported makes a bare repository of some files, whatever their size, or adds
// a commit that changes some. Nothing is compressed, to save time.
func imported(ctx context.Context, dir string, filters bool, files []file) error {
	from := "from refs/heads/main^0\n"
	if _, err := os.Stat(dir); err != nil {
		from = ""
		if _, err := gitIn(ctx, "", nil, "init", "-q", "--bare", "-b", "main", dir); err != nil {
			return err
		}
		for key, value := range map[string]bool{"uploadpack.allowFilter": filters, "uploadpack.allowAnySHA1InWant": true} {
			if _, err := gitIn(ctx, dir, nil, "config", key, fmt.Sprint(value)); err != nil {
				return err
			}
		}
	}
	const head = "commit refs/heads/main\ncommitter Bench <bench@corp.test> 1700000000 +0000\ndata 4\nMake\n"
	stream := []io.Reader{strings.NewReader(head + from)}
	for _, f := range files {
		stream = append(stream, strings.NewReader(fmt.Sprintf("M 100644 inline %s\ndata %d\n", f.path, f.size)), f.from, strings.NewReader("\n"))
	}
	_, err := gitIn(ctx, dir, io.MultiReader(stream...), "-c", "core.bigFileThreshold=1m", "-c", "core.compression=0", "-c", "pack.compression=0",
		"-c", "fastimport.unpackLimit=0", "fast-import", "--quiet")
	return err
}

// gitIn runs Git in a folder and gives what it prints.
func gitIn(ctx context.Context, dir string, in io.Reader, args ...string) ([]byte, error) {
	cmd := gitCommand(ctx, args...)
	cmd.Dir, cmd.Stdin = dir, in
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}
