package command_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPreviewsForOperators holds top, usage and sweep to what they print, send
// and exit with.
func TestPreviewsForOperators(t *testing.T) {
	looks, bodies := 0, []string{}
	const line = `{"name":%q,"now":2,"oldest":"2026-01-31T10:00:00Z","created":3,"failed":1,"hours":1.5,"peak":2,"cost":0.03}`
	f := serve(t, map[string]http.HandlerFunc{
		"/api/v1/previews": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"items":[{"id":"shop-1"},{"id":"cart-2"}]}`)
		},
		"/api/v1/previews/top": func(w http.ResponseWriter, _ *http.Request) {
			looks++
			fmt.Fprintf(w, `{"items":[{"preview":{"id":"cart-2","service":"component:default/cart","phase":"pending","expiresAt":"2096-01-31T12:00:00Z","person":"user:default/ida"}},
				{"preview":{"id":"shop-1","service":"component:default/shop","phase":"deleting","createdAt":"2026-01-31T10:00:00Z","expiresAt":"2026-01-31T11:00:00Z","person":"user:default/alice","agent":"claude\u001b"},
				"resources":{"cpuSeconds":%d,"memoryBytes":15728640,"diskBytes":512,"processes":3,"at":"2026-01-31T12:00:0%dZ"}}]}`, looks*2, looks)
		},
		"/api/v1/previews/usage": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"since":"2026-01-24T12:00:00Z","until":"2026-01-31T12:00:00Z","currency":"EUR","total":`+line+`,"teams":[`+line+`],"people":[],"agents":[`+line+`]}`, "", "group:default/web", "claude")
		},
		"/api/v1/previews/strays": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("deployer") == "cluster" {
				fmt.Fprint(w, `{"items":[],"unswept":[{"deployer":"cluster","reason":"it does not answer"}]}`)
				return
			}
			fmt.Fprint(w, `{"items":[{"id":"shop-7","deployer":"local","reason":"there is no record of it","what":["process 7 (x)"],"service":"component:default/shop","person":"user:default/alice"},
				{"id":"shop-8","deployer":"local","reason":"there is no record of it","what":["port 8"]}],"unswept":[]}`)
		},
		"/api/v1/previews/sweep": func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies = append(bodies, string(body))
			if len(bodies) == 1 {
				fmt.Fprint(w, `{"removed":["shop-7"],"remaining":[{"id":"shop-8","deployer":"local","reason":"x","what":["port 8"]}],"skipped":[],"failed":[]}`)
				return
			}
			fmt.Fprint(w, `{"removed":["shop-8"],"remaining":[],"skipped":[],"failed":[]}`)
		},
	})
	for _, c := range []struct {
		args     string
		code     int
		out, err []string
	}{
		{"previews top --every 100ms", 0, []string{"2 previews · 1 pending · 1 deleting", "200 %", "15.0 MiB", "512 B", "over by", "claude for user:default/alice"}, nil},
		{"previews top -o json", 0, []string{`"cpuSeconds"`, `"shop-1"`}, nil},
		{"previews top --every 1ms", 2, nil, []string{"--every"}},
		{"previews top --sort colour", 2, nil, []string{"--sort"}},
		{"previews usage", 0, []string{"all   ", "group:default/web", "Agents", "2h00m", "0.03 EUR", "1.5"}, nil},
		{"previews usage --by agent", 0, []string{"claude"}, nil},
		{"previews usage -o yaml", 0, []string{"currency: EUR"}, nil},
		{"previews sweep", 0, []string{"shop-7 at local", "process 7 (x)", "component:default/shop · for user:default/alice"}, []string{"nothing was removed"}},
		{"previews sweep shop-9", 0, []string{"nothing is left"}, nil},
		{"previews sweep shop-9 --yes", 0, []string{"nothing is left"}, nil},
		{"previews sweep --deployer cluster", 1, []string{"nothing is left"}, []string{"at cluster: it does not answer"}},
		{"previews sweep --yes", 0, []string{"removed shop-7", "removed shop-8"}, nil},
		{"previews sweep --yes shop-8 -o json", 0, []string{`"removed"`}, nil},
	} {
		r := run(t, f.env(), "", strings.Fields(c.args)...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
		for _, part := range c.out {
			if !strings.Contains(r.out, part) {
				t.Errorf("%s lacks %q:\n%s", c.args, part, r.out)
			}
		}
		for _, part := range c.err {
			if !strings.Contains(r.err, part) {
				t.Errorf("%s lacks %q:\n%s", c.args, part, r.err)
			}
		}
		if strings.Contains(r.out, "\x1b") {
			t.Errorf("%s writes control characters: %q", c.args, r.out)
		}
	}
	if want := `{"ids":["shop-7","shop-8"]} {"ids":["shop-8"]} {"ids":["shop-8"]}`; strings.Join(bodies, " ") != want {
		t.Errorf("swept %q", bodies)
	}
	env := f.env()
	env["COMP_LINE"] = "fairlead previews show sh"
	t.Setenv("COMP_LINE", env["COMP_LINE"])
	if r := run(t, env, ""); strings.TrimSpace(r.out) != "shop-1" {
		t.Errorf("completed %q", r.out)
	}
}
