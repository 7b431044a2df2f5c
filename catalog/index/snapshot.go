package index

import (
	"iter"
	"sync"

	"github.com/tidwall/btree"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Record is one entity as processing leaves it.
type Record struct {
	// Entity has no relations, uid or etag yet; they come with stitching.
	Entity *entity.Entity
	// Edges are the relations that this entity emits, its own and others'.
	Edges []entity.Edge
	// Parents are the refs of the Locations that emitted it.
	Parents []string
}

// Change puts, replaces or removes one entity.
type Change struct {
	// Ref is the full reference in lower case.
	Ref string
	// Record is the entity's new state; nil removes it.
	Record *Record
}

// slot is one entity of the catalog. It is never changed.
type slot struct {
	ref, uid string
	record   *Record
	entity   *entity.Entity // as served; nil where it cannot be shown
	err      error          // why it cannot
}

// Snapshot is the catalog at one moment. It never changes and may be read by
// any number of goroutines.
type Snapshot struct {
	slots   slots
	free    []uint32
	ids     *btree.Map[string, uint32]
	columns *btree.Map[string, *column]
	edges   *btree.Map[string, *edgeSet]
	live    bitset
	touched []string
	scopes  *scopeCache

	copying sync.Mutex // taking a copy of a tree marks the tree
}

// Empty is the catalog that holds nothing.
func Empty() *Snapshot {
	return &Snapshot{
		ids:     new(btree.Map[string, uint32]),
		columns: new(btree.Map[string, *column]),
		edges:   new(btree.Map[string, *edgeSet]),
		scopes:  newScopeCache(),
	}
}

// Touched are the refs, sorted, of the entities that differ from the snapshot
// that this one was made from: changed, new, removed, or with other relations.
func (s *Snapshot) Touched() []string { return s.touched }

// Len is the number of entities that can be shown.
func (s *Snapshot) Len() int { return s.live.count() }

func (s *Snapshot) uid(id uint32) string { return s.slots.get(id).uid }

func (s *Snapshot) column(key string) *column {
	c, _ := s.columns.Get(key)
	return c
}

// slot gives the slot of a ref that can be shown under a scope.
func (s *Snapshot) slot(scope access.Scope, ref string) (*slot, uint32, bool) {
	id, ok := s.ids.Get(ref)
	if !ok || !s.live.has(id) {
		return nil, 0, false
	}
	sl := s.slots.get(id)
	if !scope.All() && !scope.Allows(AttributesOf(sl.entity)) {
		return nil, 0, false
	}
	return sl, id, true
}

// Get is the entity of a full reference in lower case; nil where there is
// none in scope.
func (s *Snapshot) Get(scope access.Scope, ref string) *entity.Entity {
	sl, _, ok := s.slot(scope, ref)
	if !ok {
		return nil
	}
	return sl.entity
}

// Attributes are what policy may look at in the entity of a full reference,
// whatever the scope; false where there is none.
func (s *Snapshot) Attributes(ref string) (access.Attributes, bool) {
	id, ok := s.ids.Get(ref)
	if !ok || !s.live.has(id) {
		return access.Attributes{}, false
	}
	return AttributesOf(s.slots.get(id).entity), true
}

// ByUID is the entity with a metadata.uid; nil where there is none in scope.
func (s *Snapshot) ByUID(scope access.Scope, uid string) *entity.Entity {
	c := s.column("metadata.uid")
	if c == nil {
		return nil
	}
	var found *entity.Entity
	c.forward(c.lower(entity.Lower(uid)), func(ch *chunk, i int) bool {
		if ch.values[i] == entity.Lower(uid) {
			found = s.Get(scope, s.slots.get(ch.ids[i]).ref)
		}
		return false
	})
	return found
}

// Parents are the refs of the entities in scope that emitted an entity, in
// the order they were given.
func (s *Snapshot) Parents(scope access.Scope, ref string) []string {
	sl, _, ok := s.slot(scope, ref)
	if !ok {
		return nil
	}
	var out []string
	for _, p := range sl.record.Parents {
		if s.Get(scope, p) != nil {
			out = append(out, p)
		}
	}
	return out
}

// Unshown yields the records that cannot be shown, each with the reason.
func (s *Snapshot) Unshown() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		s.ids.Scan(func(_ string, id uint32) bool {
			sl := s.slots.get(id)
			return sl.err == nil || yield(sl.record, sl.err)
		})
	}
}

// AttributesOf are what policy may look at in an entity.
func AttributesOf(e *entity.Entity) access.Attributes {
	return access.Attributes{
		Ref:       e.Ref.String(),
		Kind:      entity.Lower(e.Ref.Kind),
		Namespace: entity.Lower(e.Ref.Namespace),
		Type:      entity.Lower(e.Type()),
		Owners:    e.Targets("ownedBy"),
		Tags:      e.Metadata().Strings("tags"),
	}
}

// slots is an array of slots in blocks, copied by the block.
type slots struct {
	blocks []*[256]*slot
	size   uint32
}

func (a *slots) get(id uint32) *slot { return a.blocks[id>>8][id&255] }

// slotsEdit changes a copy of slots.
type slotsEdit struct {
	slots
	own []bool
}

func (a slots) edit() *slotsEdit {
	e := &slotsEdit{slots: a, own: make([]bool, len(a.blocks))}
	e.blocks = append([]*[256]*slot(nil), a.blocks...)
	return e
}

func (e *slotsEdit) put(id uint32, s *slot) {
	b := int(id >> 8)
	if b == len(e.blocks) {
		e.blocks, e.own = append(e.blocks, new([256]*slot)), append(e.own, true)
	}
	if !e.own[b] {
		c := *e.blocks[b]
		e.blocks[b], e.own[b] = &c, true
	}
	e.blocks[b][id&255] = s
	e.size = max(e.size, id+1)
}
