package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

const approvalRules = `rules:
  - {name: read, effect: allow, who: {subjects: ["*"]}, actions: [catalog.read, self.read]}
  - {name: act, effect: allow, who: {roles: [developer]}, actions: ["*"], on: {owners: [own]}}
  - {name: operate, effect: allow, who: {roles: [sre]}, actions: ["*"]}
  - {name: soon, effect: approval, who: {subjects: ["*"]}, actions: [catalog.refresh], on: {refs: [cart]}, approval: {by: {roles: [sre]}, expires: 1s}}
  - {name: four-eyes, effect: approval, who: {subjects: ["*"]}, actions: [catalog.refresh], on: {kinds: [component]}, approval: {by: {owners: true, roles: [sre]}}}
`

// approvals is a pair of servers on one state, of which the first can be
// started again.
type approvals struct {
	*server
	t      *testing.T
	config string
	other  *server
}

func startApprovals(t *testing.T, state string) *approvals {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	set.Tokens["bob"] = "token-of-bob-who-is-an-owner-0123456789"
	write(t, filepath.Join(dir, "tokens", "bob"), set.Tokens["bob"])
	write(t, filepath.Join(dir, "rules.yaml"), approvalRules)
	text := strings.Replace(withoutPreviews(readFile(t, set.Config)), "  tokens:\n", "  tokens:\n    - {name: bob, tokenFile: ./tokens/bob, subject: user:default/bob, groups: [group:default/storefront], roles: [developer]}\n", 1)
	text = strings.Replace(text, "refresh: 2s", "refresh: 1h", 1) + "policy: {rules: ./rules.yaml, limits: {catalog.refresh: 1000/m}}\n"
	config := func(name string) string {
		path := filepath.Join(dir, name+".yaml")
		write(t, path, strings.Replace(text, "state: ./state\n", fmt.Sprintf("state: %q\ncache: ./cache-%s\n", state, name), 1))
		return path
	}
	a := &approvals{t: t, server: &server{t: t, dir: dir, tokens: set.Tokens}, config: config("one"), other: &server{t: t, dir: dir, tokens: set.Tokens}}
	a.start(a.config)
	a.other.start(config("two"))
	return a
}

// wanting is what a door says to an act that needs approval: a fault's code, the
// request and its state.
type wanting struct{ Code, ID, State string }

func (a *approvals) refresh(role, ref string) wanting {
	a.t.Helper()
	return a.faultOf(a.send(role, http.MethodPost, "/api/v1/refresh", `{"entityRef":"`+ref+`"}`).body)
}

// faultOf finds a fault in an answer of any door.
func (a *approvals) faultOf(body string) wanting {
	a.t.Helper()
	type details struct{ Approval, State string }
	type fault struct {
		Code    string
		Details details
	}
	var got struct {
		fault
		Error  fault
		Errors []struct{ Extensions fault }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		a.t.Fatalf("%v in %s", err, body)
	}
	f := got.Error
	switch {
	case len(got.Errors) > 0:
		f = got.Errors[0].Extensions
	case f.Code == "":
		f = got.fault
	}
	return wanting{f.Code, f.Details.Approval, f.Details.State}
}

// cli runs a command as somebody.
func (s *server) cli(role string, args ...string) (code int, out string) {
	s.t.Helper()
	var b bytes.Buffer
	env := map[string]string{"FAIRLEAD_SERVER": s.url, "FAIRLEAD_TOKEN": s.tokens[role]}
	code = command.Run(s.t.Context(), args, command.Streams{In: strings.NewReader(""), Out: &b, Err: &b, Version: "test", Env: func(k string) string { return env[k] }})
	return code, b.String()
}

func TestApprovalsEndToEnd(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { approvalStory(t, filepath.Join(t.TempDir(), "state")) })
	t.Run("postgres", func(t *testing.T) { approvalStory(t, realtest.Postgres(t)) })
}

func approvalStory(t *testing.T, state string) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	a := startApprovals(t, state)
	const ref = "component:default/checkout"
	first := a.refresh("agent", ref)
	if first.Code != "approval_required" || first.ID == "" || first.State != "pending" {
		t.Fatalf("rest says %+v", first)
	}
	doorsAgree(t, a, ref, first)
	whoMayNot(t, a, first.ID)

	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	a.start(a.config)

	if code, out := a.cli("bob", "approvals", "list", "--mine"); code != 0 || !strings.Contains(out, first.ID) || !strings.Contains(out, "claude-code for user:default/alice") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, out := a.cli("bob", "approvals", "show", first.ID); code != 0 || !strings.Contains(out, `"entityRef": "`+ref+`"`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, out := a.cli("bob", "approvals", "grant", first.ID, "--reason", "as agreed"); code != 0 || !strings.HasPrefix(out, "granted: ") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if changed := a.refresh("agent", "checkout"); changed.Code != "approval_required" || changed.ID == first.ID {
		t.Errorf("a changed plan: %+v", changed)
	}
	if person := a.refresh("developer", ref); person.Code != "approval_required" || person.ID == first.ID {
		t.Errorf("the same without the agent: %+v", person)
	}
	usedOnce(t, a, ref, first.ID)
	deniedStays(t, a)
	expires(t, a)
	onRecord(t, a, first.ID)
}

