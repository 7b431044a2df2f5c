package index

import (
	"bytes"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// restitch makes the new slots, and collects in the walkers of its workers
// what happens to each column.
func (a *application) restitch() []*walker {
	walkers := make([]*walker, len(a.work)/64+1)
	n := share(len(a.work), func(worker, from, to int) {
		w := newWalker()
		walkers[worker] = w
		var buf []byte
		for _, t := range a.work[from:to] {
			buf = a.stitch(t, w, buf)
		}
	})
	for _, t := range a.work {
		if t.after != nil {
			a.slots.put(t.id, t.after)
		}
	}
	return walkers[:n]
}

// stitch makes a task's new slot and the changes of rows from old to new.
func (a *application) stitch(t *task, w *walker, buf []byte) []byte {
	if t.before != nil && t.before.entity != nil {
		// What could be shown has no error.
		_ = w.collect(t.before.entity, func(d *delta, c change, null bool) {
			c.id, c.order = t.id, t.order
			if null {
				d.delNull = append(d.delNull, t.id)
				return
			}
			d.del = append(room(d.del), c)
		})
	}
	if t.record == nil {
		return buf
	}
	edges, _ := a.next.edges.Get(t.ref)
	var e *entity.Entity
	e, buf = stitch(t.record, t.uid, edges.shown(), buf)
	t.after = &slot{ref: t.ref, uid: t.uid, record: t.record, entity: e}
	err := w.collect(e, func(d *delta, c change, null bool) {
		c.id, c.order = t.id, t.order
		if null {
			d.addNull = append(d.addNull, t.id)
			return
		}
		d.add = append(room(d.add), c)
	})
	if err != nil {
		t.after.entity, t.after.err = nil, err
	}
	return buf
}

// room makes a full slice twice as large: append alone grows long slices by a
// quarter, which copies most rows of a new catalog several times.
func room(xs []change) []change {
	if n := len(xs); n == cap(xs) && n >= 256 {
		return slices.Grow(xs, n)
	}
	return xs
}

// collect hands out the rows of an entity, each with its column's delta.
func (w *walker) collect(e *entity.Entity, put func(d *delta, c change, null bool)) error {
	if err := w.walk(e.Root, e.Relations); err != nil {
		return err
	}
	w.words(e)
	for i := range w.rows {
		r := &w.rows[i]
		put(&r.key.delta, change{value: r.value, orig: r.orig}, r.null)
	}
	return nil
}

// columnise works the changes that the walkers collected into the columns.
func (a *application) columnise(walkers []*walker) {
	deltas := merged(walkers)
	names := make([]string, 0, len(deltas))
	for name := range deltas {
		names = append(names, name)
	}
	slices.Sort(names)
	before := make([]*column, len(names))
	after := make([]*column, len(names))
	for i, name := range names {
		before[i], _ = a.next.columns.Get(name)
	}
	var mu sync.Mutex
	at := 0
	take := func() (int, int) {
		mu.Lock()
		defer mu.Unlock()
		from := at
		at = min(len(names), at+32)
		return from, at
	}
	share(len(names), func(int, int, int) {
		for from, to := take(); from < to; from, to = take() {
			for i := from; i < to; i++ {
				after[i] = before[i].apply(deltas[names[i]], func(id uint32) string { return a.slots.get(id).uid })
			}
		}
	})
	for i, name := range names {
		switch {
		case after[i] == nil:
			a.next.columns.Delete(name)
		case after[i] != before[i]:
			a.next.columns.Set(name, after[i])
		}
	}
}

// merged brings together what the walkers collected for each key. Workers
// took entities in the order of uids, and so do the deltas stay in order.
func merged(walkers []*walker) map[string]*delta {
	out := make(map[string]*delta, len(walkers[0].keys))
	for _, w := range walkers {
		for name, k := range w.keys {
			if k.delta.empty() {
				continue
			}
			if d := out[name]; d != nil {
				d.join(&k.delta)
			} else {
				out[name] = &k.delta
			}
		}
	}
	return out
}

func (d *delta) empty() bool {
	return len(d.add)+len(d.del)+len(d.addNull)+len(d.delNull) == 0
}

func (d *delta) join(o *delta) {
	d.add, d.del = append(d.add, o.add...), append(d.del, o.del...)
	d.addNull, d.delNull = append(d.addNull, o.addNull...), append(d.delNull, o.delNull...)
}

// finish completes the new snapshot.
func (a *application) finish() *Snapshot {
	next := a.next
	next.live = a.old.live.grow(a.slots.size)
	changed := make([]uint32, len(a.work))
	for i, t := range a.work {
		changed[i] = t.id
		next.live.unset(t.id)
		if t.after != nil && t.after.entity != nil {
			next.live.set(t.id)
		}
		if t.differs() {
			next.touched = append(next.touched, t.ref)
		}
		if t.record == nil {
			a.slots.put(t.id, nil)
		}
	}
	slices.Sort(next.touched)
	next.free = append(next.free, a.gone...)
	next.slots = a.slots.slots
	next.scopes = a.old.scopes.follow(next, changed)
	return next
}

// differs tells whether a reader can see that something happened.
func (t *task) differs() bool {
	var before, after *entity.Entity
	if t.before != nil {
		before = t.before.entity
	}
	if t.after != nil {
		after = t.after.entity
	}
	if before == nil || after == nil {
		return before != after
	}
	x, _ := before.MarshalJSON()
	y, _ := after.MarshalJSON()
	return !bytes.Equal(x, y)
}
