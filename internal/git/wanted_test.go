package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// sideband sends a pack as an answer of version 2.
func sendPack(w io.Writer, pack []byte) {
	io.WriteString(w, "000dpackfile\n")
	for len(pack) > 0 {
		n := min(len(pack), 60_000)
		fmt.Fprintf(w, "%04x\x01%s", n+5, pack[:n])
		pack = pack[n:]
	}
	io.WriteString(w, "0000")
}

// packFor is a pack that Git makes of objects.
func (r *repo) packFor(ids string) []byte {
	r.t.Helper()
	out := filepath.Join(r.t.TempDir(), "p")
	list := out + ".list"
	os.WriteFile(list, []byte(ids+"\n"), 0o600)
	name := runGit(r.t, r.dir, "-c", "alias.p=!git pack-objects -q "+out+" <"+list, "p")
	data, err := os.ReadFile(out + "-" + name + ".pack")
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// TestServersThatGiveSomethingElse asks for a file and is answered with what
// it did not ask for.
func TestServersThatGiveSomethingElse(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.write("b.yaml", "two")
	head := r.commit("first")
	other := r.packFor(r.git("rev-parse", "HEAD:b.yaml"))
	folder := r.packFor(r.git("rev-parse", "HEAD^{tree}"))
	many := bytes.Clone(other)
	binary.BigEndian.PutUint32(many[8:], 1<<31)
	for name, pack := range map[string][]byte{"another file": other, "a folder": folder, "many objects": many, "cut short": other[:len(other)-8], "noise": []byte("PACKnoise-noise-noise-noise-noise")} {
		t.Run(name, func(t *testing.T) {
			r.state = t.TempDir()
			r.refusing(func(w http.ResponseWriter, _ *http.Request) { sendPack(w, pack) })
			src := r.source(SourceConfig{})
			tree, err := src.Open(t.Context(), head)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			_, err = tree.Read(t.Context(), "a.yaml")
			wantFault(t, err, fault.Unavailable, "what the server sent is damaged")
			r.server.before = nil
			check(t, "content, once it is given", read(t, tree, "a.yaml"), "one")
		})
	}
}

// TestServersThatRefuse are asked for the whole commit instead.
func TestServersThatRefuse(t *testing.T) {
	r := newRemoteRepo(t)
	head, catalog := r.monorepo()
	for name, answer := range map[string]func(w http.ResponseWriter, req *http.Request){
		"an error": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "0022ERR upload-pack: not our ref x") },
		"nothing":  func(http.ResponseWriter, *http.Request) {},
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
	} {
		t.Run(name, func(t *testing.T) {
			r.state = t.TempDir()
			r.refusing(answer)
			tree, err := r.source(SourceConfig{}).Open(t.Context(), head)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			prefetch(t, tree, catalog...)
			check(t, "content", read(t, tree, catalog[1]), "name: 1")
			if _, err := tree.Read(t.Context(), "big.bin"); !errors.Is(err, ingest.ErrTooLarge) {
				t.Errorf("big file: %v", err)
			}
		})
	}
}

// TestServersThatHangOverFiles are given up after the time limit.
func TestServersThatHangOverFiles(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	head := r.commit("first")
	r.refusing(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		io.WriteString(w, "000dpackfile\n")
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	})
	src := r.source(SourceConfig{})
	tree, err := src.Open(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	src.reader.(*remote).cfg.Limits.Timeout = 200 * time.Millisecond // too little, on a busy machine, for opening
	_, err = tree.Read(context.Background(), "a.yaml")
	wantFault(t, err, fault.Unavailable, "took longer than 200ms")
}

// TestLargeFilesAmongSmallOnes stops the server at a large file, and finds out
// which it is.
func TestLargeFilesAmongSmallOnes(t *testing.T) {
	r := newRemoteRepo(t)
	var paths []string
	for i := range 20 {
		paths = append(paths, fmt.Sprintf("f%d.yaml", i))
		r.write(paths[i], noise(uint64(i), 500))
	}
	r.write("f7.yaml", noise(7, 24<<20))
	head := r.commit("first")
	tree, err := r.source(SourceConfig{}).Open(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	peak := peakMemory(func() { prefetch(t, tree, paths...) })
	if peak > 16<<20 || r.keptBytes() > 1<<20 {
		t.Errorf("took %d bytes of memory and %d on disk", peak, r.keptBytes())
	}
	check(t, "content", read(t, tree, "f8.yaml"), noise(8, 500))
	if _, err := tree.Read(t.Context(), "f7.yaml"); !errors.Is(err, ingest.ErrTooLarge) {
		t.Errorf("large file: %v", err)
	}
}
