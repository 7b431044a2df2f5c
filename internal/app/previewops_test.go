package app

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// create asks for a preview and gives it.
func (s *server) create(role, body string) (p previews.Preview) {
	s.t.Helper()
	a := s.send(role, http.MethodPost, "/api/v1/previews", body)
	if a.decode(s.t, &p); p.ID == "" {
		s.t.Fatal(a.body)
	}
	return p
}

// stray has the deployer make what no record accounts for.
func stray(t *testing.T, f *previewstest.Fake, id string) {
	t.Helper()
	if err := f.Apply(t.Context(), previews.Wish{ID: id, Service: "component:default/lost", Person: "user:default/ida", Agent: "claude"}); err != nil {
		t.Fatal(err)
	}
}

func TestPreviewSweep(t *testing.T) {
	f := &previewstest.Fake{Looks: 1}
	down := &previewstest.Fake{Hook: func(string, string) error {
		return fault.New(fault.Unavailable, "the cluster is down").Because(errors.New("secret"))
	}}
	s := startPreviews(t, f, "previews: {}\n", map[string]previews.Deployer{"down": down, "blind": struct{ previews.Deployer }{down}})
	p := s.create("sre", `{"service":"checkout","ttl":"10m","wait":"20s"}`)
	stray(t, f, "lost-1")
	stray(t, f, "lost-2")
	var list previews.StrayList
	s.send("sre", http.MethodGet, "/api/v1/previews/strays", "").decode(t, &list)
	if len(list.Items) != 2 || list.Items[0].Service != "component:default/lost" || !strings.Contains(list.Items[0].Reason, "no record") || len(list.Unswept) != 2 || strings.Contains(fmt.Sprint(list), "secret") ||
		!strings.Contains(list.Unswept[0].Reason, "cannot tell") || !strings.Contains(list.Unswept[1].Reason, "the cluster is down") {
		t.Fatalf("strays: %+v", list)
	}
	for _, role := range []string{"developer", "agent"} {
		for _, a := range []answer{s.send(role, http.MethodGet, "/api/v1/previews/strays", ""), s.send(role, http.MethodPost, "/api/v1/previews/sweep", `{"ids":["lost-1"]}`),
			s.graph(role, `{ previewStrays { items { id } } }`), s.graph(role, `mutation { sweepPreviewStrays(ids: ["lost-1"]) { removed } }`)} {
			if !strings.Contains(a.body, `"forbidden"`) || strings.Contains(a.body, "lost-2") {
				t.Errorf("%s: %s", role, a.body)
			}
		}
	}
	for body, why := range map[string]string{`{}`: "ids", `{"ids":[]}`: "ids", `{"ids":["../x"]}`: "no id", `{"ids":["a"],"deployer":"none"}`: "no deployer", `{"ids":["` + strings.Repeat(`a","`, 300) + `a"]}`: "1 to 200"} {
		if a := s.send("sre", http.MethodPost, "/api/v1/previews/sweep", body); a.status != http.StatusBadRequest || !strings.Contains(a.body, why) {
			t.Errorf("%.40s: %s", body, a.body)
		}
	}
	var swept previews.Swept
	body := fmt.Sprintf(`{"ids":["lost-1",%q,"never-there"]}`, p.ID)
	s.await("one stray is removed", func() bool {
		s.send("sre", http.MethodPost, "/api/v1/previews/sweep", body).decode(t, &swept)
		return len(swept.Remaining) == 0
	})
	if !slices.Equal(swept.Skipped, []string{p.ID, "never-there"}) && !slices.Contains(swept.Skipped, p.ID) {
		t.Errorf("swept %+v", swept)
	}
	if there := f.There(); slices.Contains(there, "lost-1") || !slices.Contains(there, "lost-2") || !slices.Contains(there, p.ID) {
		t.Errorf("there is %v", there)
	}
	if now := s.preview("sre", p.ID); now.Phase != previews.Ready {
		t.Errorf("a sweep has left %+v", now)
	}
	if audit := s.send("sre", http.MethodGet, "/api/v1/audit?action=previews.sweep", ""); !strings.Contains(audit.body, "lost-1") || !strings.Contains(audit.body, `"refused"`) {
		t.Error(audit.body)
	}
	s.send("sre", http.MethodDelete, "/api/v1/previews/"+p.ID, "")
	s.await("the preview is gone", func() bool { return s.preview("sre", p.ID).Phase == previews.Gone })
	stray(t, f, p.ID)
	s.await("a look that did not work is counted", func() bool {
		return strings.Contains(s.send("", http.MethodGet, "/metrics", "").body, `fairlead_preview_stray_look_failures_total{deployer="down"} 1`)
	})
	s.send("sre", http.MethodGet, "/api/v1/previews/strays?deployer=local", "").decode(t, &list)
	if !slices.ContainsFunc(list.Items, func(it previews.StrayPreview) bool { return it.ID == p.ID && strings.Contains(it.Reason, "gone since") }) {
		t.Errorf("of one that has come back: %+v", list)
	}
}

