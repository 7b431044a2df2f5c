package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestHealth holds the command to what it prints and exits with: 0 for healthy
// alone.
func TestHealth(t *testing.T) {
	asked := ""
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/deployments/health": func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		switch r.URL.Query().Get("environment") {
		case "production":
			fmt.Fprint(w, `{"service":"component:default/shop","environment":"production","application":"main/shop","verdict":"healthy","grounds":["revision abc is live, synced and healthy"],
				"desired":{"revision":"abc"},"live":{"revision":"abc","at":"2026-01-31T10:00:00Z","images":[{"name":"shop","tag":"1","digest":"sha256:d1","commit":"c0ffee","builtBy":"ci"}]},
				"sync":{"status":"Synced","comparedAt":"2026-01-31T10:01:00Z"},"age":"12ms","slo":[{"name":"answers","objective":99.9,"window":"28d","state":"met","budgetLeft":81.5,"burn":0.2}],"history":[{"revision":"abc","at":"2026-01-31T10:00:00Z","by":"ann"}]}`)
		case "staging":
			fmt.Fprint(w, `{"service":"component:default/shop","environment":"staging","verdict":"degraded","grounds":["Pod shop-1 is Degraded: back-off\u001b[31m"],"resources":[{"resource":"Pod shop-1","health":"Degraded","message":"back-off"}],
				"drift":["Deployment shop"],"operation":{"phase":"Failed","message":"no"},"alerts":[{"name":"ShopDown","severity":"page","since":"2026-01-31T10:00:00Z","runbook":"doc://shop/down.md"}],"omitted":["2 resources"]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"not_found","message":"component:default/shop has no environment","fix":"There is production."}}`)
		}
	}})
	for _, c := range []struct {
		args  string
		code  int
		parts []string
	}{
		{"health shop production --revision 0123456", 0, []string{"healthy", "revision abc is live", "shop:1@sha256:d1  of c0ffee  by ci", "asked 12ms ago", "99.9% over 28d", "81.5%", "ann"}},
		{"health shop staging", 1, []string{"degraded", "Pod shop-1 is Degraded", "ShopDown", "doc://shop/down.md", "Deployment shop", "left out: 2 resources"}},
		{"health shop staging -o json", 1, []string{`"verdict": "degraded"`}},
		{"health shop moon", 4, nil},
		{"health shop", 2, nil},
	} {
		r := run(t, f.env(), "", strings.Fields(c.args)...)
		if r.code != c.code || strings.Contains(r.out, "\x1b") {
			t.Errorf("%s: exit code %d\n%q\n%s", c.args, r.code, r.out, r.err)
		}
		for _, part := range c.parts {
			if !strings.Contains(r.out, part) {
				t.Errorf("%s lacks %q:\n%s", c.args, part, r.out)
			}
		}
		if strings.Contains(c.args, "--revision") && asked != "environment=production&revision=0123456&service=shop" {
			t.Errorf("asked for %s", asked)
		}
	}
}
