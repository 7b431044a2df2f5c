package ingest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// maxSourceBytes bounds what is held of a source unless Config says otherwise.
const maxSourceBytes = 512 << 20

// noRoom names the problem of a document for which there is no room. It may
// find some once other files are smaller, so its file is not settled.
const noRoom = "NoRoomError"

// room is what the documents of a source take together.
type room struct {
	used  atomic.Int64
	limit int64
}

// take takes n bytes if they are there.
func (r *room) take(n int64) bool {
	if r.used.Add(n) <= r.limit {
		return true
	}
	r.used.Add(-n)
	return false
}

// fit finds room for a document, or tells why there is none.
func (l *loader) fit(f *File, d *Document) *entity.Problem {
	n := d.weigh()
	if f.held+n > descriptor.MaxFileWeight {
		p := descriptor.TooHeavy(d.Line)
		return &p
	}
	if !l.room.take(n) {
		return &entity.Problem{Name: noRoom, Line: d.Line, Fix: "Use fewer aliases and smaller files, or spread the catalog over several sources.",
			Message: fmt.Sprintf("with this document the source holds more than %d MiB once aliases and placeholders are written out", l.room.limit>>20)}
	}
	d.weight = n
	f.held += n
	return nil
}

// leave gives back the room of a file that is read again.
func (l *loader) leave(old *File) {
	if old != nil {
		l.room.used.Add(-old.weight())
	}
}

// weight is what a file's documents take.
func (f *File) weight() int64 {
	var n int64
	for _, d := range f.Documents {
		if d.Entity != nil {
			n += d.weight
		}
	}
	return n
}

// weigh measures a document.
func (d *Document) weigh() int64 {
	var root *entity.Object
	if d.Entity != nil {
		root = d.Entity.Root
	}
	return descriptor.Weight(root, d.Edges, d.Targets)
}

// crowded tells that there was no room for what the document says now.
func (d *Document) crowded() bool {
	return slices.ContainsFunc(d.Problems, func(p entity.Problem) bool { return p.Name == noRoom })
}

// room is the room of a source as it is in force.
func (in *Ingester) room(s *source) *room {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r := &room{limit: in.sourceBytes}
	r.used.Store(s.weight)
	return r
}