func TestPreviewUsageAndResources(t *testing.T) {
	f := &previewstest.Fake{}
	s := startPreviews(t, f, "previews: {limits: {perAgent: 2}, cost: {perHour: {local: 3600}, currency: EUR}}\n")
	p := s.create("agent", `{"service":"checkout","ttl":"10m","wait":"20s"}`)
	s.create("agent", `{"service":"checkout","ttl":"10m","wait":"20s"}`)
	s.create("agent", `{"service":"checkout","ttl":"10m"}`) // which waits
	var u previews.Usage
	s.await("an hour's hundredth is reported", func() bool {
		s.send("sre", http.MethodGet, "/api/v1/previews/usage?period=24h&service=checkout", "").decode(t, &u)
		return u.Total.Cost > 1
	})
	if u.Currency != "EUR" || u.Total.Now != 3 || u.Total.Peak != 2 || u.Total.Created != 3 || u.Total.Hours <= 0 || u.Total.OldestID != p.ID ||
		len(u.Teams) != 1 || u.Teams[0].Name != p.Owner || len(u.People) != 1 || u.People[0].Name != p.Person || len(u.Agents) != 1 || u.Agents[0].Name != p.Agent {
		t.Errorf("usage: %+v", u)
	}
	if a := s.send("sre", http.MethodGet, "/api/v1/previews/usage?period=2000h", ""); a.status != http.StatusBadRequest {
		t.Error(a.body)
	}
	if a := s.send("sre", http.MethodGet, "/api/v1/previews/usage?service=cart", ""); !strings.Contains(a.body, `"teams":[]`) {
		t.Error(a.body)
	}
	if a := s.graph("sre", `{ previewUsage { currency total { now peak hours cost name } teams { name } } previewResources(first: 2) { nextCursor items { preview { id endsSoon } resources { memoryBytes } } } }`); !strings.Contains(a.body, `"currency":"EUR"`) || !strings.Contains(a.body, `"resources":null`) || !strings.Contains(a.body, `"nextCursor":"previews:`) {
		t.Error(a.body)
	}
}

// TestAlertsNameMetrics holds the alerts that the repository ships to the
// figures that a server has.
func TestAlertsNameMetrics(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	file, err := os.Open(filepath.Join("..", "..", "docs", "alerts", "previews.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	strict := yaml.NewDecoder(file)
	strict.KnownFields(true)
	if err := strict.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	s := startPreviews(t, &previewstest.Fake{}, "previews: {}\n")
	s.await("strays have been looked for", func() bool {
		return strings.Contains(s.send("", http.MethodGet, "/metrics", "").body, `fairlead_preview_strays{deployer="local"} 0`)
	})
	have := map[string]bool{}
	for line := range strings.Lines(s.send("", http.MethodGet, "/metrics", "").body) {
		have[regexp.MustCompile(`^[a-z_]*`).FindString(line)] = true
	}
	named := map[string]bool{}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" || r.For == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("the rule %+v lacks something", r)
		}
		for _, text := range []string{r.Expr, r.Annotations["description"]} {
			for _, name := range regexp.MustCompile(`fairlead_[a-z_]+`).FindAllString(text, -1) {
				named[name] = true
			}
		}
	}
	for name := range named {
		if !have[name] {
			t.Errorf("no server has %s", name)
		}
	}
	if len(named) < 8 {
		t.Errorf("the rules name only %v", named)
	}
}

func TestPreviewFiguresOnMetrics(t *testing.T) {
	f := &previewstest.Fake{Hook: func(call, _ string) error {
		if call == "remove" {
			return errors.New("the cluster is down")
		}
		return nil
	}}
	s := startPreviews(t, f, "previews: {limits: {perAgent: 1}, deadlines: {remove: 10ms}}\n")
	p := s.create("agent", `{"service":"checkout","ttl":"10m","wait":"20s"}`)
	s.create("agent", `{"service":"checkout","ttl":"10m"}`)
	s.send("agent", http.MethodDelete, "/api/v1/previews/"+p.ID, "")
	for _, line := range []string{"fairlead_previews_stuck 1\n", "fairlead_preview_queue_length 1\n", `fairlead_previews{phase="deleting"} 1`, "fairlead_jobs{state=\"due\"} ", "fairlead_job_wait_seconds "} {
		s.await(line, func() bool { return strings.Contains(s.send("", http.MethodGet, "/metrics", "").body, line) })
	}
	if m := s.send("", http.MethodGet, "/metrics", "").body; strings.Contains(m, "fairlead_preview_removal_seconds 0\n") || strings.Contains(m, "fairlead_preview_queue_wait_seconds 0\n") || !strings.Contains(m, "fairlead_preview_overdue_seconds 0\n") {
		t.Error(m)
	}
}

// TestMigrateMakesTheTablesOfJobs holds migrate to leaving serve nothing to do.
func TestMigrateMakesTheTablesOfJobs(t *testing.T) {
	for name, state := range map[string]func(*testing.T) string{"sqlite": func(t *testing.T) string { return filepath.Join(t.TempDir(), "state") }, "postgres": func(t *testing.T) string { return realtest.Postgres(t) }} {
		t.Run(name, func(t *testing.T) {
			cfg := &Config{State: state(t)}
			first, err := Migrate(t.Context(), cfg)
			if err != nil || !slices.ContainsFunc(first, func(m string) bool { return strings.HasPrefix(m, "jobs_") }) || !slices.ContainsFunc(first, func(m string) bool { return strings.Contains(m, "_previews") }) {
				t.Fatalf("applied %q, %v", first, err)
			}
			if again, err := Migrate(t.Context(), cfg); err != nil || len(again) != 0 {
				t.Errorf("then applied %q, %v", again, err)
			}
			st, err := store.Open(t.Context(), cfg.State)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			a := &App{cfg: cfg, store: st}
			if a.telemetry, err = newTelemetry(t.Context(), TelemetryConfig{}, &logBuffer{}); err != nil {
				t.Fatal(err)
			}
			if err := a.openJobs(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := a.closePreviews(); err != nil {
				t.Error(err)
			}
			if again, err := Migrate(t.Context(), cfg); err != nil || len(again) != 0 {
				t.Errorf("after a start applied %q, %v", again, err)
			}
		})
	}
}
