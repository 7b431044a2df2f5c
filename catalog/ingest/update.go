package ingest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// outcome is what a reading makes of a source before it is put in force.
type outcome struct {
	meta    Meta
	changed map[string]string // paths that differ, "" for gone
	replace bool
	reread  int
	// quick tells that nothing differs but the files given: paths, parents
	// and shape are then not given, but follow from what is in force.
	quick   bool
	files   map[string]*File
	order   []string // of files, as they were reached; not where quick
	paths   map[string]string
	parents map[string][]string
	shape   shape
	descent *descent
}

// shape is what decides whether a change can be taken the short way.
type shape struct {
	// open tells that a new path could matter to a Location: one that holds a
	// glob or an optional target, or that misses a target.
	open bool
	// read are the paths that placeholders read.
	read map[string]bool
	// abroad tells that a Location has targets outside its repository.
	abroad bool
}

// update reads a revision and puts it in force: all of it or, on an error,
// nothing.
func (in *Ingester) update(ctx context.Context, s *source, tree Tree, rev Revision) (int, error) {
	before := in.spreads.Load()
	out, err := in.examine(ctx, s, tree, rev)
	if err != nil {
		_ = tree.Close() // the error that matters is the one at hand
		return 0, err
	}
	was := s.revision()
	s.swap(tree)
	delta, old, fresh := s.commit(out, Sighting{Commit: out.meta.Info.Commit, At: in.now()})
	changed := in.claims.replace(old, fresh, in.publish)
	in.renew(s)
	in.log.InfoContext(ctx, "source read", "source", s.desc().Name, "revision", string(rev),
		"files", s.fileCount(), "reread", out.reread, "changed", changed, "problems", s.problems)
	if in.spreads.Load() != before && s.lookAgain() { // another source changed while this one was read
		s.nudge()
	}
	in.spread(s, len(out.changed) > 0 || out.replace)
	in.save(ctx, s, delta)
	if rev != was {
		in.moved(s.desc().Name, rev)
	}
	return changed, nil
}

// examine compares a revision with what is in force and reads what differs.
func (in *Ingester) examine(ctx context.Context, s *source, tree Tree, rev Revision) (_ *outcome, err error) {
	defer fault.Catch(&err, "reading revision %s", rev)
	s.mu.RLock()
	meta, paths, files, recheck := s.meta, s.paths, s.files, s.recheck
	s.mu.RUnlock()
	since := meta.Revision
	if meta.Fingerprint != in.printOf(s) {
		since = ""
	}
	changes, incremental, err := tree.Changes(ctx, since)
	if err != nil {
		return nil, err
	}
	out := &outcome{replace: since == "" || meta.Revision == ""}
	out.changed = differing(paths, changes, incremental)
	out.meta = meta
	out.meta.Revision, out.meta.Info, out.meta.Fingerprint = rev, tree.Info(), in.printOf(s)
	l := &loader{in: in, src: s, tree: tree, at: in.now().UTC().Truncate(time.Second), info: out.meta.Info, room: in.room(s)}
	if meta.Revision != "" {
		l.since = l.at.Unix()
	}
	l.descent = in.descend(s, tree, meta.Revision, rev, out.changed)
	l.descent.anew = out.replace
	out.descent, out.meta.Dated = l.descent, l.descent.dated(meta, rev)
	if since != "" && !recheck {
		if ok, err := l.quick(ctx, s, out); ok || err != nil {
			return out, err
		}
	}
	out.paths = applied(paths, changes, incremental)
	w := newWalk(l, out.paths, files, dirty(files, out.changed, recheck, since == ""))
	if err := w.run(ctx, s.roots(out.paths)); err != nil {
		return nil, err
	}
	out.files, out.order, out.parents, out.reread = w.visited, w.order, w.parents, w.reread
	out.shape = shapeOf(out.files)
	inherit(files, out.files, l.since)
	return out, nil
}

// differing gives the paths whose content differs, "" for those that are gone.
func differing(old map[string]string, changes []Change, incremental bool) map[string]string {
	changed := make(map[string]string)
	for _, c := range changes {
		switch {
		case c.Gone && incremental:
			changed[c.Path] = ""
		case !c.Gone && (incremental || old[c.Path] != c.ID):
			changed[c.Path] = c.ID
		}
	}
	if incremental || len(old) == 0 {
		return changed
	}
	there := applied(nil, changes, false)
	for p := range old {
		if _, ok := there[p]; !ok {
			changed[p] = ""
		}
	}
	return changed
}

