package command_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
)

const token = "a-token-that-is-long-enough"

// routes are the answers of a server that speaks the contract, by path.
func routes() map[string]string {
	return map[string]string{
		"/api/v1/whoami":                `{"subject":"user:default/alice","groups":["group:default/payments"],"roles":["developer"],"actions":[{"action":"catalog.read","on":"everything"}]}`,
		"/api/v1/entities/checkout":     `{"kind":"Component","metadata":{"name":"checkout","namespace":"default"},"spec":{"type":"service"},"relations":[{"type":"ownedBy","targetRef":"group:default/payments"}]}`,
		"/api/v1/entities/api:a":        `{"kind":"API","metadata":{"name":"a"}}`,
		"/api/v1/entities/api:b":        `{"kind":"API","metadata":{"name":"b"}}`,
		"/api/v1/search":                `{"hits":[{"ref":"component:default/checkout","type":"service"},{"ref":"api:default/checkout"}],"total":3}`,
		"/api/v1/dependencies/checkout": `{"root":"component:default/checkout","nodes":[],"edges":[{"from":"component:default/checkout","type":"dependsOn","to":"resource:default/db"}]}`,
		"/api/v1/errors":                `{"items":[{"severity":"error","message":"broken","file":"catalog-info.yaml","line":3,"column":1,"source":"shop","firstSeen":{"at":"2026-01-31T12:00:00Z"},"lastSeen":{"at":"2026-01-31T12:00:00Z"}}],"total":1}`,
		"/api/v1/coverage":              `{"all":{"services":1,"things":7,"declared":5,"missing":2,"percent":71},"teams":[{"owner":"group:default/payments","services":1,"things":7,"declared":5,"missing":2,"percent":71}],"items":[{"ref":"component:default/checkout","things":[{"name":"slo","state":"missing"}],"add":[{"things":["slo"],"file":"catalog-info.yaml","line":8,"lines":"    slos: [x]"}]}],"total":1}`,
		"/api/v1/knowledge/external":    `{"provider":"docs","cached":true,"fetchedAt":"2026-02-01T12:00:00Z","hits":[{"title":"Pods\u001b[31m","url":"https://docs.example.com/pods","text":"Small things."}]}`,
		"/api/v1/code":                  `{"hits":[{"source":{"name":"checkout","path":"pay/pay.go"},"services":["component:default/checkout"],"owner":"group:default/payments","matches":4,"excerpts":[{"line":2,"lines":[3],"text":"\n\treturn charge\u001b[31m"}]}],"searched":3,"unsearched":2,"nextCursor":"x"}`,
		"/api/v1/knowledge":             `{"hits":[{"handle":"doc://checkout/docs/runbooks/slow.md#mitigation","kind":"runbook","title":"Slow","heading":"Mitigation","passage":"Restart\u001b[31m it.","owner":"group:default/payments","stale":"it expired","source":{"name":"checkout","path":"docs/runbooks/slow.md"}}],"total":3}`,
		"/api/v1/document":              `{"handle":"doc://checkout/docs/runbooks/slow.md#slow","kind":"runbook","title":"Slow","source":{"name":"checkout","path":"docs/runbooks/slow.md"},"outline":[{"handle":"doc://checkout/docs/runbooks/slow.md#mitigation","heading":"Mitigation","level":2,"tokens":9}],"text":"# Slow\n\n  indented","next":"doc://checkout/docs/runbooks/slow.md#slow~2"}`,
		"/api/v1/sources":               `{"items":[{"name":"shop","type":"git","url":"https://git.example.com/shop.git","state":"ok","entities":2,"files":1,"problems":1}]}`,
		"/api/v1/refresh":               `{"source":"shop","commit":"0123456789abcdef","changed":2}`,
		"/api/v1/locations": `{"items":[{"id":"7","type":"url","target":"https://git.example.com/a/b/blob/main/c.yaml","entityRef":"location:default/generated-1"},{"id":"8","type":"url","target":"https://git.example.com/root"}],` +
			`"location":{"id":"7","type":"url","target":"https://git.example.com/a/b/blob/main/c.yaml"},"entities":[{"kind":"Component","metadata":{"name":"c"},"spec":{"type":"service"}}],"exists":true}`,
		"/api/v1/locations/7":       `{"location":{"id":"7","type":"url","target":"https://git.example.com/a/b/blob/main/c.yaml"},"removed":["component:default/c","location:default/generated-1"]}`,
		"/api/v1/approvals":         `{"items":[` + approval("pending") + `]}`,
		"/api/v1/approvals/9":       approval("used"),
		"/api/v1/approvals/9/grant": approval("granted"),
		"/api/v1/approvals/9/deny":  approval("denied"),
		"/api/v1/audit":             `{"items":[{"id":"1","time":"2026-01-31T11:58:00Z","action":"catalog.refresh","subject":"user:default/alice","status":"ok"}]}`,
	}
}

