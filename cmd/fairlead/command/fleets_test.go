package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestFleets runs the commands of changes of many services against a server that
// goes on with one at each look.
func TestFleets(t *testing.T) {
	state := func(state string, wave, done, open, failed int) string {
		return fmt.Sprintf(`{"id":"fleet-1","state":%q,"query":["spec.owner=payments"],"environment":"staging","title":"v2 in staging","until":"merged","person":"user:default/alice","agent":"claude","planHash":"sha256:1","wave":%d,
"counts":{"total":5,"waiting":%d,"done":%d,"open":%d,"failed":%d,"refused":1},"waves":[{"number":1,"size":1,"done":%d,"open":%d,"failed":%d},{"number":2,"size":2,"done":0,"open":0,"failed":0}],
"failing":[{"service":"component:default/odd","state":"refused","reason":"it is \u001b[31mtemplated","fix":"Write it plainly."}],
"members":[{"service":"component:default/a","state":"open","wave":1,"url":"https://f.test/1","conflicts":[{"path":"a.yaml","proposal":"change-9"}]}],"why":"because","next":"Look."}`, state, wave, 3-done-open-failed, done, open, failed, done, open, failed)
	}
	var sent []string
	var looks []string
	f := serve(t, map[string]http.HandlerFunc{
		"/api/v1/fleets": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"items":[`+state("running", 1, 0, 1, 0)+`]}`)
				return
			}
			var body any
			json.NewDecoder(r.Body).Decode(&body)
			text, _ := json.Marshal(body)
			sent = append(sent, string(text))
			fmt.Fprint(w, state("planned", 0, 0, 0, 0))
		},
		"/api/v1/fleets/fleet-1/start": func(w http.ResponseWriter, r *http.Request) {
			var body any
			json.NewDecoder(r.Body).Decode(&body)
			text, _ := json.Marshal(body)
			sent = append(sent, string(text))
			fmt.Fprint(w, state("running", 1, 0, 0, 0))
		},
		"/api/v1/fleets/fleet-1/stop": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, state("paused", 1, 0, 1, 0)) },
		"/api/v1/fleets/fleet-1": func(w http.ResponseWriter, _ *http.Request) {
			if len(looks) > 1 {
				defer func() { looks = looks[1:] }()
			}
			if looks[0] == "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, `{"error":{"code":"unavailable","message":"not now"}}`)
				return
			}
			fmt.Fprint(w, looks[0])
		},
	})
	running, done, stopped := state("running", 1, 0, 1, 0), state("done", 1, 1, 0, 0), state("stopped", 1, 0, 0, 1)
	wish := []string{"change", "fleet", "--query", "spec.owner=payments,kind=component", "--environment", "staging", "--image", "v2", "--reason", "the fix"}
	for _, c := range []struct {
		looks    []string
		args     []string
		code     int
		out, err string
	}{
		{nil, append(wish, "--dry-run"), 0, "templated\n  fix: Write it plainly.", ""},
		{nil, []string{"change", "fleet", "--query", "a=b", "--environment", "staging", "--reason", "x", "--set", "a"}, 2, "", "sets nothing"},
		{nil, []string{"change", "fleet", "--environment", "staging"}, 2, "", "--query"},
		{nil, append(wish, "--waves", "1,5,25%", "--wave-size", "3"), 2, "", "can't be used together"},
		{nil, append(wish, "--wave-size", "3", "--detach"), 0, "fleet-1 is running", "--watch"},
		{[]string{running, running, "", done}, append(wish, "--waves", "1,25%", "--until", "healthy", "--max-failures", "2"), 0, "change-9 changes a.yaml", "wave 1 of 2: 0 of 3 done, 1 open\n"},
		{[]string{stopped}, []string{"change", "fleet", "--resume", "fleet-1", "--max-failures", "3"}, 1, "because", "1 failed"},
		{[]string{running}, []string{"change", "fleet", "status", "fleet-1"}, 0, "https://f.test/1", ""},
		{[]string{stopped}, []string{"change", "fleet", "status", "fleet-1", "-o", "json"}, 1, `"stopped"`, ""},
		{nil, []string{"change", "fleet", "list"}, 0, "0 of 3", ""},
		{nil, []string{"change", "fleet", "pause", "fleet-1", "--reason", "x"}, 0, "is paused", ""},
		{nil, []string{"change", "fleet", "cancel", "nobody"}, 4, "", "there is no"},
	} {
		looks = c.looks
		r := run(t, f.env(), "", c.args...)
		if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) || strings.Contains(r.out, "\x1b") {
			t.Errorf("%s: %d\n%s\n%s", c.args, r.code, r.out, r.err)
		}
	}
	for _, want := range []string{`{"change":{"image":{"tag":"v2"}},"environment":"staging","query":["spec.owner=payments,kind=component"],"reason":"the fix","until":"merged"}`, `{"planHash":"sha256:1"}`, `{"maxFailures":3}`} {
		if !strings.Contains(strings.Join(sent, "\n"), want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(sent, "\n"))
		}
	}
	if !strings.Contains(strings.Join(sent, "\n"), `"waves":["1","25%"]`) || !strings.Contains(strings.Join(sent, "\n"), `"waves":["3"]`) {
		t.Error(sent)
	}
}
