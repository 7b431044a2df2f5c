package infer

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSLOs(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []SLO
	}{
		"sloth": {"version: prometheus/v1\nservice: pay\nslos:\n  - name: requests\n    objective: 99.9\n    description: |\n      Requests\n      succeed.\n", []SLO{
			{Name: "requests", Service: "pay", Title: "Requests succeed.", Objective: 99.9, Window: "30d", Format: "sloth", Place: Place{"slo/a.yaml", 4}}}},
		"sloth in Kubernetes, two documents": {"apiVersion: sloth.slok.dev/v1\nkind: PrometheusServiceLevel\nspec: {service: a, slos: [{name: x, objective: 95}]}\n---\napiVersion: sloth.slok.dev/v1\nkind: PrometheusServiceLevel\nspec: {service: b, slos: [{name: y, objective: 90}]}\n", []SLO{
			{Name: "x", Service: "a", Objective: 95, Window: "30d", Format: "sloth", Place: Place{"slo/a.yaml", 3}},
			{Name: "y", Service: "b", Objective: 90, Window: "30d", Format: "sloth", Place: Place{"slo/a.yaml", 7}}}},
		"openslo v1": {"apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: up, displayName: Up}\nspec:\n  service: web\n  timeWindow: [{duration: 28d, isRolling: true}]\n  objectives:\n    - target: 0.995\n      displayName: inner\n    - targetPercent: 99\n", []SLO{
			{Name: "up/1", Service: "web", Title: "inner", Objective: 99.5, Window: "28d", Format: "openslo", Place: Place{"slo/a.yaml", 8}},
			{Name: "up/2", Service: "web", Title: "Up", Objective: 99, Window: "28d", Format: "openslo", Place: Place{"slo/a.yaml", 10}}}},
		"openslo v1alpha": {"apiVersion: openslo/v1alpha\nkind: SLO\nmetadata: {name: up}\nspec: {service: web, description: d, timeWindows: [{count: 30, unit: Day}], objectives: [{target: 0.999}]}\n", []SLO{
			{Name: "up", Service: "web", Title: "d", Objective: 99.9, Window: "30d", Format: "openslo", Place: Place{"slo/a.yaml", 4}}}},
		"pyrra": {"apiVersion: pyrra.dev/v1alpha1\nkind: ServiceLevelObjective\nmetadata: {name: p}\nspec:\n  target: \"99.5\"\n  window: 4w\n", []SLO{
			{Name: "p", Objective: 99.5, Window: "4w", Format: "pyrra", Place: Place{"slo/a.yaml", 5}}}},
		"no objective": {"apiVersion: openslo/v1\nkind: SLO\nspec: {objectives: [{displayName: x}, {target: many}]}\n", nil},
		"template":     {"version: prometheus/v1\nservice: {{ .Values.name }}\nslos: []\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Read("slo/a.yaml", []byte(c.text)).SLOs); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAlerts(t *testing.T) {
	text := "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec:\n  groups:\n    - name: g\n      rules:\n        - record: x\n          expr: y\n        - alert: PaySlow\n          labels: {severity: page, service: pay}\n          annotations:\n            summary: 'Slow on {{ $labels.pod }}'\n            runbook_url: https://example.com/runbooks/pay-slow.md\n"
	want := []Alert{{Name: "PaySlow", Service: "pay", Severity: "page", Summary: "Slow on {{ $labels.pod }}", Runbook: "https://example.com/runbooks/pay-slow.md", Place: Place{"monitoring/rules.yaml", 9}}}
	if d := cmp.Diff(want, Read("monitoring/rules.yaml", []byte(text)).Alerts); d != "" {
		t.Error(d)
	}
}

// What an OpenSLO objective names is found in other documents and files, the
// nearest of a name first.
func TestOpenSLOObjects(t *testing.T) {
	files := map[string]string{
		"slo/web.yaml": `apiVersion: openslo/v1
kind: SLO
metadata: {name: up}
spec:
  service: svc-1
  indicatorRef: latency
  timeWindow: [{duration: 28d, isRolling: true}]
  objectives: [{target: 0.995}]
  alertPolicies:
    - burns
    - alertPolicyRef: leaks
    - {kind: AlertPolicy, metadata: {name: inline, annotations: {runbook_url: https://x.test/inline}}, spec: {conditions: [{kind: AlertCondition, metadata: {name: c2}, spec: {severity: ticket}}]}}
    - nowhere
---
apiVersion: openslo/v1
kind: Service
metadata: {name: svc-1, displayName: Web}
`,
		"slo/sli/latency.yaml":  "apiVersion: openslo/v1\nkind: SLI\nmetadata: {name: latency, displayName: Fast requests}\nspec: {ratioMetric: {total: {metricSource: {metricSourceRef: prom}}}}\n",
		"other/slo/sli.yaml":    "apiVersion: openslo/v1\nkind: SLI\nmetadata: {name: latency, displayName: Of others}\nspec: {}\n",
		"slo/datasources.yaml":  "apiVersion: openslo/v1\nkind: DataSource\nmetadata: {name: prom, displayName: Production}\nspec: {type: Prometheus}\n",
		"slo/alerts/burns.yaml": "apiVersion: openslo/v1\nkind: AlertPolicy\nmetadata: {name: burns, annotations: {runbook_url: https://x.test/burns}}\nspec: {description: The budget burns, conditions: [{conditionRef: fast}]}\n---\napiVersion: openslo/v1\nkind: AlertCondition\nmetadata: {name: fast}\nspec: {severity: page}\n",
		"slo/alerts/leaks.yaml": "apiVersion: openslo/v1\nkind: AlertPolicy\nmetadata: {name: leaks}\nspec: {}\n",
		"slo/v2.yaml":           "apiVersion: openslo.com/v2alpha\nkind: SLO\nmetadata: {name: ok}\nspec: {serviceRef: pay, sliRef: nowhere, timeWindow: [{duration: 7d}], objectives: [{target: 0.9}]}\n",
		"slo/broken.yaml":       "apiVersion: openslo/v1\nkind: SLI\nmetadata: [1]\nspec: {ratioMetric: 3}\n---\napiVersion: openslo/v1\nkind: AlertPolicy\nspec: {conditions: {a: b}}\n",
	}
	readings, paths := map[string]Reading{}, []string{}
	for at, data := range files {
		paths = append(paths, at)
		readings[at] = Read(at, []byte(data))
	}
	r := NewRepository(readings, paths)
	want := []SLO{{Name: "up", Service: "svc-1", Alias: "Web", Title: "Fast requests", Objective: 99.5, Window: "28d", Format: "openslo", Indicator: "Fast requests", DataSource: "Production (Prometheus)",
		Policies: []string{"burns", "leaks", "inline", "nowhere"}, Place: Place{"slo/web.yaml", 8}}}
	if d := cmp.Diff(want, r.SLOs("web", "x", false)); d != "" {
		t.Error(d)
	}
	if got := r.SLOs("pay", "x", false); len(got) != 1 || got[0].Indicator != "nowhere" || got[0].Objective != 90 || got[0].Window != "7d" {
		t.Errorf("got %+v", got)
	}
	alerts := []Alert{
		{Name: "burns", Service: "svc-1", Alias: "Web", Severity: "page", Summary: "The budget burns", Runbook: "https://x.test/burns", Place: Place{"slo/alerts/burns.yaml", 1}},
		{Name: "leaks", Service: "svc-1", Alias: "Web", Place: Place{"slo/alerts/leaks.yaml", 1}},
		{Name: "inline", Service: "svc-1", Alias: "Web", Severity: "ticket", Runbook: "https://x.test/inline", Place: Place{"slo/web.yaml", 12}},
	}
	if d := cmp.Diff(alerts, r.Alerts("web", "x", false)); d != "" {
		t.Error(d)
	}
	if names := r.Names(); !slices.Contains(names, "web") || !slices.Contains(names, "svc-1") || !slices.Contains(names, "pay") {
		t.Errorf("names: %q", names)
	}
	kept, err := json.Marshal(readings)
	if err != nil {
		t.Fatal(err)
	}
	var restored map[string]Reading
	if err := json.Unmarshal(kept, &restored); err != nil || !cmp.Equal(readings, restored, cmpopts.EquateEmpty()) {
		t.Errorf("readings do not come back as they were kept: %v", err)
	}
}

// Every valid public sample gives its objectives, and a broken one none that
// it does not state.
func TestPublicSLOs(t *testing.T) {
	dir := sharedFolder(t, "knowledge/slo")
	valid, objectives := 0, 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isYAML(p) {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		stated := strings.Count(string(data), "objective: ") + strings.Count(string(data), "target: 0") + strings.Count(string(data), "targetPercent: ")
		rel, _ := filepath.Rel(dir, p)
		if strings.Contains(rel, "_gen") || strings.Contains(rel, "/bad/") || stated == 0 {
			return nil
		}
		valid++
		got := readOperations(filepath.ToSlash(rel), data).SLOs
		objectives += len(got)
		if len(got) != stated {
			t.Errorf("%s: %d objectives, the file states %d", rel, len(got), stated)
		}
		for _, s := range got {
			if s.Objective < 50 || s.Service == "" || s.Window == "" {
				t.Errorf("%s: %+v", rel, s)
			}
		}
		return nil
	})
	if err != nil || valid == 0 {
		t.Fatal(err, valid)
	}
	t.Logf("%d objectives of %d files", objectives, valid)
}