// approval is a request for approval.
func approval(state string) string {
	return `{"id":"9","state":"` + state + `","action":"catalog.refresh","operation":"refresh_entity","target":"component:default/c","summary":"refresh_entity on component:default/c",` +
		`"plan":{"a":"\u001b[31mé"},"planHash":"sha256:00","subject":"user:default/alice","agent":"claude","rule":"four-eyes","approvers":["group:default/payments","role:sre"],` +
		`"mayDecide":true,"requestedAt":"2026-01-31T12:00:00Z","expiresAt":"2026-02-01T12:00:00Z","decidedBy":"user:default/bob","decidedAt":"2026-01-31T13:00:00Z","reason":"fine"}`
}

// fake is that server; asked are the requests that it got.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func serve(t *testing.T, more map[string]http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{}
	mux := http.NewServeMux()
	answer := func(path string, do http.HandlerFunc) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			f.asked = append(f.asked, r.Method+" "+r.URL.Path+"?"+r.URL.Query().Encode())
			f.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			if r.Header.Get("Authorization") != "Bearer "+token {
				refuse(w, http.StatusUnauthorized, "unauthenticated", "it is not known who asks")
				return
			}
			do(w, r)
		})
	}
	for path, body := range routes() {
		if more[path] == nil {
			answer(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		}
	}
	for path, do := range more {
		answer(path, do)
	}
	answer("/api/v1/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is no "+r.URL.Path)
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "serving a catalog") })
	if more["/api/v1/entities"] == nil {
		answer("/api/v1/entities", entities)
	}
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// entities gives three components in pages of at most two.
func entities(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	limit = min(limit, 2)
	var items []string
	for i := from; i < min(from+limit, 3); i++ {
		items = append(items, fmt.Sprintf(`{"kind":"Component","metadata":{"name":"c%d"},"spec":{"type":"service"}}`, i))
	}
	next := ""
	if from+limit < 3 {
		next = fmt.Sprintf(`"nextCursor":"%d"`, from+limit)
	}
	fmt.Fprintf(w, `{"items":[%s],"totalItems":3,"pageInfo":{%s}}`, strings.Join(items, ","), next)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":%q,"fix":"do better"}}`, code, message)
}

// result is what a command did.
type result struct {
	code     int
	out, err string
}

// run runs a command as if from a shell whose environment is env.
func run(t *testing.T, env map[string]string, stdin string, args ...string) result {
	t.Helper()
	if os.Getenv("XDG_CONFIG_HOME") == "" || os.Getenv("FAIRLEAD_TEST_HOME") == "" {
		t.Setenv("FAIRLEAD_TEST_HOME", "1")
		t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	}
	var out, errs bytes.Buffer
	code := command.Run(t.Context(), args, command.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs, Version: "v1.2.3",
		Env: func(k string) string { return env[k] }})
	return result{code, out.String(), errs.String()}
}

// at is the environment of a caller of a server.
func (f *fake) env() map[string]string {
	return map[string]string{"FAIRLEAD_SERVER": f.URL, "FAIRLEAD_TOKEN": token}
}
