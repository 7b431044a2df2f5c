package command_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
	"github.com/fairlead-dev/fairlead/internal/git"
)

func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		code  int
		out   []string // parts of standard output
		err   []string // parts of standard error
		asked string   // the last request
	}{
		"list":             {args: []string{"get", "components"}, out: []string{"REF", "component:default/c0  service", "component:default/c2"}, asked: "GET /api/v1/entities?cursor=2&filter=kind%3Dcomponent&limit=500&orderBy="},
		"list some":        {args: []string{"get", "--limit", "2", "-f", "a=b", "-f", "c=d,e=f"}, out: []string{"c1"}, err: []string{"2 of 3 shown"}, asked: "GET /api/v1/entities?filter=a%3Db&filter=c%3Dd%2Ce%3Df&limit=2"},
		"list as JSON":     {args: []string{"get", "component,api", "-o", "json"}, out: []string{`"totalItems": 3`, `"name": "c2"`}, asked: "GET /api/v1/entities?cursor=2&filter=kind%3Dcomponent%2Ckind%3Dapi&"},
		"one":              {args: []string{"get", "checkout"}, out: []string{"component:default/checkout", "ownedBy  group:default/payments"}},
		"one as YAML":      {args: []string{"get", "checkout", "-o", "yaml"}, out: []string{"kind: Component\nmetadata:\n  name: checkout"}},
		"two of a kind":    {args: []string{"get", "api", "a", "b", "-o", "json"}, out: []string{`"name": "a"`, `"name": "b"`}, asked: "GET /api/v1/entities/api:b"},
		"not there":        {args: []string{"get", "nothing"}, code: 4, err: []string{"error: there is no /api/v1/entities/nothing", "fix: do better"}},
		"filter of one":    {args: []string{"get", "checkout", "-f", "a=b"}, code: 2, err: []string{"--filter is for lists"}},
		"search":           {args: []string{"search", "check", "out", "--limit", "2"}, out: []string{"api:default/checkout"}, err: []string{"2 of 3 shown"}, asked: "GET /api/v1/search?limit=2&query=check+out"},
		"search nothing":   {args: []string{"search", "x", "--limit", "0"}, code: 2, err: []string{"--limit"}},
		"documents":        {args: []string{"knowledge", "search", "check", "out", "--service", "checkout", "--limit", "1"}, out: []string{"doc://checkout/docs/runbooks/slow.md#mitigation\n", "runbook · Slow · Mitigation · group:default/payments", "stale: it expired"}, err: []string{"1 of 3 shown"}, asked: "GET /api/v1/knowledge?limit=1&query=check+out&service=checkout"},
		"document":         {args: []string{"knowledge", "get", "doc://checkout/docs/runbooks/slow.md"}, out: []string{"  Mitigation  #mitigation", "\n  indented\n"}, err: []string{"there is more: fairlead knowledge get 'doc://checkout/docs/runbooks/slow.md#slow~2'"}, asked: "GET /api/v1/document?handle=doc%3A%2F%2Fcheckout%2Fdocs%2Frunbooks%2Fslow.md&max_tokens=4000"},
		"code":             {args: []string{"code", "charge", "-e", "--service", "checkout", "--path", "pay", "--limit", "1"}, out: []string{"checkout/pay/pay.go\n", "component:default/checkout · group:default/payments", "    2\n    3:     return charge[31m\n", "1 of 4 lines"}, err: []string{"there is more", "2 sources are not searched"}, asked: "GET /api/v1/code?limit=1&path=pay&query=charge&regexp=true&service=checkout"},
		"how much code":    {args: []string{"code", "x", "--limit", "0"}, code: 2, err: []string{"--limit"}},
		"outside":          {args: []string{"knowledge", "external", "what", "pods", "--provider", "docs"}, out: []string{"Pods[31m\n", "https://docs.example.com/pods\n", "Small things."}, err: []string{"as docs answered at 2026-02-01T12:00:00Z"}, asked: "POST /api/v1/knowledge/external?"},
		"how many":         {args: []string{"knowledge", "search", "x", "--limit", "0"}, code: 2, err: []string{"--limit"}},
		"dependencies":     {args: []string{"deps", "checkout", "--in", "--depth", "3"}, out: []string{"└─ dependsOn resource:default/db"}, asked: "GET /api/v1/dependencies/checkout?depth=3&direction=in"},
		"both ways":        {args: []string{"deps", "checkout", "--in", "--out"}, code: 2, err: []string{"can't be used together"}},
		"errors":           {args: []string{"catalog", "errors", "--owner", "group:default/x"}, out: []string{"catalog-info.yaml:3:1: error: broken", "1 problem"}, asked: "GET /api/v1/errors?limit=500&owner="},
		"sources":          {args: []string{"catalog", "sources"}, out: []string{"shop  git   ok"}},
		"coverage":         {args: []string{"catalog", "coverage", "--owner", "payments", "--missing", "slo", "--add", "--fail-under", "71"}, out: []string{"71 %", "MISSING", "component:default/checkout", "behind line 8, add", "  |     slos: [x]"}, asked: "GET /api/v1/coverage?limit=500&missing=slo&owner=payments"},
		"too little known": {args: []string{"catalog", "coverage", "--fail-under", "72", "-o", "json"}, code: 1, out: []string{`"percent": 71`}, err: []string{"71 %"}},
		"fail under what":  {args: []string{"catalog", "coverage", "--fail-under", "101"}, code: 2, err: []string{"--fail-under"}},
		"refresh":          {args: []string{"catalog", "refresh", "checkout"}, out: []string{"source shop is read at commit 0123456789ab: 2 entities changed"}, asked: "POST /api/v1/refresh?"},
		"refresh what":     {args: []string{"catalog", "refresh"}, code: 2, err: []string{"name an entity or a source"}},
		"locations":        {args: []string{"catalog", "locations"}, out: []string{"7  registered  https://git.example.com/a/b/blob/main/c.yaml", "8  configured"}},
		"register":         {args: []string{"catalog", "register", "https://git.example.com/a/b/blob/main/c.yaml"}, out: []string{"registered https://git.example.com/a/b/blob/main/c.yaml as 7"}, asked: "POST /api/v1/locations?"},
		"try":              {args: []string{"catalog", "register", "https://git.example.com/a/b/blob/main/c.yaml", "--dry-run"}, out: []string{"component:default/c"}, err: []string{"registered already"}},
		"unregister":       {args: []string{"catalog", "unregister", "https://git.example.com/a/b/blob/main/c.yaml"}, out: []string{"2 entities removed"}, asked: "DELETE /api/v1/locations/7?"},
		"unregister id":    {args: []string{"catalog", "unregister", "7"}, out: []string{"unregistered"}, asked: "DELETE /api/v1/locations/7?"},
		"unregister what":  {args: []string{"catalog", "unregister", "https://git.example.com/none"}, code: 4, err: []string{"no location https://git.example.com/none is registered"}},
		"approvals":        {args: []string{"approvals", "list", "--mine", "--agent", "claude"}, out: []string{"YOURS TO DECIDE", "9   pending  2026-02-01T12:00:00Z  claude for user:default/alice  yes"}, asked: "GET /api/v1/approvals?agent=claude&limit=50&mine=true&state=pending"},
		"all approvals":    {args: []string{"approvals", "list", "--state", "all"}, asked: "GET /api/v1/approvals?limit=50"},
		"approval":         {args: []string{"approvals", "show", "9"}, out: []string{"Asked by    claude for user:default/alice", "For         group:default/payments, role:sre", `"a": "\u001b[31mé"`, "sha256:00"}},
		"grant":            {args: []string{"approvals", "grant", "9"}, out: []string{"granted: refresh_entity on component:default/c for claude for user:default/alice, until 2026-02-01T12:00:00Z"}, asked: "POST /api/v1/approvals/9/grant?"},
		"deny":             {args: []string{"approvals", "deny", "9", "--reason", "no"}, out: []string{"denied: refresh_entity"}, asked: "POST /api/v1/approvals/9/deny?"},
		"deny why":         {args: []string{"approvals", "deny", "9"}, code: 2, err: []string{"--reason"}},
		"grant what":       {args: []string{"approvals", "grant", ".."}, code: 2, err: []string{"no id of a request"}},
		"audit":            {args: []string{"audit", "--since", "24h", "--limit", "3"}, out: []string{"2026-01-31T11:58:00Z  catalog.refresh"}, asked: "GET /api/v1/audit?limit=3&since=24h"},
		"status":           {args: []string{"status"}, out: []string{"ready", "user:default/alice", "2 entities, 1 problem"}},
		"whoami":           {args: []string{"token", "whoami", "-o", "json"}, out: []string{`"subject": "user:default/alice"`}},
		"version":          {args: []string{"version"}, out: []string{"fairlead v1.2.3"}},
		"no format":        {args: []string{"version", "-o", "xml"}, code: 2, err: []string{`there is no format "xml"`, "table, json, yaml"}},
		"no SARIF here":    {args: []string{"status", "-o", "sarif"}, code: 2, err: []string{"sarif"}},
		"a typing error":   {args: []string{"get", "--filtre", "x"}, code: 2, err: []string{`did you mean "--filter"?`, "fairlead get --help"}},
		"no command":       {args: []string{"brif"}, code: 2, err: []string{`did you mean "brief"?`}},
		"too little":       {args: []string{"deps"}, code: 2, err: []string{"error:", "fairlead deps --help"}},
		"help":             {args: []string{"brief", "--help"}, out: []string{"Examples:", "fairlead brief checkout"}},
		"nothing":          {out: []string{"Usage: fairlead"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, nil)
			got := run(t, f.env(), "", c.args...)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			for _, part := range c.out {
				if !strings.Contains(got.out, part) {
					t.Errorf("output lacks %q:\n%s", part, got.out)
				}
			}
			for _, part := range c.err {
				if !strings.Contains(got.err, part) {
					t.Errorf("standard error lacks %q:\n%s", part, got.err)
				}
			}
			if c.err == nil && got.err != "" {
				t.Errorf("standard error says %s", got.err)
			}
			if c.asked != "" && (len(f.asked) == 0 || !strings.HasPrefix(f.asked[len(f.asked)-1], c.asked)) {
				t.Errorf("asked %q, want %s", f.asked, c.asked)
			}
			if strings.Contains(got.out+got.err, "\x1b") {
				t.Errorf("escapes without a terminal: %q", got.out+got.err)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for code, want := range map[string]int{"invalid": 2, "unauthenticated": 3, "forbidden": 3, "approval_required": 3, "quota_exceeded": 3,
		"not_found": 4, "conflict": 1, "failed_precondition": 1, "unavailable": 5, "internal": 5} {
		f := serve(t, map[string]http.HandlerFunc{"/api/v1/entities/x": func(w http.ResponseWriter, _ *http.Request) { refuse(w, 400, code, "no") }})
		if got := run(t, f.env(), "", "get", "x"); got.code != want {
			t.Errorf("%s ends with %d, want %d", code, got.code, want)
		}
	}
	f := serve(t, nil)
	f.Close()
	got := run(t, f.env(), "", "get", "x")
	if got.code != 5 || !strings.Contains(got.err, "fairleadd serve") || !strings.Contains(got.err, f.URL) {
		t.Errorf("%+v", got)
	}
}

func TestInterrupted(t *testing.T) {
	begun := make(chan struct{})
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/entities/x": func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	}})
	bin := filepath.Join(t.TempDir(), "fairlead")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), bin, "get", "x")
	cmd.Env = append(os.Environ(), "FAIRLEAD_SERVER="+f.URL, "FAIRLEAD_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Fatal(err)
	}
}

