package filesource

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// folder is a source over files written by a test.
type folder struct {
	t   *testing.T
	dir string
	src *Source
}

func newFolder(t *testing.T, files map[string]string) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir()}
	for name, content := range files {
		f.write(name, content)
	}
	f.src = f.source(Config{Path: f.dir})
	return f
}

func (f *folder) source(cfg Config) *Source {
	f.t.Helper()
	src, err := New("test", cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	return src
}

func (f *folder) write(name, content string) {
	f.t.Helper()
	at := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *folder) observe() ingest.Revision {
	f.t.Helper()
	rev, err := f.src.Observe(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	return rev
}

func (f *folder) open() ingest.Tree {
	f.t.Helper()
	tree, err := f.src.Open(context.Background(), f.observe())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { tree.Close() })
	return tree
}

// paths lists changes as path, or -path for what is gone.
func paths(t *testing.T, tree ingest.Tree, since ingest.Revision) (out []string, incremental bool) {
	t.Helper()
	changes, incremental, err := tree.Changes(context.Background(), since)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Gone {
			out = append(out, "-"+c.Path)
		} else {
			out = append(out, c.Path)
		}
	}
	return out, incremental
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestListsWhatIsThere(t *testing.T) {
	f := newFolder(t, map[string]string{
		"catalog-info.yaml": "a", "svc/catalog-info.yaml": "b", "svc/docs/index.md": "c", ".github/x.yaml": "d",
		".git/config": "secret", "node_modules/p/catalog-info.yaml": "x", "..data_1/catalog-info.yaml": "x", "bad\xff.yaml": "x",
	})
	got, incremental := paths(t, f.open(), "")
	check(t, "paths", got, []string{".github/x.yaml", "catalog-info.yaml", "svc/catalog-info.yaml", "svc/docs/index.md"})
	check(t, "incremental", incremental, false)
	check(t, "description", f.src.Describe(), ingest.Description{Name: "test", Type: "file", URL: f.dir, BaseType: "file", Base: f.dir, Include: DefaultInclude(), FileBytes: DefaultFileBytes})
	if _, err := f.open().Read(context.Background(), ".git/config"); !errors.Is(err, ingest.ErrNotFound) {
		t.Errorf("reading .git/config gives %v", err)
	}
}

func TestChangesFollowEdits(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "1", "b.yaml": "1", "c/d.yaml": "1"})
	first := f.observe()
	paths(t, f.open(), "")
	if f.observe() != first {
		t.Fatal("the fingerprint moved though nothing changed")
	}
	f.write("a.yaml", "2") // the same size, at once
	f.write("e.yaml", "new")
	if err := os.Remove(filepath.Join(f.dir, "c/d.yaml")); err != nil {
		t.Fatal(err)
	}
	second := f.observe()
	got, incremental := paths(t, f.open(), first)
	check(t, "changes", got, []string{"a.yaml", "-c/d.yaml", "e.yaml"})
	check(t, "incremental", incremental, true)
	got, incremental = paths(t, f.open(), second)
	check(t, "no changes", got, []string(nil))
	check(t, "incremental", incremental, true)
	got, incremental = paths(t, f.open(), "unknown")
	check(t, "all", got, []string{"a.yaml", "b.yaml", "e.yaml"})
	check(t, "incremental", incremental, false)
}

// A second write within the clock's resolution leaves size and times alone.
func TestNoticesEditsThatTimesDoNotShow(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "1"})
	first := f.observe()
	l := f.src.last.files["a.yaml"]
	if !l.fresh {
		t.Skip("the file system's clock is off")
	}
	f.write("a.yaml", "2")
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	info, err := root.Stat("a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inode, changed := identity(info)
	l.stamp = stampOf(info, inode, changed) // as if the times were equal
	f.src.last.files["a.yaml"] = l
	if f.observe() == first {
		t.Error("the edit went unnoticed")
	}
}

func TestIDsSurviveARestart(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "1"})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(f.dir, "a.yaml"), old, old); err != nil {
		t.Fatal(err)
	}
	first := f.observe()
	f.src = f.source(Config{Path: f.dir})
	check(t, "revision", f.observe(), first)
}

