package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// doors tell what each door shows of an entity: "" where it is not there.
func (s *server) doors(ref string) map[string]string {
	s.t.Helper()
	kind, rest, _ := strings.Cut(ref, ":")
	return map[string]string{
		"rest":      shown(s.send("developer", http.MethodGet, "/api/v1/entities/"+url.PathEscape(ref), "")),
		"backstage": shown(s.send("developer", http.MethodGet, "/api/catalog/entities/by-name/"+kind+"/"+rest, "")),
		"graphql":   graphShown(s.t, s.graph("developer", `{ entity(ref: "`+ref+`") { json } }`)),
		"mcp":       toolShown(s.tool("agent", "get_entity", map[string]any{"ref": ref})),
	}
}

func shown(a answer) string {
	if a.status == http.StatusNotFound {
		return ""
	}
	return a.body
}

func graphShown(t *testing.T, a answer) string {
	t.Helper()
	var body struct {
		Data struct {
			Entity *struct{ JSON json.RawMessage }
		}
	}
	a.decode(t, &body)
	if body.Data.Entity == nil {
		return ""
	}
	return string(body.Data.Entity.JSON)
}

func toolShown(r toolResult) string {
	if r.IsError {
		return ""
	}
	return string(r.StructuredContent)
}

// everywhere checks that every door shows an entity and that what it shows
// holds a text.
func (s *server) everywhere(ref, text string) {
	s.t.Helper()
	for door, body := range s.doors(ref) {
		if body == "" || !strings.Contains(body, text) {
			s.t.Errorf("%s shows %s as %q, without %q", door, ref, body, text)
		}
	}
}

func (s *server) nowhere(ref string) {
	s.t.Helper()
	for door, body := range s.doors(ref) {
		if body != "" {
			s.t.Errorf("%s still shows %s: %s", door, ref, body)
		}
	}
}

// errorsOf are the problems of a source in the doors that list them.
func (s *server) errorsOf(source string) map[string]string {
	s.t.Helper()
	return map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/errors?source="+source, "").body,
		"graphql": s.graph("developer", fmt.Sprintf(`{ ingestionErrors(source: %q) { total items { message file line owner fix firstSeen { commit } } } }`, source)).body,
	}
}

func (s *server) reported(source, text string) {
	s.t.Helper()
	for door, body := range s.errorsOf(source) {
		if !strings.Contains(body, text) {
			s.t.Errorf("%s does not report %q: %s", door, text, body)
		}
	}
}

func (s *server) unreported(source string) {
	s.t.Helper()
	for door, body := range s.errorsOf(source) {
		if !strings.Contains(strings.ReplaceAll(body, " ", ""), `"total":0`) {
			s.t.Errorf("%s reports %s", door, body)
		}
	}
}

func (s *server) reread(source string) {
	s.t.Helper()
	if a := s.refresh("sre", source); a.status != http.StatusOK {
		s.t.Fatalf("refresh of %s: %d %s", source, a.status, a.body)
	}
}

func TestStoryRename(t *testing.T) {
	s := startDemo(t)
	if err := os.Mkdir(s.repo("pricing", "moved"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.git("pricing", "mv", "catalog-info.yaml", "moved/catalog-info.yaml")
	s.git("pricing", "mv", "openapi.yaml", "moved/openapi.yaml")
	s.git("pricing", "commit", "-qm", "Move the catalog file")
	s.reread("pricing")
	s.everywhere("component:default/pricing", "moved/catalog-info.yaml")
	s.everywhere("api:default/pricing-api", "moved/catalog-info.yaml")
}

func TestStoryDelete(t *testing.T) {
	s := startDemo(t)
	s.git("fraud", "rm", "-q", "catalog-info.yaml")
	s.git("fraud", "commit", "-qm", "Remove the catalog file")
	s.reread("fraud")
	s.nowhere("component:default/fraud")
	s.nowhere("api:default/fraud-api")
	s.unreported("fraud")
}

func TestStoryDuplicate(t *testing.T) {
	s := startDemo(t)
	s.commit("fraud", "catalog-info.yaml", strings.ReplaceAll(readFile(t, s.repo("fraud", "catalog-info.yaml")), "name: fraud\n", "name: ledger\n"))
	s.reread("fraud")
	s.everywhere("component:default/ledger", "Books every movement")
	s.nowhere("component:default/fraud")
	s.reported("fraud", "component:default/ledger is already described in catalog-info.yaml:1 of source ledger")
	s.reported("fraud", "group:default/payments")
	s.git("ledger", "rm", "-q", "catalog-info.yaml")
	s.git("ledger", "commit", "-qm", "Leave the name to the other")
	s.reread("ledger")
	s.everywhere("component:default/ledger", "Scores payments")
	s.unreported("fraud")
}

func TestStoryBreakAndFix(t *testing.T) {
	s := startDemo(t)
	good := readFile(t, s.repo("orders", "catalog-info.yaml"))
	s.commit("orders", "catalog-info.yaml", strings.Replace(good, "  type: service\n", "", 1))
	s.reread("orders")
	s.everywhere("component:default/orders", "backstage.io/catalog-processing")
	s.reported("orders", "spec.type")
	stale := func() string { return s.send("developer", http.MethodGet, "/api/v1/catalog/stale-entities", "").body }
	if got := stale(); !strings.Contains(got, `"total":1`) || !strings.Contains(got, `"ref":"component:default/orders","reason":"file"`) || !strings.Contains(got, "spec.type") || !strings.Contains(got, s.head("orders")) {
		t.Errorf("stale is %s", got)
	}
	s.everywhere("resource:default/orders-db", "database")
	s.commit("orders", "catalog-info.yaml", good+"# fixed\n")
	s.reread("orders")
	s.unreported("orders")
	if got := stale(); !strings.Contains(got, `"total":0`) {
		t.Errorf("stale is still %s", got)
	}
	for door, body := range s.doors("component:default/orders") {
		if strings.Contains(body, "catalog-processing") {
			t.Errorf("%s still shows a status: %s", door, body)
		}
	}
}

func TestStoryForcePush(t *testing.T) {
	s := startDemo(t)
	text := readFile(t, s.repo("inventory", "catalog-info.yaml"))
	s.commit("inventory", "catalog-info.yaml", strings.Replace(text, "title: Inventory", "title: Stock", 1))
	s.reread("inventory")
	s.everywhere("component:default/inventory", `"Stock"`)
	s.git("inventory", "reset", "-q", "--hard", "HEAD~1")
	s.commit("inventory", "catalog-info.yaml", strings.Replace(text, "title: Inventory", "title: Warehouse", 1))
	s.git("inventory", "reflog", "expire", "--expire=now", "--all")
	s.git("inventory", "gc", "-q", "--prune=now")
	s.reread("inventory")
	s.everywhere("component:default/inventory", `"Warehouse"`)
}
