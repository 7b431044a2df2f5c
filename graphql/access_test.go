package graphql_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/graphql"
)

// rules let readers read all but what the board owns, owners act on their
// own, and strangers do nothing.
const rules = `
rules:
  - {name: read, effect: allow, who: {roles: [reader, developer, admin]}, actions: [catalog.read, self.read]}
  - {name: board, effect: deny, who: {roles: [reader, developer]}, actions: [catalog.read], on: {owners: ["group:default/board"]}}
  - {name: own, effect: allow, who: {roles: [developer]}, actions: ["*"], on: {owners: [own]}}
  - {name: all, effect: allow, who: {roles: [admin]}, actions: ["*"]}
  - {name: four-eyes, effect: approval, who: {agents: [claude]}, actions: [catalog.unregister], on: {refs: ["component:default/guarded"]}, approval: {by: {roles: [admin]}}}
`

// ingestion is one source with one problem.
type ingestion struct{ fail any }

func (i ingestion) Sources() []catalog.SourceStatus {
	if i.fail != nil {
		panic(i.fail)
	}
	at := catalog.Sighting{Commit: "c0ffee", At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	return []catalog.SourceStatus{{Name: "test", Type: "git", URL: "https://git.example.com/shop.git", State: "ok", Commit: "c0ffee", Checked: at, Files: 1, Entities: 9}}
}

func (i ingestion) Problems() []catalog.IngestionError {
	return []catalog.IngestionError{{
		Problem: catalog.Problem{Severity: "error", Name: "InputError", Message: "the name is missing", Fix: "Add it.", File: "a.yaml", Line: 3, Ref: "component:default/checkout"},
		Source:  "test", Owner: "group:default/payments",
	}}
}

func (i ingestion) Refresh(_ context.Context, source string) (*catalog.RefreshResult, error) {
	return &catalog.RefreshResult{Source: source, Commit: "c0ffee", Changed: 2}, nil
}

func (i ingestion) Locations() []catalog.LocationItem {
	return []catalog.LocationItem{
		{ID: "1", Type: "url", Target: "https://git.example.com/shop.git", Source: "test"},
		{ID: "2", Type: "url", Target: "https://git.example.com/plan.git", EntityRef: "component:default/secret-plan", Source: "test"},
		{ID: "3", Type: "file", Target: "/shop", EntityRef: "component:default/ledger", Source: "test"},
	}
}

// serveRules serves the shop under the rules.
func serveRules(t testing.TB, in catalog.Ingestion, set ...func(*graphql.Config)) *server {
	t.Helper()
	policy := accesstest.Policy(t, rules)
	guard, service, log := accesstest.Lock(t, policy)
	c := catalogtest.NewWith(t, []string{docs(shop)}, catalogtest.WithPolicy(policy), catalogtest.WithGuard(guard), catalogtest.WithIngestion(in))
	s := serve(t, c, append(set, func(cfg *graphql.Config) { cfg.Access = service })...)
	s.log, s.guard = log, guard
	return s
}

func TestOwnerReaderStranger(t *testing.T) {
	s := serveRules(t, ingestion{})
	for name, c := range map[string]struct {
		query string
		want  map[string]string // by caller: data as JSON, or a fault code
	}{
		"entity": {`{entity(ref: "checkout") {ref}}`, map[string]string{
			"owner": `{"entity": {"ref": "component:default/checkout"}}`, "reader": `{"entity": {"ref": "component:default/checkout"}}`, "stranger": "not_found"}},
		"hidden entity": {`{entity(ref: "secret-plan") {ref}}`, map[string]string{
			"owner": "not_found", "reader": "not_found", "stranger": "not_found", "admin": `{"entity": {"ref": "component:default/secret-plan"}}`}},
		"count": {`{entities(filter: "kind=component") {totalCount}}`, map[string]string{
			"owner": `{"entities": {"totalCount": 2}}`, "reader": `{"entities": {"totalCount": 2}}`, "stranger": `{"entities": {"totalCount": 0}}`, "admin": `{"entities": {"totalCount": 3}}`}},
		"brief": {`{serviceBrief(service: "checkout") {ref}}`, map[string]string{
			"reader": `{"serviceBrief": {"ref": "component:default/checkout"}}`, "stranger": "not_found"}},
		"errors": {`{ingestionErrors {total items {severity name message fix file line column ref source owner entity {kind}}}}`, map[string]string{
			"reader": `{"ingestionErrors": {"total": 1, "items": [{"severity": "error", "name": "InputError", "message": "the name is missing", "fix": "Add it.", "file": "a.yaml", "line": 3, "column": null,
				"ref": "component:default/checkout", "source": "test", "owner": "group:default/payments", "entity": {"kind": "Component"}}]}}`,
			"stranger": `{"ingestionErrors": {"total": 0, "items": []}}`}},
		"sources": {`{sources {items {name type url state commit error checked {at commit} changed {at} files entities problems}}}`, map[string]string{
			"reader": `{"sources": {"items": [{"name": "test", "type": "git", "url": "https://git.example.com/shop.git", "state": "ok", "commit": "c0ffee", "error": null,
				"checked": {"at": "2026-01-01T00:00:00Z", "commit": "c0ffee"}, "changed": {"at": null}, "files": 1, "entities": 9, "problems": 0}]}}`,
			"stranger": `{"sources": {"items": []}}`}},
		"locations": {`{locations {items {id type target entityRef entity {kind owner {ref}}}}}`, map[string]string{
			"reader": `{"locations": {"items": [{"id": "1", "type": "url", "target": "https://git.example.com/shop.git", "entityRef": null, "entity": null},
				{"id": "3", "type": "file", "target": "/shop", "entityRef": "component:default/ledger", "entity": {"kind": "Component", "owner": {"ref": "group:default/payments"}}}]}}`,
			"stranger": `{"locations": {"items": []}}`}},
		"ancestry": {`{ancestry(ref: "checkout") {rootEntityRef items {entity {ref owner {ref}} parentEntityRefs}}}`, map[string]string{
			"reader":   `{"ancestry": {"rootEntityRef": "component:default/checkout", "items": [{"entity": {"ref": "component:default/checkout", "owner": {"ref": "group:default/payments"}}, "parentEntityRefs": []}]}}`,
			"stranger": "not_found"}},
		"ancestry of the hidden": {`{ancestry(ref: "secret-plan") {rootEntityRef}}`, map[string]string{"reader": "not_found", "admin": `{"ancestry": {"rootEntityRef": "component:default/secret-plan"}}`}},
		"refresh": {`mutation {refresh(entityRef: "component:default/checkout") {source commit changed}}`, map[string]string{
			"owner": `{"refresh": {"source": "test", "commit": "c0ffee", "changed": 2}}`, "reader": "forbidden", "stranger": "not_found"}},
		"refresh nothing": {`mutation {refresh {source}}`, map[string]string{"owner": "invalid"}},
	} {
		for who, want := range c.want {
			t.Run(name+"/"+who, func(t *testing.T) {
				a := s.post(who, c.query, nil)
				if strings.HasPrefix(want, "{") {
					if len(a.Errors) > 0 {
						t.Fatal(a.raw)
					}
					same(t, string(a.Data), want)
					return
				}
				if a.status != http.StatusOK || len(a.Errors) != 1 || a.Errors[0].Extensions.Code != want || len(a.Errors[0].Path) != 1 {
					t.Errorf("want %s, got %d %s", want, a.status, a.raw)
				}
			})
		}
	}
}

// TestActsAreAudited sees the act that a mutation did through the audit.
func TestActsAreAudited(t *testing.T) {
	s := serveRules(t, ingestion{})
	s.data("admin", `mutation {refresh(source: "test") {changed}}`, nil)
	same(t, s.data("admin", `{audit {items {action operation target subject agent status groups}}}`, nil),
		`{"audit": {"items": [{"action": "catalog.refresh", "operation": "refresh_entity", "target": "source:test", "subject": "user:default/ada", "agent": "claude", "status": "ok", "groups": []}]}}`)
}

// TestHiddenRelations finds nothing of a hidden entity by way of others.
func TestHiddenRelations(t *testing.T) {
	s := serveRules(t, ingestion{})
	s.catalog.Publish(catalogtest.Changes(t, docs("kind: Component\nmetadata: {name: probe}\nspec: {type: service, lifecycle: x, owner: payments, dependsOn: [\"component:secret-plan\"]}\n")))
	same(t, s.data("reader", `{entity(ref: "probe") {dependsOn {ref} relations(type: "dependsOn") {target {ref}}}}`, nil),
		`{"entity": {"dependsOn": [], "relations": [{"target": null}]}}`)
	same(t, s.data("admin", `{entity(ref: "probe") {dependsOn {ref}}}`, nil), `{"entity": {"dependsOn": [{"ref": "component:default/secret-plan"}]}}`)
}

func TestInnerTextIsMasked(t *testing.T) {
	s := serveRules(t, ingestion{fail: "password hunter2"})
	a := s.post("reader", `{sources {items {name}} whoami {subject}}`, nil)
	if strings.Contains(a.raw, "hunter2") || len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "internal" || !strings.Contains(a.raw, "user:default/rolf") {
		t.Error(a.raw)
	}
}

func TestIntrospection(t *testing.T) {
	const query = `{"query":"{ __schema { queryType { name } } }"}`
	anonymous := http.Header{"X-Let-In": {"yes"}, "Content-Type": {"application/json"}, "Accept": {mediaResponse}}
	s := serveShop(t)
	if a := s.do(http.MethodPost, "", anonymous, query); a.status != http.StatusForbidden || a.Errors[0].Extensions.Code != "forbidden" {
		t.Errorf("anonymous: %d %s", a.status, a.raw)
	}
	if a := s.do(http.MethodPost, "", anonymous, `{"query":"query Q { ...F } fragment F on Query { __type(name: \"Entity\") { name } }"}`); a.status != http.StatusForbidden {
		t.Errorf("anonymous by fragment: %d %s", a.status, a.raw)
	}
	if a := s.do(http.MethodPost, "", anonymous, `{"query":"{ __typename entities { totalCount } }"}`); a.status != http.StatusOK || len(a.Errors) > 0 {
		t.Errorf("anonymous query: %d %s", a.status, a.raw)
	}
	if a := s.send(http.MethodPost, "", "stranger", mediaResponse, query); a.status != http.StatusOK {
		t.Errorf("authenticated: %d %s", a.status, a.raw)
	}
	// Nor is the schema told by way of what errors propose.
	for who, proposes := range map[string]bool{"reader": true, "": false} {
		header := http.Header{"X-Let-In": {"yes"}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + who}}
		a := s.do(http.MethodPost, "", header, `{"query":"{ entty }"}`)
		if !strings.Contains(a.raw, "Cannot query field") || strings.Contains(a.raw, "entity") != proposes {
			t.Errorf("%q: %s", who, a.raw)
		}
	}
	open := serveShop(t, func(c *graphql.Config) {
		policy := accesstest.Policy(t, "rules:\n  - {name: all, effect: allow, who: {subjects: [\"*\"], anonymous: true}, actions: [schema.read]}\n  - {name: but, effect: deny, who: {roles: [stranger]}, actions: [schema.read]}\n")
		c.Access = accesstest.Service(t, policy, accesstest.NewLog())
	})
	if a := open.do(http.MethodPost, "", anonymous, query); a.status != http.StatusOK {
		t.Errorf("anonymous where policy says so: %d %s", a.status, a.raw)
	}
	if a := open.send(http.MethodPost, "", "stranger", mediaResponse, query); a.status != http.StatusForbidden {
		t.Errorf("denied by policy: %d %s", a.status, a.raw)
	}
}
