package app

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// audits is how many audits graphql-http 1.23.1 has.
const audits = 61

// TestRealGraphQLAudits holds the door to the GraphQL-over-HTTP specification:
// every audit passes, none as a warning, and clients can read the schema.
func TestRealGraphQLAudits(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	script, env := s.client("audits.cjs", "developer")
	var got struct {
		Audits  []struct{ ID, Name, Status, Reason string }
		Errors  json.RawMessage
		Invalid []string
		Schema  string
	}
	out := clients.Run(t, env, script)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Audits) != audits {
		t.Errorf("%d audits ran, not %d", len(got.Audits), audits)
	}
	if got.Errors != nil || len(got.Invalid) > 0 || !strings.Contains(got.Schema, "type Entity {") {
		t.Errorf("introspection: errors %s, invalid %q, schema %.200s", got.Errors, got.Invalid, got.Schema)
	}
	for _, a := range got.Audits {
		if a.Status != "ok" {
			t.Errorf("%s %s (%s): %s", a.Status, a.Name, a.ID, a.Reason)
		}
	}
}

// wsResult is what an operation came to over graphql-ws's client.
type wsResult struct {
	Next     []json.RawMessage
	Ended    string
	Complete bool
	Error    json.RawMessage
}

// wsBare is what came over a bare WebSocket until it was closed.
type wsBare struct {
	Code   int
	Reason string
	Got    []struct {
		ID, Type string
		Payload  json.RawMessage
	}
}

func (b wsBare) types() string {
	out := []string{fmt.Sprint(b.Code)}
	for _, m := range b.Got {
		out = append(out, m.Type+string(m.Payload))
	}
	return strings.Join(out, " ")
}

func TestRealGraphQLWS(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	script, env := s.client("graphqlws.cjs", "developer")
	out := clients.Run(t, append(env, "FAIRLEAD_REPO="+s.repo("search"), "FAIRLEAD_SRE="+s.tokens["sre"], "FAIRLEAD_TOKEN_FILE="+filepath.Join(s.dir, "tokens", "developer")), script)
	var got struct {
		Client               map[string]wsResult
		Refusals             map[string]int
		Ping, Reuse, Revoked wsBare
		RefusedLater         wsResult
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	checkWSClient(t, got.Client)
	for name, want := range map[string]int{
		"badToken": 4403, "noToken": 4403, "noInit": 4408, "subscribeBeforeInit": 4401, "twoInits": 4429, "duplicate": 4409,
		"noJSON": 4400, "noObject": 4400, "unknownType": 4400, "noType": 4400, "noID": 4400, "noPayload": 4400, "binary": 4400, "noProtocol": 4406,
	} {
		if code, ran := got.Refusals[name]; !ran || code != want {
			t.Errorf("%s: closed with %d, not %d", name, code, want)
		}
	}
	if text := got.Ping.types(); text != `1000 pong{"a":1} connection_ack` {
		t.Errorf("ping: %s", text)
	}
	if text := got.Reuse.types(); text != `1000 connection_ack next{"data":{"__typename":"Query"}} complete` {
		t.Errorf("an id used again: %s", text)
	}
	if got.Revoked.Code != 4403 || !strings.Contains(string(got.RefusedLater.Error), "4403") {
		t.Errorf("revoked: closed with %d, then %s", got.Revoked.Code, got.RefusedLater.Error)
	}
}

// checkWSClient looks at what graphql-ws's own client made of our answers.
func checkWSClient(t *testing.T, got map[string]wsResult) {
	t.Helper()
	for name, want := range map[string]string{
		"query": `{"data":{"entity":{"metadata":{"name":"checkout"}}}}`,
		"again": `{"data":{"whoami":{"subject":"user:default/alice"}}}`,
	} {
		if r := got[name]; len(r.Next) != 1 || string(r.Next[0]) != want || !r.Complete {
			t.Errorf("%s: %s %+v", name, r.Next, r)
		}
	}
	for _, name := range []string{"invalid", "subscriptionInvalid"} {
		if r := got[name]; len(r.Next) != 0 || !strings.Contains(string(r.Error), `"code":"invalid"`) || !strings.Contains(string(r.Error), `"fix":`) {
			t.Errorf("%s: %s %s", name, r.Next, r.Error)
		}
	}
	if r := got["mutation"]; len(r.Next) != 1 || !strings.Contains(string(r.Next[0]), `"path":["refresh"]`) || !r.Complete {
		t.Errorf("mutation: %s %s", r.Next, r.Error)
	}
	if r := got["subscription"]; len(r.Next) != 1 || !strings.Contains(string(r.Next[0]), "group:default/fresh1") || !r.Complete || r.Ended == "" {
		t.Errorf("subscription: %s %+v", r.Next, r)
	}
}
