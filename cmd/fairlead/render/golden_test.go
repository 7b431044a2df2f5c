package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/render"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func fact(name, value, path string, line int) catalog.Fact {
	return catalog.Fact{Name: name, Value: value, Kind: catalog.Declared, VerifiedAt: now.Add(-3 * time.Minute), ChangedAt: now.Add(-75 * time.Hour),
		Source: catalog.FactSource{Repo: "https://git.example.com/shop/checkout.git", Commit: "0123456789abcdef0123", Path: path, Line: line}}
}

func one(name, value, path string, line int) *catalog.Fact {
	f := fact(name, value, path, line)
	return &f
}

func brief() *catalog.Brief {
	test := one("", "go test ./...", "AGENTS.md", 7)
	test.Kind = catalog.Inferred
	test.Disagrees, test.Stale = []string{"Makefile:12 says make test"}, "go.mod is gone"
	single := one("", "go test ./catalog/", "AGENTS.md", 8)
	single.Kind, single.Path = catalog.Inferred, "services/checkout"
	production := fact("production", "https://checkout.example.com", "catalog-info.yaml", 31)
	production.Path, production.App, production.Protected = "apps/checkout/overlays/production", "main/checkout", true
	user := fact("dependsOn", "component:default/web", "catalog-info.yaml", 9)
	user.Source.Repo, user.Owner = "https://git.example.com/shop/web.git", "group:default/storefront"
	return &catalog.Brief{
		Ref: "component:default/checkout", Title: "Checkout", Description: "Takes orders\nand money.",
		Owner: one("", "group:default/payments", "catalog-info.yaml", 14), Oncall: one("", "https://oncall.example.com/payments", "catalog-info.yaml", 40),
		Repository:   one("", "https://git.example.com/shop/checkout.git", "catalog-info.yaml", 1),
		Commands:     &catalog.Commands{Build: one("", "make build", "catalog-info.yaml", 20), Test: test, TestOne: single},
		Rules:        []catalog.Fact{fact("", "AGENTS.md", "AGENTS.md", 1)},
		DeployRepo:   one("", "https://git.example.com/shop/deploy.git", "catalog-info.yaml", 25),
		Environments: []catalog.Fact{fact("staging", "", "catalog-info.yaml", 29), production},
		DependsOn:    []catalog.Fact{fact("dependsOn", "resource:default/orders-db", "catalog-info.yaml", 16)},
		DependencyOf: []catalog.Fact{user},
		Runbooks:     []catalog.Fact{fact("", "docs/runbooks/checkout-down.md", "catalog-info.yaml", 36)},
		Dashboards:   []catalog.Fact{fact("Overview", "https://grafana.example.com/d/x", "catalog-info.yaml", 38)},
		Problems:     []string{"catalog-info.yaml:35: spec.fairlead.slos: nothing matches slo/*.yaml in the repository"},
		Unknown:      []string{"slos"}, Omitted: []string{"dependencyOf"},
	}
}

func coverage() *catalog.Coverage {
	th := func(name string, state catalog.CoverageState) catalog.CoverageThing {
		return catalog.CoverageThing{Name: name, State: state}
	}
	stale := catalog.CoverageThing{Name: "test", State: catalog.CoverageInferred, Stale: "Makefile has no target test"}
	total := catalog.CoverageTotal{Owner: "group:default/payments", Services: 2, Things: 6, Declared: 2, Inferred: 1, Missing: 2, Stale: 1, Percent: 60}
	all := total
	all.Owner = ""
	return &catalog.Coverage{All: all, Teams: []catalog.CoverageTotal{total}, Total: 2, Items: []catalog.ServiceCoverage{
		{Ref: "component:default/checkout", Things: []catalog.CoverageThing{th("owner", catalog.CoverageDeclared), stale, th("slo", catalog.CoverageMissing)},
			Add: []catalog.Addition{{Things: []string{"slo"}, Repo: "https://git.example.com/shop/checkout", File: "catalog-info.yaml", Line: 8, Lines: "  fairlead:\n    slos: [\"slo/*.yaml\"]"}}},
		{Ref: "component:default/kit", Things: []catalog.CoverageThing{th("owner", catalog.CoverageDeclared), th("test", catalog.CoverageMissing), th("slo", catalog.CoverageNone)},
			Add: []catalog.Addition{{Things: []string{"test"}, File: "kit.yaml", Line: 3, Column: 8, Lines: "fairlead: {commands: {test: make test}}, "}, {Things: []string{"x"}, Lines: "x\x1b[2J"}}},
	}}
}

