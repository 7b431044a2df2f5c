package app

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
)

// startLending serves the demo with somebody to issue credentials.
func startLending(t *testing.T, f *secretstest.Fake) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	s.lender = f
	s.start(set.Config)
	return s
}

// lent is what the native door answers to who borrows.
type lent struct {
	secrets.Lease
	Wrap *struct{ Token, UnwrapURL, ExpiresAt string } `json:"wrap"`
	Env  map[string]string                             `json:"env"`
}

func TestAgentsNeverHoldWhatOpensACredential(t *testing.T) {
	f := &secretstest.Fake{}
	s := startLending(t, f)
	made := s.tool("agent", "request_credentials", map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "ttl": "10m", "task": "migration test"})
	if made.IsError {
		t.Fatal(made.raw)
	}
	var l secrets.Lease
	if err := json.Unmarshal(made.StructuredContent, &l); err != nil {
		t.Fatal(err)
	}
	if l.Person != "user:default/alice" || l.Agent != "claude-code" || l.State != secrets.Live || l.Wrapping != secrets.WrappingUnopened && l.Wrapping != secrets.WrappingNone {
		t.Errorf("lease: %+v", l)
	}
	for what, a := range map[string]answer{
		"borrowed":  s.send("agent", http.MethodPost, "/api/v1/credentials", `{"service":"checkout","name":"db-readonly","environment":"staging","ttl":"10m","task":"migration test"}`),
		"graphql":   s.graph("agent", `mutation { requestCredentials(service: "checkout", name: "db-readonly", environment: "staging", ttl: "10m", task: "migration test") { lease wrapping } }`),
		"collected": s.send("agent", http.MethodPost, "/api/v1/credentials/"+l.Lease+"/wrap", ""),
		"plain":     s.send("agent", http.MethodPost, "/api/v1/credentials/"+l.Lease+"/plain", ""),
	} {
		if strings.Contains(a.body, `"wrap":`) || strings.Contains(a.body, "unwrapURL") || strings.Contains(a.body, "values") {
			t.Errorf("%s: an agent was given %s", what, a.body)
		}
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/credentials/"+l.Lease+"/wrap", ""); !strings.Contains(a.body, `"forbidden"`) {
		t.Errorf("another person collects: %s", a.body)
	}
	var got lent
	s.send("developer", http.MethodPost, "/api/v1/credentials/"+l.Lease+"/wrap", "").decode(t, &got)
	if got.Wrap == nil || got.Wrap.Token == "" || got.Wrap.UnwrapURL == "" || got.Lease.Lease != l.Lease || got.Env["PGPASSWORD"] != "password" {
		t.Fatalf("the person is given %+v", got)
	}
	s.send("developer", http.MethodPost, "/api/v1/credentials/"+l.Lease+"/opened", "").decode(t, &l)
	if l.Wrapping != secrets.WrappingOpened {
		t.Errorf("confirmed: %+v", l)
	}
	if a := s.send("agent", http.MethodDelete, "/api/v1/credentials/"+l.Lease, ""); a.status != http.StatusOK || !strings.Contains(a.body, `"revoked"`) {
		t.Errorf("revoked: %d %s", a.status, a.body)
	}
	if left := f.There(); len(left) != 0 {
		t.Errorf("the issuer still has %v", left)
	}
	if text := s.logs.text(); strings.Contains(text, got.Wrap.Token) {
		t.Error("what opens a wrapping is in the log")
	}
}

func TestLeasesEndWithWhatTheyAreBoundTo(t *testing.T) {
	f := &secretstest.Fake{}
	s := startLending(t, f)
	if r := s.tool("agent", "request_credentials", map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "bound_to": "preview:none"}); !r.IsError || !strings.Contains(r.raw, "not_found") {
		t.Errorf("bound to nothing: %s", r.raw)
	}
	p := s.create("agent", `{"service":"checkout","ttl":"10m","wait":"20s"}`)
	made := s.tool("agent", "request_credentials", map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "bound_to": "preview:" + p.ID})
	var l secrets.Lease
	if err := json.Unmarshal(made.StructuredContent, &l); err != nil {
		t.Fatal(err)
	}
	if l.State != secrets.Live {
		t.Fatal(made.raw)
	}
	s.send("agent", http.MethodDelete, "/api/v1/previews/"+p.ID, "")
	if r := s.send("agent", http.MethodGet, "/api/v1/credentials/"+l.Lease, ""); strings.Contains(r.body, `"state":"live"`) {
		t.Errorf("it is left for later: %s", r.body)
	}
	s.await("the lease ends with its preview", func() bool {
		var got secrets.Lease
		s.send("agent", http.MethodGet, "/api/v1/credentials/"+l.Lease, "").decode(t, &got)
		return got.State == secrets.Revoked
	})
	if left := f.There(); len(left) != 0 {
		t.Errorf("the issuer still has %v", left)
	}
	s.awaitPhase(p.ID, previews.Gone) // its processes would outlive the test, and write where it cleans up
}
