package objects

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

var fixture = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "objects")
	if err != nil {
		panic(err)
	}
	return dir
})

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(fixture())
	os.Exit(code)
}

// packed gives the folder of a repository whose objects are in one pack with
// long chains of differences; it is made once and copied.
func packed(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed")
	}
	made := filepath.Join(fixture(), "repo")
	if _, err := os.Stat(made); err != nil {
		makePacked(t, made)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func makePacked(t *testing.T, dir string) {
	t.Helper()
	os.Mkdir(dir, 0o755)
	git(t, dir, "init", "-q", "-b", "main")
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 20000)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	for i := range 30 {
		text[random.IntN(len(text))] = 'X'
		os.MkdirAll(filepath.Join(dir, fmt.Sprint(i%3)), 0o755)
		os.WriteFile(filepath.Join(dir, fmt.Sprint(i%3), fmt.Sprint("f", i)), append(text, fmt.Sprint(i)...), 0o644)
		os.WriteFile(filepath.Join(dir, "same"), text, 0o644)
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", fmt.Sprint(i))
	}
	git(t, dir, "tag", "-a", "-m", "x", "v1")
	git(t, dir, "repack", "-adfq", "--depth=50", "--window=50")
}

func onePack(t *testing.T, dir string) string {
	t.Helper()
	all, _ := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.pack"))
	if len(all) != 1 {
		t.Fatalf("%d packs", len(all))
	}
	return all[0]
}

var wide = IndexLimits{Objects: 1000, BlobBytes: 1 << 20}

