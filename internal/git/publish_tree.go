package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the names of Git objects are SHA-1
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// made is an object that is to be pushed.
type made struct {
	id   objects.ID
	kind objects.Kind
	data []byte
}

// builder makes the objects of a commit that differs from another in some
// files. Entries that are not changed keep their bytes.
type builder struct {
	tree *Tree
	made []made
	seen map[objects.ID]bool
}

// add notes an object and gives its name.
func (b *builder) add(kind objects.Kind, data []byte) objects.ID {
	sum := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(sum, "%s %d\x00", kind, len(data))
	sum.Write(data)
	id := objects.ID(sum.Sum(nil))
	if b.seen == nil {
		b.seen = map[objects.ID]bool{}
	}
	if !b.seen[id] {
		b.seen[id] = true
		b.made = append(b.made, made{id, kind, data})
	}
	return id
}

// edit is what becomes of a name in a folder: a file's change, or those below
// a folder.
type edit struct {
	change *Change
	below  map[string]*edit
}

// root makes the root folder of the new commit.
func (b *builder) root(ctx context.Context, id objects.ID, changes []Change) (objects.ID, error) {
	top := &edit{below: map[string]*edit{}}
	for i := range changes {
		if err := top.put(&changes[i], b.tree.limits.FileBytes); err != nil {
			return id, err
		}
	}
	out, err := b.folder(ctx, id, top.below, "")
	if err == nil && out.IsZero() {
		out = b.add(objects.Tree, nil) // a commit may hold nothing, but has a folder
	}
	return out, err
}

// put sorts a change in by its path.
func (e *edit) put(c *Change, limit int64) error {
	if err := checkPath(c.Path); err != nil {
		return err
	}
	if int64(len(c.Data)) > limit {
		return fault.New(fault.Invalid, "%s has %d bytes, more than the limit of %d", c.Path, len(c.Data), limit).WithFix("Write less, or raise limits.fileBytes of the repository.")
	}
	for name := range strings.SplitSeq(c.Path, "/") {
		if e.change != nil {
			return twice(c.Path)
		}
		if e.below == nil {
			e.below = map[string]*edit{}
		}
		next := e.below[name]
		if next == nil {
			next = &edit{}
			e.below[name] = next
		}
		e = next
	}
	if e.change != nil || e.below != nil {
		return twice(c.Path)
	}
	e.change = c
	return nil
}

func twice(path string) error {
	return fault.New(fault.Invalid, "%s is changed twice, or is a file and a folder", path).WithFix("Name each file once.")
}

// writes tells whether something is written, rather than removed alone.
func (e *edit) writes() bool {
	if e.change != nil {
		return !e.change.Delete
	}
	for _, below := range e.below {
		if below.writes() {
			return true
		}
	}
	return false
}

// row is an entry of a folder with its bytes.
type row struct {
	objects.Entry
	raw []byte
}

