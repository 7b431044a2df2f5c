package oracle

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// maxReplaced is how often an entity that two parents emit differently is
// processed again.
const maxReplaced = 3

// state is what is known of one reference.
type state struct {
	item     *item
	problems []entity.Problem
	entity   *entity.Object
	edges    []entity.Edge
	replaced int
	queued   bool
}

// catalog is the catalog while it settles.
type catalog struct {
	states    map[string]*state
	queue     []string
	conflicts []conflict
}

// put takes in an emitted entity: the first location key keeps a reference,
// the same key again replaces what it said before.
func (c *catalog) put(it *item) {
	ref := it.ref()
	s := c.states[ref]
	switch {
	case s == nil:
		s = &state{item: it}
		c.states[ref] = s
	case s.item.key != it.key:
		c.conflicts = append(c.conflicts, conflict{Ref: ref, Kept: s.item.key, Ignored: it.key})
		return
	case s.item.same(it):
		return
	default:
		if s.replaced++; s.replaced > maxReplaced {
			return
		}
		s.item = it
	}
	if !s.queued {
		s.queued = true
		c.queue = append(c.queue, ref)
	}
}

// same tells whether two items are the same entity before processing.
func (i *item) same(j *item) bool {
	return i.file.At == j.file.At && i.origin == j.origin &&
		bytes.Equal(entity.AppendJSON(nil, i.doc.Raw), entity.AppendJSON(nil, j.doc.Raw))
}

// settle registers every file and processes until nothing is left to do.
func (s *suite) settle(ctx context.Context, names []string) (*final, error) {
	c := &catalog{states: map[string]*state{}}
	for _, name := range names {
		it, err := s.register(name)
		if err != nil {
			return nil, err
		}
		c.put(it)
	}
	for len(c.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st := c.states[c.queue[0]]
		c.queue, st.queued = c.queue[1:], false
		out := s.process(ctx, st.item)
		st.problems = out.problems
		if !out.ok {
			continue
		}
		st.entity, st.edges = out.entity, out.edges
		for _, d := range out.deferred {
			c.put(d)
		}
	}
	return s.stitch(c), nil
}

// stitch gives entities their relations and search rows.
func (s *suite) stitch(c *catalog) *final {
	relations := map[string][]entity.Relation{}
	for _, st := range c.states {
		for _, e := range st.edges {
			relations[e.Source] = append(relations[e.Source], entity.Relation{Type: e.Type, TargetRef: e.Target})
		}
	}
	f := &final{Entities: map[string]*stitched{}, Unprocessed: map[string]unprocessed{}, Conflicts: []conflict{}}
	for ref, st := range c.states {
		name := s.scrub(s.rename(ref))
		if st.entity == nil {
			f.Unprocessed[name] = unprocessed{Errors: s.errors(st.problems)}
			continue
		}
		f.Entities[name] = s.stitchOne(st, distinct(relations[ref]))
	}
	for _, x := range c.conflicts {
		f.Conflicts = append(f.Conflicts, conflict{Ref: s.rename(x.Ref), Kept: s.scrub(x.Kept), Ignored: s.scrub(x.Ignored)})
	}
	slices.SortStableFunc(f.Conflicts, func(a, b conflict) int {
		return cmp.Or(cmp.Compare(a.Ref, b.Ref), cmp.Compare(a.Ignored, b.Ignored))
	})
	return f
}

func distinct(relations []entity.Relation) []entity.Relation {
	slices.SortFunc(relations, func(a, b entity.Relation) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.TargetRef, b.TargetRef))
	})
	return slices.Compact(relations)
}

func (s *suite) stitchOne(st *state, relations []entity.Relation) *stitched {
	root := index.SafeURLs(st.entity)
	rows, err := index.Rows(root, relations)
	shown := &entity.Entity{Ref: st.item.doc.Ref, Root: s.scrubObject(root), Relations: make([]entity.Relation, len(relations))}
	for i, r := range relations {
		shown.Relations[i] = entity.Relation{Type: r.Type, TargetRef: s.scrub(s.rename(r.TargetRef))}
	}
	out := &stitched{Entity: shown}
	if err != nil {
		out.StitchError = &failure{Name: "InputError", Message: s.scrub(err.Error())}
		return out
	}
	out.Search = [][3]*string{}
	for _, r := range rows {
		key := s.scrub(r.Key)
		row := [3]*string{&key}
		if !r.Null {
			original, value := s.scrub(s.rename(r.Original)), s.scrub(s.rename(r.Value))
			row[1], row[2] = &original, &value
		}
		out.Search = append(out.Search, row)
	}
	return out
}