func TestApplications(t *testing.T) {
	text := `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: pay-staging}
spec:
  source: {repoURL: https://git.example.com/acme/deploy.git, path: apps/pay/overlays/staging, targetRevision: main}
  destination: {namespace: pay, server: https://kubernetes.default.svc}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators: [{list: {elements: [{svc: ship, env: prod}, {svc: bill, env: dev}]}}, {git: {}}]
  template:
    metadata: {name: '{{svc}}-{{ env }}'}
    spec: {source: {repoURL: https://git.example.com/acme/deploy.git, path: 'apps/{{svc}}/envs/{{env}}'}}
`
	var got []string
	for _, a := range Read("argocd/apps.yaml", []byte(text)).Applications {
		got = append(got, fmt.Sprintf("%s %s %s %d", a.Name, a.EnvironmentOf(), a.Path, a.Line))
	}
	want := []string{"pay-staging staging apps/pay/overlays/staging 1", "ship-prod prod apps/ship/envs/prod 12", "bill-dev dev apps/bill/envs/dev 12"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	a := Application{Name: "pay-staging", Path: "x"}
	if !a.Serves("pay") || a.Serves("pa") || a.Serves("staging") || !(Application{Name: "z", Path: "apps/pay/base"}).Serves("Pay") || (Application{Name: "pay", Component: "ship"}).Serves("pay") {
		t.Error("which services an application serves")
	}
}

// What a set makes of folders, what Flux deploys, and what stands in a list.
func TestDeploymentsOfFolders(t *testing.T) {
	files := map[string]string{
		"argocd/set.yaml": `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators: [{git: {repoURL: https://git.example.com/acme/deploy.git, directories: [{path: 'apps/*/overlays/*'}, {path: 'apps/old/overlays/*', exclude: true}]}}]
  template:
    metadata: {name: '{{path[1]}}-{{path.basename}}'}
    spec: {source: {repoURL: https://git.example.com/acme/deploy.git, path: '{{path}}'}, destination: {namespace: '{{index .path.segments 1}}'}}
`,
		"apps/pay/overlays/prod/a.yaml": "", "apps/pay/overlays/dev/a.yaml": "", "apps/old/overlays/dev/a.yaml": "", "apps/pay/base/a.yaml": "",
		"clusters/prod/ship.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ship}\nspec: {path: ./services/ship/prod, sourceRef: {kind: GitRepository, name: flux-system}, targetNamespace: ship}\n",
		"clusters/dev/list.yaml":  "apiVersion: v1\nkind: List\nitems:\n- apiVersion: helm.toolkit.fluxcd.io/v2\n  kind: HelmRelease\n  metadata: {name: ship, namespace: web}\n",
	}
	readings, paths := map[string]Reading{}, []string{}
	for at, data := range files {
		paths = append(paths, at)
		if Wanted(at) {
			readings[at] = Read(at, []byte(data))
		}
	}
	r := NewRepository(readings, paths)
	var got []string
	for _, service := range []string{"pay", "ship", "old"} {
		for _, d := range r.Deployments(service, false) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s", service, d.Environment, d.Path, d.App, d.Namespace))
		}
	}
	want := []string{"pay dev apps/pay/overlays/dev pay-dev pay", "pay prod apps/pay/overlays/prod pay-prod pay", "ship dev clusters/dev ship web", "ship prod services/ship/prod ship ship"}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	kept, err := json.Marshal(readings)
	if err != nil {
		t.Fatal(err)
	}
	var restored map[string]Reading
	if err := json.Unmarshal(kept, &restored); err != nil || !cmp.Equal(readings, restored, cmpopts.EquateEmpty()) {
		t.Errorf("readings do not come back as they were kept: %v\n%s", err, cmp.Diff(readings, restored, cmpopts.EquateEmpty()))
	}
	again := NewRepository(readings, r.Files())
	if len(again.Deployments("pay", false)) != 2 {
		t.Error("the files that decided do not suffice")
	}
	if r := Read("charts/a/templates/slo.yaml", []byte("version: prometheus/v1\nservice: {{ .Values.name }}\n")); r.Unreadable == "" {
		t.Error("a template of a chart is left out without a word")
	}
}

