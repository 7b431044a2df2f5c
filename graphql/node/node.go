package node

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Node resolves the type Entity. What most documents ask for stands ready in
// fields, which graphql-go reads without calling anything.
type Node struct {
	Ref, APIVersion, Kind  string
	Title, Type, Lifecycle *string
	Status                 []entity.StatusItem // of Backstage's own type
	// Metadata is what all kinds have in common, Source is where the entity
	// was read; nil where the document asks for them nowhere.
	Metadata *metadata
	Source   *provenance

	e     *catalog.Entity
	group *group
	texts struct{ title, typ, lifecycle string } // what the pointers point at
}

func newNode(e *catalog.Entity, g *group) *Node {
	n := &Node{
		Ref: e.Ref.String(), APIVersion: e.Root.String("apiVersion"), Kind: e.Kind(), Status: e.Status, e: e, group: g,
	}
	t := &n.texts
	t.title, t.typ, t.lifecycle = e.Title(), e.Type(), e.Spec().String("lifecycle")
	n.Title, n.Type, n.Lifecycle = some(&t.title), some(&t.typ), some(&t.lifecycle)
	g.request.ChargeCopies(len(n.Ref) + len(t.title) + len(t.typ) + len(t.lifecycle))
	if g.metadata {
		n.Metadata = newMetadata(e.Metadata(), g.request)
	}
	if g.source {
		n.Source = newProvenance(g.from.Catalog.Origin(e))
	}
	return n
}

// Spec is what is particular to the entity's kind.
func (n *Node) Spec() *scalar.JSON { return n.paid(scalar.Of(n.e.Spec())) }

// JSON is the entity as Backstage's REST API serves it.
func (n *Node) JSON() (scalar.JSON, error) {
	raw, err := n.e.MarshalJSON()
	return *n.paid(&scalar.JSON{Raw: raw}), err
}

// paid is a value whose size the request has been charged with.
func (n *Node) paid(j *scalar.JSON) *scalar.JSON {
	if j != nil {
		n.group.request.Charge(len(j.Raw))
	}
	return j
}

func newProvenance(of catalog.Origin) *provenance {
	p := &provenance{of: of}
	f := &p.of
	p.Source, p.Path = f.Source, f.Path
	p.Repo, p.Commit, p.ChangedIn, p.StaleSince = some(&f.Repo), some(&f.Commit), some(&f.ChangedIn), some(&f.StaleSince)
	p.times[0].At, p.times[1].At = f.ChangedAt, f.VerifiedAt
	p.ChangedAt, p.VerifiedAt = some(&p.times[0]), some(&p.times[1])
	p.row = int32(min(f.Line, 1<<30))
	p.Line = some(&p.row)
	return p
}

// provenance resolves the type Provenance.
type provenance struct {
	Source, Path          string
	Repo, Commit          *string
	Line                  *int32
	ChangedAt, VerifiedAt *scalar.Time
	ChangedIn, StaleSince *string

	// What the pointers point at.
	of    catalog.Origin
	row   int32
	times [2]scalar.Time
}

// some is a value that is null where it is zero.
func some[T comparable](v *T) *T {
	var zero T
	if *v == zero {
		return nil
	}
	return v
}

// first is the argument of lists of related entities.
type first struct{ First *int32 }

// many gives the entities that a relation leads to.
func (n *Node) many(ctx context.Context, relation string, args first) ([]*Node, error) {
	limit := int32(1 << 30)
	if args.First != nil {
		if limit = *args.First; limit < 0 {
			return nil, fault.New(fault.Invalid, "first is %d", limit).WithFix("Ask for 0 or more, or leave it out for all.")
		}
	}
	h := hop{relation: relation}
	b := n.group.follow(h)
	out := []*Node{}
	for i := range n.e.Relations {
		r := &n.e.Relations[i]
		if len(out) >= int(limit) {
			break
		}
		if !h.holds(r) {
			continue
		}
		target, err := b.Get(ctx, b.index[r.TargetRef])
		if err != nil {
			return nil, err
		}
		if target != nil {
			out = append(out, target)
		}
	}
	return out, engine.RequestOf(ctx).Spend(len(out))
}

// one gives the first entity that a relation leads to, of a kind.
func (n *Node) one(ctx context.Context, relation, kind string) (*Node, error) {
	h := hop{relation, kind}
	b := n.group.follow(h)
	for i := range n.e.Relations {
		r := &n.e.Relations[i]
		if !h.holds(r) {
			continue
		}
		if target, err := b.Get(ctx, b.index[r.TargetRef]); target != nil || err != nil {
			return target, err
		}
	}
	return nil, nil
}

// Owner is who owns it.
func (n *Node) Owner(ctx context.Context) (*Node, error) { return n.one(ctx, "ownedBy", "") }

// System is the system that it is part of.
func (n *Node) System(ctx context.Context) (*Node, error) { return n.one(ctx, "partOf", "system") }

// Domain is the domain that it is part of.
func (n *Node) Domain(ctx context.Context) (*Node, error) { return n.one(ctx, "partOf", "domain") }

// Parent is the parent of a group.
func (n *Node) Parent(ctx context.Context) (*Node, error) { return n.one(ctx, "childOf", "") }

// PartOf is what it is part of.
func (n *Node) PartOf(ctx context.Context, a first) ([]*Node, error) { return n.many(ctx, "partOf", a) }

// Parts are what is part of it.
func (n *Node) Parts(ctx context.Context, a first) ([]*Node, error) { return n.many(ctx, "hasPart", a) }

// DependsOn is what it depends on.
func (n *Node) DependsOn(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "dependsOn", a)
}

// DependencyOf is what depends on it.
func (n *Node) DependencyOf(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "dependencyOf", a)
}

// ProvidesApis are the APIs that it provides.
func (n *Node) ProvidesApis(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "providesApi", a)
}

// ConsumesApis are the APIs that it consumes.
func (n *Node) ConsumesApis(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "consumesApi", a)
}

// APIProvidedBy is what provides this API.
func (n *Node) APIProvidedBy(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "apiProvidedBy", a)
}

// APIConsumedBy is what consumes this API.
func (n *Node) APIConsumedBy(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "apiConsumedBy", a)
}

// Members are the members of a group.
func (n *Node) Members(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "hasMember", a)
}

// MemberOf are the groups that a user is a member of.
func (n *Node) MemberOf(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "memberOf", a)
}

// Children are the groups below a group.
func (n *Node) Children(ctx context.Context, a first) ([]*Node, error) {
	return n.many(ctx, "parentOf", a)
}

// Owns is what a user or group owns.
func (n *Node) Owns(ctx context.Context, a first) ([]*Node, error) { return n.many(ctx, "ownerOf", a) }

// Relations are the entity's relations, of one type if one is asked for.
func (n *Node) Relations(ctx context.Context, args struct{ Type *string }) ([]*relation, error) {
	var h hop
	if args.Type != nil {
		h.relation = *args.Type
	}
	b := n.group.follow(h)
	out := []*relation{}
	for _, r := range n.e.Relations {
		if h.holds(&r) {
			out = append(out, &relation{r.Type, r.TargetRef, b})
			n.group.request.ChargeCopies(len(r.Type) + len(r.TargetRef))
		}
	}
	return out, engine.RequestOf(ctx).Spend(len(out))
}

// relation resolves the type Relation.
type relation struct {
	Type, TargetRef string
	batch           *Batch
}

// Target is the entity at the other end.
func (r *relation) Target(ctx context.Context) (*Node, error) {
	return r.batch.Get(ctx, r.batch.index[r.TargetRef])
}
