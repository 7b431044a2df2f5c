package command_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestChangeIsWatched follows proposals to their ends.
func TestChangeIsWatched(t *testing.T) {
	const one = `{"id":"change-1","kind":"change","title":"shop: 2","service":"component:default/shop","environment":"staging","state":%q,"repository":"r","base":"main","paths":["a.yaml"],"person":"user:default/alice","plan":{"hash":"sha256:1"},%s"follow":%s}`
	blocked := `"blocking":[{"what":"checks","detail":"failed: lint https://ci.test/1","next":"Look."}],`
	for name, c := range map[string]struct {
		steps    []string
		args     string
		code     int
		out, err []string
	}{
		"well": {[]string{fmt.Sprintf(one, "open", blocked, "{}"), fmt.Sprintf(one, "merged", "", `{"merged":"c0ffee","waits":"to be live: \u001b[31mno"}`),
			fmt.Sprintf(one, "merged", "", `{"merged":"c0ffee","synced":"beef","healthy":"beef","healthyAt":"2026-01-31T12:00:00Z","outcome":"healthy","endedAt":"2026-01-31T12:10:00Z","window":{"outcome":"verified","figures":[{"name":"restarts","unit":"count","before":0,"after":0}]}}`)},
			"--watch", 0, []string{"healthy", "verified", "restarts", "0 → 0 count"}, []string{"open; checks: failed: lint https://ci.test/1", "merged; waits for to be live: ", "merged; ended: healthy"}},
		"badly": {[]string{fmt.Sprintf(one, "merged", "", `{"merged":"c0ffee","degradedAt":"2026-01-31T12:00:00Z","grounds":["Pod a is Degraded"],"outcome":"degraded"}`)}, "--watch", 1,
			[]string{"Because", "Pod a is Degraded"}, []string{"ended: degraded"}},
		"closed":    {[]string{fmt.Sprintf(one, "closed", "", `{"closedAt":"2026-01-31T12:00:00Z","outcome":"closed"}`)}, "--watch", 1, []string{"closed"}, nil},
		"pushed":    {[]string{fmt.Sprintf(one, "pushed", "", "{}")}, "--watch", 1, []string{"pushed"}, nil},
		"too long":  {[]string{fmt.Sprintf(one, "open", "", "{}")}, "--watch --for 100ms", 1, []string{"open"}, []string{"it has not ended"}},
		"as JSON":   {[]string{fmt.Sprintf(one, "merged", "", `{"outcome":"merged"}`)}, "--watch -o json", 0, []string{`"outcome": "merged"`}, nil},
		"not asked": {[]string{fmt.Sprintf(one, "closed", "", `{"outcome":"closed"}`)}, "", 0, []string{"closed"}, nil},
		"misused":   {[]string{"{}"}, "--for 1m", 2, nil, []string{"--for bounds"}},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			f := serve(t, map[string]http.HandlerFunc{"/api/v1/proposals/change-1": func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, c.steps[min(asked, len(c.steps)-1)])
				asked++
			}})
			r := run(t, f.env(), "", append([]string{"change", "show", "change-1"}, strings.Fields(c.args)...)...)
			for _, want := range c.out {
				if !strings.Contains(r.out, want) {
					t.Errorf("%q is not in\n%s", want, r.out)
				}
			}
			for _, want := range c.err {
				if !strings.Contains(r.err, want) {
					t.Errorf("%q is not in\n%s", want, r.err)
				}
			}
			if r.code != c.code || strings.Contains(r.out+r.err, "\x1b") {
				t.Errorf("%d\n%s\n%s", r.code, r.out, r.err)
			}
		})
	}
}
