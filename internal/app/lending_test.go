package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// asCommandLine has this program be the command line instead of the tests.
const asCommandLine = "FAIRLEAD_TEST_AS_COMMAND_LINE"

// lending is a server over the demo that lends from a real Vault, which makes
// users in a real PostgreSQL. All that goes to the server is recorded.
type lending struct {
	*server
	vault    *realtest.VaultServer
	database string
	secretID string
	record   *exchanges
}

// exchanges are what went between clients and the server.
type exchanges struct {
	mu sync.Mutex
	// said are the bodies and addresses, by what was asked.
	said []passedOn
}

type passedOn struct{ what, request, answer string }

func (r *exchanges) all() []passedOn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]passedOn(nil), r.said...)
}

// listen is a server that passes everything on to another, and records it.
func (r *exchanges) listen(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.FlushInterval = -1
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return // the client has gone
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		keep := &keeping{ResponseWriter: w}
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.said = append(r.said, passedOn{req.Method + " " + req.URL.Path, req.URL.String() + "\n" + string(body), fmt.Sprint(w.Header()) + keep.body.String()})
		}()
		pass.ServeHTTP(keep, req)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// keeping keeps what is answered.
type keeping struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (k *keeping) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// Unwrap has answers flushed.
func (k *keeping) Unwrap() http.ResponseWriter { return k.ResponseWriter }

// lendingRules let everybody do everything, but agents hold nothing.
const lendingRules = `rules:
  - {name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}
  - {name: agents-hold-no-secrets, effect: deny, who: {agents: ["*"]}, actions: [secrets.collect, secrets.plain]}
`

// startVault starts all of it; more is added to the server's configuration.
func startVault(t *testing.T, more string) *lending {
	t.Helper()
	l, config := setUpVault(t, more)
	l.start(config)
	l.url = l.record.listen(t, l.url)
	return l
}

// setUpVault is startVault without starting the server of a configuration.
func setUpVault(t *testing.T, more string) (l *lending, config string) {
	t.Helper()
	v := realtest.Vault(t)
	l = &lending{vault: v, database: v.Database(t, "database"), record: &exchanges{}}
	v.DatabaseRole(t, "database", "checkout-ro", time.Hour, 2*time.Hour)
	section := l.prepare(t)
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rules.yaml"), lendingRules)
	write(t, set.Config, withoutPreviews(readFile(t, set.Config))+"policy: {rules: ./rules.yaml}\npreviews: {}\nproposals: {}\n"+section+more)
	l.server = &server{t: t, dir: dir, tokens: set.Tokens}
	return l, set.Config
}

// prepare makes in Vault what operators make, and gives the configuration.
func (l *lending) prepare(t *testing.T) string {
	t.Helper()
	v := l.vault
	v.Policy(t, "fairlead", `
path "auth/token/create/fairlead" { capabilities = ["update"] }
path "auth/token/lookup-accessor" { capabilities = ["update"] }
path "auth/token/renew-accessor" { capabilities = ["update"] }
path "auth/token/revoke-accessor" { capabilities = ["update"] }
path "auth/token/accessors" { capabilities = ["list", "sudo"] }
path "+/roles/+" { capabilities = ["read"] }
path "sys/mounts/+/tune" { capabilities = ["read"] }`)
	v.Policy(t, "fairlead/default/checkout", `path "database/creds/checkout-ro" { capabilities = ["read"] }`)
	v.Must(t, http.MethodPost, "auth/token/roles/fairlead", map[string]any{"orphan": true, "allowed_policies_glob": "fairlead/*", "token_type": "service"}, nil)
	v.Must(t, http.MethodPost, "sys/auth/approle", map[string]any{"type": "approle"}, nil)
	v.Must(t, http.MethodPost, "auth/approle/role/fairlead", map[string]any{"token_policies": "fairlead", "token_ttl": "1h", "token_max_ttl": "24h"}, nil)
	var id, secret struct{ Data map[string]any }
	v.Must(t, http.MethodGet, "auth/approle/role/fairlead/role-id", nil, &id)
	v.Must(t, http.MethodPost, "auth/approle/role/fairlead/secret-id", map[string]any{}, &secret)
	l.secretID = secret.Data["secret_id"].(string)
	file := filepath.Join(t.TempDir(), "secret-id")
	write(t, file, l.secretID)
	return fmt.Sprintf("vault: {address: %q, auth: {approle: {roleID: %q, secretIDFile: %q}}}\n", v.Address, id.Data["role_id"], file)
}

