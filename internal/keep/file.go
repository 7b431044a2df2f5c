package keep

import (
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// version is the first byte of every record; records of another version are
// read anew from their source.
const version byte = 4

// file writes one file's record.
func (w *writer) file(f *ingest.File) {
	w.reset()
	w.str(f.Path)
	w.str(f.ID)
	w.str(f.Origin)
	w.bool(f.Readable)
	w.str(f.Owner)
	w.problems(f.Problems)
	w.strs(f.Reads)
	w.num(len(f.Documents))
	for _, d := range f.Documents {
		w.document(d)
	}
}

func decode(b []byte, known map[string]entity.Value) (*ingest.File, error) {
	r := newReader(b, known)
	f := &ingest.File{Path: r.str(), ID: r.str(), Origin: r.str(), Readable: r.bool(), Owner: r.str()}
	f.Problems = r.problems()
	f.Reads = r.strs()
	f.Documents = make([]*ingest.Document, r.length(8))
	for i := range f.Documents {
		f.Documents[i] = r.document()
	}
	if r.err == nil && r.off != len(r.b) {
		r.fail()
	}
	return f, r.err
}

func (w *writer) document(d *ingest.Document) {
	w.num(d.Index)
	w.str(d.Ref)
	w.num(int(d.Line))
	w.str(d.Owner)
	w.bool(d.Followed)
	w.str(d.Stale)
	w.int64(d.Since)
	w.problems(d.Problems)
	w.num(len(d.Edges))
	for _, e := range d.Edges {
		w.str(e.Source)
		w.str(e.Type)
		w.str(e.Target)
	}
	w.num(len(d.Targets))
	for _, t := range d.Targets {
		w.target(t)
	}
	w.bool(d.Entity != nil)
	if d.Entity != nil {
		w.entity(d.Entity)
	}
}

func (r *reader) document() *ingest.Document {
	d := &ingest.Document{Index: r.num(), Ref: r.str(), Line: uint32(r.num()), Owner: r.str(), //nolint:gosec // written from uint32
		Followed: r.bool(), Stale: r.str(), Since: r.int64(), Problems: r.problems()}
	if n := r.length(3); n > 0 {
		d.Edges = make([]entity.Edge, n)
		for i := range d.Edges {
			d.Edges[i] = entity.Edge{Source: r.str(), Type: r.str(), Target: r.str()}
		}
	}
	if n := r.length(7); n > 0 {
		d.Targets = make([]descriptor.Target, n)
		for i := range d.Targets {
			d.Targets[i] = r.target()
		}
	}
	if r.bool() {
		d.Entity = r.entity()
	}
	return d
}

func (w *writer) target(t descriptor.Target) {
	w.str(t.Location.Type)
	w.str(t.Location.Target)
	w.bool(t.Optional)
	w.bool(t.Glob)
	w.at(t.At)
	w.str(t.Written)
}

func (r *reader) target() descriptor.Target {
	return descriptor.Target{Location: descriptor.Location{Type: r.str(), Target: r.str()},
		Optional: r.bool(), Glob: r.bool(), At: r.at(), Written: r.str()}
}

// time writes a time in whole seconds; the zero time comes back as such.
func (w *writer) time(t time.Time) {
	w.bool(!t.IsZero())
	if !t.IsZero() {
		w.int64(t.Unix())
	}
}

func (r *reader) time() time.Time {
	if !r.bool() {
		return time.Time{}
	}
	return time.Unix(r.int64(), 0).UTC()
}

func (w *writer) lastChange(h *entity.History) {
	c, _ := h.Last()
	w.str(c.Commit)
	w.time(c.At)
}

func (r *reader) lastChange() *entity.History {
	c := entity.LastChange{Commit: r.str(), At: r.time()}
	if c.Commit == "" {
		return nil
	}
	h := &entity.History{}
	h.Know(c)
	return h
}

// past writes what is known of one file's last change.
func (w *writer) past(d *ingest.Dated) {
	w.reset()
	w.str(d.Commit)
	w.time(d.Time)
	w.bool(d.Sought)
}

func decodePast(b []byte) (ingest.Dated, error) {
	r := newReader(b, map[string]entity.Value{})
	d := ingest.Dated{Commit: r.str(), Time: r.time(), Sought: r.bool()}
	if r.err == nil && r.off != len(r.b) {
		r.fail()
	}
	return d, r.err
}

func (w *writer) entity(e *entity.Entity) {
	w.strs([]string{e.Ref.Kind, e.Ref.Namespace, e.Ref.Name})
	w.object(e.Root)
	w.str(e.From.Source)
	w.str(e.From.Repository)
	w.str(e.From.Commit)
	w.str(e.From.Path)
	w.num(int(e.From.Line))
	w.int64(e.From.VerifiedAt.UnixNano())
	w.str(e.From.StaleSince)
	if e.From.StaleSince != "" { // others have the past of their file
		w.lastChange(e.From.History)
	}
	w.num(len(e.Status))
	for _, s := range e.Status {
		w.strs([]string{s.Type, s.Level, s.Message})
		w.bool(s.Error != nil)
		if s.Error != nil {
			w.strs([]string{s.Error.Name, s.Error.Message})
		}
	}
}

func (r *reader) entity() *entity.Entity {
	e := &entity.Entity{}
	if ref := r.strs(); len(ref) == 3 {
		e.Ref = entity.Ref{Kind: ref[0], Namespace: ref[1], Name: ref[2]}
	} else {
		r.fail()
	}
	e.Root = r.object()
	e.From = entity.Provenance{Source: r.str(), Repository: r.str(), Commit: r.str(), Path: r.str(),
		Line: uint32(r.num()), VerifiedAt: time.Unix(0, r.int64()).UTC(), StaleSince: r.str()} //nolint:gosec // written from uint32
	if e.From.StaleSince != "" {
		e.From.History = r.lastChange()
	}
	for range r.length(2) {
		e.Status = append(e.Status, r.status())
	}
	return e
}

func (r *reader) status() entity.StatusItem {
	var s entity.StatusItem
	if l := r.strs(); len(l) == 3 {
		s.Type, s.Level, s.Message = l[0], l[1], l[2]
	} else {
		r.fail()
	}
	if r.bool() {
		if l := r.strs(); len(l) == 2 {
			s.Error = &entity.StatusError{Name: l[0], Message: l[1]}
		} else {
			r.fail()
		}
	}
	return s
}

func (w *writer) problems(l []entity.Problem) {
	w.num(len(l))
	for _, p := range l {
		w.strs([]string{string(p.Severity), p.Name, p.Message, p.Fix, p.File, p.Ref})
		w.num(int(p.Line))
		w.num(int(p.Column))
	}
}

func (r *reader) problems() []entity.Problem {
	n := r.length(9)
	if n == 0 {
		return nil
	}
	out := make([]entity.Problem, n)
	for i := range out {
		l := r.strs()
		if len(l) != 6 {
			r.fail()
			return nil
		}
		out[i] = entity.Problem{Severity: entity.Severity(l[0]), Name: l[1], Message: l[2], Fix: l[3], File: l[4], Ref: l[5],
			Line: uint32(r.num()), Column: uint32(r.num())} //nolint:gosec // written from uint32
	}
	return out
}
