package app

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// declare has the catalog hold a service that is previewed with what more says,
// and other entities.
func (s *server) declare(others, more string) {
	s.t.Helper()
	if err := os.MkdirAll(s.repo("orders", "mine"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.commit("orders", "mine/catalog-info.yaml", `apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: mine
spec:
  type: service
  lifecycle: production
  owner: fulfilment
  fairlead:
    preview:
      deployer: local
      command: ["./run.sh"]`+more+"\n"+others)
	s.reread("orders")
}

// TestPreviewDataRefused tells what is wrong with data that is asked for, and
// where.
func TestPreviewDataRefused(t *testing.T) {
	s := startPreviews(t, &previewstest.Fake{}, "previews: {}\n")
	for want, data := range map[string]string{
		"no server of kind postgres is configured here; none is":  `[{name: db, kind: postgres}]`,
		"no server of kind redis":                                 `[{name: cache, kind: redis}]`,
		"data.kind of component:default/mine must be":             `[{name: db, kind: oracle}]`,
		"data.name of component:default/mine must be":             `[{name: DB_1, kind: postgres}]`,
		"data.size of component:default/mine is not known":        `[{name: db, kind: postgres, size: 10}]`,
		"data.seed of component:default/mine is no path":          `[{name: db, kind: postgres, seed: ../../etc/passwd}]`,
		"data.seed of component:default/mine can only fill":       `[{name: db, kind: redis, seed: a.sql}]`,
		"data.env of component:default/mine is no variable":       `[{name: db, kind: postgres, env: PORT}]`,
		"data.env of component:default/mine is the variable of":   `[{name: a, kind: postgres}, {name: b, kind: postgres}]`,
		"data.env of component:default/mine is the variable of a": `[{name: a, kind: redis, env: A}, {name: b, kind: postgres, env: A_PREFIX}]`,
		"data.env of component:default/mine is TAKEN, which":      `[{name: a, kind: postgres, env: TAKEN}]`,
		"data.optional of component:default/mine is neither":      `[{name: a, kind: postgres, optional: perhaps}]`,
		"data of component:default/mine is no list such as":       `{name: db}`,
		"data of component:default/mine holds what is no mapping": `[db]`,
		"data of component:default/mine asks for more than 4":     `[{name: a, kind: redis, env: A}, {name: b, kind: redis, env: B}, {name: c, kind: redis, env: C}, {name: d, kind: redis, env: D}, {name: e, kind: redis, env: E}]`,
	} {
		s.declare("", fmt.Sprintf("\n      data: %s\n      env: {TAKEN: x}", data))
		a := s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, want) || !strings.Contains(a.body, "catalog-info.yaml:1") {
			t.Errorf("%s: %s", data, a.body)
		}
	}
	s.declare("", "\n      data: [{name: db, kind: postgres, optional: true}]\n")
	if a := s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`); a.status >= 300 {
		t.Errorf("without what is optional: %s", a.body)
	}
}

// TestPreviewsUseNothingShared refuses a preview that names what the catalog
// knows as shared, and says what, whose, where and what to do.
func TestPreviewsUseNothingShared(t *testing.T) {
	s := startPreviews(t, &previewstest.Fake{}, "previews: {}\n")
	const others = `---
apiVersion: backstage.io/v1alpha1
kind: Resource
metadata:
  name: stock
  annotations: {example.com/endpoint: "stock.prod.shop.test:5432"}
  links:
    - {url: "postgres://stock-ro.prod.shop.test/stock", title: Replica}
    - {url: "https://grafana.shop.test/d/stock", title: Stock dashboard}
spec: {type: database, owner: payments, connection: {host: "2001:db8::5"}}
`
	for env, want := range map[string]string{
		`"postgres://u:p@STOCK.prod.shop.test.:5432/x"`: "names stock.prod.shop.test, which is resource:default/stock, owned by group:default/payments",
		`"${{ resource:default/stock }}"`:               "names resource:default/stock, which is resource:default/stock, owned by group:default/payments",
		`"host=stock-ro.prod.shop.test"`:                "names stock-ro.prod.shop.test",
		`"http://[2001:DB8:0::5]:80"`:                   "names 2001:db8::5",
		`"postgres://orders-db/x"`:                      "names orders-db, which is resource:default/orders-db, owned by group:default/fulfilment",
		`"https://checkout.shop.test/api"`:              "names checkout.shop.test, which is the protected environment production of component:default/checkout, owned by group:default/storefront",
	} {
		s.declare(others, "\n      env: {ADDRESS: "+env+"}")
		for role := range s.tokens {
			a := s.send(role, http.MethodPost, "/api/v1/previews", `{"service":"mine"}`)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, want) || !strings.Contains(a.body, "mine/catalog-info.yaml:13: spec.fairlead.preview.env.ADDRESS of component:default/mine") || !strings.Contains(a.body, "data of its own") {
				t.Errorf("%s as %s: %s", env, role, a.body)
			}
		}
	}
	for _, env := range []string{`"https://checkout.staging.shop.test/api"`, `"https://grafana.shop.test/d/x"`, `"http://127.0.0.1:9"`, `stocks`} {
		s.declare(others, "\n      env: {ADDRESS: "+env+"}")
		if a := s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`); a.status >= 300 {
			t.Errorf("%s: %s", env, a.body)
		}
	}
	s.declare(others, "\n      data: []")
	s.commit("orders", "mine/catalog-info.yaml", strings.Replace(readFile(t, s.repo("orders", "mine/catalog-info.yaml")), `["./run.sh"]`, `["./run.sh", "--db=postgres://stock.prod.shop.test/x"]`, 1))
	s.reread("orders")
	if a := s.send("sre", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`); !strings.Contains(a.body, "mine/catalog-info.yaml:12: spec.fairlead.preview.command[1]") {
		t.Error(a.body)
	}
}

// TestProtectedPreviewsNeedApproval has a preview that uses a protected
// environment wait until another person has agreed.
func TestProtectedPreviewsNeedApproval(t *testing.T) {
	s := startPreviews(t, &previewstest.Fake{}, "previews: {}\n")
	const environments = "\n    environments:\n      - {name: production, protected: true, url: \"https://mine.shop.test\"}\n      - {name: staging, url: \"https://mine.staging.shop.test\"}"
	const uses = "\n      env: {UPSTREAM: \"https://mine.shop.test/api\"}"
	s.declare("", uses+environments)
	if a := s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "write environment: production") {
		t.Fatal(a.body)
	}
	for _, more := range []string{"\n      environment: staging", ""} {
		s.declare("", more+environments)
		if a := s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"mine"}`); a.status >= 300 {
			t.Errorf("%q: %s", more, a.body)
		}
	}
	for _, more := range []string{"\n      environment: production" + uses, "\n      protected: true"} {
		s.declare("", more+environments)
		const create = `{"service":"mine","ttl":"10m"}`
		a := &approvals{t: t, server: s}
		want := a.faultOf(s.send("agent", http.MethodPost, "/api/v1/previews", create).body)
		if want.Code != "approval_required" || want.ID == "" {
			t.Fatalf("%q: %+v", more, want)
		}
		if got := a.faultOf(s.send("developer", http.MethodPost, "/api/v1/approvals/"+want.ID+"/grant", `{}`).body); got.Code != "forbidden" {
			t.Errorf("granted by who asked: %+v", got)
		}
		if got := s.send("sre", http.MethodPost, "/api/v1/approvals/"+want.ID+"/grant", `{}`); got.status >= 300 {
			t.Fatal(got.body)
		}
		var p previews.Preview
		s.send("agent", http.MethodPost, "/api/v1/previews", create).decode(t, &p)
		if p.ID == "" {
			t.Fatalf("%q: granted, and yet nothing", more)
		}
		s.awaitPhase(p.ID, previews.Ready)
		if got := a.faultOf(s.send("agent", http.MethodPost, "/api/v1/previews/"+p.ID+"/extend", `{"ttl":"10m"}`).body); got.Code != "approval_required" {
			t.Errorf("extended without approval: %+v", got)
		}
		if got := s.send("agent", http.MethodDelete, "/api/v1/previews/"+p.ID, ""); got.status != http.StatusOK {
			t.Errorf("its end needs approval: %s", got.body)
		}
		s.awaitPhase(p.ID, previews.Gone)
	}
}
