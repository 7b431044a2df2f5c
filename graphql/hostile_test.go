package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// attack is a document made to cost much, and what it is refused with.
type attack struct{ query, message string }

func attacks() map[string]attack {
	return map[string]attack{
		"53 kB of aliases":       {"{" + each(1330, "a%d: entities(first: 500) {nodes {json}} ") + "}", "tokens"},
		"aliases":                {"{" + each(101, "a%d: __typename ") + "}", "101 aliases, the limit is 100"},
		"aliases of one name":    {"{" + strings.Repeat("a: __typename ", 1400) + "}", "aliases"},
		"long":                   {"#" + strings.Repeat("x", 65536) + "\n{__typename}", "65550 bytes long"},
		"repeated fields":        {"{" + strings.Repeat("__typename ", 1400) + "}", "verlapping"},
		"repeated objects":       {`{entity(ref: "checkout") {` + strings.Repeat("owner {ref} ", 700) + "}}", "verlapping"},
		"more fields":            {"{" + strings.Repeat("__typename ", 1501) + "}", "1501 selections"},
		"repeated spreads":       {"{" + strings.Repeat("...F ", 1400) + "} fragment F on Query {__typename}", "verlapping"},
		"self-spread":            {"{...F} fragment F on Query {...F}", "spreads itself"},
		"mutual spread":          {`{...A} fragment A on Query {...B} fragment B on Query {...A}`, "spreads itself"},
		"doubling fragments":     {doubling(17), "would hold about"},
		"deep":                   {`{entity(ref: "checkout") ` + strings.Repeat("{owner ", 50) + "{ref}" + strings.Repeat("}", 51), "52 levels"},
		"deeper":                 {`{entity(ref: "checkout") ` + strings.Repeat("{owner ", 2000) + "{ref}" + strings.Repeat("}", 2001), "nesting depth"},
		"deep list":              {"{entities(filter: " + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + ") {totalCount}}", "nesting depth"},
		"deep inline fragments":  {strings.Repeat("{... ", 1100) + "{__typename}" + strings.Repeat("}", 1100), "nesting depth"},
		"directives":             {"{__typename " + strings.Repeat("@skip(if: false) ", 51) + "}", "51 directives"},
		"directives on spreads":  {"{" + strings.Repeat("...F @skip(if: false) ", 51) + "} fragment F on Query {__typename}", "51 directives"},
		"operations":             {each(51, "query Q%d {__typename} "), "51 operations and fragments"},
		"big pages":              {`{entities(first: 500) {nodes {owner {ref} dependsOn {dependsOn {ref}} metadata {name namespace title} partOf {ref title}}}}`, "would hold about"},
		"wide relations":         {`{entity(ref: "checkout") {` + strings.Repeat("dependsOn {", 6) + "ref" + strings.Repeat("}", 6) + "}}", "would hold about"},
		"first beyond integers":  {`{entity(ref: "checkout") {dependsOn(first: 99999999999999999999) {ref}}}`, "Int"},
		"huge first":             {`{entity(ref: "checkout") {dependsOn(first: 2000000000) {dependsOn(first: 2000000000) {ref}}}}`, "would hold about"},
		"introspection in depth": {`{__schema {types {fields {type {fields {type {fields {type {fields {name}}}}}}}}}}`, "would hold about"},
		"variables":              {"query (" + each(400, "$v%d: Int ") + ") {__typename}", "never used"},
		"unknown fields":         {"{" + each(1400, "nonesuch%d ") + "}", "Cannot query field"},
		"nothing":                {" ", "holds no operation"},
		"fragment alone":         {"fragment F on Query {__typename}", "holds no operation"},
		"schema definition":      {"type X {y: Int}", "malformed"},
		"subscription of two":    {"subscription {a: catalogChanged {many} b: catalogChanged {many}}", "plain HTTP"},
		"null byte":              {"{\x00}", "malformed"},
		"long aliases":           {"{entities(first: 500) {nodes {" + each(90, "a%d"+strings.Repeat("x", 600)+": ref ") + "}}}", "names alone would take"},
		"aliases in fragments":   {"{entities(first: 500) {...C}} fragment C on EntityConnection {" + each(40, "a%d: nodes {...E} ") + "} fragment E on Entity {" + each(40, "b%d: json ") + "}", "would hold about"},
		"mutations":              {"mutation {" + each(100, "a%d: refresh(source: \"test\") {changed} ") + each(901, "b%d: refresh(source: \"test\") {changed} ") + "}", "tokens"},
		"many mutations":         {"mutation {" + each(99, "a%d: refresh(source: \"test\") {changed commit source} ") + strings.Repeat("b: refresh(source: \"x\") {changed} ", 500) + "}", "aliases"},
		"searches":               {"{" + each(100, "a%d: search(query: \"a\", first: 100) {hits {ref title owner entity {ref}}} ") + "}", "would hold about"},
		"introspection by name":  {"{" + each(100, "a%d: __schema {types {fields {args {name} type {name fields {name}}}}} ") + "}", "would hold about"},
		"unused fragments":       {"{__typename}" + each(49, "fragment F%d on Query {__typename} "), "never used"},
		"undefined fragments":    {"{" + each(1400, "...N%d ") + "}", "Unknown fragment"},
	}
}

