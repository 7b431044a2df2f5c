package limit

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxWeight is where sums stop growing, far from overflow.
const maxWeight = math.MaxInt32

// weight is what a selection set is estimated to make of an answer.
type weight struct {
	cost   int // fields
	depth  int // how deep they nest
	keys   int // bytes of their names
	copies int // of one value below one of its fields, by aliases
	// aliases are the renamed fields directly in it.
	aliases int
}

// most is how often one value can stand below the set.
func (w weight) most() int { return product(max(w.copies, 1), 1+w.aliases) }

// keyOverhead are the bytes around a name: two quotes, a colon and a comma.
const keyOverhead = 4

type scale struct {
	limits Limits
	schema *ast.Schema
	doc    *ast.QueryDocument
	op     *ast.OperationDefinition
	vars   map[string]any
	// fragments holds what each fragment weighs; a nil entry is being weighed.
	fragments   map[string]*weight
	uses        map[*ast.FieldDefinition]bool
	introspects bool
}

func (l Limits) weigh(schema *ast.Schema, doc *ast.QueryDocument, op *ast.OperationDefinition, vars map[string]any) (*Operation, error) {
	root := map[ast.Operation]*ast.Definition{ast.Query: schema.Query, ast.Mutation: schema.Mutation, ast.Subscription: schema.Subscription}[op.Operation]
	s := &scale{limits: l, schema: schema, doc: doc, op: op, vars: vars, fragments: map[string]*weight{}, uses: map[*ast.FieldDefinition]bool{}}
	w, err := s.set(op.SelectionSet, root, l.ListSize)
	switch {
	case err != nil:
		return nil, err
	case w.depth > l.Depth:
		return nil, tooMuch("nests %d levels of fields", w.depth, l.Depth)
	case w.cost > l.Cost:
		return nil, fault.New(fault.Invalid, "the answer to the GraphQL document would hold about %d fields, the limit is %d", w.cost, l.Cost).
			WithFix("Ask for fewer items with first, for fewer fields, or in several requests.").
			WithDetail("cost", w.cost).WithDetail("limit", l.Cost)
	case w.keys > l.Answer:
		return nil, fault.New(fault.Invalid, "the names alone would take about %d bytes of the answer to the GraphQL document, the limit of all of it is %d", w.keys, l.Answer).
			WithFix("Use shorter aliases, or ask for fewer fields.")
	}
	return &Operation{OperationDefinition: op, Cost: w.cost, Depth: w.depth, Keys: w.keys, Copies: max(w.copies, 1), Introspects: s.introspects, asked: s.uses}, nil
}

// set weighs a selection set on a type (nil if unknown). size is how many
// items the lists directly in it have when nothing else sizes them.
func (s *scale) set(set ast.SelectionSet, on *ast.Definition, size int) (weight, error) {
	var sum weight
	for _, sel := range set {
		var w weight
		var err error
		switch sel := sel.(type) {
		case *ast.Field:
			w, err = s.field(sel, on, size)
		case *ast.InlineFragment:
			w, err = s.set(sel.SelectionSet, s.condition(sel.TypeCondition, on), size)
		case *ast.FragmentSpread:
			w, err = s.spread(sel, size)
		}
		if err != nil {
			return sum, err
		}
		sum.cost, sum.keys = min(sum.cost+w.cost, maxWeight), min(sum.keys+w.keys, maxWeight)
		sum.depth, sum.copies = max(sum.depth, w.depth), max(sum.copies, w.copies)
		sum.aliases += w.aliases
	}
	return sum, nil
}

func (s *scale) condition(name string, on *ast.Definition) *ast.Definition {
	if name == "" {
		return on
	}
	return s.schema.Types[name]
}

// spread weighs a fragment once for each size it is used at, so that chains
// of fragments cost no more to weigh than to write.
func (s *scale) spread(sp *ast.FragmentSpread, size int) (weight, error) {
	key := sp.Name + " " + strconv.Itoa(size)
	if w, known := s.fragments[key]; known {
		if w == nil {
			return weight{}, fault.New(fault.Invalid, "fragment %q spreads itself", sp.Name).WithFix("Break the cycle of fragments.")
		}
		return *w, nil
	}
	def := s.doc.Fragments.ForName(sp.Name)
	if def == nil {
		return weight{cost: 1, depth: 1}, nil // validation tells
	}
	s.fragments[key] = nil
	w, err := s.set(def.SelectionSet, s.schema.Types[def.TypeCondition], size)
	s.fragments[key] = &w
	return w, err
}

