package graphql

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// node resolves the type Entity.
type node struct {
	e     *catalog.Entity
	group *group
}

func (n *node) Ref() string         { return n.e.Ref.String() }
func (n *node) APIVersion() string  { return n.e.Root.String("apiVersion") }
func (n *node) Kind() string        { return n.e.Kind() }
func (n *node) Title() *string      { return some(n.e.Title()) }
func (n *node) Type() *string       { return some(n.e.Type()) }
func (n *node) Lifecycle() *string  { return some(n.e.Spec().String("lifecycle")) }
func (n *node) Metadata() *metadata { return &metadata{n.e.Metadata()} }

// Spec is what is particular to the entity's kind.
func (n *node) Spec(ctx context.Context) (*scalar.JSON, error) {
	return paid(ctx, scalar.Of(n.e.Spec()))
}

// Status needs no conversion: its type is Backstage's.
func (n *node) Status() []entity.StatusItem { return n.e.Status }

// JSON is the entity as Backstage's REST API serves it.
func (n *node) JSON(ctx context.Context) (scalar.JSON, error) {
	raw, err := n.e.MarshalJSON()
	if err != nil {
		return scalar.JSON{}, err
	}
	j, err := paid(ctx, &scalar.JSON{Raw: raw})
	return *j, err
}

// paid is a value whose size the request has been charged with.
func paid(ctx context.Context, j *scalar.JSON) (*scalar.JSON, error) {
	if j == nil {
		return nil, nil
	}
	return j, engine.RequestOf(ctx).Spend(1 + len(j.Raw)/512)
}

// Source is where the entity was read.
func (n *node) Source() *provenance {
	f := n.e.From
	p := &provenance{Source: f.Source, Repo: some(f.Repository), Commit: some(f.Commit), Path: f.Path, StaleSince: some(f.StaleSince)}
	if f.Line > 0 {
		line := int32(min(f.Line, 1<<30))
		p.Line = &line
	}
	if !f.VerifiedAt.IsZero() {
		p.VerifiedAt = &scalar.Time{At: f.VerifiedAt}
	}
	if !f.ChangedAt.IsZero() {
		p.ChangedAt = &scalar.Time{At: f.ChangedAt}
	}
	return p
}

// provenance resolves the type Provenance.
type provenance struct {
	Source, Path          string
	Repo, Commit          *string
	Line                  *int32
	ChangedAt, VerifiedAt *scalar.Time
	StaleSince            *string
}

// some is a string that is null where it is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// related are the relations that a hop follows.
func (n *node) related(h hop) []entity.Relation {
	var out []entity.Relation
	for _, r := range n.e.Relations {
		if (h.relation == "" || r.Type == h.relation) && (h.kind == "" || strings.HasPrefix(r.TargetRef, h.kind+":")) {
			out = append(out, r)
		}
	}
	return out
}

// first is the argument of lists of related entities.
type first struct{ First *int32 }

// many gives the entities that a relation leads to.
func (n *node) many(ctx context.Context, relation string, args first) ([]*node, error) {
	limit := int32(1 << 30)
	if args.First != nil {
		if limit = *args.First; limit < 0 {
			return nil, fault.New(fault.Invalid, "first is %d", limit).WithFix("Ask for 0 or more, or leave it out for all.")
		}
	}
	h := hop{relation: relation}
	b := n.group.follow(h)
	out := []*node{}
	for _, r := range n.related(h) {
		if len(out) >= int(limit) {
			break
		}
		target, err := b.get(ctx, b.index[r.TargetRef])
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
func (n *node) one(ctx context.Context, relation, kind string) (*node, error) {
	h := hop{relation, kind}
	b := n.group.follow(h)
	for _, r := range n.related(h) {
		if target, err := b.get(ctx, b.index[r.TargetRef]); target != nil || err != nil {
			return target, err
		}
	}
	return nil, nil
}

func (n *node) Owner(ctx context.Context) (*node, error)  { return n.one(ctx, "ownedBy", "") }
func (n *node) System(ctx context.Context) (*node, error) { return n.one(ctx, "partOf", "system") }
func (n *node) Domain(ctx context.Context) (*node, error) { return n.one(ctx, "partOf", "domain") }
func (n *node) Parent(ctx context.Context) (*node, error) { return n.one(ctx, "childOf", "") }

func (n *node) PartOf(ctx context.Context, a first) ([]*node, error) { return n.many(ctx, "partOf", a) }
func (n *node) Parts(ctx context.Context, a first) ([]*node, error)  { return n.many(ctx, "hasPart", a) }
func (n *node) DependsOn(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "dependsOn", a)
}
func (n *node) DependencyOf(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "dependencyOf", a)
}
func (n *node) ProvidesApis(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "providesApi", a)
}
func (n *node) ConsumesApis(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "consumesApi", a)
}
func (n *node) APIProvidedBy(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "apiProvidedBy", a)
}
func (n *node) APIConsumedBy(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "apiConsumedBy", a)
}
func (n *node) Members(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "hasMember", a)
}
func (n *node) MemberOf(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "memberOf", a)
}
func (n *node) Children(ctx context.Context, a first) ([]*node, error) {
	return n.many(ctx, "parentOf", a)
}
func (n *node) Owns(ctx context.Context, a first) ([]*node, error) { return n.many(ctx, "ownerOf", a) }

// Relations are the entity's relations, of one type if one is asked for.
func (n *node) Relations(ctx context.Context, args struct{ Type *string }) ([]*relation, error) {
	var h hop
	if args.Type != nil {
		h.relation = *args.Type
	}
	b := n.group.follow(h)
	out := []*relation{}
	for _, r := range n.related(h) {
		out = append(out, &relation{r.Type, r.TargetRef, b})
	}
	return out, engine.RequestOf(ctx).Spend(len(out))
}

// relation resolves the type Relation.
type relation struct {
	Type, TargetRef string
	batch           *batch
}

// Target is the entity at the other end.
func (r *relation) Target(ctx context.Context) (*node, error) {
	return r.batch.get(ctx, r.batch.index[r.TargetRef])
}
