package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRevisions lists what previews can be made of, and completes their names.
func TestRevisions(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/previews/revisions": func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("service") != "shop" || q.Get("query") == "none" {
			fmt.Fprint(w, `{"service":"component:default/shop","branches":{"items":[],"more":false},"tags":{"items":[],"more":false},"commits":{"items":[],"more":true}}`)
			return
		}
		fmt.Fprintf(w, `{"service":"component:default/shop","defaultBranch":"main","branches":{"items":[{"name":"main","commit":"0123456789abcdef0123456789abcdef01234567","title":"Sell\u001b[31m more (%s, %s)","author":"Ada","at":"2026-01-31T12:00:00Z"}],"more":true},
			"tags":{"items":[{"name":"v1.0.0","commit":"0123456789abcdef0123456789abcdef01234567"}],"more":false},"commits":{"items":[{"name":"0123456789abcdef0123456789abcdef01234567","commit":"0123456789abcdef0123456789abcdef01234567"}],"more":false}}`, q.Get("query"), q.Get("limit"))
	}})
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"previews revisions shop", 0, "main  0123456789ab  2026-01-31  Ada  Sell[31m more (, 20)", ""},
		{"previews revisions shop ma --limit 3", 0, "(ma, 3)", ""},
		{"previews revisions shop", 0, "… and more", ""},
		{"previews revisions shop -o json", 0, `"defaultBranch": "main"`, ""},
		{"previews revisions shop none", 0, "", "no revisions that match"},
		{"previews revisions shop --limit 0", 2, "", "--limit"},
	} {
		if r := run(t, f.env(), "", strings.Fields(c.args)...); r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) {
			t.Errorf("%s: %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
	}
	for line, want := range map[string]string{"fairlead previews create shop v": "v1.0.0", "fairlead previews create shop ": "main", "fairlead previews create other ": ""} {
		env := f.env()
		env["COMP_LINE"] = line
		t.Setenv("COMP_LINE", line)
		if r := run(t, env, ""); !strings.Contains(r.out, want) || want == "" && strings.Contains(r.out, "main") {
			t.Errorf("%q is completed by %q", line, r.out)
		}
	}
}
