package graphql_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
)

// FuzzDoor: no document and no variables bring the door to a defect.
func FuzzDoor(f *testing.F) {
	for _, seed := range []struct{ query, vars string }{
		{`{entity(ref: "checkout") {ref owner {ref} relations(type: "dependsOn") {target {ref}} metadata {label(key: "tier") links {url}}}}`, ``},
		{`query Q($f: Filter, $n: Int = 3, $o: [EntityOrder!]) {entities(first: $n, filter: $f, orderBy: $o) {totalCount edges {cursor node {...E}} pageInfo {endCursor}}} fragment E on Entity {json @include(if: true) spec}`, `{"f": [{"kind": "component"}, "kind=api"], "o": {"field": "metadata.name"}}`},
		{`{entities(where: {kind: ["api"], owner: "x", text: "y"}, query: {kind: {$in: ["a"]}}, last: 2, before: "x") {nodes {ref}}}`, ``},
		{`{search(query: "pay", filter: {tag: ["go", 1, true]}) {hits {ref entity {title}}} facets(keys: ["kind"]) {key values {count}}}`, ``},
		{`{dependencies(ref: "ledger", direction: both, depth: 5) {nodes {ref}} serviceBrief(service: "checkout", sections: ["owner"], maxTokens: 100) {ref owner {value}}}`, ``},
		{`mutation {refresh(source: "test") {changed}}`, ``},
		{`subscription {catalogChanged(kinds: []) {many}}`, ``},
		{`{__schema {types {name fields(includeDeprecated: true) {args {defaultValue}}}} __type(name: "Entity") {kind} a: __typename @skip(if: $x)}`, `{"x": 1}`},
		{"query ($a: [[Int!]!]! = [[1]], $b: EntityWhere = {kind: null}) {entities(where: $b) {__typename}}", `{"a": null}`},
		{`{entities(fullText: {term: """block "quoted" ué""", fields: []}) {nodes {... on Entity {kind} ... @include(if: false) {ref}}}}`, ``},
	} {
		f.Add(seed.query, seed.vars)
	}
	log := slog.New(slog.DiscardHandler)
	h, err := graphql.New(graphql.Config{
		Catalog: catalogtest.New(f, docs(shop)), Access: accesstest.Service(f, nil, accesstest.NewLog()),
		Authenticate: authenticate, Recorder: &recorder{}, Logger: log,
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query, vars string) {
		fields := map[string]any{"query": query}
		if json.Valid([]byte(vars)) {
			fields["variables"] = json.RawMessage(vars)
		}
		body, err := json.Marshal(fields)
		if err != nil {
			t.Skip()
		}
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", mediaResponse)
		r.Header.Set("Authorization", "Bearer reader")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		// The shop has no sources, so asking for them is the one defect known.
		if strings.Contains(w.Body.String(), `"internal"`) && !strings.Contains(query, "refresh") {
			t.Errorf("%s", w.Body)
		}
	})
}
