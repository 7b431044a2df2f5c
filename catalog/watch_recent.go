package catalog

import (
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// recent remembers the last changes, up to maxPending entities, for those who
// begin to watch later.
type recent struct {
	// from is the time of the last change that is not remembered.
	from  time.Time
	turns []turn // oldest first
	refs  int    // of all turns
}

// turn is one change, with what policy looks at in those of its entities that
// were there before.
type turn struct {
	at   time.Time
	refs []string
	was  map[string]access.Attributes
}

// past is what entities were before each of their changes.
type past map[string][]access.Attributes

// seen tells whether an entity was once in a scope.
func (p past) seen(scope access.Scope, ref string) bool {
	return slices.ContainsFunc(p[ref], scope.Allows)
}

// add remembers a change that entities have gone through from a snapshot on.
func (r *recent) add(refs []string, before *index.Snapshot) {
	now := time.Now()
	if len(refs) > maxPending {
		*r = recent{from: now}
		return
	}
	t := turn{at: now, refs: refs, was: map[string]access.Attributes{}}
	for _, ref := range refs {
		if a, ok := before.Attributes(ref); ok {
			t.was[ref] = a
		}
	}
	r.turns, r.refs = append(r.turns, t), r.refs+len(refs)
	for r.refs > maxPending {
		r.from, r.refs = r.turns[0].at, r.refs-len(r.turns[0].refs)
		r.turns = slices.Delete(r.turns, 0, 1)
	}
}

// within gives the entities that have changed in a time until now, with what
// they were; many where that is more than is remembered.
func (r *recent) within(d time.Duration) (changed past, many bool) {
	if d <= 0 {
		return nil, false
	}
	start := time.Now().Add(-d)
	if !start.After(r.from) {
		return nil, true
	}
	changed = past{}
	for _, t := range r.turns {
		if t.at.Before(start) {
			continue
		}
		for _, ref := range t.refs {
			changed[ref] = append(changed[ref], t.of(ref)...)
		}
	}
	return changed, false
}

// of is what an entity was before the change, if anything.
func (t turn) of(ref string) []access.Attributes {
	if a, ok := t.was[ref]; ok {
		return []access.Attributes{a}
	}
	return nil
}
