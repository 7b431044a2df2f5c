package app

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/scrub"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// The planted values. Both have what encodings differ in.
const (
	kvCanary    = `kv-CANARY/9+k%2F "x" 'y' \z &<é>=`
	plainCanary = `plain-CANARY/7?w`
)

// canary is a search for values wherever they could have got.
type canary struct {
	t *testing.T
	// values are what nobody but the child may see; tokens, what opens
	// wrappings, are in the answers that hand them out, besides.
	values, tokens *forms
	places, bytes  int
}

// forms are values in all forms that are searched for: those that the scrubber
// knows, and the common ones made here, for the scrubber is searched, too.
type forms struct {
	known *scrub.Set
	made  []string
}

func formsOf(texts ...string) *forms {
	values := make([]value.Value, len(texts))
	f := &forms{}
	for i, s := range texts {
		values[i] = value.New([]byte(s))
		quoted, _ := json.Marshal(s)
		f.made = append(f.made, s, string(quoted[1:len(quoted)-1]), url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)), fmt.Sprintf("% x", s))
		for pad := range 3 {
			for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				text := e.EncodeToString([]byte("\x00\x00"[:pad] + s))
				f.made = append(f.made, text[pad+1:len(text)-2])
			}
		}
	}
	f.known = scrub.New(values...)
	return f
}

// In tells whether any is in a text.
func (f *forms) In(data []byte) bool {
	return slices.ContainsFunc(f.made, func(s string) bool { return bytes.Contains(data, []byte(s)) }) || f.known.In(data)
}

// clean holds a place to holding no value.
func (c *canary) clean(place string, data []byte) {
	c.t.Helper()
	c.places++
	c.bytes += len(data)
	if c.values.In(data) {
		c.t.Errorf("a value is in %s: %s", place, around(c.values, data))
	}
	if c.tokens != nil && c.tokens.In(data) {
		c.t.Errorf("what opens a wrapping is in %s: %s", place, around(c.tokens, data))
	}
}

// around is what stands before a value that is found.
func around(s *forms, data []byte) string {
	for i := 0; i < len(data); i += 64 {
		if end := min(i+64, len(data)); s.In(data[:end]) {
			return fmt.Sprintf("%q", data[max(0, i-200):end])
		}
	}
	return ""
}

// processes searches the arguments and environments of all processes but one.
func (c *canary) processes(but []int) {
	c.t.Helper()
	found, _ := filepath.Glob("/proc/[0-9]*")
	looked := 0
	for _, dir := range found {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || slices.Contains(but, pid) {
			continue
		}
		for _, what := range []string{"cmdline", "environ", "comm"} {
			data, err := os.ReadFile(filepath.Join(dir, what))
			if err == nil && len(data) > 0 {
				looked++
				c.clean("the "+what+" of process "+strconv.Itoa(pid), data)
			}
		}
	}
	if looked < 4 {
		c.t.Errorf("only %d arguments and environments of processes could be read", looked)
	}
}

// files searches all files below a folder.
func (c *canary) files(root string) {
	c.t.Helper()
	before := c.places
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil {
			c.clean("the file "+path, data)
		}
		return err
	})
	if err != nil || c.places == before {
		c.t.Errorf("files of %s: %v", root, err)
	}
}

// traces is a collector of traces.
type traces struct {
	*httptest.Server
	mu  sync.Mutex
	got bytes.Buffer
}

func collectTraces(t *testing.T) *traces {
	t.Helper()
	c := &traces{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got.Write(body)
	}))
	t.Cleanup(c.Close)
	return c
}

// spill is a program that writes the password in every way that it can think of,
// tells the test what it is by a file, and then waits.
const spill = `printf %s "$PGPASSWORD" > "$OUT"; echo "pid=$$"; echo "$PGPASSWORD"; echo "$PGPASSWORD" >&2; printf %s "$PGPASSWORD" | base64; printf 'u:%s' "$PGPASSWORD" | base64; printf %s "$PGPASSWORD" | od -An -tx1 -v -w99
env; export -p; printf %q "$PGPASSWORD"; psql -X -c "select '$PGPASSWORD' as shown, encode('$PGPASSWORD'::bytea, 'base64')" 2>&1; psql -X -c "select nothing('$PGPASSWORD')" 2>&1; echo ready; read -r line; echo over`