// TestHostileDocuments are refused with a clear error before anything of the
// catalog is read; how little it costs to find that out, BenchmarkAttacks says.
func TestHostileDocuments(t *testing.T) {
	s := serveShop(t)
	for name, c := range attacks() {
		t.Run(name, func(t *testing.T) {
			a := s.post("reader", c.query, nil)
			if a.status != 400 || a.Data != nil || len(a.Errors) == 0 || !strings.Contains(a.Errors[0].Message, c.message) || a.Errors[0].Extensions.Code != "invalid" || a.Errors[0].Extensions.Fix == "" {
				t.Errorf("want %q, got %d %.400s", c.message, a.status, a.raw)
			}
			if len(a.raw) > 20_000 {
				t.Errorf("the answer is %d bytes long", len(a.raw))
			}
			if calls := s.recorder.take(); len(calls) > 0 {
				t.Errorf("operations ran: %v", calls)
			}
		})
	}
}

// bodies are requests that attack by something else than their document.
func bodies() map[string]attack {
	return map[string]attack{
		"huge variables":   {`{"query":"query Q($f: Filter) {entities(filter: $f) {totalCount}}","variables":{"f":"` + strings.Repeat("x", 300<<10) + `"}}`, "variables"},
		"huge number":      {`{"query":"query Q($n: Int) {entities(first: $n) {totalCount}}","variables":{"n":` + strings.Repeat("9", 100<<10) + `}}`, "variables"},
		"deep variables":   {`{"query":"query Q($f: Filter) {entities(filter: $f) {totalCount}}","variables":{"f":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`, "a filter is a string or an object"},
		"deeper variables": {`{"query":"{__typename}","variables":{"f":` + strings.Repeat("[", 2<<20) + strings.Repeat("]", 2<<20-100) + `}}`, "not a JSON object"},
		"many variables":   {`{"query":"{__typename}","variables":{` + strings.TrimSuffix(each(100_000, `"v%d":1,`), ",") + `}}`, "variables"},
		"many filters":     {`{"query":"query Q($f: Filter) {entities(filter: $f) {totalCount}}","variables":{"f":[` + strings.TrimSuffix(each(15_000, `"kind=a%d",`), ",") + `]}}`, "filter"},
		"deep predicate":   {`{"query":"query Q($q: JSON) {entities(query: $q) {totalCount}}","variables":{"q":` + strings.Repeat(`{"$not":`, 5000) + "{}" + strings.Repeat("}", 5000) + `}}`, "predicate"},
		"wide predicate":   {`{"query":"query Q($q: JSON) {entities(query: $q) {totalCount}}","variables":{"q":{"$any":[` + strings.TrimSuffix(each(12_000, `{"kind":"a%d"},`), ",") + `]}}}`, "conditions"},
		"huge extensions":  {`{"query":"{__typename}","extensions":{"x":"` + strings.Repeat("x", 300<<10) + `"}}`, "extensions"},
		"huge hash":        {`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + strings.Repeat("f", 200<<10) + `"}}}`, "PersistedQueryNotFound"},
	}
}

// TestHostileBodies are refused like hostile documents.
func TestHostileBodies(t *testing.T) {
	s := serveShop(t)
	for name, c := range bodies() {
		t.Run(name, func(t *testing.T) {
			a := s.send(http.MethodPost, "", "reader", mediaJSON, c.query)
			if a.Data != nil && string(a.Data) != `{"entities":null}` || len(a.Errors) == 0 || !strings.Contains(a.Errors[0].Message, c.message) || a.Errors[0].Extensions.Code == "internal" {
				t.Errorf("want %q, got %d %.400s", c.message, a.status, a.raw)
			}
			if len(a.raw) > 20_000 {
				t.Errorf("the answer is %d bytes long", len(a.raw))
			}
		})
	}
}

// doubling is a chain of fragments, each spreading the next twice.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{entity(ref: "checkout") {...F0}}`)
	for i := range n {
		fmt.Fprintf(&b, "fragment F%d on Entity {...F%[2]d owner {...F%[2]d}}", i, i+1)
	}
	fmt.Fprintf(&b, "fragment F%d on Entity {ref}", n)
	return b.String()
}