// commandLine is the command line in a process of its own.
type commandLine struct {
	*exec.Cmd
	stdin    io.Closer
	out, err *logBuffer
	done     chan struct{}
}

// launch starts the command line for a role. Its standard input stays open.
func (l *lending) launch(role string, args ...string) *commandLine {
	l.t.Helper()
	c := &commandLine{Cmd: exec.Command(os.Args[0], args...), out: &logBuffer{}, err: &logBuffer{}, done: make(chan struct{})}
	c.Env = append(os.Environ(), asCommandLine+"=1", "FAIRLEAD_SERVER="+l.url, "FAIRLEAD_TOKEN_FILE="+filepath.Join(l.dir, "tokens", role), "XDG_CONFIG_HOME="+l.t.TempDir())
	c.Stdout, c.Stderr = c.out, c.err
	in, err := c.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	c.stdin = in
	if signal.Ignored(os.Interrupt) { // by a shell that runs the tests in its background; programs that are started heed it again
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, os.Interrupt)
		l.t.Cleanup(func() { signal.Stop(heard) })
	}
	if err := c.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // its state tells
		close(c.done)
	}()
	l.t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.done
	})
	return c
}

// ends waits for the end and gives the exit code.
func (c *commandLine) ends(t *testing.T) int {
	t.Helper()
	c.stdin.Close()
	select {
	case <-c.done:
		return c.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatalf("it does not end: %s %s", c.out.text(), c.err.text())
		return 0
	}
}

// run runs the command line to its end.
func (l *lending) run(role string, args ...string) (code int, out, errs string) {
	l.t.Helper()
	c := l.launch(role, args...)
	code = c.ends(l.t)
	return code, c.out.text(), c.err.text()
}

// exec is the arguments of creds exec with a program that reaches the database.
func (l *lending) exec(more ...string) []string {
	at, err := url.Parse(l.database)
	if err != nil {
		l.t.Fatal(err)
	}
	return append([]string{"creds", "exec", "checkout", "db-readonly", "--environment", "staging", "--", "env",
		"PGHOST=" + at.Hostname(), "PGPORT=" + at.Port(), "PGDATABASE=" + strings.TrimPrefix(at.Path, "/")}, more...)
}

// psql is psql with arguments, for exec.
func psql(args ...string) []string { return append([]string{"psql", "-X", "-t", "-A"}, args...) }

// lent are the database users that Vault has out.
func (l *lending) lent() (out []string) {
	l.t.Helper()
	var list struct{ Data struct{ Keys []string } }
	l.vault.API(l.t, "LIST", "sys/leases/lookup/database/creds/checkout-ro", nil, &list)
	return list.Data.Keys
}

// has tells whether PostgreSQL has a user.
func (l *lending) has(user string) bool {
	l.t.Helper()
	out, err := realtest.SQL(l.t.Context(), l.database, "select count(*) from pg_roles where rolname = '"+user+"'")
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.TrimSpace(out) == "1"
}

// gone waits until PostgreSQL has no such user, and gives how long that took.
func (l *lending) gone(user string, within time.Duration) time.Duration {
	l.t.Helper()
	begin := time.Now()
	for l.has(user) {
		if time.Since(begin) > within {
			l.t.Fatalf("the user %s is still there after %s", user, within)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(begin)
}

// leases are those that a role sees, ended ones too.
func (l *lending) leases(role string) (out []struct {
	Lease, State, Reason, Task, Agent, Person string
	Alarm                                     bool
}) {
	l.t.Helper()
	var page struct{ Items json.RawMessage }
	l.send(role, http.MethodGet, "/api/v1/credentials?state=all&limit=200", "").decode(l.t, &page)
	if err := json.Unmarshal(page.Items, &out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// pidOf reads a process id that a program wrote behind a word.
func pidOf(text, word string) int {
	_, after, _ := strings.Cut(text, word)
	digits, _, _ := strings.Cut(after, "\n")
	pid, _ := strconv.Atoi(digits)
	return pid
}

// running tells whether a process runs.
func running(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(data, []byte(") Z "))
}
