package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestChangeCI holds the command to what it prints and exits with: 0 where all
// passed alone.
func TestChangeCI(t *testing.T) {
	asked := ""
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/checks": func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		switch r.URL.Query().Get("revision") {
		case "":
			fmt.Fprint(w, `{"service":"component:default/shop","repository":"acme/shop","revision":"main","commit":"abc","state":"passed","grounds":["2 of 2 checks passed"],"checks":[{"name":"unit","state":"passed","required":true,"duration":"31s","url":"https://ci/1"}],"age":"12ms","omitted":["1 passed"]}`)
		case "next":
			fmt.Fprint(w, `{"service":"component:default/shop","repository":"acme/shop","commit":"def","state":"failed","grounds":["1 of 1 checks failed: unit"],"url":"https://ci/run","checks":[{"name":"unit","state":"failed","result":"timed_out","failed":["go test"],"detail":["sum_test.go:7: \u001b[31mexpected 3"]}],"age":"1s"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"not_found","message":"there is no commit","fix":"Push it."}}`)
		}
	}})
	for _, c := range []struct {
		args  string
		code  int
		parts []string
	}{
		{"change ci shop", 0, []string{"passed", "2 of 2 checks passed", "acme/shop, asked 12ms ago", "abc  main", "required", "31s", "https://ci/1", "left out: 1 passed"}},
		{"change ci shop next", 1, []string{"failed", "timed_out", "unit  go test", "  sum_test.go:7: ", "https://ci/run"}},
		{"change ci shop next -o json", 1, []string{`"state": "failed"`}},
		{"change ci shop gone", 4, nil},
		{"change ci", 2, nil},
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
		if strings.Contains(c.args, "next") && asked != "revision=next&service=shop" {
			t.Errorf("asked for %s", asked)
		}
	}
}
