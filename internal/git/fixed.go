package git

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Fixed is a repository of one commit that never changes, served over smart
// HTTP. Equal files make the same commit, whoever serves it. What it answers is
// made once: every clone gets the whole of it.
type Fixed struct {
	commit string
	pack   []byte
}

// fixedBranch is the branch of a Fixed.
const fixedBranch = "refs/heads/main"

// NewFixed makes a repository of files by their paths.
func NewFixed(files map[string][]byte) (*Fixed, error) {
	f, err := newFixed(files)
	if err != nil {
		return nil, fault.New(fault.Internal, "a repository cannot be made of files").Because(err)
	}
	return f, nil
}

func newFixed(files map[string][]byte) (*Fixed, error) {
	b := &fixedBuilder{store: memory.NewStorage()}
	tree, err := b.tree(files)
	if err != nil {
		return nil, err
	}
	by := object.Signature{Name: "Fairlead", Email: "fairlead@localhost", When: time.Unix(0, 0).UTC()}
	commit, err := b.put(&object.Commit{Author: by, Committer: by, Message: "The files that Fairlead serves\n", TreeHash: tree})
	if err != nil {
		return nil, err
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, b.store, false).Encode(b.made, 0); err != nil {
		return nil, err
	}
	return &Fixed{commit.String(), pack.Bytes()}, nil
}

// fixedBuilder makes objects.
type fixedBuilder struct {
	store *memory.Storage
	made  []plumbing.Hash
}

func (b *fixedBuilder) put(o interface {
	Encode(o plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	enc := b.store.NewEncodedObject()
	if err := o.Encode(enc); err != nil {
		return plumbing.ZeroHash, err
	}
	return b.keep(enc)
}

func (b *fixedBuilder) keep(enc plumbing.EncodedObject) (plumbing.Hash, error) {
	hash, err := b.store.SetEncodedObject(enc)
	if !slices.Contains(b.made, hash) {
		b.made = append(b.made, hash)
	}
	return hash, err
}

func (b *fixedBuilder) blob(data []byte) (plumbing.Hash, error) {
	enc := b.store.NewEncodedObject()
	enc.SetType(plumbing.BlobObject)
	w, err := enc.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if _, err := w.Write(data); err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.Close(); err != nil {
		return plumbing.ZeroHash, err
	}
	return b.keep(enc)
}

// tree makes a folder of files by their paths in it.
func (b *fixedBuilder) tree(files map[string][]byte) (plumbing.Hash, error) {
	below := map[string]map[string][]byte{}
	tree := &object.Tree{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if dir, rest, found := strings.Cut(path.Clean(name), "/"); found {
			if below[dir] == nil {
				below[dir] = map[string][]byte{}
			}
			below[dir][rest] = data
			continue
		}
		hash, err := b.blob(data)
		if err != nil {
			return hash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: hash})
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		hash, err := b.tree(below[name])
		if err != nil {
			return hash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	slices.SortFunc(tree.Entries, func(x, y object.TreeEntry) int { return strings.Compare(sortKey(x), sortKey(y)) })
	return b.put(tree)
}

// sortKey is what Git orders the entries of a folder by.
func sortKey(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// Commit is the id of its commit.
func (f *Fixed) Commit() string { return f.commit }

// maxNegotiation bounds what a client may send, in bytes.
const maxNegotiation = 1 << 20

// ServeHTTP speaks the protocol of version 0, which every client understands.
// Only its two addresses are there, at the end of whatever path it has.
func (f *Fixed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	switch {
	case strings.HasSuffix(r.URL.Path, "/info/refs") && r.Method == http.MethodGet && r.URL.Query().Get("service") == "git-upload-pack":
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		f.advertise(w)
	case strings.HasSuffix(r.URL.Path, "/git-upload-pack") && r.Method == http.MethodPost:
		f.upload(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (f *Fixed) advertise(w io.Writer) {
	e := pktline.NewEncoder(w)
	caps := "symref=HEAD:" + fixedBranch + " agent=fairlead"
	// A client that has gone away needs nothing more.
	_ = e.EncodeString("# service=git-upload-pack\n")
	_ = e.Flush()
	_ = e.EncodeString(f.commit+" HEAD\x00"+caps+"\n", f.commit+" "+fixedBranch+"\n")
	_ = e.Flush()
}

// upload gives the pack to who has said all that it has, and says to others
// that nothing is known of that.
func (f *Fixed) upload(w http.ResponseWriter, r *http.Request) {
	done, err := f.negotiated(http.MaxBytesReader(w, r.Body, maxNegotiation), r.Header.Get("Content-Encoding"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
	_ = pktline.NewEncoder(w).EncodeString("NAK\n") // as above
	if done {
		_, _ = w.Write(f.pack)
	}
}

// negotiated reads what a client wants and has; done tells whether that is all.
func (f *Fixed) negotiated(body io.Reader, encoding string) (done bool, err error) {
	if encoding == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			return false, fmt.Errorf("the request is not compressed as it says")
		}
		body = io.LimitReader(z, maxNegotiation)
	}
	s := pktline.NewScanner(body)
	for s.Scan() {
		line := strings.TrimSuffix(string(s.Bytes()), "\n")
		if want, ok := strings.CutPrefix(line, "want "); ok && !strings.HasPrefix(want, f.commit) {
			return false, fmt.Errorf("not our ref")
		}
		done = done || line == "done"
	}
	if s.Err() != nil {
		return false, fmt.Errorf("the request cannot be read")
	}
	return done, nil
}
