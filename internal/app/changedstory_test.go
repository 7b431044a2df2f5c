package app

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// told is what the real git says of the last change of a file in one of the
// demo's repositories.
func (s *server) told(repo, path string) (commit, at string) {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", "-C", s.repo(repo), "log", "-1", "--format=%H %at", "--", path).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	var seconds int64
	if _, err := fmt.Sscanf(string(out), "%s %d", &commit, &seconds); err != nil {
		s.t.Fatal(err)
	}
	return commit, time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}

// tellings are what each door says of orders, and of the facts about it.
func (s *server) tellings() map[string]string {
	const facts = `serviceBrief(service: "orders") { owner { changedAt } }`
	brief := s.tool("agent", "get_service_brief", map[string]any{"service": "orders"})
	e := s.tool("agent", "get_entity", map[string]any{"ref": "component:default/orders"})
	return map[string]string{
		"rest":           s.send("developer", http.MethodGet, "/api/v1/entities/orders", "").body,
		"rest brief":     s.send("developer", http.MethodGet, "/api/v1/brief?service=orders", "").body,
		"graphql":        s.graph("developer", `{ entity(ref: "component:default/orders") { source { changedAt changedIn } } }`).body,
		"graphql brief":  s.graph("developer", "{ "+facts+" }").body,
		"mcp":            string(e.StructuredContent),
		"mcp text":       text(e),
		"mcp brief":      string(brief.StructuredContent),
		"mcp brief text": text(brief),
	}
}

func text(r toolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

// awaitTold waits until every door tells when orders was changed last, as git
// does.
func (s *server) awaitTold() {
	s.t.Helper()
	commit, at := s.told("orders", "catalog-info.yaml")
	s.await("the last change of orders", func() bool { return strings.Contains(s.tellings()["rest"], commit) })
	for door, said := range s.tellings() {
		if !strings.Contains(said, at) {
			s.t.Errorf("%s does not tell %s: %s", door, at, said)
		}
	}
	if said := s.tellings()["graphql"]; !strings.Contains(said, commit) {
		s.t.Errorf("graphql does not tell %s: %s", commit, said)
	}
}

// TestStoryChanged follows the last change of a catalog file through pushes of
// one commit, of several and of a merge.
func TestStoryChanged(t *testing.T) {
	s := startDemo(t)
	s.awaitTold()
	before := s.send("developer", http.MethodGet, "/api/catalog/entities/by-name/component/default/orders", "").body
	good := readFile(t, s.repo("orders", "catalog-info.yaml"))
	dated := func(day int) { t.Setenv("GIT_AUTHOR_DATE", fmt.Sprintf("2025-03-%02dT12:00:00Z", day)) }

	dated(1)
	s.commit("orders", "catalog-info.yaml", good+"# one\n")
	s.reread("orders")
	s.awaitTold() // in fact at once

	dated(2)
	s.commit("orders", "catalog-info.yaml", good+"# two\n")
	dated(3)
	s.git("orders", "commit", "-q", "--allow-empty", "-m", "Nothing")
	s.reread("orders")
	s.awaitTold()

	dated(4)
	s.git("orders", "checkout", "-q", "-b", "side")
	s.commit("orders", "catalog-info.yaml", good+"# side\n")
	dated(5)
	s.git("orders", "checkout", "-q", "-")
	s.git("orders", "commit", "-q", "--allow-empty", "-m", "Meanwhile")
	s.reread("orders")
	dated(6)
	s.git("orders", "merge", "-q", "--no-ff", "--no-edit", "side")
	s.reread("orders")
	s.awaitTold()

	dated(7)
	s.commit("orders", "catalog-info.yaml", good)
	s.reread("orders")
	s.awaitTold()
	if after := s.send("developer", http.MethodGet, "/api/catalog/entities/by-name/component/default/orders", "").body; after != before || strings.Contains(after, "changedAt") {
		t.Errorf("what Backstage's clients see of the same file has become %s", after)
	}
}
