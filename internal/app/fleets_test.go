package app

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
)

// fleetOperations are those of changes of many services.
func fleetOperations() []operation {
	return []operation{
		{name: "plan_fleet", paths: []string{"state", "title", "planHash", "counts.total", "counts.waiting", "waves[].size", "members[].service", "members[].state"}, method: "POST", rest: "/api/v1/fleets", field: "planFleet",
			body:  `{"query":["kind=component"],"environment":"staging","reason":"load","change":{"set":[{"path":"images[0].newTag","value":"1.9.1"}]}}`,
			graph: `mutation { planFleet(query: ["kind=component"], environment: "staging", reason: "load", change: {set: [{path: "images[0].newTag", value: "1.9.1"}]}) { state title planHash counts { total waiting } waves { size } members { service state } } }`},
		{name: "list_fleets", paths: []string{"items[].id", "items[].state", "items[].person", "items[].counts.waiting"}, method: "GET", rest: "/api/v1/fleets", field: "fleets", graph: "fleets { items { id state person counts { waiting } } }"},
		{name: "get_fleet", paths: []string{"id"}, method: "GET", rest: "/api/v1/fleets/none", field: "fleet", graph: `fleet(id: "none") { id }`},
		{name: "start_fleet", paths: []string{"id"}, method: "POST", rest: "/api/v1/fleets/none/start", body: `{}`, field: "startFleet", graph: `mutation { startFleet(id: "none") { id } }`},
		{name: "stop_fleet", paths: []string{"id"}, method: "POST", rest: "/api/v1/fleets/none/stop", body: `{"cancel":true}`, field: "stopFleet", graph: `mutation { stopFleet(id: "none", cancel: true) { id } }`},
	}
}

// TestFleetStory changes all services of the demo by the command line, in a
// repository without a forge: people merge branch by branch.
func TestFleetStory(t *testing.T) {
	s := startProposals(t)
	s.awaitFollowed() // some services' environments are known from the deploy repository alone
	wish := []string{"change", "fleet", "--query", "kind=component,spec.type=service", "--environment", "staging", "--set", "images[0].newTag=9.9.9", "--reason", "all at once", "--waves", "1,100%"}
	code, out := s.cli("developer", append(wish, "--dry-run")...)
	if code != 0 || !strings.Contains(out, `images[0].newTag = "9.9.9" in staging`) {
		t.Fatalf("%d %s", code, out)
	}
	if code, out = s.cli("developer", append(wish, "--detach")...); code != 0 || !strings.Contains(out, " is running") {
		t.Fatalf("%d %s", code, out)
	}
	id := regexp.MustCompile(`fleet-staging-[a-z0-9]+`).FindString(out[strings.Index(out, " is running")-40:])
	get := func() (f gitops.Fleet) {
		s.send("developer", http.MethodGet, "/api/v1/fleets/"+id+"?limit=200", "").decode(t, &f)
		return f
	}
	if f := get(); len(f.Waves) != 2 || f.Counts.Total < 4 {
		t.Fatalf("%+v", f)
	}
	merged := 0
	s.await("all is merged", func() bool {
		f := get()
		for _, m := range f.Members {
			if m.State == gitops.MemberOpen {
				var p gitops.Proposal
				s.send("developer", http.MethodGet, "/api/v1/proposals/"+m.Proposal, "").decode(t, &p)
				if !strings.Contains(s.asked("deploy", "branch", "--merged", "main"), p.Branch) {
					s.git("deploy", "merge", "-q", "--no-edit", p.Branch)
					merged++
				}
			}
		}
		return f.State == gitops.FleetDone
	})
	f := get()
	if merged != f.Waves[0].Size+f.Waves[1].Size || f.Counts.Done != merged || f.Counts.Failed != 0 {
		t.Errorf("%d merged: %+v", merged, f)
	}
	var audit struct {
		Items []struct{ Operation, Subject, Status string }
	}
	s.send("sre", http.MethodGet, "/api/v1/audit?action=gitops.propose&limit=100", "").decode(t, &audit)
	if n := len(slices.DeleteFunc(audit.Items, func(e struct{ Operation, Subject, Status string }) bool {
		return e.Operation != "propose_change" || e.Status != "ok"
	})); n != merged {
		text, _ := json.Marshal(audit)
		t.Errorf("%d acts are recorded of %d: %s", n, merged, text)
	}
	if code, out = s.cli("developer", "change", "fleet", "status", id); code != 0 || !strings.Contains(out, "done") {
		t.Errorf("%d %s", code, out)
	}
	if code, out = s.cli("developer", wish...); code != 1 || !strings.Contains(out, "so already") {
		t.Errorf("once more: %d %s", code, out)
	}
}
