package catalog

import (
	"cmp"
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
)

// ListBrokenRelationsInput narrows the list of broken relations.
type ListBrokenRelationsInput struct {
	Owner  string `json:"owner,omitempty" jsonschema:"only of entities of this owner, a full reference such as group:default/payments"`
	Source string `json:"source,omitempty" jsonschema:"only of entities of this source"`
	Type   string `json:"type,omitempty" jsonschema:"only of this type, for example ownedBy"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 500, default 100"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// BrokenRelations is a page of broken relations, by entity, type and target.
type BrokenRelations struct {
	Items      []BrokenRelation `json:"items"`
	Total      int              `json:"total" jsonschema:"on all pages"`
	NextCursor string           `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// BrokenRelation is a relation to what the catalog does not hold.
type BrokenRelation struct {
	Ref    string `json:"ref" jsonschema:"the entity that says so"`
	Type   string `json:"type" jsonschema:"type of the relation, for example dependsOn"`
	Target string `json:"target" jsonschema:"the reference that leads nowhere"`
	Owner  string `json:"owner,omitempty" jsonschema:"who owns the entity"`
	Source string `json:"source" jsonschema:"name of the source"`
	File   string `json:"file" jsonschema:"file within the source"`
	Line   uint32 `json:"line,omitempty" jsonschema:"where it is written, or else where the entity begins"`
	Fix    string `json:"fix"`
}

// troubles are those of a snapshot, found once.
type troubles struct {
	mu  sync.Mutex // guards what follows, and lets them be looked for once at a time
	of  *index.Snapshot
	all []trouble
}

// in are all troubles of a snapshot; they are not to be changed.
func (k *troubles) in(at *index.Snapshot) []trouble {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != at {
		found := at.Troubles()
		k.of, k.all = at, make([]trouble, len(found))
		for i, t := range found {
			k.all[i] = trouble{t, t.Entity.Owner()}
		}
	}
	return k.all
}

// trouble is a broken relation, or without one that an entity is stale.
type trouble struct {
	index.Trouble
	owner string
}

func (t *trouble) broken() bool { return t.Lost.Type != "" }

// troublesIn are those of the entities in scope.
func (s *Service) troublesIn(r reading) []trouble {
	all := s.troubles.in(r.Snapshot)
	if r.scope.All() {
		return all
	}
	sees := r.Sees(r.scope)
	var out []trouble
	for _, t := range all {
		if sees(t.ID) {
			out = append(out, t)
		}
	}
	return out
}

// ListBrokenRelations lists relations that entities in scope say of themselves
// and that lead to what the catalog does not hold, with where they are written.
// What is there but hidden from the caller is not broken. Faults: invalid (a
// field).
func (s *Service) ListBrokenRelations(_ context.Context, who access.Caller, in ListBrokenRelationsInput) (*BrokenRelations, error) {
	limit, err := between("limit", in.Limit, defaultProblems, maxProblems)
	if err != nil {
		return nil, err
	}
	var after brokenPlace
	if in.Cursor != "" {
		if err := decodeCursor(in.Cursor, &after); err != nil {
			return nil, err
		}
	}
	out, r := &BrokenRelations{Items: []BrokenRelation{}}, s.reading(who)
	for _, t := range s.troublesIn(r) {
		if !t.broken() || in.Owner != "" && t.owner != entity.Lower(in.Owner) || in.Source != "" && t.Entity.From.Source != in.Source || in.Type != "" && t.Lost.Type != in.Type {
			continue
		}
		out.Total++
		if in.Cursor != "" && !after.before(t.Entity.Ref.String(), t.Lost) {
			continue
		}
		if len(out.Items) < limit {
			out.Items = append(out.Items, t.tell())
		} else if out.NextCursor == "" {
			last := out.Items[limit-1]
			out.NextCursor = encodeCursor(brokenPlace{last.Ref, last.Type, last.Target})
		}
	}
	return out, nil
}

// tell says where a relation is written, and what would help.
func (t *trouble) tell() BrokenRelation {
	from := &t.Entity.From
	return BrokenRelation{Ref: t.Entity.Ref.String(), Type: t.Lost.Type, Target: t.Lost.TargetRef, Owner: t.owner, Source: from.Source, File: from.Path, Line: cmp.Or(t.written().Line, from.Line),
		Fix: "Correct the reference, or add a catalog file for " + t.Lost.TargetRef + "."}
}

// written is where the entity's own file says so.
func (t *trouble) written() entity.Position {
	spec := t.Entity.Spec()
	is := func(text, kind string) bool {
		ref, err := entity.ParseRef(text, kind, t.Entity.Namespace())
		return err == nil && ref.String() == t.Lost.TargetRef
	}
	for _, f := range saidBy(t.Lost.Type) {
		if is(spec.String(f[0]), f[1]) {
			return spec.Position(f[0])
		}
		for _, it := range spec.List(f[0]) {
			if text, ok := it.Value.(string); ok && is(text, f[1]) {
				return it.At
			}
		}
	}
	return entity.Position{}
}

// saidBy are the fields of spec that say a relation, each with the kind that a
// bare name in it is of.
func saidBy(relation string) [][2]string {
	return map[string][][2]string{
		"ownedBy": {{"owner", "group"}}, "partOf": {{"system", "system"}, {"domain", "domain"}, {"subcomponentOf", "component"}, {"subdomainOf", "domain"}},
		"dependsOn": {{"dependsOn", ""}}, "dependencyOf": {{"dependencyOf", ""}}, "providesApi": {{"providesApis", "api"}}, "consumesApi": {{"consumesApis", "api"}},
		"memberOf": {{"memberOf", "group"}}, "hasMember": {{"members", "user"}}, "childOf": {{"parent", "group"}}, "parentOf": {{"children", "group"}},
	}[relation]
}

// brokenPlace is where a page of broken relations ended.
type brokenPlace struct {
	Ref    string `json:"r"`
	Type   string `json:"t"`
	Target string `json:"g"`
}

func (p brokenPlace) before(ref string, rel entity.Relation) bool {
	return cmp.Or(cmp.Compare(ref, p.Ref), cmp.Compare(rel.Type, p.Type), cmp.Compare(rel.TargetRef, p.Target)) > 0
}
