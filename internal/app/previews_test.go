package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// withoutPreviews is the demo's configuration less its section on previews,
// which comes last.
func withoutPreviews(config string) string {
	before, _, _ := strings.Cut(config, "previews:")
	return before
}

// startPreviews serves the demo with a deployer in memory.
func startPreviews(t *testing.T, f *previewstest.Fake, section string, more ...map[string]previews.Deployer) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	config := withoutPreviews(readFile(t, set.Config))
	if err := os.WriteFile(set.Config, []byte(config+section), 0o600); err != nil {
		t.Fatal(err)
	}
	s.deployers = map[string]previews.Deployer{"local": f}
	for _, m := range more {
		maps.Copy(s.deployers, m)
	}
	s.start(set.Config)
	return s
}

// preview asks for a preview.
func (s *server) preview(role, id string) (p previews.Preview) {
	s.t.Helper()
	s.send(role, http.MethodGet, "/api/v1/previews/"+id, "").decode(s.t, &p)
	return p
}

func TestPreviewStory(t *testing.T) {
	f := &previewstest.Fake{Looks: 2}
	s := startPreviews(t, f, "previews: {ttl: {max: 1h, hardCap: 90m}}\n")
	made := s.tool("agent", "create_preview_environment", map[string]any{"service": "checkout", "revision": "main", "ttl": "30m", "wait": "20s"})
	if made.IsError {
		t.Fatalf("creating: %s", made.raw)
	}
	var p previews.Preview
	if err := json.Unmarshal(made.StructuredContent, &p); err != nil {
		t.Fatal(err)
	}
	if p.Phase != previews.Ready || p.URL == "" || len(p.Commit) != 40 || p.Agent == "" || p.Person == "" || p.Owner == "" || p.Service != "component:default/checkout" {
		t.Errorf("made %+v", p)
	}
	extended := s.send("developer", http.MethodPost, "/api/v1/previews/"+p.ID+"/extend", `{"ttl":"30m"}`)
	var longer previews.Preview
	extended.decode(t, &longer)
	if longer.ExpiresAt <= p.ExpiresAt {
		t.Errorf("extended from %s: %s", p.ExpiresAt, extended.body)
	}
	if a := s.send("developer", http.MethodPost, "/api/v1/previews/"+p.ID+"/extend", `{"ttl":"1h"}`); a.status == http.StatusOK {
		t.Error("an hour more went beyond the hard cap:", a.body)
	}
	if a := s.graph("sre", fmt.Sprintf(`{ previewLogs(id: %q) { lines { text } } previewEnvironments(service: "checkout") { items { id phase url } } }`, p.ID)); !strings.Contains(a.body, "serving "+p.Commit) || !strings.Contains(a.body, p.ID) {
		t.Error(a.body)
	}
	if a := s.send("developer", http.MethodDelete, "/api/v1/previews/"+p.ID, ""); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	s.await("the preview is gone", func() bool { return s.preview("developer", p.ID).Phase == previews.Gone })
	if there := f.There(); len(there) > 0 {
		t.Errorf("there is still %v", there)
	}
	events := s.preview("developer", p.ID).Events
	if n := len(events); n < 6 || events[0].By == "" || events[n-1].Phase != previews.Gone {
		t.Errorf("events: %+v", events)
	}
	audit := s.send("sre", http.MethodGet, "/api/v1/audit?action=previews.create", "")
	if !strings.Contains(audit.body, `"agent":"`+p.Agent+`"`) || !strings.Contains(audit.body, "component:default/checkout") {
		t.Error(audit.body)
	}
	if m := s.send("", http.MethodGet, "/metrics", ""); !strings.Contains(m.body, `fairlead_previews{phase="ready"} 0`) || !strings.Contains(m.body, `to="gone"`) {
		t.Error("the metrics do not tell of it")
	}
}

func TestPreviewsRefused(t *testing.T) {
	s := startPreviews(t, &previewstest.Fake{}, "previews: {limits: {perAgent: 1}, ttl: {max: 1h}}\n")
	for body, want := range map[string]string{
		`{"service":"checkout","revision":"nobody-knows-it"}`:      "not_found nobody-knows-it",
		`{"service":"nobody"}`:                                     "not_found nobody",
		`{"service":"checkout","ttl":"5s"}`:                        "invalid 30s",
		`{"service":"checkout","ttl":"2h"}`:                        "invalid 1h0m0s",
		`{"service":"checkout","ttl":"soon"}`:                      "invalid soon",
		`{"service":"checkout","revision":"--upload-pack=/bin/x"}`: "invalid revision",
		`{"service":"group:default/payments"}`:                     "invalid component",
		`{"service":"checkout","colour":"red"}`:                    "invalid colour",
	} {
		a := s.send("sre", http.MethodPost, "/api/v1/previews", body)
		code, about, _ := strings.Cut(want, " ")
		if !strings.Contains(a.body, `"code":"`+code+`"`) || !strings.Contains(a.body, about) || !strings.Contains(a.body, `"fix":`) {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	create := `{"service":"checkout","key":"k","ttl":"10m"}`
	var first, again previews.Preview
	s.send("agent", http.MethodPost, "/api/v1/previews", create).decode(t, &first)
	s.send("agent", http.MethodPost, "/api/v1/previews", create).decode(t, &again)
	if first.ID == "" || first.ID != again.ID {
		t.Errorf("the key made %q and %q", first.ID, again.ID)
	}
	if a := s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"checkout","key":"k","ttl":"11m"}`); a.status != http.StatusConflict {
		t.Errorf("the key for something else: %s", a.body)
	}
	var queued previews.Preview
	s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"checkout"}`).decode(t, &queued)
	if queued.Phase != previews.Pending || queued.Position != 1 || !strings.Contains(queued.Reason, "number 1 in the queue") {
		t.Errorf("beyond the limit: %+v", queued)
	}
	s.send("agent", http.MethodDelete, "/api/v1/previews/"+first.ID, "")
	s.await("the next one is let in", func() bool { return s.preview("agent", queued.ID).Phase == previews.Ready })
}

// TestPreviewsOutliveTheServer ends the server while previews are made, and
// has their time pass without it.
func TestPreviewsOutliveTheServer(t *testing.T) {
	f := &previewstest.Fake{Looks: 5}
	s := startPreviews(t, f, "previews: {}\n")
	var ids []string
	for range 4 {
		var p previews.Preview
		s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"checkout","ttl":"30s"}`).decode(t, &p)
		ids = append(ids, p.ID)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.start(s.app.cfg.file)
	for _, id := range ids {
		s.await("it is ready after a restart, though perhaps not for long", func() bool {
			return slices.ContainsFunc(s.preview("sre", id).Events, func(e previews.Event) bool { return e.Phase == previews.Ready })
		})
		if made := f.Made(id); made != 1 {
			t.Errorf("%s was made %d times", id, made)
		}
	}
	for _, id := range ids {
		s.await("it is gone after its end", func() bool { return s.preview("sre", id).Phase == previews.Gone })
	}
	if there := f.There(); len(there) > 0 {
		t.Errorf("there is still %v", there)
	}
}
