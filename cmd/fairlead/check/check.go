// Package check tells everything that is wrong with catalog files without a
// server: it reads them as the catalog does, follows Locations within the
// repository, and says of each problem where it is, how to put it right and
// whom it concerns.
package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/secrets/offer"
)

// Options say what to check.
type Options struct {
	// Paths are files and folders; of a folder, every catalog-info file below
	// it is checked.
	Paths []string
	// All takes every YAML file of a folder instead.
	All bool
	// Kinds are further kinds to let in besides Backstage's.
	Kinds []string
}

// Finding is one problem, its File as seen from the working folder.
type Finding struct {
	entity.Problem
	// Owner is the owner whom the problem concerns, "" where nobody is known.
	Owner string `json:"owner,omitempty"`

	// root is the repository or folder, path the file within it.
	root, path string
	// baseline is whether a comparison found it new or unchanged; related is
	// another place that it is about.
	baseline string
	related  *related
}

// related is a place in the same repository and what it has to do with a
// problem.
type related struct {
	path string
	line uint32
	text string
}

// Report is what a check found.
type Report struct {
	// Findings are by file, line and column.
	Findings []Finding
	// Files and Entities count what was read.
	Files, Entities int
}

// Count gives the number of findings of a severity.
func (r *Report) Count(s entity.Severity) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// Run checks. An error is about what cannot be checked at all: not_found for
// a path that is not there or holds no catalog file, unavailable for a folder
// that cannot be read.
func Run(ctx context.Context, o Options) (*Report, error) {
	folders, err := collect(o, false)
	defer closeAll(folders)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		empty, err := f.pick(ctx, o.All)
		if err != nil {
			return nil, err
		}
		if len(empty) > 0 {
			return nil, nothingBelow(empty[0], o.All)
		}
	}
	c, err := inspect(ctx, o, folders)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &c.report, nil
}

