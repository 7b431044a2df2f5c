package limit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const sdl = `
directive @cost(weight: Int!) on FIELD_DEFINITION
type Query {
  name: String
  dear: String @cost(weight: 7)
  one: Thing
  list: [Thing!]!
  some(first: Int = 3): [Thing!]!
  page(first: Int, last: Int): Page
}
type Mutation { do: String }
type Page { total: Int nodes: [Thing!]! edges: [Edge!]! }
type Edge { node: Thing! }
type Thing { id: ID tags: [String!]! parts(first: Int): [Thing!]! parent: Thing }
`

func load(t testing.TB) *ast.Schema {
	t.Helper()
	s, err := gqlparser.LoadSchema(&ast.Source{Input: sdl})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWeight(t *testing.T) {
	schema := load(t)
	for query, want := range map[string]struct {
		cost, depth int
		vars        map[string]any
	}{
		`{name}`:          {1, 1, nil},
		`{dear name}`:     {8, 1, nil},
		`{one {id tags}}`: {3, 2, nil},
		// A list counts its own field and its selections once for each item.
		`{list {id}}`:                                                   {20, 2, nil},
		`{some {id}}`:                                                   {6, 2, nil},
		`{some(first: 50) {id}}`:                                        {100, 2, nil},
		`{some(first: 0) {id}}`:                                         {0, 2, nil},
		`{some(first: -5) {id}}`:                                        {0, 2, nil},
		`query ($n: Int) {some(first: $n) {id}}`:                        {40, 2, map[string]any{"n": 20.0}},
		`query ($n: Int = 4) {some(first: $n) {id}}`:                    {8, 2, nil},
		`query ($n: Int) {some(first: $n) {id} name}`:                   {21, 2, nil},
		`{page(first: 100) {total nodes {id}}}`:                         {202, 3, nil},
		`{page(last: 5) {edges {node {id}}}}`:                           {16, 4, nil},
		`{page {nodes {id}}}`:                                           {21, 3, nil},
		`{one {parts(first: 2) {parts(first: 3) {id}}}}`:                {15, 4, nil},
		`{...F ...F} fragment F on Query {name}`:                        {2, 1, nil},
		`{... on Query {name} ... {name}}`:                              {2, 1, nil},
		`{list {...T} one {...T}} fragment T on Thing {id parent {id}}`: {44, 3, nil},
		`{nonesuch {more}}`:                                             {2, 2, nil},
		`{...Nonesuch}`:                                                 {1, 1, nil},
		`mutation {do}`:                                                 {1, 1, nil},
		`subscription {nonesuch}`:                                       {1, 1, nil},
		`query A {name} # one only`:                                     {1, 1, nil},
	} {
		op, err := limit.Limits{}.WithDefaults().Check(schema, query, "", want.vars)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		if op.Cost != want.cost || op.Depth != want.depth || op.Introspects {
			t.Errorf("%s: cost %d depth %d, want %d %d", query, op.Cost, op.Depth, want.cost, want.depth)
		}
	}
}

func TestRefusals(t *testing.T) {
	schema := load(t)
	small := limit.Limits{Bytes: 200, Tokens: 60, Selections: 10, Aliases: 2, Directives: 2, Definitions: 3, Depth: 4, Cost: 100, ListSize: 5, Answer: 150}
	for query, want := range map[string]string{
		`{` + strings.Repeat(" ", 200) + `name}`:                                                  "bytes long",
		`{` + strings.Repeat("name(a: 1) ", 10) + `}`:                                             "more than 60 tokens",
		`{` + strings.Repeat("name ", 11) + `}`:                                                   "11 selections",
		`{a: name b: name c: name}`:                                                               "3 aliases",
		`{name @skip(if: false) @skip(if: false) @skip(if: false)}`:                               "3 directives",
		`query @a @b @c {name}`:                                                                   "3 directives",
		`{name} fragment A on Query {name} fragment B on Query {name} fragment C on Query {name}`: "4 operations and fragments",
		`{one {parent {parent {parent {id}}}}}`:                                                   "nests 5 levels",
		`{list {parts(first: 50) {id}}}`:                                                          "would hold about",
		`{page(first: 9) {nodes {anotherNameForIt: id}}}`:                                         "the names alone would take",
		`{...A} fragment A on Query {...A}`:                                                       "spreads itself",
		`query A {name} query B {name}`:                                                           "names none",
		`fragment A on Query {name}`:                                                              "holds no operation",
		`{`:                                                                                       "Expected Name",
	} {
		_, err := small.Check(schema, query, "", nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", query, want, err)
		}
	}
	if _, err := small.Check(schema, `query A {name} query B {name}`, "C", nil); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
	if op, err := small.Check(schema, `query A {name} mutation B {do}`, "B", nil); err != nil || op.Operation != ast.Mutation {
		t.Error(op, err)
	}
	if op, err := small.Check(schema, `{...F} fragment F on Query {__schema {types {name}}}`, "", nil); err != nil || !op.Introspects {
		t.Error(op, err)
	}
}

// TestCopies: a value may stand in the answer as often as aliases repeat the
// way to it.
func TestCopies(t *testing.T) {
	schema := load(t)
	for query, want := range map[string]int{
		`{name}`:                                1,
		`{a: name b: name}`:                     1, // each is asked for by itself
		`{one {a: id b: id}}`:                   3,
		`{one {a: parent {id} b: parent {id}}}`: 3,
		`{one {a: parent {a: id b: id} b: parent {id}}}`:                                      9,
		`{one {a: parent {...T} b: parent {...T}}} fragment T on Thing {a: id ... {b: tags}}`: 9,
	} {
		if op, err := (limit.Limits{}).WithDefaults().Check(schema, query, "", nil); err != nil || op.Copies != want {
			t.Errorf("%s: %+v %v, want %d copies", query, op, err, want)
		}
	}
}

// FuzzCheck: whatever is sent is answered with an operation within the limits
// or an error that can be told.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{name}`, `query Q($n: Int = 4) {some(first: $n) {id}}`, `{...F} fragment F on Query {page {edges {node {...T}}}} fragment T on Thing {parts {...T}}`,
		`{a: name @skip(if: true)}`, "{\"\"\"x\"\"\"}", `subscription {x}`, `{__schema {types {fields {name}}}}`} {
		f.Add(seed, "")
	}
	schema := load(f)
	limits := limit.Limits{}.WithDefaults()
	f.Fuzz(func(t *testing.T, query, name string) {
		op, err := limits.Check(schema, query, name, map[string]any{"n": 1e300})
		if err != nil {
			var flt *fault.Error
			if !errors.As(err, &flt) && err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		if op.Cost < 0 || op.Cost > limits.Cost || op.Depth > limits.Depth {
			t.Errorf("cost %d depth %d", op.Cost, op.Depth)
		}
	})
}