// folder makes a folder with the changes below it, and gives its name: that of
// before where nothing changes, zero where nothing is left.
func (b *builder) folder(ctx context.Context, id objects.ID, edits map[string]*edit, at string) (objects.ID, error) {
	if err := ctx.Err(); err != nil {
		return id, err
	}
	f := &listing{at: at}
	var before []byte
	if !id.IsZero() {
		var err error
		if before, err = b.tree.dir(b.tree.db, id, strings.TrimSuffix(at, "/")); err != nil {
			return id, err
		}
		if err := f.read(before); err != nil {
			return id, b.tree.damaged(strings.TrimSuffix(at, "/"), err)
		}
	}
	names := make([]string, 0, len(edits))
	for name := range edits {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { // what goes makes room for what comes
		if w := edits[a].writes(); w != edits[b].writes() {
			return map[bool]int{true: 1, false: -1}[w]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if err := b.change(ctx, f, name, edits[name]); err != nil {
			return id, err
		}
	}
	data := f.bytes()
	switch {
	case len(data) == 0:
		return objects.ID{}, nil
	case !id.IsZero() && bytes.Equal(data, before):
		return id, nil
	}
	return b.add(objects.Tree, data), nil
}

// change does to one name of a folder what is wanted.
func (b *builder) change(ctx context.Context, f *listing, name string, e *edit) error {
	i, there := f.find(name)
	var mode objects.Mode
	if there {
		mode = f.rows[i].Mode
	}
	wanted := objects.Dir
	if e.change != nil {
		wanted = objects.File
	}
	switch {
	case there && mode != wanted:
		return fault.New(fault.Conflict, "%s%s is %s, which is left alone", f.at, name, oneOf(mode)).WithFix("Choose another path.")
	case !there && !e.writes():
		return nil
	case e.change != nil && e.change.Delete:
		f.remove(i)
		return nil
	}
	id, octal, err := objects.ID{}, "40000", error(nil)
	if e.change != nil {
		id, octal = b.add(objects.Blob, e.change.Data), fileMode(e.change)
	} else {
		if there {
			id = f.rows[i].ID
		}
		id, err = b.folder(ctx, id, e.below, f.at+name+"/")
	}
	switch {
	case err != nil:
		return err
	case there && id.IsZero():
		f.remove(i)
		return nil
	case there:
		f.rename(i, id)
		return nil
	default:
		return f.insert(name, octal, id)
	}
}

func oneOf(m objects.Mode) string {
	if m == objects.File {
		return "a file"
	}
	return modeWords(m)
}

func fileMode(c *Change) string {
	if c.Executable {
		return "100755"
	}
	return "100644"
}

// listing is a folder's content while it is changed.
type listing struct {
	at   string // the path, with a slash at the end
	rows []row
	// folded are the names as disks that know no case see them; nil until one
	// is new.
	folded map[string]string
}

func (f *listing) read(data []byte) error {
	for len(data) > 0 {
		e, rest, err := objects.NextEntry(data)
		if err != nil {
			return err
		}
		f.rows = append(f.rows, row{e, data[:len(data)-len(rest)]})
		data = rest
	}
	return nil
}

func (f *listing) find(name string) (int, bool) {
	i := slices.IndexFunc(f.rows, func(r row) bool { return string(r.Name) == name })
	return i, i >= 0
}

func (f *listing) remove(i int) {
	f.rows = slices.Delete(f.rows, i, i+1)
	f.folded = nil
}

// rename has an entry name other content, and keeps its mode.
func (f *listing) rename(i int, id objects.ID) {
	raw := slices.Clone(f.rows[i].raw)
	copy(raw[len(raw)-len(id):], id[:])
	f.rows[i].raw, f.rows[i].ID = raw, id
}

// insert puts a new entry where Git wants it.
func (f *listing) insert(name, octal string, id objects.ID) error {
	if f.folded == nil {
		f.folded = make(map[string]string, len(f.rows))
		for _, r := range f.rows {
			f.folded[fold(string(r.Name))] = string(r.Name)
		}
	}
	if other, taken := f.folded[fold(name)]; taken && other != name {
		return fault.New(fault.Conflict, "%s%s differs from %s in case alone, and some disks hold but one of them", f.at, name, other).
			WithFix("Use the name that is there, or another one.")
	}
	f.folded[fold(name)] = name
	raw := append([]byte(octal+" "+name+"\x00"), id[:]...)
	e, _, err := objects.NextEntry(raw)
	if err != nil {
		return err
	}
	key := order(e)
	i := slices.IndexFunc(f.rows, func(r row) bool { return order(r.Entry) > key })
	if i < 0 {
		i = len(f.rows)
	}
	f.rows = slices.Insert(f.rows, i, row{e, raw})
	return nil
}

// order is what entries are sorted by: folders as if a slash followed.
func order(e objects.Entry) string {
	if e.Mode == objects.Dir {
		return string(e.Name) + "/"
	}
	return string(e.Name)
}

func (f *listing) bytes() []byte {
	var out []byte
	for _, r := range f.rows {
		out = append(out, r.raw...)
	}
	return out
}

// fold is a name as a disk sees it that knows no case and one form of letters.
func fold(name string) string { return cases.Fold().String(norm.NFC.String(name)) }
