package app

import (
	"os"
	"strings"
	"testing"
)

// A repository that can be read no more keeps its last good state, marked as
// stale, until it can be read again.
func TestBriefOfARepositoryThatIsGone(t *testing.T) {
	s := startDemo(t)
	if b := s.brief("ledger"); b.Owner == nil || b.Owner.Stale != "" {
		t.Fatalf("stale already: %+v", b.Owner)
	}
	at, away := s.repo("ledger"), s.repo("ledger")+"-away"
	if err := os.Rename(at, away); err != nil {
		t.Fatal(err)
	}
	const why = "its repository cannot be read now"
	s.await("the mark appears", func() bool { return strings.HasPrefix(s.brief("ledger").Owner.Stale, why) })
	text := s.tool("agent", "get_service_brief", map[string]any{"service": "ledger"}).Content[0].Text
	if strings.Count(text, why) != 1 || !strings.Contains(text, "test: make test") {
		t.Errorf("the agent is told: %s", text)
	}
	if err := os.Rename(away, at); err != nil {
		t.Fatal(err)
	}
	s.await("the mark goes", func() bool { return s.brief("ledger").Owner.Stale == "" })
}
