package ingest

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/index"
)

// claim is one document that wants a name.
type claim struct {
	source  *source
	path    string
	doc     *Document
	parents []string
}

// before orders claims to one name: what is configured comes before what is
// registered, and then whoever claimed first keeps it; at the first reading,
// configured order of sources, then path, then place.
func before(a, b claim) int {
	return cmp.Or(
		cmp.Compare(a.source.lateness(), b.source.lateness()),
		cmp.Compare(a.doc.Since, b.doc.Since),
		a.source.rank.compare(b.source.rank),
		cmp.Compare(a.path, b.path),
		cmp.Compare(a.doc.Index, b.doc.Index))
}

// twin tells whether two claims are of one document, which was reached on two
// ways.
func (c claim) twin(d claim) bool {
	a, b := &c.doc.Entity.From, &d.doc.Entity.From
	return c.doc.Index == d.doc.Index && a.Source == b.Source && a.Path == b.Path && c.source != d.source
}

func (c claim) same(d claim) bool {
	return c.doc == d.doc && c.source == d.source && slices.Equal(c.parents, d.parents)
}

// claims knows who wants which name, over all sources.
type claims struct {
	mu        sync.Mutex
	byRef     map[string][]claim
	contested map[string]struct{}
	pending   []index.Change // not published yet, in order

	publishing sync.Mutex // held by who publishes; guards what follows
	rest       time.Time  // when to publish again at the earliest
}

func newClaims() *claims {
	return &claims{byRef: map[string][]claim{}, contested: map[string]struct{}{}}
}

// holding is the claims of one file, one for each name.
type holding []claim

// replace exchanges the claims of some files for others and returns, once that
// is published, how many entities it changed.
func (c *claims) replace(old, now []holding, publish func([]index.Change)) int {
	n := c.exchange(old, now)
	if n > 0 {
		c.publish(publish)
	}
	return n
}

// exchange is replace without publishing: what changed is pending then.
func (c *claims) exchange(old, now []holding) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := max(count(old), count(now))
	if len(c.byRef) == 0 {
		c.byRef = make(map[string][]claim, names)
	}
	was := make(map[string]claim, names)
	each(old, func(ref string, cl claim) { was[ref] = c.winner(ref) })
	each(now, func(ref string, cl claim) { was[ref] = c.winner(ref) })
	each(old, c.remove)
	each(now, c.add)
	changes := c.changes(was)
	if c.pending == nil {
		c.pending = changes
	} else {
		c.pending = append(c.pending, changes...)
	}
	return len(changes)
}

// After a publication none is made for restFactor times as long as it took, or
// maxRest: while thousands of sources are read for the first time, what they
// say is shown together, and showing takes a part of the time only. A single
// change does not wait.
const (
	restFactor = 3
	maxRest    = 50 * time.Millisecond
)

// publish publishes all that is pending, unless whoever published meanwhile
// has done so.
func (c *claims) publish(publish func([]index.Change)) {
	c.publishing.Lock()
	defer c.publishing.Unlock()
	if len(c.take(false)) == 0 {
		return
	}
	time.Sleep(time.Until(c.rest))
	start := time.Now()
	publish(c.take(true))
	took := time.Since(start)
	c.rest = start.Add(took + min(maxRest, restFactor*took))
}

// take gives what is pending, which then is no longer if it is to be published.
func (c *claims) take(away bool) []index.Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := c.pending
	if away {
		c.pending = nil
	}
	return changes
}

func each(holdings []holding, do func(ref string, cl claim)) {
	for _, h := range holdings {
		for _, cl := range h {
			do(cl.doc.Ref, cl)
		}
	}
}

// count is how many claims there are.
func count(holdings []holding) int {
	n := 0
	for _, h := range holdings {
		n += len(h)
	}
	return n
}

// winner is the claim that keeps a name. Its document has the parents of all
// the ways on which it was reached.
func (c *claims) winner(ref string) claim {
	l := c.byRef[ref]
	if len(l) == 0 {
		return claim{}
	}
	w := l[0]
	for _, o := range l[1:] {
		if o.twin(w) {
			w.parents = slices.Concat(w.parents, o.parents)
		}
	}
	return w
}

func (c *claims) remove(ref string, cl claim) {
	l := c.byRef[ref]
	i := slices.IndexFunc(l, func(x claim) bool { return x.source == cl.source && x.path == cl.path })
	if i < 0 {
		return
	}
	c.set(ref, slices.Delete(slices.Clone(l), i, i+1))
}

func (c *claims) add(ref string, cl claim) {
	others := c.byRef[ref]
	if len(others) == 0 {
		c.byRef[ref] = []claim{cl}
		return
	}
	l := append(slices.Clone(others), cl)
	slices.SortFunc(l, before)
	c.set(ref, l)
}

func (c *claims) set(ref string, l []claim) {
	if len(l) == 0 {
		delete(c.byRef, ref)
	} else {
		c.byRef[ref] = l
	}
	if len(l) > 1 {
		c.contested[ref] = struct{}{}
	} else {
		delete(c.contested, ref)
	}
}

func (c *claims) changes(previous map[string]claim) []index.Change {
	out := make([]index.Change, 0, len(previous))
	for ref, was := range previous {
		is := c.winner(ref)
		if is.doc == nil && was.doc == nil || is.doc != nil && was.doc != nil && is.same(was) {
			continue
		}
		if is.doc == nil {
			out = append(out, index.Change{Ref: ref})
			continue
		}
		out = append(out, index.Change{Ref: ref, Record: &index.Record{
			Entity: is.doc.Entity, Edges: is.doc.Edges, Parents: is.parents,
		}})
	}
	slices.SortFunc(out, func(a, b index.Change) int { return cmp.Compare(a.Ref, b.Ref) })
	return out
}

// conflicts lists the names that more than one document claims, the winner
// first.
func (c *claims) conflicts() map[string][]claim {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string][]claim, len(c.contested))
	for ref := range c.contested {
		w := c.byRef[ref][0]
		l := slices.DeleteFunc(slices.Clone(c.byRef[ref]), w.twin)
		if len(l) > 1 {
			out[ref] = l
		}
	}
	return out
}

// alone tells whether a name would be gone, or another's, without a source.
func (c *claims) alone(ref string, s *source) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.byRef[ref]
	return len(l) > 0 && l[0].source == s && !slices.ContainsFunc(l[1:], l[0].twin)
}

// counts is how many names each source holds.
func (c *claims) counts() map[*source]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[*source]int{}
	for _, l := range c.byRef {
		out[l[0].source]++
	}
	return out
}