// applied gives the paths after changes.
func applied(old map[string]string, changes []Change, incremental bool) map[string]string {
	paths := make(map[string]string, len(changes))
	if incremental {
		maps.Copy(paths, old)
	}
	for _, c := range changes {
		if c.Gone {
			delete(paths, c.Path)
		} else {
			paths[c.Path] = c.ID
		}
	}
	return paths
}

// dirty are the files to read again though their content is the same: those
// that read what changed, or all.
func dirty(files map[string]*File, changed map[string]string, recheck, all bool) map[string]bool {
	out := map[string]bool{}
	for path, f := range files {
		if all {
			out[path] = true
			continue
		}
		for _, r := range f.Reads {
			if _, hit := changed[r]; hit || recheck && strings.Contains(r, foreign) {
				out[path] = true
			}
		}
		if recheck && strings.Contains(path, foreign) {
			out[path] = true
		}
	}
	return out
}

// quick takes the short way where the shape of the source cannot have
// changed: all that differs is the content of known files that neither were
// nor are Locations, or files that the catalog does not look at. Its cost
// follows the change alone.
func (l *loader) quick(ctx context.Context, s *source, out *outcome) (bool, error) {
	s.mu.RLock()
	files, shape := s.files, s.shape
	s.mu.RUnlock()
	if shape.open {
		return false, nil
	}
	var known []string
	for path, id := range out.changed {
		if id != "" && files[path] != nil {
			known = append(known, path)
		}
	}
	if err := l.bring(ctx, known); err != nil {
		return false, err
	}
	fresh := map[string]*File{}
	for path, id := range out.changed {
		old := files[path]
		switch {
		case shape.read[path], id == "" && old != nil, old == nil && s.includes(path):
			return false, nil
		case old == nil:
			continue
		}
		f, err := l.load(ctx, path, id, old.Origin, old)
		if err != nil {
			return false, err
		}
		if leads(old) || leads(f) || len(f.Reads) > 0 {
			return false, nil
		}
		fresh[path] = f
	}
	out.quick, out.files, out.reread = true, fresh, len(fresh)
	return true, nil
}

func leads(f *File) bool {
	return slices.ContainsFunc(f.Documents, func(d *Document) bool { return len(d.Targets) > 0 })
}

func shapeOf(files map[string]*File) shape {
	s := shape{read: map[string]bool{}}
	for path, f := range files {
		s.abroad = s.abroad || strings.Contains(path, foreign)
		for _, r := range f.Reads {
			s.read[r] = true
			s.abroad = s.abroad || strings.Contains(r, foreign)
		}
		s.open = s.open || !settled(f)
		if !leads(f) {
			continue
		}
		for _, d := range f.Documents {
			for _, t := range d.Targets {
				s.open = s.open || t.Glob || t.Optional
				s.abroad = s.abroad || strings.Contains(t.Written, "://")
			}
		}
	}
	return s
}

// inherit lets a file that moved keep its claims' age, so that moving one
// does not lose a name.
func inherit(old, now map[string]*File, since int64) {
	if since == 0 {
		return
	}
	ages := map[string]int64{}
	for path, f := range old {
		if now[path] == nil {
			for _, d := range f.Documents {
				ages[d.Ref] = d.Since
			}
		}
	}
	if len(ages) == 0 {
		return
	}
	for path, f := range now {
		if old[path] != nil {
			continue
		}
		for _, d := range f.Documents {
			if age, moved := ages[d.Ref]; moved && d.Since == since {
				d.Since = age
			}
		}
	}
}

// spread has the sources that read from others look again.
func (in *Ingester) spread(s *source, changed bool) {
	if !changed {
		return
	}
	in.spreads.Add(1)
	for _, o := range in.sources() {
		switch {
		case o == s:
		case s.rank.late: // nobody else reads from it
			if in.serves(s, o) && (o.lookAgain() || o.revision() == "") {
				o.nudge()
			}
		case o.lookAgain():
			o.nudge()
		}
	}
}

// lookAgain notes that another source has changed, if that can matter.
func (s *source) lookAgain() bool {
	s.mu.RLock()
	abroad := s.shape.abroad
	s.mu.RUnlock()
	if !abroad { // nearly all are asked in vain, each time that one has changed
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recheck = s.recheck || s.shape.abroad
	return s.shape.abroad
}
