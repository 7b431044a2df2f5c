package command_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	wrapToken = "hvs.a-wrapping-token-that-opens-once"
	password  = "Xk3-9s/P+q0 Lm22'zz\"Yd"
)

// lending is a server that lends one credential, and the Vault that holds it.
type lending struct {
	*fake
	vault *httptest.Server

	mu      sync.Mutex
	state   string
	expires time.Time
	fields  string // the credential as JSON
	engine  string
	opened  bool
	said    []string // what was called of the lease, in order
	order   map[string]any
	reason  string
	down    bool
	wrapURL string
	instead http.HandlerFunc // of Vault's own
	revoked chan struct{}
	beaten  chan struct{}
}

func lend(t *testing.T) *lending {
	t.Helper()
	quoted, _ := json.Marshal(password)
	l := &lending{state: "live", expires: time.Now().Add(time.Hour), engine: "database", fields: `{"username":"v-checkout-ro-1","password":` + string(quoted) + `}`, revoked: make(chan struct{}), beaten: make(chan struct{}, 100)}
	l.vault = httptest.NewServer(http.HandlerFunc(l.unwrap))
	t.Cleanup(l.vault.Close)
	l.wrapURL = l.vault.URL + "/v1/sys/wrapping/unwrap"
	handlers := map[string]http.HandlerFunc{"/api/v1/credentials": l.borrow, "/api/v1/credentials/revoke-all": l.revokeAll, "/api/v1/credentials/checkout-db-1": l.lease}
	for _, what := range []string{"wrap", "opened", "alarm", "beat", "renew"} {
		handlers["/api/v1/credentials/checkout-db-1/"+what] = func(w http.ResponseWriter, r *http.Request) { l.act(w, r, what) }
	}
	l.fake = serve(t, handlers)
	return l
}

// note says what was called; the caller holds the lock.
func (l *lending) note(what string) { l.said = append(l.said, what) }

func (l *lending) calls() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.said)
}

func (l *lending) view() string {
	return fmt.Sprintf(`"lease":"checkout-db-1","service":"component:default/checkout","name":"db-readonly","state":%q,"reason":%q,"expiresAt":%q,"wrapping":"unopened","person":"user:default/alice","task":"count\u001b"`,
		l.state, l.reason, l.expires.UTC().Format(time.RFC3339Nano))
}

func (l *lending) loan() string {
	return fmt.Sprintf(`{%s,"engine":%q,"env":{"PGUSER":"username","PGPASSWORD":"password"},"wrap":{"token":%q,"unwrapURL":%q,"namespace":"team","expiresAt":"2096-01-31T12:00:00Z"}}`, l.view(), l.engine, wrapToken, l.wrapURL)
}

func (l *lending) borrow(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"items":[{%s}]}`, l.view())
		return
	}
	l.order = nil
	_ = json.NewDecoder(r.Body).Decode(&l.order)
	l.note("borrow")
	fmt.Fprint(w, l.loan())
}

func (l *lending) lease(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method == http.MethodDelete {
		if l.down {
			refuse(w, http.StatusServiceUnavailable, "unavailable", "nobody is there")
			return
		}
		if l.note("revoke"); l.state == "live" {
			l.state = "revoked"
			close(l.revoked)
		}
	}
	fmt.Fprintf(w, "{%s}", l.view())
}

func (l *lending) act(w http.ResponseWriter, _ *http.Request, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.note(what); what == "wrap" {
		fmt.Fprint(w, l.loan())
		return
	}
	if what == "beat" {
		select {
		case l.beaten <- struct{}{}:
		default:
		}
	}
	fmt.Fprintf(w, "{%s}", l.view())
}

func (l *lending) revokeAll(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note("revoke-all " + string(body))
	fmt.Fprintf(w, `{"leases":3,"done":%v}`, l.state == "live")
}

// unwrap is Vault's answer to a wrapping token, which works once.
func (l *lending) unwrap(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	instead := l.instead
	l.mu.Unlock()
	if instead != nil {
		instead(w, r)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost || r.Header.Get("X-Vault-Token") != wrapToken || r.Header.Get("X-Vault-Namespace") != "team" || l.opened {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"errors":["wrapping token is not valid or does not exist"]}`)
		return
	}
	l.opened = true
	l.note("unwrap")
	fmt.Fprintf(w, `{"request_id":"1","lease_id":"","data":%s,"warnings":null}`, l.fields)
}

