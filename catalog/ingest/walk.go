package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// walk follows a source's catalog files from its roots through Locations.
// One file is one claim however often it is reached; a file that is a root is
// reached as a root.
type walk struct {
	*loader
	paths map[string]string
	old   map[string]*File
	// dirty are the files to read again even if their content is the same.
	dirty map[string]bool
	// loaded is everything looked at, visited what is part of the catalog.
	loaded  map[string]*File
	visited map[string]*File
	order   []string
	parents map[string][]string
	// reread are the files read in this walk.
	reread int
}

func newWalk(l *loader, paths map[string]string, old map[string]*File, dirty map[string]bool) *walk {
	l.room.used.Store(0)
	for path, f := range old {
		if _, there := paths[path]; there || strings.Contains(path, foreign) {
			l.room.used.Add(f.weight())
		}
	}
	return &walk{loader: l, paths: paths, old: old, dirty: dirty,
		loaded: make(map[string]*File, len(old)), visited: make(map[string]*File, len(old)), parents: map[string][]string{}}
}

// step is a file to look at and the location by which it was reached.
type step struct{ path, origin string }

// run visits roots and everything that they reach.
func (w *walk) run(ctx context.Context, roots []string) error {
	level := make([]step, 0, len(roots))
	for _, path := range roots {
		at, err := w.in.processor.Registered(w.src.base(), path)
		if err != nil {
			continue
		}
		if w.src.isLocation() {
			at = w.src.base()
		}
		level = append(level, step{path, at.Target})
		w.visited[path] = nil
	}
	for len(level) > 0 {
		if err := w.load(ctx, level); err != nil {
			return err
		}
		next, err := w.follow(ctx, level)
		if err != nil {
			return err
		}
		level = next
	}
	return ctx.Err()
}

