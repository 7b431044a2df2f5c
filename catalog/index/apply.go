package index

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// Apply makes the snapshot that follows from changes; of several for one ref
// the last counts. Its cost follows the changes and what they touch, not the
// size of the catalog; s stays as it was.
func (s *Snapshot) Apply(changes []Change) *Snapshot {
	a := s.begin()
	a.assign(changes)
	a.columnise(a.restitch())
	return a.finish()
}

// application is one Apply under way.
type application struct {
	old   *Snapshot
	slots *slotsEdit
	next  *Snapshot
	work  []*task
	by    map[uint32]*task
	gone  []uint32
}

// task is one entity to be stitched anew.
type task struct {
	id       uint32
	order    uint32
	ref, uid string
	record   *Record // nil: it goes
	before   *slot   // nil: it is new
	after    *slot
}

func (s *Snapshot) begin() *application {
	s.copying.Lock()
	defer s.copying.Unlock()
	return &application{
		old: s, slots: s.slots.edit(),
		next: &Snapshot{
			free: slices.Clone(s.free), ids: s.ids.Copy(), columns: s.columns.Copy(), edges: s.edges.Copy(),
		},
	}
}

// assign gives every new entity a number, works the edges in, and collects
// the entities to be stitched.
func (a *application) assign(changes []Change) {
	deltas := make(edgeDeltas, len(changes))
	a.by, a.work = make(map[uint32]*task, len(changes)), make([]*task, 0, len(changes))
	for _, c := range lastOf(changes) {
		id, known := a.next.ids.Get(c.Ref)
		if !known && c.Record == nil {
			continue
		}
		t := &task{ref: c.Ref, record: c.Record}
		if known {
			t.id, t.before = id, a.old.slots.get(id)
			t.uid = t.before.uid
			deltas.add(t.before.record.Edges, -1)
		} else {
			t.id, t.uid = a.number(), UID(c.Ref)
			a.next.ids.Set(c.Ref, t.id)
		}
		if c.Record != nil {
			deltas.add(c.Record.Edges, 1)
		} else {
			a.next.ids.Delete(c.Ref)
			a.gone = append(a.gone, t.id)
		}
		a.by[t.id] = t
		a.work = append(a.work, t)
	}
	for _, ref := range deltas.apply(a.next.edges) {
		if id, ok := a.next.ids.Get(ref); ok && a.by[id] == nil {
			sl := a.old.slots.get(id)
			t := &task{id: id, ref: ref, uid: sl.uid, record: sl.record, before: sl}
			a.by[id] = t
			a.work = append(a.work, t)
		}
	}
	slices.SortFunc(a.work, func(x, y *task) int { return cmp.Compare(x.uid, y.uid) })
	for i, t := range a.work {
		t.order = uint32(i)
	}
}

// lastOf leaves of several changes for one ref the last. There is nothing to
// do where they come in order, as they do from ingestion.
func lastOf(changes []Change) []Change {
	if ordered(changes) {
		return changes
	}
	last := make(map[string]int, len(changes))
	for i, c := range changes {
		last[c.Ref] = i
	}
	if len(last) == len(changes) {
		return changes
	}
	out := make([]Change, 0, len(last))
	for i, c := range changes {
		if last[c.Ref] == i {
			out = append(out, c)
		}
	}
	return out
}

// ordered tells whether changes are sorted by ref, each one once.
func ordered(changes []Change) bool {
	for i := 1; i < len(changes); i++ {
		if changes[i-1].Ref >= changes[i].Ref {
			return false
		}
	}
	return true
}

func (a *application) number() uint32 {
	if n := len(a.next.free); n > 0 {
		id := a.next.free[n-1]
		a.next.free = a.next.free[:n-1]
		return id
	}
	id := a.slots.size
	a.slots.put(id, nil)
	return id
}

// share splits n things among the processors and waits for all.
func share(n int, do func(worker, from, to int)) int {
	workers := max(1, min(runtime.GOMAXPROCS(0), n/64))
	var parts beside.All
	for w := range workers {
		parts.Go(func() { do(w, w*n/workers, (w+1)*n/workers) })
	}
	parts.Wait()
	return workers
}
