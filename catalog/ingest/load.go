package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// loader turns paths of one revision into Files.
type loader struct {
	in   *Ingester
	src  *source
	tree Tree
	// at is when this reading began, and since what new claims are dated with.
	at    time.Time
	since int64
	info  CommitInfo
	// descent tells what is known of the past of files.
	descent *descent
	// room is what is left for documents.
	room *room
}

// address is where a path is, as annotations name it.
func (l *loader) address(path string) (at descriptor.Location, ok bool) {
	owner, rel := l.in.owner(l.src, path)
	at, err := l.in.processor.Address(owner.base(), rel)
	return at, err == nil
}

// bring has files brought in one go that are about to be read; those of other
// sources come as they are read.
func (l *loader) bring(ctx context.Context, paths []string) error {
	own := slices.DeleteFunc(paths, func(path string) bool { return strings.Contains(path, foreign) })
	return Fetch(ctx, l.tree, own)
}

// load reads and processes one file. What cannot be read any more or has
// become wrong keeps the last good documents of old, which may be nil.
func (l *loader) load(ctx context.Context, path, id, origin string, old *File) (*File, error) {
	f := &File{Path: path, ID: id, Origin: origin}
	l.leave(old)
	if l.src.isLocation() && path == locationPath {
		return l.registration(ctx, f, old)
	}
	at, ok := l.address(path)
	if !ok {
		return l.unreadable(f, old, entity.Problem{Name: "InputError", Message: "the file's path cannot be written as a URL"}), nil
	}
	data, err := l.in.bytes(ctx, l.src, l.tree, path)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrTooLarge):
		return l.unreadable(f, old, readProblem(path, err)), nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	read := l.in.processor.Read(at, data)
	if !read.OK() {
		f.Owner = seemingOwner(data)
		return l.unreadable(f, old, problemsOf(read)...), nil
	}
	f.Readable = true
	f.Problems = located(path, read.Problems)
	for _, d := range read.Documents {
		doc, err := l.process(ctx, f, read, d, origin, old)
		if err != nil {
			return nil, err
		}
		if twin := f.document(doc.Ref); twin != nil {
			f.Problems = append(f.Problems, twice(path, twin, doc))
		}
		f.Documents = append(f.Documents, doc)
	}
	return f, nil
}

// problemsOf gathers the problems of an unreadable file: its own and those
// of its documents.
func problemsOf(f *descriptor.File) []entity.Problem {
	out := append([]entity.Problem(nil), f.Problems...)
	for _, d := range f.Documents {
		out = append(out, d.Problems...)
	}
	return out
}

func (l *loader) unreadable(f, old *File, problems ...entity.Problem) *File {
	f.Problems = located(f.Path, problems)
	if old == nil {
		return f
	}
	f.Reads = old.Reads
	for _, d := range old.Documents {
		if d.Entity != nil {
			kept := *d
			kept.Problems = nil
			l.stale(&kept, d, f.Problems)
			l.room.used.Add(kept.weight)
			f.Documents = append(f.Documents, &kept)
		}
	}
	return f
}

// stale marks a document as older than its file since the commit at hand,
// or since the one at which that was first so.
func (l *loader) stale(d, old *Document, problems []entity.Problem) {
	d.Stale = old.Stale
	if d.Stale == "" {
		d.Stale = cmp.Or(l.info.Commit, l.at.Format(time.RFC3339))
	}
	e := *d.Entity
	e.From.StaleSince = d.Stale
	e.Status = status(problems, d.Stale)
	d.Entity = &e
}

// status says what is wrong with a file that is newer than what is served.
func status(problems []entity.Problem, since string) []entity.StatusItem {
	var out []entity.StatusItem
	for _, p := range problems {
		if p.Severity == entity.SeverityWarning {
			continue
		}
		text, before := p.String(), "the last good state, from before "+point(since)
		said := text // all that Backstage's page shows
		if p.Fix != "" {
			said += "\n" + p.Fix
		}
		out = append(out, entity.StatusItem{
			Type: "backstage.io/catalog-processing", Level: "error",
			Message: p.Name + ": " + text + "; what is shown is " + before,
			Error:   &entity.StatusError{Name: p.Name, Message: said + "\nShown is " + before + "."},
		})
	}
	return out
}

// point words the commit or the time since which something is so.
func point(since string) string {
	if strings.Contains(since, ":") {
		return since
	}
	return "commit " + short(since)
}

