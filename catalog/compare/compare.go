// Package compare tells what makes two sets of catalog files different:
// entities that come, change and go, relations that break, names that are
// claimed twice, problems that are new. It reads nothing itself.
package compare

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Place is where something is written.
type Place struct {
	File string `json:"file"`
	// Line counts from 1, 0 is unknown.
	Line uint32 `json:"line,omitempty"`
}

// Description is one document that describes an entity and is well.
type Description struct {
	Ref, Title, Owner string
	Place
	// Content is the processed descriptor, less what depends on where the
	// file is alone.
	Content *entity.Object
	// Edges are the relations that the document gives rise to, in both
	// directions.
	Edges []entity.Edge

	// lines are where spec names entities, found when first asked for.
	lines map[string]uint32
}

// Attempt is a document that names an entity and cannot be stored.
type Attempt struct{ Ref, File string }

// Problem is one problem and the owner whom it concerns.
type Problem struct {
	entity.Problem
	Owner string `json:"owner,omitempty"`
}

// Set is what a set of files makes.
type Set struct {
	// Files are the files that were read.
	Files []string
	// Descriptions are all that are well, claims to one name included, in the
	// order in which files are read.
	Descriptions []Description
	// Failed are documents with problems of their own, Unusable the files of
	// which nothing can be stored.
	Failed   []Attempt
	Unusable []string
	Problems []Problem
}

// Entity is one entity of a set.
type Entity struct {
	Ref   string `json:"ref"`
	Title string `json:"title,omitempty"`
	Owner string `json:"owner,omitempty"`
	Place
}

