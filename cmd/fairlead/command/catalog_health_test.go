package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestCatalogHealth prints what is wrong with the catalog.
func TestCatalogHealth(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{
		"/api/v1/catalog/health": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"entities":7,"sources":2,"failing":1,"errors":3,"warnings":0,"conflicts":1,"stale":2,"broken":4,"more":true,"classes":[],"owners":[{"owner":"group:default/red","errors":3,"warnings":0,"conflicts":1,"stale":2,"broken":3},{"errors":0,"warnings":0,"conflicts":0,"stale":0,"broken":1},{"owner":"group:default/fine","errors":0,"warnings":0,"conflicts":0,"stale":0,"broken":0}]}`)
		},
		"/api/v1/catalog/broken-relations": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("owner") != "" {
				fmt.Fprint(w, `{"items":[],"total":0}`)
				return
			}
			fmt.Fprint(w, `{"items":[{"ref":"component:default/web","type":"dependsOn","target":"component:default/gone\u001b","source":"web","file":"catalog-info.yaml","line":7,"fix":"x"}],"total":1}`)
		},
		"/api/v1/catalog/stale-entities": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("owner") != "" {
				fmt.Fprint(w, `{"items":[],"total":0}`)
				return
			}
			fmt.Fprint(w, `{"items":[{"ref":"component:default/web","reason":"file","message":"the owner is missing\u001b","staleSince":"0123456789abcdef","source":"web","file":"catalog-info.yaml","line":7},{"ref":"component:default/shop","reason":"source","message":"it is down","since":"2020-01-01T00:00:00Z","source":"shop","file":"catalog-info.yaml"}],"total":3}`)
		},
	})
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"catalog health", 0, "7 entities of 2 sources, of which 1 cannot be read", ""},
		{"catalog health", 0, "(nobody)", ""},
		{"catalog health", 0, "and more owners", ""},
		{"catalog health -o json", 0, `"conflicts": 1`, ""},
		{"catalog health --broken", 0, "component:default/gone  web catalog-info.yaml:7", ""},
		{"catalog health --broken --owner group:default/red", 0, "", "no relation is broken"},
		{"catalog health --stale", 0, "component:default/web   0123456789ab", ""},
		{"catalog health --stale", 0, "web catalog-info.yaml:7  the owner is missing\n", ""},
		{"catalog health --stale --limit 2", 0, " ago", "of 3"},
		{"catalog health --stale --owner group:default/red", 0, "", "no entity is stale"},
		{"catalog health --stale --broken", 2, "", "--broken"},
		{"catalog health --limit 0", 2, "", "--limit"},
	} {
		r := run(t, f.env(), "", strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) || strings.Contains(r.out, "group:default/fine  ") {
			t.Errorf("%s: %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
	}
}