// doorsAgree asks for the same through the other doors.
func doorsAgree(t *testing.T, a *approvals, ref string, want wanting) {
	tool := a.tool("agent", "refresh_entity", map[string]any{"entity_ref": ref})
	if got := a.faultOf(string(tool.StructuredContent)); got != want || !tool.IsError || !strings.Contains(tool.Content[0].Text, want.ID) {
		t.Errorf("mcp says %+v: %s", got, tool.raw)
	}
	if got := a.faultOf(a.graph("agent", `mutation { refresh(entityRef: "`+ref+`") { source } }`).body); got != want {
		t.Errorf("graphql says %+v", got)
	}
	if code, out := a.cli("agent", "catalog", "refresh", ref); code != 3 || !strings.Contains(out, want.ID) || !strings.Contains(out, "fairlead approvals grant") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if got := a.faultOf(a.other.send("agent", http.MethodPost, "/api/v1/refresh", `{"entityRef":"`+ref+`"}`).body); got != want {
		t.Errorf("the other replica says %+v", got)
	}
}

// whoMayNot tries to grant a request through every door as who may not.
func whoMayNot(t *testing.T, a *approvals, id string) {
	for role, want := range map[string]string{"developer": "forbidden", "agent": "forbidden", "": "unauthenticated"} {
		if got := a.faultOf(a.send(role, http.MethodPost, "/api/v1/approvals/"+id+"/grant", `{}`).body); got.Code != want {
			t.Errorf("rest lets %q grant: %+v", role, got)
		}
		if got := a.faultOf(a.graph(role, `mutation { grantApproval(id: "`+id+`") { id } }`).body); got.Code != want {
			t.Errorf("graphql lets %q grant: %+v", role, got)
		}
	}
	if code, out := a.cli("agent", "approvals", "grant", id); code != 3 || !strings.Contains(out, "only persons approve") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, _ := a.cli("bob", "approvals", "show", "none"); code != 4 {
		t.Errorf("exit code %d", code)
	}
}

// usedOnce has both replicas race for one approval.
func usedOnce(t *testing.T, a *approvals, ref, id string) {
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			at := []*server{a.server, a.other}[i%2]
			if at.send("agent", http.MethodPost, "/api/v1/refresh", `{"entityRef":"`+ref+`"}`).status == http.StatusOK {
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if done.Load() != 1 {
		t.Errorf("one approval counted %d times", done.Load())
	}
	var r access.Approval
	a.send("agent", http.MethodGet, "/api/v1/approvals/"+id, "").decode(t, &r)
	if r.State != access.ApprovalUsed || r.UsedAt.IsZero() || r.DecidedBy != "user:default/bob" || r.Reason != "as agreed" {
		t.Errorf("request = %+v", r)
	}
}

func deniedStays(t *testing.T, a *approvals) {
	id := a.refresh("agent", "component:default/fraud").ID
	if got := a.graph("sre", `mutation { denyApproval(id: "`+id+`", reason: "a freeze is on") { state } }`); !strings.Contains(got.body, `"state":"denied"`) {
		t.Fatal(got.body)
	}
	if got := a.refresh("agent", "component:default/fraud"); got != (wanting{"forbidden", id, "denied"}) {
		t.Errorf("rest says %+v", got)
	}
	if got := a.faultOf(a.send("sre", http.MethodPost, "/api/v1/approvals/"+id+"/grant", "").body); got.Code != "conflict" {
		t.Errorf("granted after it was denied: %+v", got)
	}
}

func expires(t *testing.T, a *approvals) {
	id := a.refresh("agent", "component:default/cart").ID
	a.await("it expires", func() bool {
		return strings.Contains(a.send("sre", http.MethodGet, "/api/v1/approvals?state=expired", "").body, id)
	})
	if got := a.faultOf(a.send("sre", http.MethodPost, "/api/v1/approvals/"+id+"/grant", "{}").body); got.Code != "conflict" {
		t.Errorf("granted after it expired: %+v", got)
	}
	if got := a.refresh("agent", "component:default/cart"); got.Code != "approval_required" || got.ID == id {
		t.Errorf("after it expired: %+v", got)
	}
}

// onRecord finds who asked, who was refused, who granted and who used it.
func onRecord(t *testing.T, a *approvals, id string) {
	var page access.AuditPage
	a.send("sre", http.MethodGet, "/api/v1/audit?limit=500", "").decode(t, &page)
	lines := map[string]int{}
	for _, e := range page.Items {
		if e.Approval == id {
			lines[fmt.Sprintf("%s %s %s %s %s", e.Operation, e.Status, e.Code, e.Subject, e.Agent)]++
		}
	}
	for line, want := range map[string]int{
		"refresh_entity refused approval_required user:default/alice claude-code": 1,
		"grant_approval refused forbidden user:default/alice ":                    2,
		"grant_approval refused forbidden user:default/alice claude-code":         3,
		"grant_approval ok  user:default/bob ":                                    1,
		"refresh_entity ok  user:default/alice claude-code":                       1,
	} {
		if lines[line] != want {
			t.Errorf("%d lines of %q in %v", lines[line], line, lines)
		}
	}
}
