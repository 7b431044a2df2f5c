package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestPreviews follows a preview from its creation to what its commands print.
func TestPreviews(t *testing.T) {
	const one = `{"id":"shop-1","service":"component:default/shop","revision":"main","commit":"c0ffee","phase":%q,"reason":"why","url":"http://shop-1.preview.localhost/","expiresAt":"2026-01-31T12:00:00Z","person":"user:default/alice","deployer":"local"}`
	asked, last := 0, "ready"
	f := serve(t, map[string]http.HandlerFunc{
		"/api/v1/previews": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"items":[`+one+`]}`, "ready")
				return
			}
			fmt.Fprintf(w, one, "pending")
		},
		"/api/v1/previews/shop-1": func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked == 1 {
				fmt.Fprintf(w, one, "creating")
				return
			}
			fmt.Fprintf(w, one, last)
		},
		"/api/v1/previews/shop-1/extend": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, one, "ready") },
		"/api/v1/previews/shop-1/logs": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"id":"shop-1","lines":[{"at":"2026-01-31T11:59:00Z","text":"listening"}]}`)
		},
	})
	for _, c := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"previews create shop main --ttl 30m", 0, "http://shop-1.preview.localhost/", "shop-1 is creating: why"},
		{"previews create shop --no-wait", 0, "pending", ""},
		{"previews list", 0, "shop-1", ""},
		{"previews show shop-1", 0, "component:default/shop", ""},
		{"previews extend shop-1 1h", 0, "ends at 2026-01-31T12:00:00Z", ""},
		{"previews delete shop-1", 0, "is being removed", ""},
		{"previews logs shop-1 --tail 5", 0, "listening", ""},
		{"previews show nobody", 4, "", "there is no"},
	} {
		r := run(t, f.env(), "", strings.Fields(c.args)...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) {
			t.Errorf("%s: %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
	}
	last = "failed"
	if r := run(t, f.env(), "", "previews", "create", "shop", "-o", "json"); r.code != 1 || !strings.Contains(r.out, "failed") {
		t.Errorf("of one that failed: %d %s", r.code, r.out)
	}
}