// Field is one field of a descriptor that changed, with its JSON before and
// after; what was or is not there is left out.
type Field struct {
	// Name is the field's path, as metadata.title, spec.owner or
	// metadata.annotations.example.com/key.
	Name   string          `json:"field"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Change is an entity that is in both sets and not the same.
type Change struct {
	Entity
	// From is the file that described it before, where that is another.
	From string `json:"from,omitempty"`
	// Fields are what changed; none where the entity has only moved.
	Fields []Field `json:"fields"`
}

// Relation is one relation that an entity names, and where it does.
type Relation struct {
	Source string `json:"source"`
	Type   string `json:"type"`
	Target string `json:"target"`
	Place
	Owner string `json:"owner,omitempty"`
}

// Claim is one of several descriptions of an entity.
type Claim struct {
	Place
	Owner string `json:"owner,omitempty"`
	// Keeps tells that this one is served; New that it was not there before.
	Keeps bool `json:"keeps"`
	New   bool `json:"new"`
}

// Conflict is a name that several files claim; the claim that keeps the name
// comes first.
type Conflict struct {
	Ref    string  `json:"ref"`
	Claims []Claim `json:"claims"`
}

// Relations are the relations that differ.
type Relations struct {
	// Broken are those to entities that were there before and are gone.
	Broken []Relation `json:"broken"`
	// Made and Dropped are those that entities newly name or no longer name.
	Made    []Relation `json:"made"`
	Dropped []Relation `json:"dropped"`
	// Unknown are new ones to entities that are in neither set: they may be
	// described elsewhere.
	Unknown []Relation `json:"unknown"`
}

// Problems are what is wrong, by whether it was so before.
type Problems struct {
	New   []Problem `json:"new"`
	Old   []Problem `json:"old"`
	Fixed []Problem `json:"fixed"`
}

// Difference is what differs between two sets. Its lists are sorted, and none
// is nil.
type Difference struct {
	Added   []Entity `json:"added"`
	Changed []Change `json:"changed"`
	// Moved entities are described by another file and otherwise the same.
	Moved   []Change `json:"moved"`
	Removed []Entity `json:"removed"`
	// Stale entities stay as they were, since what their file says now cannot
	// be used.
	Stale     []Entity   `json:"stale"`
	Relations Relations  `json:"relations"`
	Conflicts []Conflict `json:"conflicts"`
	Problems  Problems   `json:"problems"`
}

// Worse tells whether the second set has errors, conflicts or broken
// relations that the first has not.
func (d *Difference) Worse() bool {
	return len(d.Conflicts) > 0 || len(d.Relations.Broken) > 0 || Count(d.Problems.New, entity.SeverityError) > 0
}

// Same tells whether the catalog is the same: problems do not count.
func (d *Difference) Same() bool {
	return len(d.Added)+len(d.Changed)+len(d.Moved)+len(d.Removed)+len(d.Stale)+len(d.Conflicts) == 0
}

// Count gives the number of problems of a severity.
func Count(problems []Problem, s entity.Severity) int {
	n := 0
	for i := range problems {
		if problems[i].Severity == s {
			n++
		}
	}
	return n
}

// Sets compares two sets.
func Sets(before, after *Set) *Difference {
	c := comparison{was: holders(before, nil), before: before, after: after}
	c.is = holders(after, c.was)
	d := &Difference{Added: []Entity{}, Changed: []Change{}, Moved: []Change{}, Removed: []Entity{}, Stale: []Entity{}}
	c.entities(d)
	d.Relations = c.relations()
	d.Conflicts = c.conflicts()
	d.Problems = c.problems()
	return d
}

// comparison is two sets by reference.
type comparison struct {
	before, after *Set
	was, is       map[string]holder
	// stale are the entities that stay though nothing of now describes them.
	stale map[string]bool
}

// holder is the description that is served, and all the claims to its name,
// one of each file.
type holder struct {
	*Description
	claims []*Description
}

// holders finds who is served of each name: who held it before, else who
// comes first; within one file the last.
func holders(s *Set, before map[string]holder) map[string]holder {
	out := map[string]holder{}
	known := map[Attempt]int{}
	for i := range s.Descriptions {
		d := &s.Descriptions[i]
		h := out[d.Ref]
		if at, again := known[Attempt{d.Ref, d.File}]; again {
			h.claims[at] = d
			continue
		}
		known[Attempt{d.Ref, d.File}] = len(h.claims)
		h.claims = append(h.claims, d)
		out[d.Ref] = h
	}
	for ref, h := range out {
		if held := before[ref]; held.Description != nil {
			at := slices.IndexFunc(h.claims, func(c *Description) bool { return c.File == held.File })
			if at > 0 {
				first := h.claims[at]
				h.claims = slices.Insert(slices.Delete(h.claims, at, at+1), 0, first)
			}
		}
		h.Description = h.claims[0]
		out[ref] = h
	}
	return out
}

func (d *Description) entity() Entity {
	return Entity{Ref: d.Ref, Title: d.Title, Owner: d.Owner, Place: d.Place}
}

// entities sorts the entities of both sets by what became of them.
func (c *comparison) entities(d *Difference) {
	c.findStale()
	for ref, now := range c.is {
		was, there := c.was[ref]
		if !there {
			d.Added = append(d.Added, now.entity())
			continue
		}
		ch := Change{Entity: now.entity(), Fields: fields(was.Content, now.Content)}
		if was.File != now.File {
			ch.From = was.File
		}
		switch {
		case len(ch.Fields) > 0:
			d.Changed = append(d.Changed, ch)
		case ch.From != "":
			d.Moved = append(d.Moved, ch)
		}
	}
	for ref, was := range c.was {
		if _, there := c.is[ref]; there {
			continue
		}
		if c.stale[ref] {
			d.Stale = append(d.Stale, was.entity())
		} else {
			d.Removed = append(d.Removed, was.entity())
		}
	}
	for _, l := range [][]Entity{d.Added, d.Removed, d.Stale} {
		slices.SortFunc(l, func(a, b Entity) int { return cmp.Compare(a.Ref, b.Ref) })
	}
	for _, l := range [][]Change{d.Changed, d.Moved} {
		slices.SortFunc(l, func(a, b Change) int { return cmp.Compare(a.Ref, b.Ref) })
	}
}

// findStale finds the entities whose file still means to describe them.
func (c *comparison) findStale() {
	unusable := map[string]bool{}
	for _, f := range c.after.Unusable {
		unusable[f] = true
	}
	failed := map[Attempt]bool{}
	for _, a := range c.after.Failed {
		failed[a] = true
	}
	c.stale = map[string]bool{}
	for ref, was := range c.was {
		if _, there := c.is[ref]; !there && (unusable[was.File] || failed[Attempt{ref, was.File}]) {
			c.stale[ref] = true
		}
	}
}

// conflicts are the names that more files claim than before.
func (c *comparison) conflicts() []Conflict {
	out := []Conflict{}
	for ref, now := range c.is {
		was := c.was[ref]
		if len(now.claims) < 2 || len(now.claims) <= len(was.claims) {
			continue
		}
		known := map[string]bool{}
		for _, d := range was.claims {
			known[d.File] = true
		}
		conflict := Conflict{Ref: ref}
		for i, d := range now.claims {
			conflict.Claims = append(conflict.Claims, Claim{Place: d.Place, Owner: d.Owner, Keeps: i == 0, New: !known[d.File]})
		}
		out = append(out, conflict)
	}
	slices.SortFunc(out, func(a, b Conflict) int { return cmp.Compare(a.Ref, b.Ref) })
	return out
}