func (s *scale) field(f *ast.Field, on *ast.Definition, size int) (weight, error) {
	own := 1
	var def *ast.FieldDefinition
	var typ *ast.Definition
	switch {
	case f.Name == "__schema" || f.Name == "__type":
		s.introspects = true
		typ = s.schema.Types[map[string]string{"__schema": "__Schema", "__type": "__Type"}[f.Name]]
	case on != nil:
		if def = on.Fields.ForName(f.Name); def != nil {
			typ = s.schema.Types[def.Type.Name()]
			own = cost(def)
			s.uses[def] = true
		}
	}
	if on != nil && strings.HasPrefix(on.Name, "__") && shortList(f.Name) {
		size = 2
	}
	items, inner := s.sizes(f, def, size)
	w, err := s.set(f.SelectionSet, typ, inner)
	out := weight{cost: product(own+w.cost, items), depth: w.depth + 1, keys: len(f.Alias) + keyOverhead + product(w.keys, items), copies: w.most()}
	if f.Alias != f.Name {
		out.aliases = 1
	}
	return out, err
}

// shortList tells which lists of the schema's own description are short in any
// schema.
func shortList(field string) bool {
	return field == "args" || field == "interfaces" || field == "possibleTypes" || field == "enumValues"
}

// sizes tells how often a field's selections are answered, and how many items
// lists right below it have: in a connection the arguments stand on the field
// and the list is its edges.
func (s *scale) sizes(f *ast.Field, def *ast.FieldDefinition, size int) (items, inner int) {
	if def == nil {
		return 1, s.limits.ListSize
	}
	list := def.Type.Elem != nil
	n, sized := s.asked(f, def)
	switch {
	case list && sized:
		return n, s.limits.ListSize
	case list && size > 0 && !sized && f.SelectionSet != nil:
		return size, s.limits.ListSize
	case sized:
		return 1, n
	}
	return 1, s.limits.ListSize
}

// asked is the page size that a field's arguments give.
func (s *scale) asked(f *ast.Field, def *ast.FieldDefinition) (int, bool) {
	sized := false
	for _, name := range []string{"first", "last"} {
		arg := def.Arguments.ForName(name)
		if arg == nil {
			continue
		}
		sized = true
		if n, ok := s.integer(f, arg); ok {
			return max(n, 0), true
		}
	}
	return s.limits.ListSize, sized
}

func (s *scale) integer(f *ast.Field, arg *ast.ArgumentDefinition) (int, bool) {
	value := arg.DefaultValue
	if given := f.Arguments.ForName(arg.Name); given != nil {
		value = given.Value
	}
	if value == nil {
		return 0, false
	}
	if value.Kind != ast.Variable {
		n, err := strconv.Atoi(value.Raw)
		return n, err == nil
	}
	if v, ok := s.vars[value.Raw]; ok {
		return number(v)
	}
	if d := s.op.VariableDefinitions.ForName(value.Raw); d != nil && d.DefaultValue != nil {
		n, err := strconv.Atoi(d.DefaultValue.Raw)
		return n, err == nil
	}
	return 0, false
}

func number(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		return int(min(v, maxWeight)), true
	case json.Number:
		n, err := v.Int64()
		return int(min(n, maxWeight)), err == nil
	case int:
		return v, true
	}
	return 0, false
}

// cost is what @cost says of a field, 1 where it says nothing.
func cost(def *ast.FieldDefinition) int {
	if d := def.Directives.ForName("cost"); d != nil {
		if w := d.Arguments.ForName("weight"); w != nil {
			if n, err := strconv.Atoi(w.Value.Raw); err == nil {
				return n
			}
		}
	}
	return 1
}

func product(a, b int) int {
	if b > 0 && a > maxWeight/b {
		return maxWeight
	}
	return a * b
}