func parsed(t *testing.T, text string) *entity.Entity {
	t.Helper()
	v, err := entity.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return render.EntityOf(v.(*entity.Object))
}

const checkout = `{"apiVersion":"backstage.io/v1alpha1","kind":"Component",
 "metadata":{"name":"Checkout","title":"Checkout","description":"Takes orders","tags":["go","grpc"],
  "annotations":{"backstage.io/view-url":"https://git.example.com/shop/checkout/src/branch/main/catalog-info.yaml"},
  "links":[{"url":"https://grafana.example.com/d/x","title":"Overview"}]},
 "spec":{"type":"service","lifecycle":"production","owner":"payments"},
 "relations":[{"type":"ownedBy","targetRef":"group:default/payments"},{"type":"dependsOn","targetRef":"resource:default/a"},{"type":"dependsOn","targetRef":"resource:default/b"}],
 "status":{"items":[{"type":"x","level":"error","message":"the newest version is broken"}]},
 "source":{"source":"shop","commit":"0123456789abcdef0123","path":"catalog-info.yaml","line":1,"changedAt":"2026-01-29T06:00:00Z","changedIn":"89abcdef012345678","verifiedAt":"2026-01-31T11:57:00Z"}}`

func problems() []catalog.IngestionError {
	seen := catalog.Sighting{Commit: "89abcdef012345678", At: now.Add(-50 * time.Hour)}
	return []catalog.IngestionError{
		{Source: "legacy", Owner: "group:default/platform", FirstSeen: seen, LastSeen: seen, Problem: catalog.Problem{
			Severity: "error", File: "catalog-info.yaml", Line: 12, Column: 9, Ref: "component:default/legacy",
			Message: "spec.owner is missing: kind Component needs it", Fix: "Add spec.owner."}},
		{Source: "shop", Problem: catalog.Problem{Severity: "warning", Message: "the repository \x1b[31mcannot\x07 be reached"}},
	}
}

func graph() *catalog.DependencyGraph {
	return &catalog.DependencyGraph{Root: "component:default/checkout", Truncated: true,
		Nodes: []catalog.DependencyNode{
			{Ref: "component:default/checkout", Type: "service", Owner: "group:default/payments"},
			{Ref: "component:default/orders", Type: "service", Owner: "group:default/orders", Depth: 1},
			{Ref: "resource:default/db", Type: "database", Depth: 1},
			{Ref: "api:default/gone", Depth: 2, Missing: true},
			{Ref: "component:default/web", Type: "website", Depth: 1},
		},
		Edges: []catalog.DependencyEdge{
			{From: "component:default/checkout", Type: "dependsOn", To: "component:default/orders"},
			{From: "component:default/checkout", Type: "dependsOn", To: "resource:default/db"},
			{From: "component:default/orders", Type: "consumesApi", To: "api:default/gone"},
			{From: "component:default/orders", Type: "dependsOn", To: "resource:default/db"},
			{From: "component:default/web", Type: "dependsOn", To: "component:default/checkout"},
			{From: "component:default/orders", Type: "dependsOn", To: "component:default/checkout"},
		}}
}

func sources() []catalog.SourceStatus {
	return []catalog.SourceStatus{
		{Name: "shop", Type: "git", URL: "https://git.example.com/shop.git", State: "ok", Commit: "0123456789abcdef", Checked: catalog.Sighting{At: now.Add(-20 * time.Second)}, Files: 12, Entities: 30},
		{Name: "legacy", Type: "git", URL: "https://git.example.com/legacy.git", State: "failing", Problems: 1, Error: "the server asks for a password", Fix: "Configure credentials."},
	}
}