// load reads what a level needs, in parallel.
func (w *walk) load(ctx context.Context, level []step) error {
	todo := level[:0:0]
	for _, s := range level {
		if _, done := w.loaded[s.path]; done {
			continue
		}
		old := w.old[s.path]
		if old != nil && !w.dirty[s.path] && old.ID == w.id(s.path) && old.Origin == s.origin && settled(old) {
			w.loaded[s.path] = old
			continue
		}
		w.loaded[s.path] = nil
		todo = append(todo, s)
	}
	if err := w.prefetch(ctx, todo); err != nil {
		return err
	}
	files := make([]*File, len(todo))
	g, ctx := beside.WithContext(ctx)
	g.SetLimit(w.in.workers)
	for i, s := range todo {
		g.Go(func() (err error) {
			defer fault.Catch(&err, "reading %s", s.path)
			files[i], err = w.loader.load(ctx, s.path, w.id(s.path), s.origin, w.old[s.path])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, s := range todo {
		w.loaded[s.path] = files[i]
	}
	w.reread += len(todo)
	return nil
}

// prefetch has the files that are about to be read brought in one go, with what
// they read themselves when they were read last.
func (w *walk) prefetch(ctx context.Context, todo []step) error {
	var paths []string
	for _, s := range todo {
		paths = append(paths, s.path)
		if old := w.old[s.path]; old != nil {
			paths = append(paths, old.Reads...)
		}
	}
	return w.bring(ctx, paths)
}

// settled tells whether a file need not be looked at again while its content
// is the same: a Location whose targets were not all there must be, and so must
// a document for which there was no room.
func settled(f *File) bool {
	for _, d := range f.Documents {
		if len(d.Targets) > 0 && (len(d.Problems) > 0 || !d.Good()) || d.crowded() {
			return false
		}
	}
	return true
}

// id is the content id of a path; a file of another source is never cached.
func (w *walk) id(path string) string { return w.paths[path] }

// follow visits a level and gives the files that its Locations reach.
func (w *walk) follow(ctx context.Context, level []step) ([]step, error) {
	var next []step
	for _, s := range level {
		f := w.loaded[s.path]
		if w.visited[s.path] != nil {
			continue
		}
		w.visited[s.path] = f
		w.order = append(w.order, s.path)
		for i := range f.Documents {
			more, err := w.followLocation(ctx, f, i, s.origin)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
	}
	return next, nil
}

// followLocation reads what one Location points to. A required target that
// is missing or broken breaks the Location: it then stays as it was, or out.
func (w *walk) followLocation(ctx context.Context, f *File, i int, origin string) ([]step, error) {
	d := f.Documents[i]
	if d.Entity == nil || len(d.Targets) == 0 {
		return nil, nil
	}
	var reached []step
	var problems []entity.Problem
	for _, t := range d.Targets {
		paths, p := w.resolve(t)
		if p != nil {
			problems = append(problems, *p)
			continue
		}
		for _, path := range paths {
			reached = append(reached, step{path, origin})
		}
	}
	if err := w.load(ctx, reached); err != nil {
		return nil, err
	}
	for _, s := range reached {
		if t := w.loaded[s.path]; t != nil && !t.Readable && len(t.Documents) == 0 {
			problems = append(problems, entity.Problem{Name: "InputError",
				Message: fmt.Sprintf("target %s has errors of its own, so nothing of this Location is read%s", s.path, w.because(t)),
				Fix:     "Put the errors of the target right, or remove it from spec.targets."})
		}
	}
	return w.settle(f, i, reached, problems), nil
}

// settle decides on a Location whose targets have been looked at.
func (w *walk) settle(f *File, i int, reached []step, problems []entity.Problem) []step {
	d := f.Documents[i]
	for j := range problems {
		if problems[j].Line == 0 {
			problems[j].Line = d.Line
		}
		problems[j].Ref = d.Ref
	}
	problems = located(f.Path, few(problems))
	switch {
	case len(problems) == 0:
		if !d.Followed {
			w.amend(f.Path, i, func(c *Document) { c.Followed = true })
		}
	case d.Followed:
		since := d
		if prev := previous(w.old[f.Path], d.Ref); prev != nil {
			since = prev
		}
		w.amend(f.Path, i, func(c *Document) {
			w.stale(c, since, problems)
			c.Problems = append(slices.Clone(d.Problems), problems...)
		})
	default:
		w.amend(f.Path, i, func(c *Document) {
			c.Entity, c.Edges = nil, nil
			c.Problems = append(slices.Clone(d.Problems), problems...)
		})
		return nil
	}
	var next []step
	for _, s := range reached {
		w.parents[s.path] = append(w.parents[s.path], d.Ref)
		if _, known := w.visited[s.path]; !known {
			w.visited[s.path] = nil
			next = append(next, s)
		}
	}
	return next
}

// maxTold is how many problems of one Location's targets are told.
const maxTold = 100

// few tells the first problems, and how many there are besides.
func few(problems []entity.Problem) []entity.Problem {
	if len(problems) <= maxTold {
		return problems
	}
	rest := problems[maxTold]
	rest.Message = fmt.Sprintf("%d further targets of this Location have problems of the same kinds", len(problems)-maxTold)
	rest.Fix = "Put right those that are listed; the others are told then."
	return append(problems[:maxTold:maxTold], rest)
}

// amend changes one document of a visited file, leaving what is published
// alone.
func (w *walk) amend(path string, i int, change func(*Document)) {
	g := *w.visited[path]
	g.Documents = slices.Clone(g.Documents)
	c := *g.Documents[i]
	change(&c)
	g.Documents[i] = &c
	w.loaded[path], w.visited[path] = &g, &g
}

// resolve gives the paths that a target names; a problem where it is
// required and there is none.
func (w *walk) resolve(t descriptor.Target) ([]string, *entity.Problem) {
	path, ok := w.in.locate(w.src, t.Location)
	if !ok {
		fix := "Use a target within the repository, or add the other repository under catalog.sources."
		if w.src.isLocation() {
			fix = "Add the repository under catalog.sources or its host under catalog.locations.hosts."
		}
		return nil, w.problem(t, "InputError", "is neither in this repository nor in one that is configured as a source", fix)
	}
	if t.Glob {
		return w.glob(t, path)
	}
	if _, there := w.paths[path]; there {
		return []string{path}, nil
	}
	if strings.Contains(path, foreign) && w.in.exists(path) {
		if w.in.claimedElsewhere(path) && !w.in.trial {
			return nil, nil
		}
		return []string{path}, nil
	}
	if t.Optional {
		return nil, nil
	}
	return nil, w.problem(t, "NotFoundError", "is not there", "Correct the path, or set spec.presence to optional.")
}

// matches are the paths that a pattern picks, in this or in another source;
// those that the other reads for itself are left to it.
func (w *walk) matches(g *descriptor.Glob, owner *source) (out []string) {
	if owner == w.src {
		for path := range w.paths {
			if g.Match(path) {
				out = append(out, path)
			}
		}
		return out
	}
	owner.mu.RLock()
	defer owner.mu.RUnlock()
	for rel := range owner.paths {
		if g.Match(rel) && (owner.files[rel] == nil || w.in.trial) {
			out = append(out, owner.desc().Name+foreign+rel)
		}
	}
	return out
}

func (w *walk) glob(t descriptor.Target, pattern string) ([]string, *entity.Problem) {
	owner, rel := w.in.owner(w.src, pattern)
	g, err := descriptor.ParseGlob(rel)
	if err != nil {
		return nil, w.problem(t, "InputError", "is no pattern that can be used: "+err.Error(), "Use a shorter pattern.")
	}
	out := w.matches(g, owner)
	slices.Sort(out)
	if len(out) == 0 && !t.Optional {
		return nil, w.problem(t, "NotFoundError", "matches no file", "Correct the glob, or set spec.presence to optional.")
	}
	return out, nil
}

func (w *walk) problem(t descriptor.Target, name, what, fix string) *entity.Problem {
	return &entity.Problem{Name: name, Severity: entity.SeverityError, Line: t.At.Line, Column: t.At.Column,
		Message: fmt.Sprintf("target %q %s", t.Written, what), Fix: fix}
}