// inspect checks the files that have been picked.
func inspect(ctx context.Context, o Options, folders []*folder) (*checker, error) {
	c := &checker{
		proc:  descriptor.New(descriptor.Options{Kinds: o.Kinds, Template: true}),
		holds: map[string]place{}, origins: map[string]origin{},
	}
	for _, f := range folders {
		if err := c.folder(ctx, f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// checker gathers findings over all folders.
type checker struct {
	proc   *descriptor.Processor
	report Report
	// holds tells who describes an entity.
	holds map[string]place
	// set gathers what comparisons need.
	set     compare.Set
	origins map[string]origin
}

// place is where an entity is described.
type place struct {
	file  *file
	line  uint32
	owner string
}

// String is the place with the owner, where one is known.
func (p place) String() string {
	at := fmt.Sprintf("%s:%d", p.file.in.display(p.file.path), p.line)
	if p.owner != "" {
		at += " by " + p.owner
	}
	return at
}

// file is one catalog file that has been looked at.
type file struct {
	in   *folder
	path string
	// owner is the first owner that the file names.
	owner string
	// unusable: nothing of the file can be stored.
	unusable bool
	// held is what its documents come to so far.
	held int64
}

// step is a file to look at and the location by which it was reached.
type step struct {
	path   string
	origin descriptor.Location
}

// follow is a Location's target, to be judged once its file has been read.
type follow struct {
	from   *file
	target descriptor.Target
	ref    string
	path   string
}

// folder checks a folder's files and all that they lead to.
func (c *checker) folder(ctx context.Context, in *folder) error {
	seen := map[string]*file{}
	var queue []step
	for _, path := range in.picked {
		at, err := c.proc.Registered(in.base, path)
		if err != nil {
			continue
		}
		queue = append(queue, step{path, at})
	}
	var follows []follow
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if seen[s.path] != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		f := &file{in: in, path: s.path}
		seen[s.path] = f
		found := c.file(ctx, f, s.origin)
		c.note(f)
		follows = append(follows, found...)
		for _, t := range found {
			queue = append(queue, step{t.path, s.origin})
		}
	}
	for _, t := range follows {
		if to := seen[t.path]; to != nil && to.unusable && to != t.from {
			c.add(t.from, t.from.owner, entity.Problem{Name: "InputError", Line: t.target.At.Line, Column: t.target.At.Column, Ref: t.ref,
				Message: fmt.Sprintf("target %q has errors of its own, so nothing of this Location is read", t.target.Written),
				Fix:     "Put the errors of the target right, or remove it."})
		}
	}
	return nil
}

// add notes a problem of a file.
func (c *checker) add(f *file, owner string, p entity.Problem) {
	if p.Severity == "" {
		p.Severity = entity.SeverityError
	}
	p.File = f.in.display(f.path)
	c.report.Findings = append(c.report.Findings, Finding{Problem: p, Owner: cmp.Or(owner, f.owner), root: f.in.dir, path: f.path})
}

// file checks one file and gives what its Locations lead to.
func (c *checker) file(ctx context.Context, f *file, origin descriptor.Location) []follow {
	data, err := f.in.read(ctx, f.path)
	if err != nil {
		f.unusable = true
		c.add(f, "", entity.Problem{Name: "InputError", Message: "the file " + err.Error(), Fix: "Make it a readable file of at most 1 MiB, or leave it out."})
		return nil
	}
	c.report.Files++
	at, err := c.proc.Address(f.in.base, f.path)
	if err != nil {
		return nil
	}
	read := c.proc.Read(at, data)
	f.owner = ownerOfFile(read, data)
	f.unusable = !read.OK()
	for _, p := range read.Problems {
		c.add(f, "", p)
	}
	var out []follow
	for _, d := range read.Documents {
		owner := ownerOf(d)
		if d.Stage != descriptor.StageProcess {
			for _, p := range d.Problems {
				c.add(f, owner, p)
			}
			continue
		}
		out = append(out, c.document(ctx, f, read, d, origin)...)
	}
	return out
}

// document processes one document.
func (c *checker) document(ctx context.Context, f *file, read *descriptor.File, d *descriptor.Document, origin descriptor.Location) []follow {
	owner, ref := ownerOf(d), d.Ref.String()
	res := c.proc.Process(ctx, read, d, origin, f.in)
	if f.held += descriptor.Weight(res.Entity, res.Edges, res.Targets); f.held > descriptor.MaxFileWeight {
		f.held -= descriptor.Weight(res.Entity, res.Edges, res.Targets)
		res = &descriptor.Result{Problems: append(res.Problems, descriptor.TooHeavy(d.At.Line))}
	}
	for _, p := range withEnvelope(d.Problems, res.Problems) {
		c.add(f, owner, unlooked(p, ref))
	}
	if !res.OK {
		c.set.Failed = append(c.set.Failed, compare.Attempt{Ref: ref, File: f.in.display(f.path)})
	}
	if res.OK && read.OK() {
		c.claim(f, d, owner)
		c.describe(f, d, res, owner)
		c.declared(ctx, f, d, res.Entity, owner)
	}
	var out []follow
	for _, t := range res.Targets {
		paths, problem := f.in.targets(ctx, t)
		if problem != nil {
			problem.Ref, problem.Line, problem.Column = ref, t.At.Line, t.At.Column
			c.add(f, owner, *problem)
		}
		for _, path := range paths {
			out = append(out, follow{f, t, ref, path})
		}
	}
	return out
}

// withEnvelope gives the problems of reading a document and of processing it.
// A kind that is not let in, because it is not known, is told once: with what
// that leads to, and with what can be written instead.
func withEnvelope(read, processed []entity.Problem) []entity.Problem {
	out := slices.Clone(read)
	for _, p := range processed {
		i := slices.IndexFunc(out, func(q entity.Problem) bool { return q.Line == p.Line && q.Column == p.Column && p.Line > 0 })
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].Fix = strings.TrimSuffix(p.Fix, ".") + " (here: --kind)."
	}
	return out
}

// declared checks what a document says for Fairlead.
func (c *checker) declared(ctx context.Context, f *file, d *descriptor.Document, root *entity.Object, owner string) {
	e := &catalog.Entity{Ref: d.Ref, Root: root, From: catalog.Provenance{Path: f.path}}
	problems := catalog.DeclarationProblems(e, func(pattern string) []string { return f.in.matching(ctx, pattern) })
	for _, p := range append(problems, offer.Problems(e)...) {
		c.add(f, owner, p)
	}
}

// claim notes who describes an entity: a second description elsewhere is an
// error, in the same file it replaces the first.
func (c *checker) claim(f *file, d *descriptor.Document, owner string) {
	ref := d.Ref.String()
	held, taken := c.holds[ref]
	if !taken {
		c.holds[ref] = place{f, d.At.Line, owner}
		c.report.Entities++
		return
	}
	p := entity.Problem{Name: "ConflictError", Line: d.At.Line, Column: max(d.At.Column, 1), Ref: ref,
		Message: fmt.Sprintf("%s is already described at %s, which keeps the name", ref, held),
		Fix:     "Remove one of the two descriptions, or give one another metadata.name or metadata.namespace."}
	if held.file == f {
		p.Severity = entity.SeverityWarning
		p.Message = fmt.Sprintf("%s is described twice in this file, at lines %d and %d; the later one counts", ref, held.line, d.At.Line)
		c.holds[ref] = place{f, d.At.Line, owner}
	}
	c.add(f, owner, p)
}