func TestVariables(t *testing.T) {
	s := serveShop(t)
	for name, c := range map[string]struct {
		query   string
		vars    map[string]any
		message string // "" for data
	}{
		"fraction":              {"query Q($n: Int) {entities(first: $n) {totalCount}}", map[string]any{"n": 1.5}, "$n is not of type Int"},
		"string for integer":    {"query Q($n: Int) {entities(first: $n) {totalCount}}", map[string]any{"n": "5"}, "$n is not of type Int"},
		"integer too large":     {"query Q($n: Int) {entities(first: $n) {totalCount}}", map[string]any{"n": 3e9}, "$n is not of type Int"},
		"integer":               {"query Q($n: Int) {entities(first: $n) {totalCount}}", map[string]any{"n": 5}, ""},
		"null":                  {"query Q($n: Int) {entities(first: $n) {totalCount}}", map[string]any{"n": nil}, ""},
		"default":               {"query Q($n: Int = 3) {entities(first: $n) {totalCount}}", nil, ""},
		"default of wrong type": {"query Q($n: Int = \"x\") {entities(first: $n) {totalCount}}", nil, "Int"},
		"missing":               {"query Q($r: String!) {entity(ref: $r) {ref}}", nil, "$r of type String! is not given"},
		"null for string":       {"query Q($r: String!) {entity(ref: $r) {ref}}", map[string]any{"r": nil}, "may not be null"},
		"number for string":     {"query Q($r: String!) {entity(ref: $r) {ref}}", map[string]any{"r": 1}, "$r is not of type String!"},
		"one for a list":        {"query Q($k: [String!]!) {facets(keys: $k) {key}}", map[string]any{"k": "kind"}, ""},
		"list with null":        {"query Q($k: [String!]!) {facets(keys: $k) {key}}", map[string]any{"k": []any{nil}}, "may not be null"},
		"enum":                  {"query Q($o: [EntityOrder!]) {entities(orderBy: $o) {totalCount}}", map[string]any{"o": map[string]any{"field": "kind", "order": "asc"}}, ""},
		"no enum":               {"query Q($o: [EntityOrder!]) {entities(orderBy: $o) {totalCount}}", map[string]any{"o": map[string]any{"field": "kind", "order": "ASC"}}, "Order"},
		"input without field":   {"query Q($o: [EntityOrder!]) {entities(orderBy: $o) {totalCount}}", map[string]any{"o": map[string]any{"order": "asc"}}, "field: it may not be null"},
		"input with more":       {"query Q($w: EntityWhere) {entities(where: $w) {totalCount}}", map[string]any{"w": map[string]any{"color": "red"}}, "color"},
		"input not an object":   {"query Q($w: EntityWhere) {entities(where: $w) {totalCount}}", map[string]any{"w": "x"}, "EntityWhere"},
		"output type":           {"query Q($w: Entity) {entities(where: $w) {totalCount}}", map[string]any{"w": "x"}, "Entity"},
		"unknown type":          {"query Q($w: Nonesuch) {entities(where: $w) {totalCount}}", map[string]any{"w": "x"}, "Nonesuch"},
		"undeclared":            {"{entities(first: $n) {totalCount}}", map[string]any{"n": 1}, "n"},
		"too many by variable":  {"query Q($n: Int) {entities(first: $n) {nodes {dependsOn(first: $n) {ref}}}}", map[string]any{"n": 500}, "would hold about"},
		"negative in relations": {"query Q($n: Int) {entity(ref: \"checkout\") {dependsOn(first: $n) {ref}}}", map[string]any{"n": -1}, "first is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.post("reader", c.query, c.vars)
			switch {
			case c.message == "" && (len(a.Errors) > 0 || a.Data == nil):
				t.Error(a.raw)
			case c.message != "" && (len(a.Errors) == 0 || !strings.Contains(a.Errors[0].Message, c.message) || a.Errors[0].Extensions.Code != "invalid"):
				t.Errorf("want %q, got %s", c.message, a.raw)
			}
			if strings.Contains(a.raw, "unmarshal") || strings.Contains(a.raw, "int32") || strings.Contains(a.raw, "float64") {
				t.Errorf("Go shows through: %s", a.raw)
			}
		})
	}
}
