package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/secrets/secretstest"
)

// hear waits for an event that holds all of some texts.
func hear(t *testing.T, from <-chan json.RawMessage, texts ...string) {
	t.Helper()
	var last json.RawMessage
	for late := time.After(time.Minute); ; {
		select {
		case m, ok := <-from:
			if !ok {
				t.Fatalf("it has ended, without %q", texts)
			}
			last = m
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(m), text) }) {
				return
			}
		case <-late:
			t.Fatalf("%q is not told; the last is %s", texts, last)
		}
	}
}

// TestFeedsOverGraphQL: what an agent borrows, does and breaks is told to those
// who look on.
func TestFeedsOverGraphQL(t *testing.T) {
	s := startLending(t, &secretstest.Fake{})
	leases := s.subscribe("sre", `subscription { credentialChanged(service: "checkout", agent: "claude-code") { lease service name environment state expiresAt wrapping owner person agent purpose task boundTo createdAt endedAt endedBy reason alarm } }`)
	acts := s.subscribe("sre", `subscription { auditAppended(agent: "claude-code") { many entries { id time action operation target subject agent approval status code message took } } }`)
	own := s.subscribe("developer", `subscription { auditAppended { entries { operation agent status } } }`)
	sources := s.subscribe("developer", `subscription { ingestionChanged { sources many } }`)
	made := s.tool("agent", "request_credentials", map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "ttl": "10m", "task": "migration test"})
	if made.IsError {
		t.Fatal(made.raw)
	}
	hear(t, leases, `"service":"component:default/checkout"`, `"state":"live"`, `"agent":"claude-code"`, `"task":"migration test"`)
	hear(t, acts, `"operation":"request_credentials"`, `"status":"ok"`, `"many":false`)
	hear(t, own, `"operation":"request_credentials"`, `"agent":"claude-code"`)
	var lease struct{ Lease string }
	if err := json.Unmarshal(made.StructuredContent, &lease); err != nil {
		t.Fatal(err)
	}
	if a := s.send("sre", "DELETE", "/api/v1/credentials/"+lease.Lease, ""); a.status != 200 {
		t.Fatal(a.body)
	}
	hear(t, leases, lease.Lease, `"state":"revoked"`, `"endedBy":"user:default/`)
	write(t, s.repo("checkout", "catalog-info.yaml"), readFile(t, s.repo("checkout", "catalog-info.yaml"))+"\n---\nkind: Component\nmetadata: {name: 'not a name'}\n")
	s.inRepo("checkout", "commit", "-qam", "break it")
	hear(t, sources, `"sources":["checkout"]`)
	if a := s.graph("developer", `{ ingestionErrors(source: "checkout") { total } }`); strings.Contains(a.body, `"total":0`) {
		t.Error(a.body)
	}
}
