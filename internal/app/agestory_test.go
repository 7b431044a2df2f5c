package app

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
)

// rule is the first file with rules for agents of a service.
func (s *server) rule(service string) catalog.Fact {
	if rules := s.brief(service).Rules; len(rules) > 0 {
		return rules[0]
	}
	return catalog.Fact{}
}

// TestStoryAges follows the age of files beside the catalog through pushes of
// several commits and of one, in facts and in documents, as the real git tells
// it.
func TestStoryAges(t *testing.T) {
	s := startDemo(t)
	dated := func(at time.Time) { t.Setenv("GIT_AUTHOR_DATE", at.Format(time.RFC3339)) }
	rules := readFile(t, s.repo("notifications", "AGENTS.md"))
	dated(time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC))
	s.commit("notifications", "AGENTS.md", rules+"\nOld.\n")
	s.commit("notifications", "docs/runbooks/slow.md", "# NotificationsMelt\n\n## Mitigation\nUnplug the samovar.\n")
	dated(time.Date(2022, 3, 4, 5, 6, 7, 0, time.UTC))
	s.git("notifications", "commit", "-q", "--allow-empty", "-m", "Nothing")
	s.reread("notifications")
	const stale = "its file was not changed since 2021-03-04"
	s.await("the rules have grown old", func() bool { return s.rule("notifications").Stale == stale })
	_, at := s.told("notifications", "AGENTS.md")
	f := s.rule("notifications")
	if f.ChangedAt.Format(time.RFC3339) != at || f.ExpiresAt == nil || !f.ExpiresAt.Equal(f.ChangedAt.Add(catalog.FactLife)) {
		t.Errorf("the rules are %+v, git says %s", f, at)
	}
	for door, said := range s.aged() {
		if !strings.Contains(said, "2021-03-04T05:06:07Z") || strings.Count(said, stale) == 0 {
			t.Errorf("%s does not tell the age: %s", door, said)
		}
	}
	now := time.Now().Truncate(time.Second)
	dated(now)
	s.commit("notifications", "AGENTS.md", rules+"\nNew.\n")
	s.reread("notifications")
	s.await("the rules are new", func() bool { f := s.rule("notifications"); return f.Stale == "" && f.ChangedAt.Equal(now) })
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	if f := s.rule("notifications"); f.Stale != "" || !f.ChangedAt.Equal(now) {
		t.Errorf("after a restart the rules are %+v", f)
	}
	if said := s.aged()["rest document"]; !strings.Contains(said, stale) {
		t.Errorf("after a restart the document is %s", said)
	}
}

// aged are what each door says of the age of a runbook of notifications.
func (s *server) aged() map[string]string {
	const handle = "doc://notifications/docs/runbooks/slow.md"
	return map[string]string{
		"rest brief":     s.send("developer", http.MethodGet, "/api/v1/brief?sections=runbooks&service=notifications", "").body,
		"mcp brief":      string(s.tool("agent", "get_service_brief", map[string]any{"service": "notifications", "sections": []string{"runbooks"}}).StructuredContent),
		"graphql brief":  s.graph("developer", `{ serviceBrief(service: "notifications") { runbooks { changedAt expiresAt stale } } }`).body,
		"rest document":  s.send("developer", http.MethodGet, "/api/v1/document?handle="+url.QueryEscape(handle), "").body,
		"mcp document":   string(s.tool("agent", "get_document", map[string]any{"handle": handle}).StructuredContent),
		"rest search":    s.send("developer", http.MethodGet, "/api/v1/knowledge?query=NotificationsMelt", "").body,
		"graphql search": s.graph("developer", `{ searchKnowledge(query: "NotificationsMelt") { hits { changedAt stale } } }`).body,
	}
}
