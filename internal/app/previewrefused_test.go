package app

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

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