// Every object reads as the git program reads it, loose, packed, and packed
// with an index of our own.
func TestReadsWhatGitReads(t *testing.T) {
	dir := packed(t)
	lines := strings.Split(git(t, dir, "cat-file", "--batch-all-objects", "--batch-check"), "\n")
	verify := func(name string, db *DB) {
		for _, line := range lines {
			f := strings.Fields(line)
			id, _ := ParseID(f[0])
			kind, data, err := db.Read(id, 1<<20)
			if err != nil || kind.String() != f[1] || fmt.Sprint(len(data)) != f[2] {
				t.Errorf("%s: %s: %s, %d bytes, %v", name, line, kind, len(data), err)
			}
			sum := newObjectSum(kind, int64(len(data)))
			sum.Write(data)
			if !bytes.Equal(sum.Sum(nil), id[:]) {
				t.Errorf("%s: %s has other content", name, line)
			}
		}
	}
	db, err := Open(filepath.Join(dir, ".git/objects"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	verify("packed", db)

	pack := onePack(t, dir)
	own := filepath.Join(t.TempDir(), "objects")
	os.MkdirAll(filepath.Join(own, "pack"), 0o755)
	data, _ := os.ReadFile(pack)
	copied := filepath.Join(own, "pack", filepath.Base(pack))
	os.WriteFile(copied, data, 0o644)
	if err := BuildIndex(context.Background(), copied, nil, wide); err != nil {
		t.Fatal(err)
	}
	theirs, _ := os.ReadFile(strings.TrimSuffix(pack, ".pack") + ".idx")
	ours, _ := os.ReadFile(strings.TrimSuffix(copied, ".pack") + ".idx")
	if !bytes.Equal(theirs, ours) {
		t.Error("the index is not the one that git makes")
	}
	mine, err := Open(own)
	if err != nil {
		t.Fatal(err)
	}
	verify("own index", mine)
	mine.Close()

	os.Rename(pack, filepath.Join(dir, "loose.pack"))
	os.Remove(strings.TrimSuffix(pack, ".pack") + ".idx")
	git(t, dir, "-c", "alias.un=!git unpack-objects -q < loose.pack", "un")
	verify("loose", db) // the same database, though the pack has vanished
}

// A database that is not read lets go of its files, and opens them again.
func TestIdle(t *testing.T) {
	dir := packed(t)
	db, err := Open(filepath.Join(dir, ".git/objects"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.idle = time.Millisecond
	id, _ := ParseID(git(t, dir, "rev-parse", "HEAD:same"))
	for range 3 {
		if _, _, err := db.Read(id, 1<<20); err != nil {
			t.Fatal(err)
		}
		for held := 1; held > 0; {
			db.mu.RLock()
			held = len(db.packs)
			db.mu.RUnlock()
			runtime.Gosched()
		}
	}
}

func TestLimits(t *testing.T) {
	dir := packed(t)
	db, err := Open(filepath.Join(dir, ".git/objects"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id, _ := ParseID(git(t, dir, "rev-parse", "HEAD:same"))
	var large *TooLargeError
	if _, _, err := db.Read(id, 100); !errors.As(err, &large) || large.ID != id {
		t.Errorf("small limit: %v", err)
	}
	if _, _, err := db.Read(ID{1}, 100); !errors.Is(err, ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	pack := onePack(t, dir)
	var many *TooManyError
	if err := BuildIndex(context.Background(), pack, nil, IndexLimits{Objects: 10, BlobBytes: 1}); !errors.As(err, &many) {
		t.Errorf("too many: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := BuildIndex(ctx, pack, nil, wide); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
}

// A damaged pack is an error, wherever the damage is; never a panic.
func TestDamagedPacks(t *testing.T) {
	dir := packed(t)
	data, err := os.ReadFile(onePack(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "x.pack")
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		bad := bytes.Clone(data)
		bad[random.IntN(len(bad))] ^= byte(1 + random.IntN(255))
		os.WriteFile(at, bad, 0o644)
		if err := BuildIndex(context.Background(), at, nil, wide); err == nil {
			t.Fatal("the damage went unnoticed")
		}
	}
	for _, n := range []int{0, 10, 31, 32, 100, len(data) - 1} {
		os.WriteFile(at, data[:n], 0o644)
		if err := BuildIndex(context.Background(), at, nil, wide); err == nil {
			t.Errorf("%d bytes pass for a pack", n)
		}
	}
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte("hello world"), []byte{11, 5, 0x90, 5})
	f.Add([]byte("hello"), []byte{5, 3, 3, 'a', 'b', 'c'})
	f.Add([]byte(""), []byte{0, 0})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := patch(base, delta, 1<<16)
		if err == nil && len(out) > 1<<16 {
			t.Errorf("%d bytes", len(out))
		}
	})
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte("100644 a\x00aaaaaaaaaaaaaaaaaaaa40000 b\x00bbbbbbbbbbbbbbbbbbbb"))
	f.Add([]byte("100644 ..\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for len(data) > 0 {
			e, rest, err := NextEntry(data)
			if err != nil {
				return
			}
			if len(rest) >= len(data) {
				t.Fatal("no progress")
			}
			if e.Safe() && (bytes.ContainsAny(e.Name, "/\x00") || len(e.Name) == 0 || string(e.Name) == "..") {
				t.Errorf("%q passes for safe", e.Name)
			}
			data = rest
		}
	})
}

func FuzzReadEntry(f *testing.F) {
	f.Add([]byte{0xb5, 0x0a})
	f.Add([]byte{0xe5, 0x8a, 0x81, 0x02})
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := readEntry(bytes.NewReader(data), 1000)
		if err == nil && (e.size < 0 || e.kind == offsetDelta && (e.baseOffset < packHead || e.baseOffset >= 1000)) {
			t.Errorf("%+v", e)
		}
	})
}

// An index whose tables lie is an error, not a wild read.
func TestLyingIndex(t *testing.T) {
	dir := packed(t)
	pack := onePack(t, dir)
	index := strings.TrimSuffix(pack, ".pack") + ".idx"
	os.Chmod(index, 0o644)
	data, _ := os.ReadFile(index)
	count := int(binary.BigEndian.Uint32(data[8+4*255:]))
	for i := range count { // every offset points past the end
		binary.BigEndian.PutUint32(data[indexHead+count*24+4*i:], 1<<30)
	}
	os.WriteFile(index, data, 0o644)
	db, err := Open(filepath.Join(dir, ".git/objects"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	id, _ := ParseID(git(t, dir, "rev-parse", "HEAD"))
	if _, _, err := db.Read(id, 1<<20); !errors.Is(err, ErrCorrupt) {
		t.Errorf("error is %v", err)
	}
}
