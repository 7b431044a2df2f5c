package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoginForge holds linking an account to what it prints, waits for and exits
// with.
func TestLoginForge(t *testing.T) {
	var looked atomic.Int64
	stages, lasts := []string{"asked", "agreed", "confirmed"}, time.Minute
	f := serve(t, map[string]http.HandlerFunc{
		"GET /api/v1/forge-links": func(w http.ResponseWriter, _ *http.Request) {
			n := min(int(looked.Add(1)), len(stages)) - 1
			fmt.Fprintf(w, `{"items":[{"forge":"hub","linkable":false},{"forge":"tea","linkable":true,"id":"link-1","pending":%q},{"forge":"acme","linkable":true,"account":"ada","since":"2026-01-31T10:00:00Z"}]}`, stages[n])
		},
		"POST /api/v1/forge-links": func(w http.ResponseWriter, _ *http.Request) {
			looked.Store(0)
			fmt.Fprintf(w, `{"id":"link-1","forge":"tea","person":"user:default/ada","url":"https://git.example.com/login/oauth/authorize?state=x\u001b[31m","expiresAt":%q}`, time.Now().Add(lasts).UTC().Format(time.RFC3339Nano))
		},
		"POST /api/v1/forge-links/link-1/finish": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"forge":"tea","linkable":true,"account":"ada-there"}`)
		},
		"DELETE /api/v1/forge-links/tea": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"forge":"tea","linkable":true,"notes":["what ada-there granted still stands at tea"]}`)
		},
		"DELETE /api/v1/forge-links/hub": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"not_found","message":"no account of yours is linked at hub","fix":"Link it."}}`)
		},
	})
	for _, c := range []struct {
		args   string
		stages []string
		lasts  time.Duration
		code   int
		parts  []string
	}{
		{"login --forge tea", []string{"asked", "agreed", "confirmed"}, time.Minute, 0, []string{"confirm that you are user:default/ada", "https://git.example.com/login/oauth/authorize?state=x", "linked: what you propose at tea is proposed as ada-there"}},
		{"login --forge tea", []string{"asked", "refused"}, time.Minute, 1, []string{"it was not agreed to at tea"}},
		{"login --forge tea", []string{"asked"}, 1500 * time.Millisecond, 1, []string{"nobody has agreed in time"}},
		{"login --status", []string{"asked"}, time.Minute, 0, []string{"tea", "asked", "fairlead login --forge tea links yours", "acme", "ada", "2026-01-31", "hub"}},
		{"login --forge tea --unlink", nil, time.Minute, 0, []string{"is not linked any more", "still stands at tea"}},
		{"login --forge hub --unlink", nil, time.Minute, 4, []string{"no account of yours"}},
		{"login --unlink", nil, time.Minute, 2, []string{"--forge NAME"}},
	} {
		if c.stages != nil {
			stages = c.stages
		}
		lasts = c.lasts
		r := run(t, f.env(), "", strings.Fields(c.args)...)
		if r.code != c.code || strings.Contains(r.out+r.err, "\x1b") {
			t.Errorf("%s: exit code %d\n%q\n%s", c.args, r.code, r.out, r.err)
		}
		for _, part := range c.parts {
			if !strings.Contains(r.out+r.err, part) {
				t.Errorf("%s lacks %q:\n%s\n%s", c.args, part, r.out, r.err)
			}
		}
	}
}