// TestVaultCanary runs every operation in every door with planted values, and
// the command line with programs that spill theirs; then it searches all that
// was written, sent, kept or shown.
func TestVaultCanary(t *testing.T) {
	collector := collectTraces(t)
	l := startVault(t, "telemetry: {otlp: "+collector.URL+"}\n")
	l.declareSecrets(t)
	c := &canary{t: t, values: formsOf(kvCanary, plainCanary, l.secretID, l.vault.RootToken)}

	l.everyOperation(t)
	out := filepath.Join(t.TempDir(), "out")
	db := l.launch("developer", l.exec("OUT="+out, "bash", "-c", spill)...)
	kv := l.launch("developer", "creds", "exec", "vaulted", "api", "--", "bash", "-c", `echo "pid=$$"; env; echo "$API_KEY" | base64; echo "$NESTED"; echo ready; read -r line`)
	l.await("both programs have spilled", func() bool {
		return strings.Contains(db.out.text(), "ready") && strings.Contains(kv.out.text(), "ready")
	})
	password := readFile(t, out)
	if len(password) < 10 {
		t.Fatalf("the program got %q", password)
	}
	c.values = formsOf(kvCanary, plainCanary, l.secretID, l.vault.RootToken, password)
	c.processesBut(pidOf(db.out.text(), "pid="), pidOf(kv.out.text(), "pid="))
	for _, p := range []*commandLine{db, kv} {
		if code := p.ends(t); code > 1 { // read gives 1 at the end
			t.Errorf("%d %s", code, p.err.text())
		}
		if !strings.Contains(p.out.text(), scrub.Mask) {
			t.Errorf("nothing was masked, so nothing was spilled: %s", p.out.text())
		}
	}
	_, handle, errs := l.run("developer", "creds", "request", "vaulted", "api", "--new", "-o", "json")
	plain := l.plain(t)
	if !strings.Contains(plain, plainCanary) {
		t.Errorf("nothing was shown in plain, so nothing is searched for: %s", plain)
	}
	c.tokens = formsOf(l.handedOut(t)...)
	for _, text := range []string{db.out.text(), db.err.text(), kv.out.text(), kv.err.text(), handle, errs} {
		c.clean("what the command line wrote", []byte(text))
	}
	if !strings.Contains(handle, `"lease"`) {
		t.Errorf("nothing was requested: %s %s", handle, errs)
	}
	for _, e := range l.record.all() {
		handsOut := strings.HasSuffix(e.what, "POST /api/v1/credentials") || strings.HasSuffix(e.what, "/wrap")
		tokens := c.tokens
		if handsOut {
			c.tokens = nil
		}
		c.clean("the request "+e.what, []byte(e.request))
		if !strings.HasSuffix(e.what, "/plain") {
			c.clean("the answer to "+e.what, []byte(e.answer))
		}
		c.tokens = tokens
	}
	audit := l.audit(t)
	if c.clean("the audit", []byte(audit)); !strings.Contains(audit, "collect_credentials") || !strings.Contains(audit, "reveal_credentials") {
		t.Error("the audit says nothing of credentials")
	}
	c.clean("the log", []byte(l.logs.text()))
	if err := l.stop(); err != nil {
		t.Error(err)
	}
	collector.mu.Lock()
	c.clean("the traces", collector.got.Bytes())
	if !bytes.Contains(collector.got.Bytes(), []byte("request_credentials")) {
		t.Error("nothing was traced")
	}
	collector.mu.Unlock()
	c.files(l.dir)
	c.clean("Vault's audit", []byte(readFile(t, l.vault.AuditFile)))
	t.Logf("%d places of %d bytes searched, %d exchanges among them", c.places, c.bytes, len(l.record.all()))
}

// processesBut is processes for several.
func (c *canary) processesBut(pids ...int) {
	c.t.Helper()
	if slices.Contains(pids, 0) {
		c.t.Fatal("a program did not tell its number")
	}
	c.processes(pids)
}

