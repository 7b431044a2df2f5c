package index

import (
	"slices"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Predicate is a condition on entities. The nil Predicate holds for all.
type Predicate struct {
	op     operator
	parts  []*Predicate // of all, any and not
	key    string       // of the others, in lower case
	values []string     // in lower case
}

type operator uint8

const (
	opAll operator = iota
	opAny
	opNot
	opExists // the key has a row
	opIn     // one of the key's values is among the values
	opPrefix // one of the key's values starts with values[0]
)

// All holds where every one of the predicates does; nil ones are left out.
func All(parts ...*Predicate) *Predicate {
	parts = slices.DeleteFunc(parts, func(p *Predicate) bool { return p == nil })
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	default:
		return &Predicate{op: opAll, parts: parts}
	}
}

// Equals holds where one of the key's values is among the values, whatever
// their case.
func Equals(key string, values ...string) *Predicate {
	p := &Predicate{op: opIn, key: entity.Lower(key), values: make([]string, len(values))}
	for i, v := range values {
		p.values[i] = entity.Lower(v)
	}
	return p
}

// Prefix holds where one of the key's values starts with a text, whatever its
// case.
func Prefix(key, prefix string) *Predicate {
	return &Predicate{op: opPrefix, key: entity.Lower(key), values: []string{entity.Lower(prefix)}}
}

// Either holds where one of the predicates does.
func Either(parts ...*Predicate) *Predicate { return &Predicate{op: opAny, parts: parts} }

// Exists holds where the key has a row.
func Exists(key string) *Predicate { return &Predicate{op: opExists, key: entity.Lower(key)} }

// MarshalJSON writes the predicate in Backstage's language.
func (p *Predicate) MarshalJSON() ([]byte, error) { return entity.AppendJSON(nil, p.json()), nil }

func (p *Predicate) json() entity.Value {
	switch p.op {
	case opAll, opAny:
		l := make(entity.List, len(p.parts))
		for i, part := range p.parts {
			l[i].Value = part.json()
		}
		if p.op == opAny {
			return entity.Obj("$any", l)
		}
		return entity.Obj("$all", l)
	case opNot:
		return entity.Obj("$not", p.parts[0].json())
	case opExists:
		return entity.Obj(p.key, entity.Obj("$exists", true))
	case opPrefix:
		return entity.Obj(p.key, entity.Obj("$hasPrefix", p.values[0]))
	default:
		if len(p.values) == 1 {
			return entity.Obj(p.key, p.values[0])
		}
		l := make(entity.List, len(p.values))
		for i, v := range p.values {
			l[i].Value = v
		}
		return entity.Obj(p.key, entity.Obj("$in", l))
	}
}

// match is the set of entities in the snapshot that a predicate holds for,
// among all that can be shown. The caller may change it.
func (s *Snapshot) match(p *Predicate) bitset {
	switch p.op {
	case opAll:
		b := slices.Clone(s.live)
		for _, part := range p.parts {
			b.and(s.match(part))
		}
		return b
	case opAny:
		b := newBitset(s.slots.size)
		for _, part := range p.parts {
			b.or(s.match(part))
		}
		return b
	case opNot:
		b := s.match(p.parts[0])
		b.invert(s.live)
		return b
	}
	b := newBitset(s.slots.size)
	c := s.column(p.key)
	if c == nil {
		return b
	}
	switch p.op {
	case opExists:
		c.markExisting(b)
	case opPrefix:
		c.markPrefix(b, p.values[0])
	default:
		for _, v := range p.values {
			c.markEqual(b, v)
		}
	}
	return b
}