func TestStatus(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/sources": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"items":[{"name":"a","state":"failing","error":"gone","fix":"look"}]}`))
	}})
	if got := run(t, f.env(), "", "status"); got.code != 1 || !strings.Contains(got.out, "a: gone") {
		t.Errorf("%+v", got)
	}
	if got := run(t, map[string]string{"FAIRLEAD_SERVER": f.URL}, "", "status"); got.code != 3 || !strings.Contains(got.out, "ready") || !strings.Contains(got.err, "fairlead login") {
		t.Errorf("%+v", got)
	}
}

func TestLogin(t *testing.T) {
	f := serve(t, nil)
	home := t.TempDir()
	t.Setenv("FAIRLEAD_TEST_HOME", "1")
	t.Setenv("XDG_CONFIG_HOME", home)
	if got := run(t, nil, "wrong-token\n", "login", "--server", f.URL); got.code != 3 {
		t.Fatalf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(home, "fairlead")); err == nil {
		t.Fatal("a token that does not hold was noted")
	}
	got := run(t, nil, token+"\n", "login", "--server", f.URL+"/")
	if got.code != 0 || !strings.Contains(got.out, "user:default/alice") || strings.Contains(got.out+got.err, token) {
		t.Fatalf("%+v", got)
	}
	info, err := os.Stat(filepath.Join(home, "fairlead", "config.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	if got := run(t, nil, "", "get", "checkout"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	other := serve(t, nil)
	if got := run(t, map[string]string{"FAIRLEAD_SERVER": other.URL}, "", "get", "checkout"); got.code != 3 {
		t.Fatalf("a token went to another server: %+v", got)
	}
	if got := run(t, nil, token, "login", "--server", "http://far.example.com"); got.code != 2 || !strings.Contains(got.err, "plain HTTP") {
		t.Fatalf("%+v", got)
	}
}

func TestTokenNew(t *testing.T) {
	t.Chdir(t.TempDir())
	got := run(t, nil, "", "token", "new", "ci", "--group", "platform", "--role", "reader", "--role", "sre")
	want := "auth:\n  tokens:\n    - name: ci\n      tokenFile: " + must(filepath.Abs("ci.token")) + "\n      subject: user:default/ci\n      groups:\n        - platform\n      roles:\n        - reader\n        - sre\n"
	if got.code != 0 || got.out != want {
		t.Fatalf("%+v, want %s", got, want)
	}
	info, err := os.Stat("ci.token")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	first, err := os.ReadFile("ci.token")
	if err != nil || len(first) < 40 || strings.Contains(got.out+got.err, strings.TrimSpace(string(first))) {
		t.Fatal(string(first), err)
	}
	if got := run(t, nil, "", "token", "new", "ci"); got.code != 1 || !strings.Contains(got.err, "is there already") {
		t.Fatalf("%+v", got)
	}
	if got := run(t, nil, "", "token", "new", "../x"); got.code != 2 {
		t.Fatalf("%+v", got)
	}
}

func must(s string, _ error) string { return s }

func TestBriefOfTheRepositoryHere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	component := "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: b}\nspec: {type: service, lifecycle: x, owner: y}\n"
	err := git.Create(dir, map[string]string{"services/b/catalog-info.yaml": component, "services/b/cmd/main.go": "package main\n"},
		git.Commit{Author: "A", Email: "a@example.com", When: time.Unix(0, 0), Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	var known string
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/brief": func(w http.ResponseWriter, r *http.Request) {
		switch q := r.URL.Query(); {
		case q.Get("service") != "" || q.Get("path") == "services/b/cmd" && q.Get("repository") == known:
			_, _ = w.Write([]byte(`{"ref":"component:default/b"}`))
		case q.Get("repository") == known:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"code":"not_found","message":"none above","fix":"name one","details":{"refs":["component:default/a","component:default/b"]}}}`))
		default:
			refuse(w, http.StatusNotFound, "not_found", "no component is in it")
		}
	}})
	if got := run(t, f.env(), "", "brief", "--repo", filepath.Join(dir, "services")); got.code != 4 || !strings.Contains(got.err, dir) {
		t.Fatalf("%+v", got)
	}
	known = must(filepath.EvalSymlinks(dir))
	if got := run(t, f.env(), "", "brief", "--repo", filepath.Join(dir, "services", "b", "cmd")); got.code != 0 || !strings.Contains(got.out, "component:default/b") {
		t.Fatalf("%+v", got)
	}
	if got := run(t, f.env(), "", "brief", "--repo", dir); got.code != 4 || !strings.Contains(got.err, "none above") {
		t.Fatalf("%+v", got)
	}
	if got := run(t, f.env(), "", "brief", "--path", "x"); got.code != 2 || !strings.Contains(got.err, "--path") {
		t.Fatalf("%+v", got)
	}
	if got := run(t, f.env(), "", "brief", "x", "--section", "owner,commands", "--max-tokens", "300"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if last := f.asked[len(f.asked)-1]; last != "GET /api/v1/brief?max_tokens=300&sections=owner&sections=commands&service=x" {
		t.Error(last)
	}
	if got := run(t, f.env(), "", "brief", "--repo", t.TempDir()); got.code != 4 || !strings.Contains(got.err, "--repo") {
		t.Fatalf("%+v", got)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"good/catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: a}\nspec: {type: service, lifecycle: x, owner: y}\n",
		"bad/catalog-info.yaml":  "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: a}\nspec: {type: service, owner: y}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]result{
		"good":                       {0, "no problems in 1 file, 1 entity described\n", ""},
		"good -o json":               {0, "[]\n", ""},
		"bad":                        {1, "bad/catalog-info.yaml:4:1: error: spec.lifecycle is missing", ""},
		"bad -o json":                {1, `"owner": "group:default/y"`, ""},
		"bad -o yaml":                {1, "file: bad/catalog-info.yaml", ""},
		"bad -o sarif":               {1, `"uri": "catalog-info.yaml"`, ""},
		"good -o oracle":             {0, `"format": 1`, ""},
		"good -o oracle --type file": {0, `{ROOT}/catalog-info.yaml`, ""},
		"good --type file":           {2, "", "for -o oracle"},
		"good bad -o oracle":         {2, "", "one folder"},
		"gone":                       {4, "", "gone"},
	} {
		got := run(t, nil, "", append([]string{"catalog", "check"}, strings.Fields(args)...)...)
		if got.code != want.code || !strings.Contains(got.out, want.out) || !strings.Contains(got.err, want.err) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestCompletion(t *testing.T) {
	f := serve(t, nil)
	for line, want := range map[string]string{
		"fairlead cat":                            "catalog",
		"fairlead catalog ":                       "check",
		"fairlead brief --sec":                    "--section",
		"fairlead get check":                      "checkout",
		"fairlead deps component:default/check":   "component:default/checkout",
		"fairlead completion ":                    "fish",
		"fairlead knowledge search slow --kind r": "runbook",
		"fairlead knowledge search --kind ":       "adr",
		"fairlead catalog check --output sar":     "sarif",
		"fairlead --server http://127.0.0.1 sta":  "status",
	} {
		env := f.env()
		env["COMP_LINE"] = line
		t.Setenv("COMP_LINE", line)
		got := run(t, env, "")
		if got.code != 0 || !slices.Contains(strings.Fields(got.out), want) {
			t.Errorf("%s gives %+v, want %s", line, got, want)
		}
	}
	t.Setenv("COMP_LINE", "")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if got := run(t, nil, "", "completion", shell); got.code != 0 || !strings.Contains(got.out, "complete") {
			t.Errorf("%s: %+v", shell, got)
		}
	}
	if got := run(t, nil, "", "completion", "sh"); got.code != 2 {
		t.Errorf("%+v", got)
	}
}

func TestMCP(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"/mcp/readonly": func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"))
	}})
	got := run(t, f.env(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, "mcp", "--readonly", "--toolsets", "catalog,previews")
	if got.code != 0 || got.out != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
		t.Errorf("%+v", got)
	}
	if f.asked[0] != "POST /mcp/readonly?toolsets=catalog%2Cpreviews" {
		t.Error(f.asked)
	}
}

// TestEveryCommandHasExamples holds the help of all commands to what people
// look for in it.
func TestEveryCommandHasExamples(t *testing.T) {
	for _, args := range []string{"get", "search", "brief", "deps", "catalog check", "catalog errors", "catalog refresh", "catalog sources", "catalog locations", "catalog register", "catalog unregister", "status",
		"code", "knowledge external", "approvals list", "approvals show", "approvals grant", "approvals deny", "audit", "login", "token new", "token whoami", "mcp", "completion", "version"} {
		got := run(t, nil, "", append(strings.Fields(args), "--help")...)
		if got.code != 0 || !strings.Contains(got.out, "Examples:") || !strings.Contains(got.out, "fairlead "+args) {
			t.Errorf("%s --help: %+v", args, got)
		}
	}
}

// TestLinks holds the program to what starts fast.
func TestLinks(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "..").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"fairlead/internal/app", "fairlead/internal/store", "fairlead/internal/keep", "fairlead/mcp", "fairlead/graphql", "fairlead/rest", "mark3labs/mcp-go", "modernc.org/sqlite", "jackc/pgx", "argo-cd"} {
			if strings.Contains(dep, heavy) {
				t.Errorf("the command line links %s", dep)
			}
		}
	}
}

func TestTimeout(t *testing.T) {
	f := serve(t, map[string]http.HandlerFunc{"/api/v1/entities/x": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	if got := run(t, f.env(), "", "get", "x", "--timeout", "10ms"); got.code != 5 || !strings.Contains(got.err, "--timeout") {
		t.Errorf("%+v", got)
	}
	if got := run(t, f.env(), "", "get", "x", "--timeout", "-1s"); got.code != 2 {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := command.Run(ctx, []string{"get", "x"}, command.Streams{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}, Env: func(k string) string { return f.env()[k] }}); code != 5 {
		t.Error(code)
	}
}