func TestLinks(t *testing.T) {
	f := newFolder(t, map[string]string{"real/a.yaml": "inside"})
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"in.yaml": "real/a.yaml", "out.yaml": outside, "up.yaml": "../../etc/passwd",
		"loop.yaml": "loop.yaml", "dir": "real", "dangling.yaml": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(f.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	tree := f.open()
	got, _ := paths(t, tree, "")
	check(t, "paths", got, []string{"in.yaml", "real/a.yaml"})
	data, err := tree.Read(context.Background(), "in.yaml")
	check(t, "content", string(data), "inside")
	check(t, "error", err, error(nil))
	for _, p := range []string{"out.yaml", "up.yaml", "loop.yaml", "../etc/passwd", "/etc/passwd", "dir/a.yaml", "real", "", "."} {
		if data, err := tree.Read(context.Background(), p); !errors.Is(err, ingest.ErrNotFound) {
			t.Errorf("Read(%q) = %q, %v", p, data, err)
		}
	}
	// A listed file that is replaced by a link to the outside is not followed.
	if err := os.Remove(filepath.Join(f.dir, "real/a.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(f.dir, "real/a.yaml")); err != nil {
		t.Fatal(err)
	}
	if data, err := tree.Read(context.Background(), "real/a.yaml"); !errors.Is(err, ingest.ErrNotFound) {
		t.Errorf("followed the link: %q, %v", data, err)
	}
}

func TestLimitsAndVanishedFiles(t *testing.T) {
	f := newFolder(t, map[string]string{"big.yaml": strings.Repeat("x", 101), "fits.yaml": strings.Repeat("x", 100), "gone.yaml": "x"})
	f.src = f.source(Config{Path: f.dir, Limits: Limits{FileBytes: 100, Files: 3}})
	tree := f.open()
	if err := os.Remove(filepath.Join(f.dir, "gone.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Read(context.Background(), "gone.yaml"); !errors.Is(err, ingest.ErrNotFound) {
		t.Errorf("vanished: %v", err)
	}
	if _, err := tree.Read(context.Background(), "big.yaml"); !errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("big: %v", err)
	}
	if data, err := tree.Read(context.Background(), "fits.yaml"); err != nil || len(data) != 100 {
		t.Errorf("fits: %d bytes, %v", len(data), err)
	}
	f.write("a.yaml", "")
	f.write("b.yaml", "")
	_, err := f.src.Observe(context.Background())
	check(t, "code", fault.CodeOf(err), fault.FailedPrecondition)
}

// A named pipe blocks whoever opens it; it is no file.
func TestPipesAreNotOpened(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "x"})
	tree := f.open()
	at := filepath.Join(f.dir, "a.yaml")
	if err := errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Read(context.Background(), "a.yaml"); !errors.Is(err, ingest.ErrNotFound) {
		t.Errorf("pipe: %v", err)
	}
	got, _ := paths(t, f.open(), "")
	check(t, "paths", got, []string(nil))
}

func TestSingleFile(t *testing.T) {
	f := newFolder(t, map[string]string{"al[l].yaml": "x", "other/b.yaml": "y"})
	f.src = f.source(Config{Path: filepath.Join(f.dir, "al[l].yaml")})
	d := f.src.Describe()
	check(t, "base", d.Base, f.dir)
	check(t, "include", d.Include, []string{`al\[l\].yaml`})
	got, _ := paths(t, f.open(), "")
	check(t, "paths", got, []string{"al[l].yaml", "other/b.yaml"})
	if err := os.Remove(filepath.Join(f.dir, "al[l].yaml")); err != nil {
		t.Fatal(err)
	}
	_, err := f.src.Observe(context.Background())
	check(t, "code", fault.CodeOf(err), fault.NotFound)
}

func TestMissingFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	f := &folder{t: t, dir: dir}
	f.src = f.source(Config{Path: dir})
	_, err := f.src.Observe(context.Background())
	check(t, "code", fault.CodeOf(err), fault.NotFound)
	f.write("a.yaml", "x")
	got, _ := paths(t, f.open(), "")
	check(t, "paths", got, []string{"a.yaml"})
}

func TestConcurrentUse(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "1", "b.yaml": "1"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			tree, err := f.src.Open(context.Background(), "")
			if err != nil {
				t.Error(err)
				return
			}
			defer tree.Close()
			if _, _, err := tree.Changes(context.Background(), ""); err != nil {
				t.Error(err)
			}
			if _, err := tree.Read(context.Background(), "a.yaml"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEndedContext(t *testing.T) {
	f := newFolder(t, map[string]string{"a.yaml": "1"})
	tree := f.open()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := f.src.Observe(ctx)
	_, _, err2 := tree.Changes(ctx, "")
	_, err3 := tree.Read(ctx, "a.yaml")
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestValidate(t *testing.T) {
	bad := Config{Include: []string{"[", "/abs", "ok/*.yaml"}, Limits: Limits{FileBytes: -1, Files: -1}}
	var fields []string
	for _, p := range bad.Validate() {
		fields = append(fields, p.Field)
	}
	check(t, "fields", fields, []string{"path", "include[0]", "include[1]", "limits.fileBytes", "limits.files"})
	if _, err := New("x", bad); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("New: %v", err)
	}
}