func TestOverlays(t *testing.T) {
	for file, want := range map[string]string{
		"apps/pay/overlays/staging/kustomization.yaml":       "pay staging apps/pay/overlays/staging",
		"environments/prod/apps/pay/kustomization.yaml":      "pay prod environments/prod/apps/pay",
		"overlays/prod/kustomization.yaml":                   " prod overlays/prod",
		"charts/pay/values-production.yaml":                  "pay production charts/pay",
		"charts/pay/values.yaml":                             "",
		"apps/pay/base/kustomization.yaml":                   "",
		"services/pay/deploy/overlays/dev/kustomization.yml": "pay dev services/pay/deploy/overlays/dev",
	} {
		got := ""
		if o, ok := overlayOf(file); ok {
			got = o.Service + " " + o.Environment + " " + o.Dir
		}
		if got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestCodeowners(t *testing.T) {
	r := NewRepository(map[string]Reading{".github/CODEOWNERS": Read(".github/CODEOWNERS", []byte("# who\n* @acme/all\n/services/pay/ @acme/payments someone@example.com\n/docs/\n"))}, nil)
	if o, ok := r.OwnersOf("services/pay/main.go"); !ok || o.Line != 3 || o.Owners[0] != "@acme/payments" {
		t.Errorf("%+v %v", o, ok)
	}
	if o, _ := r.OwnersOf("main.go"); o.Line != 2 {
		t.Errorf("%+v", o)
	}
	if _, ok := r.OwnersOf("docs/a.md"); ok {
		t.Error("docs is nobody's")
	}
}