func TestPages(t *testing.T) {
	for name, write := range map[string]func(*render.Page){
		"brief":       func(p *render.Page) { p.Brief(brief()) },
		"brief-empty": func(p *render.Page) { p.Brief(&catalog.Brief{Ref: "component:default/x", Unknown: []string{"owner"}}) },
		"entity":      func(p *render.Page) { p.Entity(parsed(t, checkout)) },
		"entities": func(p *render.Page) {
			p.Entities([]*entity.Entity{parsed(t, checkout), parsed(t, `{"kind":"Group","metadata":{"name":"payments"},"spec":{"type":"team","profile":{"displayName":"支付 Payments"}}}`)})
		},
		"graph":       func(p *render.Page) { p.Graph(graph()) },
		"graph-empty": func(p *render.Page) { p.Graph(&catalog.DependencyGraph{Root: "component:default/x"}) },
		"errors":      func(p *render.Page) { p.Errors(problems()) },
		"sources":     func(p *render.Page) { p.Sources(sources()) },
		"coverage": func(p *render.Page) {
			p.Coverage(coverage())
			p.Additions(coverage().Items)
		},
		"hits": func(p *render.Page) {
			p.Hits([]catalog.SearchHit{{Ref: "component:default/checkout", Type: "service", Owner: "group:default/payments", Description: "Takes orders"}, {Ref: "api:default/x", Title: "X"}})
		},
		"audit": func(p *render.Page) {
			p.Audit([]access.Entry{{ID: "2", Time: "2026-01-31T11:59:00.123Z", Action: access.RefreshCatalog, Target: "shop", Subject: "user:default/alice", Agent: "claude", Status: access.StatusOK, Took: "1.2s"},
				{ID: "1", Time: "2026-01-31T11:58:00Z", Action: access.RefreshCatalog, Status: access.StatusRefused, Message: "reader may not"}})
		},
		"identity": func(p *render.Page) {
			p.Identity(&access.Identity{Subject: "user:default/alice", Agent: "claude", Groups: []string{"group:default/payments"}, Roles: []string{"developer"},
				Actions: []access.Permission{{Action: access.ReadCatalog, On: "everything"}, {Action: access.RefreshCatalog, On: "entities with owner: group:default/payments"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			p := render.NewPage(&b, render.Options{Now: now})
			write(p)
			if p.Err() != nil {
				t.Fatal(p.Err())
			}
			golden(t, name, b.String())
		})
	}
}

func TestColorsAreOnlyStyle(t *testing.T) {
	var plain, colored bytes.Buffer
	render.NewPage(&plain, render.Options{Now: now}).Brief(brief())
	render.NewPage(&colored, render.Options{Now: now, Color: true}).Brief(brief())
	golden(t, "brief-color", colored.String())
	if bytes.Contains(plain.Bytes(), []byte("\x1b")) {
		t.Error("a page without colour holds escapes")
	}
	if !bytes.Contains(colored.Bytes(), []byte("\x1b[")) {
		t.Error("a page with colour holds no escapes")
	}
}

func TestCleanAndCut(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"a\tb\nc":                "a b c",
		"\x1b]0;title\x07x":      "]0;titlex",
		"\u202eevil\u200b":       "evil",
		"päivää 支付":              "päivää 支付",
		"\x9b31mred":             "\ufffd31mred",
		"  two\u00a0\u00a0gaps ": "two gaps",
	} {
		if got := render.Clean(in); got != want {
			t.Errorf("Clean(%q) is %q, want %q", in, got, want)
		}
	}
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{{"short", 0, "short"}, {"short", 5, "short"}, {"longer", 5, "long…"}, {"支付支付", 5, "支付…"}} {
		if got := render.Cut(c.in, c.columns); got != c.want {
			t.Errorf("Cut(%q, %d) is %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func TestData(t *testing.T) {
	raw := []byte(`{"z":1,"a":{"yes":"yes","n":null,"f":1.5,"big":1e300,"over":1e999,"t":true,"s":"1","multi":"a\nb\n","date":"2026-01-31"},"l":[],"o":{}}`)
	var j, y bytes.Buffer
	if err := render.JSON(&j, raw); err != nil {
		t.Fatal(err)
	}
	if err := render.YAML(&y, raw); err != nil {
		t.Fatal(err)
	}
	golden(t, "data-json", j.String())
	golden(t, "data-yaml", y.String())
}
