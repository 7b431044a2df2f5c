package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestMetricsConfigured(t *testing.T) {
	cfg, err := ParseConfig([]byte("metrics: {prometheus: {url: https://prometheus.example.com, tokenFile: ./token}}\n"), "fairlead.yaml", "/etc/fairlead")
	if err != nil || cfg.Metrics.Prometheus.TokenFile != "/etc/fairlead/token" {
		t.Fatalf("%+v, %v", cfg, err)
	}
	_, err = ParseConfig([]byte("metrics:\n  prometheus: {url: prometheus}\n"), "fairlead.yaml", "/")
	var problems *ConfigError
	if !errors.As(err, &problems) || !strings.Contains(problems.Error(), `line 2: metrics.prometheus.url: "prometheus" is no http or https URL`) {
		t.Error(err)
	}
}

// TestDeploymentMeasured follows the demo's checkout through the doors: its own
// objective and alert, measured by a real Prometheus.
func TestDeploymentMeasured(t *testing.T) {
	var n, failing atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "http_requests_total{service=\"checkout\",code=\"200\"} %d\nhttp_requests_total{service=\"checkout\",code=\"500\"} %d\nfailing %d\n", 1000*n.Add(1), n.Load()*failing.Load(), failing.Load())
	}))
	t.Cleanup(service.Close)
	p := realtest.Prometheus(t, strings.TrimPrefix(service.URL, "http://"), "groups: [{name: g, rules: [{alert: Slow, expr: failing > 0, labels: {severity: page, service: checkout}, annotations: {summary: It is slow}}]}]\n")
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := withoutPreviews(readFile(t, set.Config)) + argoSection + fmt.Sprintf("metrics: {prometheus: {url: %q}}\n", p.URL)
	if err := os.WriteFile(set.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	argo := gitopstest.NewFake("checkout", strings.Repeat("a", 40), "checkout:1")
	s := &server{t: t, dir: dir, tokens: set.Tokens, argo: fakeArgo(argo)}
	s.start(set.Config)
	health := func() (h gitops.DeploymentHealth) {
		a := s.tool("agent", "get_deployment_health", map[string]any{"service": "checkout", "environment": "production"})
		if a.IsError || json.Unmarshal(a.StructuredContent, &h) != nil {
			t.Fatal(a.raw)
		}
		if text := a.Content[0].Text; len(text) > 2400 || len(a.StructuredContent) > 4800 || !strings.HasPrefix(text, h.Verdict+": component:default/checkout in production") {
			t.Errorf("%d bytes of text, %d of structure: %s", len(text), len(a.StructuredContent), text)
		}
		return h
	}
	s.await("its objective is measured and met", func() bool {
		h := health()
		return h.Verdict == "healthy" && len(h.SLO) == 1 && h.SLO[0].State == "met" && *h.SLO[0].BudgetLeft == 100 && *h.SLO[0].Burn == 0 && len(h.Alerts) == 0
	})
	changed := time.Now()
	failing.Store(1000)
	s.await("it burns, and its alert fires with a runbook", func() bool {
		h := health()
		return h.Verdict == "degraded" && h.SLO[0].State == "burning" && len(h.Alerts) == 1 && h.Alerts[0].Runbook == slowRunbook && h.Alerts[0].Severity == "page"
	})
	s.await("it is worse than it was", func() bool {
		w, err := s.app.health.CompareWindows(t.Context(), access.System("proposals"), gitops.CompareWindowsInput{Service: "checkout", Environment: "production", Before: changed, After: time.Now(), Length: 4 * time.Second})
		return err == nil && w.Outcome == gitops.WindowRegressed && len(w.Figures) == 1 && *w.Figures[0].Before == 0 && *w.Figures[0].After > 0.1
	})
	p.Stop()
	s.await("what is not measured is said", func() bool {
		h := health()
		return h.Verdict == "healthy" && h.SLO[0].State == "unknown" && strings.Contains(strings.Join(h.Grounds, "\n"), "which alerts fire is not known")
	})
}
