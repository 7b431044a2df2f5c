// Package node shows entities to graphql-go: their fields, and what they are
// related to, looked up for many of them together.
package node

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

// Reader reads entities.
type Reader struct {
	Catalog *catalog.Service
	// Recorder is told of every reading.
	Recorder access.Recorder
}

// Batch is a set of references that are looked up together, once, when the
// first of them is asked for; many of them in parts, so that whoever asks for
// the first few of thousands does not wait for the rest.
type Batch struct {
	from  *Reader
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
	nodes []*Node
	err   error
}

// partSize is the number of references in a part.
const partSize = 1000

// Batch makes a set for an answer; references are added before the first is
// looked up.
func (r *Reader) Batch(ctx context.Context) *Batch {
	return &Batch{from: r, index: map[string]int{}, own: r.group(ctx)}
}

// Charge charges the request with the texts that were counted.
func (b *Batch) Charge() { b.own.request.ChargeCopies(b.size) }

// Link is what gives the entity of a reference.
func (b *Batch) Link(ref string) any {
	i := b.Add(ref)
	return func(ctx context.Context) (*Node, error) { return b.Get(ctx, i) }
}

// Given is the node of an entity that the answer holds itself.
func (b *Batch) Given(e *catalog.Entity) any {
	if e == nil {
		return (*Node)(nil)
	}
	n := newNode(e, b.own)
	b.own.members = append(b.own.members, n)
	return n
}

// Count adds to the size of the answer's texts.
func (b *Batch) Count(bytes int) { b.size += bytes }

// Add puts a reference into the set, before anything is looked up, and gives
// what to ask for it by.
func (b *Batch) Add(ref string) int {
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

// Get is the entity of a reference, nil if the caller can see none.
func (b *Batch) Get(ctx context.Context, i int) (*Node, error) {
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

func (b *Batch) load(ctx context.Context, refs []string) ([]*Node, error) {
	if err := engine.RequestOf(ctx).Spend(len(refs)); err != nil {
		return nil, err
	}
	out, err := bind.Invoke(ctx, b.from.Recorder, "get_entities", access.ReadCatalog, "", catalog.GetEntitiesInput{EntityRefs: refs}, b.from.Catalog.GetEntities)
	if err != nil {
		return nil, err
	}
	return b.from.Nodes(ctx, out.Items), nil
}

// group is entities that stand side by side in an answer. What one of them is
// related to is looked up for all of them together, so that a query costs as
// many lookups as it names relations, however many entities it finds.
type group struct {
	from    *Reader
	request *engine.Request
	members []*Node
	// metadata and source tell whether the document asks for them.
	metadata, source bool

	mu   sync.Mutex
	hops map[hop]*Batch
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

func (r *Reader) group(ctx context.Context) *group {
	q := engine.RequestOf(ctx)
	return &group{from: r, request: q, hops: map[hop]*Batch{}, metadata: q.Asks("Entity", "metadata"), source: q.Asks("Entity", "source")}
}

// Nodes makes a group of entities and gives them in order; nil stays nil.
func (r *Reader) Nodes(ctx context.Context, entities []*catalog.Entity) []*Node {
	g := r.group(ctx)
	out := make([]*Node, len(entities))
	for i, e := range entities {
		if e != nil {
			out[i] = newNode(e, g)
			g.members = append(g.members, out[i])
		}
	}
	return out
}

// follow gives the batch of all that the group is related to by a hop.
func (g *group) follow(h hop) *Batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, known := g.hops[h]
	if !known {
		b = &Batch{from: g.from, index: map[string]int{}}
		for _, m := range g.members {
			for i := range m.e.Relations {
				if r := &m.e.Relations[i]; h.holds(r) {
					b.Add(r.TargetRef)
				}
			}
		}
		g.hops[h] = b
	}
	return b
}
