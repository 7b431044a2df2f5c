package graphql_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// same compares JSON.
func same(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatal(err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err, want)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Errorf("-want +got\n%s\n%s", d, got)
	}
}

func TestEntity(t *testing.T) {
	s := serveShop(t)
	for name, c := range map[string]struct{ query, want string }{
		"fields": {
			`{ref kind title type lifecycle spec source {source repo path line verifiedAt} status {message}}`,
			`{"ref": "component:default/checkout", "kind": "Component", "title": "Checkout", "type": "service", "lifecycle": "production",
			  "spec": {"type": "service", "lifecycle": "production", "owner": "payments", "system": "shop", "dependsOn": ["component:ghost", "component:ledger", "resource:db"], "providesApis": ["pay"]},
			  "source": {"source": "test", "repo": "https://git.example.com/acme/catalog", "path": "catalog-info.yaml", "line": 23, "verifiedAt": "2026-01-01T00:00:00Z"}, "status": []}`,
		},
		"metadata": {
			`{metadata {name namespace title description tags labels label(key: "tier") none: label(key: "x") annotations annotation(key: "a/b") links {url title icon type}}}`,
			`{"metadata": {"name": "checkout", "namespace": "default", "title": "Checkout", "description": "Takes the money", "tags": ["go", "pay"],
			  "labels": {"tier": "1"}, "label": "1", "none": null, "annotations": {"a/b": "c", "backstage.io/managed-by-location": "url:https://git.example.com/acme/catalog/catalog-info.yaml",
			    "backstage.io/managed-by-origin-location": "url:https://git.example.com/acme/catalog/catalog-info.yaml", "backstage.io/view-url": "https://git.example.com/acme/catalog/catalog-info.yaml"}, "annotation": "c",
			  "links": [{"url": "https://example.com/runbook", "title": "Runbook", "icon": null, "type": null}]}}`,
		},
		"typed relations": {
			`{owner {ref} system {ref domain {ref} parts {ref}} domain {ref} parent {ref} partOf {ref} parts {ref} dependsOn {ref dependencyOf {ref}} one: dependsOn(first: 1) {ref} providesApis {ref apiProvidedBy {ref}} consumesApis {ref}}`,
			`{"owner": {"ref": "group:default/payments"},
			  "system": {"ref": "system:default/shop", "domain": {"ref": "domain:default/commerce"},
			    "parts": [{"ref": "api:default/pay"}, {"ref": "component:default/checkout"}, {"ref": "component:default/ledger"}, {"ref": "resource:default/db"}]},
			  "domain": null, "parent": null, "partOf": [{"ref": "system:default/shop"}], "parts": [],
			  "dependsOn": [{"ref": "component:default/ledger", "dependencyOf": [{"ref": "component:default/checkout"}]},
			    {"ref": "resource:default/db", "dependencyOf": [{"ref": "component:default/checkout"}, {"ref": "component:default/ledger"}]}],
			  "one": [{"ref": "component:default/ledger"}],
			  "providesApis": [{"ref": "api:default/pay", "apiProvidedBy": [{"ref": "component:default/checkout"}]}], "consumesApis": []}`,
		},
		"relations": {
			`{relations(type: "dependsOn") {type targetRef target {ref owner {ref}}}}`,
			`{"relations": [{"type": "dependsOn", "targetRef": "component:default/ghost", "target": null},
			  {"type": "dependsOn", "targetRef": "component:default/ledger", "target": {"ref": "component:default/ledger", "owner": {"ref": "group:default/payments"}}},
			  {"type": "dependsOn", "targetRef": "resource:default/db", "target": {"ref": "resource:default/db", "owner": {"ref": "group:default/payments"}}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, s.data("reader", `{entity(ref: "Component:default/Checkout") `+c.query+`}`, nil), `{"entity": `+c.want+`}`)
		})
	}
}

// TestJSON holds the field json against what the catalog itself encodes.
func TestJSON(t *testing.T) {
	s := serveShop(t)
	var got struct {
		Entity struct{ JSON json.RawMessage }
	}
	if err := json.Unmarshal([]byte(s.data("reader", `{entity(ref: "checkout") {json}}`, nil)), &got); err != nil {
		t.Fatal(err)
	}
	var e struct {
		Kind      string
		Relations []struct{ Type, TargetRef string }
	}
	if err := json.Unmarshal(got.Entity.JSON, &e); err != nil || e.Kind != "Component" || len(e.Relations) != 6 {
		t.Errorf("%v %s", err, got.Entity.JSON)
	}
}

func TestOtherQueries(t *testing.T) {
	s := serveShop(t)
	for name, c := range map[string]struct{ query, want string }{
		"facets": {
			`{facets(keys: ["kind", "spec.lifecycle"], where: {kind: ["COMPONENT", "system"]}) {key values {value count}}}`,
			`{"facets": [{"key": "kind", "values": [{"value": "Component", "count": 3}, {"value": "System", "count": 1}]},
			  {"key": "spec.lifecycle", "values": [{"value": "experimental", "count": 1}, {"value": "production", "count": 2}]}]}`,
		},
		"search": {
			`{search(query: "checkout", filter: {kind: "component"}) {total nextCursor hits {ref title owner entity {system {title}}}}}`,
			`{"search": {"total": 1, "nextCursor": null, "hits": [{"ref": "component:default/checkout", "title": "Checkout", "owner": "group:default/payments", "entity": {"system": {"title": "The shop"}}}]}}`,
		},
		"dependencies": {
			`{dependencies(ref: "ledger", direction: in) {root truncated nodes {ref depth missing entity {type}} edges {from type to}}}`,
			`{"dependencies": {"root": "component:default/ledger", "truncated": false,
			  "nodes": [{"ref": "component:default/ledger", "depth": 0, "missing": false, "entity": {"type": "service"}},
			    {"ref": "component:default/checkout", "depth": 1, "missing": false, "entity": {"type": "service"}}],
			  "edges": [{"from": "component:default/checkout", "type": "dependsOn", "to": "component:default/ledger"}]}}`,
		},
		"brief": {
			`{serviceBrief(service: "checkout", sections: ["owner", "runbooks"]) {ref title owner {value kind protected source {path}} runbooks {name value} entity {kind}}}`,
			`{"serviceBrief": {"ref": "component:default/checkout", "title": "Checkout", "owner": {"value": "group:default/payments", "kind": "declared", "protected": false, "source": {"path": "catalog-info.yaml"}},
			  "runbooks": [{"name": "Runbook", "value": "https://example.com/runbook"}], "entity": {"kind": "Component"}}}`,
		},
		"whoami": {
			`{whoami {subject agent anonymous token groups roles}}`,
			`{"whoami": {"subject": "user:default/rolf", "agent": null, "anonymous": false, "token": "test", "groups": [], "roles": ["reader"]}}`,
		},
		"audit": {`{audit {items {id} nextCursor}}`, `{"audit": {"items": [], "nextCursor": null}}`},
	} {
		t.Run(name, func(t *testing.T) { same(t, s.data("reader", c.query, nil), c.want) })
	}
}

func TestFilters(t *testing.T) {
	s := serveShop(t)
	all := []string{"checkout", "ledger"}
	for name, c := range map[string]struct {
		args string
		vars map[string]any
		want []string
	}{
		"string":             {args: `filter: "kind=component,spec.type=service"`, want: all},
		"strings":            {args: `filter: ["metadata.name=checkout", "metadata.name=ledger"]`, want: all},
		"object":             {args: `filter: {kind: "component", type: "SERVICE", owner: "payments"}`, want: all},
		"object of lists":    {args: `filter: {name: ["checkout", "ledger"]}`, want: all},
		"object of keys":     {args: `filter: {"": 1}`, want: nil},
		"search key":         {args: `filter: {kind: "component", tag: "pay"}`, want: []string{"checkout"}},
		"owner with kind":    {args: `filter: {kind: "component", owner: "group:default/payments"}`, want: all},
		"system":             {args: `filter: {kind: "component", system: "shop"}`, want: all},
		"variable":           {args: `filter: $f`, vars: map[string]any{"f": map[string]any{"kind": "component", "lifecycle": "production", "owner": "payments"}}, want: []string{"checkout"}},
		"where":              {args: `where: {kind: "component", owner: "payments"}`, want: all},
		"where and filter":   {args: `where: {kind: "component"}, filter: "kind=api"`, want: []string{}},
		"where text":         {args: `where: {kind: "component", text: "MONEY"}`, want: []string{"checkout"}},
		"where all":          {args: `where: {kind: "component", namespace: "default", name: "checkout", type: "service", owner: "payments", system: "shop", lifecycle: "production", tag: "go"}`, want: []string{"checkout"}},
		"query":              {args: `query: $q`, vars: map[string]any{"q": map[string]any{"kind": "component", "spec.type": map[string]any{"$in": []any{"service"}}}}, want: all},
		"query literal":      {args: `query: {kind: "component", metadata: {}}`, want: nil},
		"query and where":    {args: `query: {kind: "component"}, where: {tag: ["go", "x"]}`, want: []string{"checkout"}},
		"fullText":           {args: `filter: "kind=component", fullText: {term: "edg", fields: ["metadata.name"]}`, want: []string{"ledger"}},
		"descending":         {args: `filter: "kind=component,spec.type=service", orderBy: [{field: "metadata.name", order: desc}]`, want: []string{"ledger", "checkout"}},
		"comma in value":     {args: `filter: {name: "a,b"}`, want: nil},
		"number in list":     {args: `filter: [1]`, want: nil},
		"bad reference":      {args: `where: {owner: "group:/x"}`, want: nil},
		"text twice":         {args: `where: {text: "a"}, fullText: {term: "b"}`, want: nil},
		"two orders":         {args: `orderBy: [{field: "kind"}, {field: "metadata.name"}]`, want: nil},
		"mixed page":         {args: `first: 1, last: 1`, want: nil},
		"page too large":     {args: `first: 501`, want: nil},
		"negative page":      {args: `first: -1`, want: nil},
		"malformed cursor":   {args: `after: "xxx"`, want: nil},
		"malformed before":   {args: `before: "xxx"`, want: nil},
		"null filter":        {args: `filter: null, where: {kind: "component", type: "service"}`, want: all},
		"empty where":        {args: `where: {}, filter: "kind=component,spec.type=service"`, want: all},
		"unknown where":      {args: `where: {colour: "red"}`, want: nil},
		"misspelt order":     {args: `orderBy: {field: "kind", order: up}`, want: nil},
		"where key wrong":    {args: `where: {kind: 1}`, want: nil},
		"nested filter":      {args: `filter: {kind: {a: 1}}`, want: nil},
		"filter with equals": {args: `filter: {name: "a=b"}`, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			order := `, orderBy: {field: "metadata.name"}`
			if name == "descending" || name == "two orders" || name == "misspelt order" {
				order = ""
			}
			decl := map[string]string{"variable": "($f: Filter)", "query": "($q: JSON)"}[name]
			a := s.post("reader", `query Q`+decl+` {entities(`+c.args+order+`) {nodes {metadata {name}}}}`, c.vars)
			if c.want == nil {
				if len(a.Errors) == 0 || a.Errors[0].Extensions.Code != "invalid" || a.Errors[0].Extensions.Fix == "" {
					t.Errorf("want an error with a fix, got %s", a.raw)
				}
				return
			}
			var got struct {
				Entities struct {
					Nodes []struct{ Metadata struct{ Name string } }
				}
			}
			if err := json.Unmarshal(a.Data, &got); err != nil || len(a.Errors) > 0 {
				t.Fatal(err, a.raw)
			}
			names := []string{}
			for _, n := range got.Entities.Nodes {
				names = append(names, n.Metadata.Name)
			}
			if d := cmp.Diff(c.want, names); d != "" {
				t.Error(d)
			}
		})
	}
}
