package graphql

import (
	"context"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/bind"
	"github.com/fairlead-dev/fairlead/graphql/engine"
)

// batch is a set of references that are looked up together, once, when the
// first of them is asked for; many of them in parts, so that whoever asks for
// the first few of thousands does not wait for the rest.
type batch struct {
	d     *door
	refs  []string
	index map[string]int

	begin sync.Once
	parts []part

	// own is the group of entities that the answer holds itself, and size how
	// many bytes there are in its texts, both counted while it is viewed.
	own  *group
	size int
}

// part is so many references of a batch, and the entities they stand for.
type part struct {
	once  sync.Once
	nodes []*node
	err   error
}

// partSize is the number of references in a part.
const partSize = 1000

func (d *door) batch(ctx context.Context) *batch {
	return &batch{d: d, index: map[string]int{}, own: d.group(ctx)}
}

// Link is what gives the entity of a reference.
func (b *batch) Link(ref string) any {
	i := b.add(ref)
	return func(ctx context.Context) (*node, error) { return b.get(ctx, i) }
}

// Given is the node of an entity that the answer holds itself.
func (b *batch) Given(e *catalog.Entity) any {
	if e == nil {
		return (*node)(nil)
	}
	n := newNode(e, b.own)
	b.own.members = append(b.own.members, n)
	return n
}

// Count adds to the size of the answer's texts.
func (b *batch) Count(bytes int) { b.size += bytes }

// add puts a reference into the set, before anything is looked up, and gives
// what to ask for it by.
func (b *batch) add(ref string) int {
	if ref == "" {
		return -1
	}
	i, known := b.index[ref]
	if !known {
		i = len(b.refs)
		b.index[ref] = i
		b.refs = append(b.refs, ref)
	}
	return i
}

// get is the entity of a reference, nil if the caller can see none.
func (b *batch) get(ctx context.Context, i int) (*node, error) {
	if i < 0 {
		return nil, nil
	}
	b.begin.Do(func() { b.parts = make([]part, (len(b.refs)+partSize-1)/partSize) })
	p := &b.parts[i/partSize]
	p.once.Do(func() {
		from := i / partSize * partSize
		p.nodes, p.err = b.load(ctx, b.refs[from:min(from+partSize, len(b.refs))])
	})
	if p.err != nil {
		return nil, p.err
	}
	return p.nodes[i%partSize], nil
}

func (b *batch) load(ctx context.Context, refs []string) ([]*node, error) {
	if err := engine.RequestOf(ctx).Spend(len(refs)); err != nil {
		return nil, err
	}
	out, err := bind.Invoke(ctx, b.d.recorder, "get_entities", access.ReadCatalog, "", catalog.GetEntitiesInput{EntityRefs: refs}, b.d.catalog.GetEntities)
	if err != nil {
		return nil, err
	}
	return b.d.nodes(ctx, out.Items), nil
}

// group is entities that stand side by side in an answer. What one of them is
// related to is looked up for all of them together, so that a query costs as
// many lookups as it names relations, however many entities it finds.
type group struct {
	d       *door
	request *engine.Request
	members []*node

	mu   sync.Mutex
	hops map[hop]*batch
}

// hop is a step along relations of one type ("" is any) to entities of one
// kind ("" is any).
type hop struct{ relation, kind string }

// holds tells whether a relation is of the hop.
func (h hop) holds(r *entity.Relation) bool {
	if h.relation != "" && r.Type != h.relation {
		return false
	}
	kind, _, _ := strings.Cut(r.TargetRef, ":")
	return h.kind == "" || kind == h.kind
}

func (d *door) group(ctx context.Context) *group {
	return &group{d: d, request: engine.RequestOf(ctx), hops: map[hop]*batch{}}
}

// nodes makes a group of entities and gives them in order; nil stays nil.
func (d *door) nodes(ctx context.Context, entities []*catalog.Entity) []*node {
	g := d.group(ctx)
	out := make([]*node, len(entities))
	for i, e := range entities {
		if e != nil {
			out[i] = newNode(e, g)
			g.members = append(g.members, out[i])
		}
	}
	return out
}

// follow gives the batch of all that the group is related to by a hop.
func (g *group) follow(h hop) *batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, known := g.hops[h]
	if !known {
		b = &batch{d: g.d, index: map[string]int{}}
		for _, m := range g.members {
			for i := range m.e.Relations {
				if r := &m.e.Relations[i]; h.holds(r) {
					b.add(r.TargetRef)
				}
			}
		}
		g.hops[h] = b
	}
	return b
}
