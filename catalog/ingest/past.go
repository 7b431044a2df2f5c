package ingest

import (
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Dated is what is kept of a file's last change.
type Dated struct {
	// Commit and Time are of the last change as of Meta.Dated; they are zero
	// where it is not known.
	Commit string
	Time   time.Time
	// Sought tells that history tells no more about it.
	Sought bool
}

// past is one file of a source with the content that it has now. The entities
// of the file hold on to its History; the rest is guarded by the source.
type past struct {
	entity.History
	Dated
}

// known makes a last change known as of the revision in force.
func (p *past) known(c CommitInfo) {
	p.Dated = Dated{Commit: c.Commit, Time: c.Time.UTC()}
	p.show()
}

// show lets the entities tell what is known.
func (p *past) show() {
	if p.Commit != "" {
		p.Know(entity.LastChange{Commit: p.Commit, At: p.Time})
	}
}

// maxLine bounds how many revisions are remembered of which each follows the
// one before directly.
const maxLine = 64

// pasts are the pasts of a source's files. Whoever changes them holds the
// source's turn and its lock; who looks files up holds the lock.
type pasts struct {
	files map[string]*past
	// line are the revisions in force lately, oldest first, of which each has
	// the one before as its first parent: what was the last change of a file
	// stays so along the line until the file's content changes.
	line []Revision
}

// history is what is known of a file of the revision in force; nil for sources
// that have no history.
func (s *source) history(path string) *entity.History {
	src := s.from()
	if _, ok := src.(Historian); !ok && src != nil { // nil: kept, and not found again yet
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &s.pastOf(path).History
}

// pastOf is history for who holds the lock.
func (s *source) pastOf(path string) *past {
	p := s.pasts.files[path]
	if p == nil {
		p = &past{}
		s.setPast(path, p)
		s.undated.Store(true)
	}
	return p
}

func (s *source) setPast(path string, p *past) {
	if s.pasts.files == nil {
		s.pasts.files = map[string]*past{}
	}
	s.pasts.files[path] = p
}

// descent is what the step from the revision in force to the next one says
// about the past of files.
type descent struct {
	s        *source
	historic bool
	// changed are the files whose content differs.
	changed map[string]string
	// answer is the last change of those, zero where it has to be looked up.
	answer CommitInfo
	// first tells that the next revision has none before it, follows, that it
	// has the one in force as its first parent.
	first, follows bool
	// anew tells that all files are looked at, and dates which of them matter
	// to who follows the source.
	anew  bool
	dates func(path string) bool

	mu    sync.Mutex
	fresh map[string]*past
}

// descend compares the next revision with the one in force. A commit that has
// one parent, the one in force, is itself the last change of what it changed.
func (in *Ingester) descend(s *source, tree Tree, before Revision, next Revision, changed map[string]string) *descent {
	d := &descent{s: s, changed: changed, fresh: map[string]*past{}, follows: before == next, dates: in.following.dates}
	t, ok := tree.(Descendant)
	if _, d.historic = s.from().(Historian); !d.historic || !ok {
		return d
	}
	parents := t.Parents()
	d.first = len(parents) == 0
	d.follows = d.follows || before != "" && len(parents) > 0 && parents[0] == before
	if d.first || d.follows && before != next && len(parents) == 1 {
		if info := tree.Info(); !info.Time.IsZero() {
			d.answer = info
		}
	}
	return d
}

// dated is the revision as of which last changes are known after the step.
func (d *descent) dated(meta Meta, next Revision) Revision {
	if meta.Revision == "" || d.first || d.follows && meta.Dated == meta.Revision {
		return next
	}
	return meta.Dated
}

// history is what will be known of a file once the step is made.
func (d *descent) history(path string) *entity.History {
	if !d.historic {
		return nil
	}
	if _, changed := d.changed[path]; !changed {
		return d.s.history(path)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.fresh[path]
	if p == nil {
		p = d.newborn()
		d.fresh[path] = p
	}
	return &p.History
}

func (d *descent) newborn() *past {
	p := &past{}
	if d.answer.Commit != "" {
		p.known(d.answer)
	}
	return p
}

// succeed makes the step for the pasts of a source and tells what to keep. The
// caller holds the source's lock.
func (s *source) succeed(d *descent, next Revision) map[string]*Dated {
	keep := map[string]*Dated{}
	for path, id := range d.changed {
		_, held := s.pasts.files[path]
		fresh := d.fresh[path]
		switch {
		case id == "":
			delete(s.pasts.files, path)
		case fresh == nil && d.matters(path, held):
			fresh = d.newborn()
			fallthrough
		case fresh != nil:
			s.setPast(path, fresh)
		}
		if held || fresh != nil {
			keep[path] = s.dated(path)
		}
	}
	s.attend(d, keep)
	switch {
	case d.first && d.answer.Commit != "":
		for path, p := range s.pasts.files {
			p.known(d.answer)
			keep[path] = s.dated(path)
		}
		s.pasts.line = []Revision{next}
	case d.follows:
		s.pasts.line = append(s.pasts.line[max(0, len(s.pasts.line)-maxLine):], next)
	default: // entities tell no last change until it has been looked up
		for _, p := range s.pasts.files {
			p.Doubt()
		}
		s.pasts.line = []Revision{next}
	}
	return keep
}

// matters tells whether somebody wants to know the past of a file that nobody
// has just read: another source, or who follows this one.
func (d *descent) matters(path string, held bool) bool {
	return held || d.historic && !d.anew && d.dates(path)
}

// attend has the pasts found out that matter to who follows a source, of all
// its files where all are looked at.
func (s *source) attend(d *descent, keep map[string]*Dated) {
	if !d.anew || !d.historic {
		return
	}
	for path := range s.paths {
		if s.pasts.files[path] != nil || !d.dates(path) {
			continue
		}
		p := &past{}
		if _, changed := d.changed[path]; changed {
			p = d.newborn()
		}
		s.setPast(path, p)
		keep[path] = s.dated(path)
	}
}

// dated is what to keep of a file's past; nil where there is none.
func (s *source) dated(path string) *Dated {
	p := s.pasts.files[path]
	if p == nil {
		return nil
	}
	d := p.Dated
	return &d
}

// allDated is what to keep of all pasts.
func (s *source) allDated() map[string]*Dated {
	out := make(map[string]*Dated, len(s.pasts.files))
	for path := range s.pasts.files {
		out[path] = s.dated(path)
	}
	return out
}

// restorePasts brings back what was kept; the caller holds the lock.
func (s *source) restorePasts(kept map[string]Dated) {
	s.pasts = pasts{files: make(map[string]*past, len(kept)), line: []Revision{s.meta.Revision}}
	for path, d := range kept {
		p := &past{Dated: d}
		if s.meta.Dated == s.meta.Revision {
			p.show()
		}
		s.pasts.files[path] = p
	}
}

// relate gives restored entities, which nobody has seen yet, their histories.
// One that is older than its file has kept its own.
func (in *Ingester) relate(s *source) {
	for path, f := range s.files {
		h := in.historyOf(s, path)
		for _, d := range f.Documents {
			if d.Entity != nil && d.Entity.From.StaleSince == "" {
				d.Entity.From.History = h
			}
		}
	}
}

// historyOf is the history of a file that a source reads, its own or another's.
func (in *Ingester) historyOf(s *source, path string) *entity.History {
	owner, rel := in.owner(s, path)
	if strings.Contains(rel, foreign) {
		return nil // whose it was is not there any more
	}
	if owner == s {
		return s.history(rel)
	}
	if in.trial { // which leaves no trace in others
		return nil
	}
	h := owner.history(rel)
	in.wonder(owner) // it may have been looked back at before anybody read the file
	return h
}

// Changed is the last change of a file of a source; false while it is not
// known for certain, or where what is in force is another content of it. See
// catalog.Dating.
func (in *Ingester) Changed(name, path, content string) (entity.LastChange, bool) {
	s := in.source(name)
	if s == nil {
		return entity.LastChange{}, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	p := s.pasts.files[path]
	if p == nil || s.paths[path] != content {
		return entity.LastChange{}, false
	}
	return p.Last()
}

// history is what entities of a file are to tell of its past.
func (l *loader) history(path string) *entity.History {
	if strings.Contains(path, foreign) {
		return l.in.historyOf(l.src, path)
	}
	return l.descent.history(path)
}