// TestCredentials holds the commands about leases to what they print, send and
// exit with.
func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		args     string
		code     int
		out, err string
		said     string
	}{
		"request":         {args: "creds request checkout db-readonly --ttl 5m --task count --environment staging --bound-to preview:x --new", out: "checkout-db-1", err: "fairlead creds exec --lease checkout-db-1 -- CMD", said: "borrow"},
		"request as JSON": {args: "creds request checkout db-readonly -o json", out: `"lease": "checkout-db-1"`, said: "borrow"},
		"request as YAML": {args: "creds request checkout db-readonly -o yaml", out: `lease: checkout-db-1`, said: "borrow"},
		"list":            {args: "creds list --agent claude --all", out: "checkout-db-1  component:default/checkout  db-readonly"},
		"list as JSON":    {args: "creds list -o json", out: `"state": "live"`},
		"list how many":   {args: "creds list --limit 0", code: 2, err: "--limit"},
		"show":            {args: "creds show checkout-db-1", out: "user:default/alice"},
		"show none":       {args: "creds show other", code: 4, err: "there is no"},
		"renew":           {args: "creds renew checkout-db-1 15m", out: "checkout-db-1 ends at 20", said: "renew"},
		"revoke":          {args: "creds revoke checkout-db-1", out: "checkout-db-1 is revoked", said: "revoke"},
		"revoke all":      {args: "creds revoke --all-of claude --reason stolen", out: "3 leases revoked", said: `revoke-all {"agent":"claude","reason":"stolen"}`},
		"revoke of":       {args: "creds revoke --person alice --service checkout -o json", out: `"leases": 3`, said: `revoke-all {"person":"alice","service":"checkout"}`},
		"revoke what":     {args: "creds revoke", code: 2, err: "what to revoke"},
		"revoke both":     {args: "creds revoke checkout-db-1 --all-of claude", code: 2, err: "at once"},
		"revoke why":      {args: "creds revoke checkout-db-1 --reason x", code: 2, err: "--reason"},
		"exec what":       {args: "creds exec checkout db-readonly", code: 2, err: "no command"},
		"exec of what":    {args: "creds exec checkout -- true", code: 2, err: "which credential"},
		"exec both":       {args: "creds exec checkout db-readonly --lease x -- true", code: 2, err: "--lease"},
		"exec ttl":        {args: "creds exec --lease x --ttl 5m -- true", code: 2, err: "--ttl"},
		"exec format":     {args: "creds exec --lease x -o json -- true", code: 2, err: "format"},
		"exec nothing":    {args: "creds exec checkout db-readonly -- no-such-program-here", code: 2, err: "not found in $PATH"},
		"exec bad env":    {args: "creds exec checkout db-readonly --env PW -- true", code: 2, err: "VAR=FIELD"},
		"exec bad file":   {args: "creds exec checkout db-readonly --file 1=a -- true", code: 2, err: "VAR=FIELD"},
		"exec twice":      {args: "creds exec checkout db-readonly --file A=a --env A=a -- true", code: 2, err: "A is set"},
		"exec no CA":      {args: "creds exec checkout db-readonly --vault-ca-file /nowhere -- true", code: 2, err: "/nowhere"},
		"exec dashes":     {args: "creds exec checkout db-readonly true", code: 2, err: "unexpected argument"},
		"help":            {args: "creds exec --help", out: "SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			l := lend(t)
			r := run(t, l.env(), "", strings.Fields(c.args)...)
			if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.err, c.err) {
				t.Errorf("%d\n%s\n%s", r.code, r.out, r.err)
			}
			if strings.Contains(r.out+r.err, wrapToken) || strings.Contains(r.out+r.err, "\x1b") {
				t.Errorf("shows too much: %q", r.out+r.err)
			}
			if got := strings.Join(l.calls(), " "); got != c.said {
				t.Errorf("called %q, want %q", got, c.said)
			}
		})
	}
	l := lend(t)
	l.with(func() { l.state = "revoking" })
	for _, args := range []string{"creds revoke checkout-db-1", "creds revoke --service checkout"} {
		if r := run(t, l.env(), "", strings.Fields(args)...); r.code != 1 || !strings.Contains(r.err, "the server goes on") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	env := l.env()
	env["COMP_LINE"] = "fairlead creds revoke ch"
	t.Setenv("COMP_LINE", env["COMP_LINE"])
	if r := run(t, env, ""); strings.TrimSpace(r.out) != "checkout-db-1" {
		t.Errorf("completed %q", r.out)
	}
}