func (l *loader) process(ctx context.Context, f *File, read *descriptor.File, d *descriptor.Document, origin string, old *File) (*Document, error) {
	rd := &placeholderReader{l: l}
	res := l.in.processor.Process(ctx, read, d, descriptor.Location{Type: l.src.desc().BaseType, Target: origin}, rd)
	out := &Document{Index: d.Index, Ref: d.Ref.String(), Line: d.At.Line, Owner: ownerOf(d), Since: l.since}
	good := res.OK && res.Entity != nil
	if good {
		out.Entity = l.entity(f.Path, d, res.Entity)
		out.Edges, out.Targets = res.Edges, res.Targets
		if p := l.fit(f, out); p != nil {
			good, out.Entity, out.Edges, out.Targets = false, nil, nil, nil
			res.Problems = append(res.Problems, *p)
		}
	}
	out.Problems = located(f.Path, res.Problems)
	for i := range out.Problems {
		out.Problems[i].Ref = out.Ref
	}
	if rd.err != nil {
		return nil, rd.err
	}
	f.Reads = append(f.Reads, rd.paths...)
	prev := previous(old, out.Ref)
	if prev != nil {
		out.Since = prev.Since
		out.Followed = prev.Followed
	}
	if !good && prev != nil && prev.Entity != nil {
		out.Entity, out.Edges, out.Targets, out.weight = prev.Entity, prev.Edges, prev.Targets, prev.weight
		l.room.used.Add(out.weight)
		l.stale(out, prev, out.Problems)
	}
	return out, nil
}

// previous is the last good document of that name in an earlier reading.
func previous(old *File, ref string) *Document {
	if old == nil {
		return nil
	}
	return old.document(ref)
}

// document is the last document of that name, nil if there is none.
func (f *File) document(ref string) *Document {
	for i := len(f.Documents) - 1; i >= 0; i-- {
		if d := f.Documents[i]; d.Ref == ref {
			return d
		}
	}
	return nil
}

func (l *loader) entity(path string, d *descriptor.Document, root *entity.Object) *entity.Entity {
	owner, rel := l.in.owner(l.src, path)
	info := l.info
	if owner != l.src {
		info = owner.info()
	}
	return &entity.Entity{Ref: d.Ref, Root: root, From: entity.Provenance{
		Source: owner.desc().Name, Repository: owner.desc().Repository,
		Commit: info.Commit, History: l.history(path), Path: rel, Line: d.At.Line, VerifiedAt: l.at,
	}}
}

var ownerLine = regexp.MustCompile(`(?m)^\s+owner:[ \t]*["']?([\w:/.@-]+)`)

// seemingOwner finds the owner in the text of a file that cannot be read as
// YAML, so that its problems still reach somebody.
func seemingOwner(data []byte) string {
	m := ownerLine.FindSubmatch(data)
	if m == nil {
		return ""
	}
	ref, err := entity.ParseRef(string(m[1]), "group", entity.DefaultNamespace)
	if err != nil {
		return ""
	}
	return ref.String()
}

// ownerOf is the owner that a document names, whatever else is wrong with it.
func ownerOf(d *descriptor.Document) string {
	if d.Raw == nil {
		return ""
	}
	written := d.Raw.Object("spec").String("owner")
	if written == "" {
		return ""
	}
	ns := d.Ref.Namespace
	if ns == "" {
		ns = entity.DefaultNamespace
	}
	ref, err := entity.ParseRef(written, "group", ns)
	if err != nil {
		return ""
	}
	return ref.String()
}

func located(path string, problems []entity.Problem) []entity.Problem {
	out := make([]entity.Problem, len(problems))
	for i, p := range problems {
		p.File = path
		if p.Severity == "" {
			p.Severity = entity.SeverityError
		}
		out[i] = p
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func readProblem(path string, err error) entity.Problem {
	if errors.Is(err, ErrNotFound) {
		return entity.Problem{Name: "NotFoundError", Message: fmt.Sprintf("%s is not there", path)}
	}
	return entity.Problem{Name: "InputError", Message: fmt.Sprintf("%s is too large for a catalog file", path),
		Fix: "Split the file, or raise the source's size limit."}
}

// placeholderReader reads what placeholders name: files of the source's own
// repository or of another configured source, nothing else.
type placeholderReader struct {
	l *loader
	// err is trouble of the source itself, which is no fault of the file.
	err   error
	paths []string
}

// Read gives the bytes at a location.
func (r *placeholderReader) Read(ctx context.Context, at descriptor.Location) ([]byte, error) {
	path, ok := r.l.in.locate(r.l.src, at)
	if !ok {
		return nil, fmt.Errorf("%s is neither in this repository nor in one that is configured as a source", at.Target)
	}
	r.paths = append(r.paths, path)
	data, err := r.l.in.bytes(ctx, r.l.src, r.l.tree, path)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, fmt.Errorf("%s: %w", strings.TrimPrefix(path, "/"), descriptor.ErrNotFound)
	case err != nil && !errors.Is(err, ErrTooLarge) && !strings.Contains(path, foreign):
		r.err = fmt.Errorf("reading %s: %w", path, err)
	}
	return data, err
}
