package app

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// head is the newest commit of one of the demo's repositories.
func (s *server) head(repo string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", "-C", s.repo(repo), "rev-parse", "HEAD").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestStoryStale breaks a catalog file twice: every door tells since which
// commit what it shows is older than the file, and from which one it is.
func TestStoryStale(t *testing.T) {
	s := startDemo(t)
	good, before := readFile(t, s.repo("orders", "catalog-info.yaml")), s.head("orders")
	s.commit("orders", "catalog-info.yaml", strings.Replace(good, "  type: service\n", "", 1))
	broken := s.head("orders")
	s.reread("orders")
	s.commit("orders", "catalog-info.yaml", strings.Replace(good, "  type: service\n", "  type: []\n", 1))
	s.reread("orders")
	s.everywhere("component:default/orders", "what is shown is the last good state, from before commit "+broken[:12])
	for door, text := range map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/brief?service=orders", "").body,
		"graphql": s.graph("developer", `{ serviceBrief(service: "orders") { problems owner { source { commit } } } }`).body,
		"mcp":     string(s.tool("agent", "get_service_brief", map[string]any{"service": "orders"}).StructuredContent),
	} {
		if !strings.Contains(text, "the catalog file has errors since commit "+broken[:12]) || !strings.Contains(text, before) {
			t.Errorf("the brief of %s says %s", door, text)
		}
	}
	if r := s.tool("agent", "get_entity", map[string]any{"ref": "component:default/orders"}); len(r.Content) == 0 || !strings.Contains(r.Content[0].Text, "errors since: "+broken) {
		t.Errorf("MCP says %+v", r.Content)
	}
	from := s.source("orders")
	if from.StaleSince != broken || from.Commit != before || from.ChangedAt.IsZero() || from.ChangedAt.After(time.Now()) {
		t.Errorf("GraphQL says %+v", from)
	}
	s.commit("orders", "catalog-info.yaml", good+"# fixed\n")
	s.reread("orders")
	if from := s.source("orders"); from.StaleSince != "" || from.Commit != s.head("orders") {
		t.Errorf("once it is fixed, GraphQL says %+v", from)
	}
}

type provenance struct {
	Commit, StaleSince string
	ChangedAt          time.Time
}

// source is where GraphQL says that a component was read.
func (s *server) source(name string) provenance {
	s.t.Helper()
	var body struct {
		Data struct{ Entity struct{ Source provenance } }
	}
	s.graph("developer", `{ entity(ref: "component:default/`+name+`") { source { commit changedAt staleSince } } }`).decode(s.t, &body)
	return body.Data.Entity.Source
}

// TestStoryClaimants names both of those that claim a name.
func TestStoryClaimants(t *testing.T) {
	s := startDemo(t)
	s.commit("fraud", "catalog-info.yaml", strings.ReplaceAll(readFile(t, s.repo("fraud", "catalog-info.yaml")), "name: fraud\n", "name: ledger\n"))
	s.reread("fraud")
	s.reported("fraud", "component:default/ledger is already described in catalog-info.yaml:1 of source ledger by group:default/payments at commit "+s.head("ledger")[:12]+", which keeps the name")
	s.reported("fraud", s.head("fraud"))
}