// everyOperation asks for every operation at every door, as everybody, and for
// those of credentials with ones that there are.
func (l *lending) everyOperation(t *testing.T) {
	t.Helper()
	ops := slices.Concat(operations(), credentialOperations(), proposalOperations())
	for _, role := range []string{"developer", "agent", "sre", ""} {
		for _, body := range []string{`{"service":"checkout","name":"db-readonly","environment":"staging","task":"canary"}`, `{"service":"vaulted","name":"api"}`} {
			var loan lent
			_ = json.Unmarshal([]byte(l.send(role, http.MethodPost, "/api/v1/credentials", body).body), &loan)
			ops = append(ops, ofLease(loan.Lease.Lease)...)
		}
		for _, op := range ops {
			l.send(role, op.method, op.rest, op.body)
			if op.graph != "" {
				l.graph(role, "{ "+op.graph+" }")
				l.graph(role, op.graph)
			}
			if op.tool != "" {
				l.tool(role, op.tool, op.args)
			}
		}
	}
}

// ofLease are the operations on one lease.
func ofLease(id string) []operation {
	path := "/api/v1/credentials/" + url.PathEscape(id)
	q := strconv.Quote(id)
	return []operation{
		{method: "GET", rest: path, graph: `credential(lease: ` + q + `) { lease state wrapping }`},
		{method: "POST", rest: path + "/renew", body: `{"ttl":"5m"}`, graph: `mutation { renewCredentials(lease: ` + q + `, ttl: "5m") { lease } }`},
		{method: "POST", rest: path + "/beat"},
		{method: "POST", rest: path + "/wrap"},
		{method: "POST", rest: path + "/wrap"},
		{method: "POST", rest: path + "/opened"},
		{method: "POST", rest: path + "/wrap"},
		{method: "POST", rest: path + "/alarm"},
		{method: "DELETE", rest: path, graph: `mutation { revokeCredentials(lease: ` + q + `) { lease } }`, tool: "revoke_credentials", args: map[string]any{"lease": id}},
	}
}

// declareSecrets has the catalog and Vault hold a service that lends secrets.
func (l *lending) declareSecrets(t *testing.T) {
	t.Helper()
	l.vault.Policy(t, "fairlead/default/vaulted", `path "secret/data/vaulted/*" { capabilities = ["read"] }`)
	l.vault.Must(t, http.MethodPost, "secret/data/vaulted/api", map[string]any{"data": map[string]any{"api-key": kvCanary, "nested": map[string]any{"key": []string{kvCanary}}}}, nil)
	l.vault.Must(t, http.MethodPost, "secret/data/vaulted/plain", map[string]any{"data": map[string]any{"api-key": plainCanary}}, nil)
	if err := os.MkdirAll(l.repo("orders", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.commit("orders", "mine/catalog-info.yaml", `apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: vaulted}
spec:
  type: service
  lifecycle: production
  owner: fulfilment
  fairlead:
    credentials:
      - {name: api, mount: secret, path: vaulted/api}
      - {name: plain, mount: secret, path: vaulted/plain}
`)
	l.reread("orders")
}

// plain has the values of a credential told, which the rules allow here.
func (l *lending) plain(t *testing.T) string {
	t.Helper()
	var loan lent
	l.send("developer", http.MethodPost, "/api/v1/credentials", `{"service":"vaulted","name":"plain"}`).decode(t, &loan)
	return l.send("developer", http.MethodPost, "/api/v1/credentials/"+loan.Lease.Lease+"/plain", "").body
}

// audit is all of it.
func (l *lending) audit(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for cursor := ""; ; {
		a := l.send("sre", http.MethodGet, "/api/v1/audit?limit=100&cursor="+url.QueryEscape(cursor), "")
		var page struct{ NextCursor string }
		a.decode(t, &page)
		if all.WriteString(a.body); a.status != http.StatusOK || page.NextCursor == "" {
			return all.String()
		}
		cursor = page.NextCursor
	}
}

// handedOut are the tokens that opened wrappings.
func (l *lending) handedOut(t *testing.T) (out []string) {
	t.Helper()
	for _, e := range l.record.all() {
		if _, after, ok := strings.Cut(e.answer, `"wrap":{"token":"`); ok {
			token, _, _ := strings.Cut(after, `"`)
			out = append(out, token)
		}
	}
	if len(out) < 4 {
		t.Errorf("only %d wrappings were handed out", len(out))
	}
	return out
}
