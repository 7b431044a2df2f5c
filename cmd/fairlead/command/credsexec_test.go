package command_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
)

// asProgram has this program be the command line, so that tests can signal and
// kill it.
const asProgram = "FAIRLEAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		os.Exit(command.Main(os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Environ: os.Environ, Version: "v1.2.3"}))
	}
	os.Exit(m.Run())
}

// program is the command line as a process of its own, without a terminal.
type program struct {
	*exec.Cmd
	out, err *output
	done     chan struct{}
}

// output is what a process wrote so far.
type output struct {
	r    *os.File
	text chan string
	all  bytes.Buffer
}

func (o *output) await(t *testing.T, want string) string {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(o.all.String(), want) {
		select {
		case s, ok := <-o.text:
			if !ok {
				t.Fatalf("it wrote %q, without %q", o.all.String(), want)
			}
			o.all.WriteString(s)
		case <-deadline:
			t.Fatalf("it wrote %q so far, without %q", o.all.String(), want)
		}
	}
	return o.all.String()
}

func (o *output) rest() string {
	for s := range o.text {
		o.all.WriteString(s)
	}
	return o.all.String()
}

func capture(t *testing.T) (*output, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := &output{r: r, text: make(chan string, 10000)}
	go func() {
		defer close(o.text)
		for buf := make([]byte, 1<<16); ; {
			n, err := r.Read(buf)
			o.text <- string(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	return o, w
}

// launch starts the command line.
func (l *lending) launch(t *testing.T, in io.Reader, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Cmd: exec.Command(self, args...), done: make(chan struct{})}
	p.Env = append(os.Environ(), asProgram+"=1", "FAIRLEAD_SERVER="+l.URL, "FAIRLEAD_TOKEN="+token, "XDG_CONFIG_HOME="+t.TempDir())
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.Stdin = in
	var out, errs *os.File
	p.out, out = capture(t)
	p.err, errs = capture(t)
	p.Stdout, p.Stderr = out, errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	errs.Close()
	go func() {
		_ = p.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.done
	})
	return p
}

func (p *program) code(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		t.Fatalf("it does not end: %s %s", p.out.all.String(), p.err.all.String())
		return 0
	}
}

// use runs creds exec to its end, and checks that the credential went back and
// that no output holds a value.
func (l *lending) use(t *testing.T, args ...string) result {
	t.Helper()
	p := l.launch(t, strings.NewReader("from standard input\n"), append([]string{"creds", "exec"}, args...)...)
	r := result{p.code(t), p.out.rest(), p.err.rest()}
	if said := strings.Join(l.calls(), " "); !strings.HasSuffix(said, "revoke") {
		t.Errorf("called %s, without giving the credential back", said)
	}
	for _, form := range []string{password, base64.StdEncoding.EncodeToString([]byte(password))[:20], wrapToken} {
		if strings.Contains(r.out+r.err, form) {
			t.Errorf("a value is written: %q", r.out+r.err)
		}
	}
	return r
}

// length tells in a shell how long the password is, and its sum.
const length = `printf '%s %s\n' "${#PGPASSWORD}" "$(printf %s "$PGPASSWORD" | cksum | cut -d' ' -f1)"; `

// TestExec runs real programs with a credential.
func TestExec(t *testing.T) {
	sum := exec.Command("bash", "-c", length)
	sum.Env = append(os.Environ(), "PGPASSWORD="+password)
	want, err := sum.Output()
	if err != nil {
		t.Fatal(err)
	}
	sh := func(script string) []string { return []string{"checkout", "db-readonly", "--", "bash", "-c", script} }
	for name, c := range map[string]struct {
		args     []string
		code     int
		out, err string // expressions
	}{
		"in the environment": {args: sh(length + `echo $PGUSER $DB_READONLY_USERNAME $FAIRLEAD_LEASE`), out: regexp.QuoteMeta(string(want)) + "v-checkout-ro-1 v-checkout-ro-1 checkout-db-1\n"},
		"all of it":          {args: sh(`env; echo >&2 "$PGPASSWORD"; set -x; : "$PGPASSWORD"`), out: `DB_READONLY_PASSWORD=•••\n`, err: "•••\n"},
		"no token":           {args: sh(`env | grep -c FAIRLEAD_TOKEN; echo "<$FAIRLEAD_SERVER>"`), out: `^0\n<http://127`},
		"encoded":            {args: sh(`printf %s "$PGPASSWORD" | base64; printf "u:%s" "$PGPASSWORD" | base64 -w0; printf %s "$PGPASSWORD" | od -An -tx1 -v -w99; printf %q "$PGPASSWORD"`), out: `•••`},
		"byte by byte":       {args: sh(`for ((i=0; i<${#PGPASSWORD}; i++)); do printf %s "${PGPASSWORD:i:1}"; sleep 0.01; done; echo .`), out: `^•••\.\n$`},
		"slowly":             {args: sh(`printf %s "${PGPASSWORD:0:9}"; sleep 0.3; printf '%s\n' "${PGPASSWORD:9}"`), out: `^•••\n$`},
		"standard input":     {args: sh("cat"), out: "^from standard input\n$"},
		"its exit code":      {args: sh("exit 42"), code: 42},
		"a signal":           {args: sh("kill -SEGV $$"), code: 128 + 11},
		"arguments":          {args: []string{"checkout", "db-readonly", "--ttl", "5m", "--task", "x", "--", "printf", "%s|", "--ttl", "-o", "json", "--"}, out: `^--ttl\|-o\|json\|--\|$`},
		"chosen variables":   {args: []string{"checkout", "db-readonly", "--env", "PW=password", "--", "bash", "-c", `PGPASSWORD+=$PW; ` + length + `echo "<$PGUSER>"`}, out: regexp.QuoteMeta(string(want)) + "<>\n"},
		"no such field":      {args: []string{"checkout", "db-readonly", "--env", "PW=passwort", "--", "true"}, code: 2, err: "It has password, username"},
		"in files":           {args: []string{"checkout", "db-readonly", "--file", "PW=password", "--file", "ALL", "--", "bash", "-c", `PGPASSWORD=$(cat $PW); ` + length + `stat -fc %T $PW; stat -c %a $PW $ALL $(dirname $PW); python3 -c 'import json,os; print(len(json.load(open(os.environ["ALL"]))["password"]))' 2>&1; cat $ALL; echo $(dirname $PW) >&2`}, out: regexp.QuoteMeta(string(want)) + `tmpfs\n600\n600\n700\n22\n{"password":"•••","username":"v-checkout-ro-1"}`, err: "/fairlead-creds-"},
		"no core dumps":      {args: sh(`ulimit -c; grep Dumpable /proc/self/status; cat /proc/$PPID/environ`), code: 1, out: "^0\n", err: "Permission denied|"},
		"nothing is left":    {args: sh(`sleep 1000 & setsid sleep 1000 & exit 3`), code: 3},
		"a lease":            {args: []string{"--lease", "checkout-db-1", "--", "bash", "-c", length}, out: regexp.QuoteMeta(string(want))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lend(t)
			r := l.use(t, c.args...)
			if name == "no core dumps" && os.Getuid() == 0 {
				c.code = 0 // root reads everything
			}
			if r.code != c.code || !regexp.MustCompile(c.out).MatchString(r.out) || !regexp.MustCompile(c.err).MatchString(r.err) {
				t.Errorf("%d\n%s\n%s", r.code, r.out, r.err)
			}
			if name == "in files" {
				if _, err := os.Stat(strings.TrimSpace(r.err)); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", r.err, err)
				}
			}
		})
	}
}

// TestExecAsksFor holds creds exec to what it asks for, and in which order.
func TestExecAsksFor(t *testing.T) {
	l := lend(t)
	l.use(t, "checkout", "db-readonly", "--ttl", "5m", "--environment", "staging", "--task", "count", "--purpose", "test", "--", "true")
	if got, want := strings.Join(l.calls(), " "), "borrow unwrap opened revoke"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(l.order), "map[boundTo:session environment:staging name:db-readonly purpose:test service:checkout task:count ttl:5m]"; got != want {
		t.Errorf("asked for %s", got)
	}
	l = lend(t)
	l.use(t, "--lease", "checkout-db-1", "--", "true")
	if got, want := strings.Join(l.calls(), " "), "wrap unwrap opened revoke"; got != want {
		t.Errorf("called %s, want %s", got, want)
	}
}

// TestExecSecretsOfKV holds creds exec to what it makes of secrets that are no
// accounts.
func TestExecSecretsOfKV(t *testing.T) {
	l := lend(t)
	l.with(func() {
		l.engine, l.fields = "kv", `{"data":{"api-key":"k-1234567890","port":5432,"pin":"12","path":"/evil","tls":{"key":["inner-secret-text"]},"none":null,"ld_preload":"evil.so"},"metadata":{"version":3}}`
	})
	r := l.use(t, "checkout", "db-readonly", "--", "bash", "-c", `[ "$PORT" = 5432 ] && [ "$PATH" != /evil ] && [ "$DB_READONLY_PATH" = /evil ] && [ -z "$LD_PRELOAD" ] && echo "$API_KEY|$TLS|inner-secret-text|$PIN|$NONE|"`)
	if want := "•••|•••|•••|12||\n"; r.code != 0 || r.out != want || !strings.Contains(r.err, "the field pin is too short") {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
}

// TestExecRefuses holds creds exec to what it says where it runs nothing.
func TestExecRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		with func(*lending)
		code int
		err  string
		said string
	}{
		"opened before":     {func(l *lending) { l.opened = true }, 3, "opened by somebody else", "borrow alarm revoke"},
		"plain HTTP":        {func(l *lending) { l.wrapURL = "http://vault.example.com/v1/sys/wrapping/unwrap" }, 2, "plain HTTP from vault.example.com", "borrow revoke"},
		"no URL":            {func(l *lending) { l.wrapURL = "file:///etc/passwd" }, 2, "not where a wrapping can be opened", "borrow revoke"},
		"Vault is gone":     {func(l *lending) { l.wrapURL = nobody(t) }, 5, "gives no answer", "borrow revoke"},
		"Vault is sealed":   {func(l *lending) { l.answer(503, `{"errors":["Vault is sealed"]}`) }, 5, "is sealed", "borrow revoke"},
		"a redirect":        {func(l *lending) { l.answer(307, ``) }, 1, "status 307", "borrow revoke"},
		"too much":          {func(l *lending) { l.answer(200, `{"data":{"a":"`+strings.Repeat("x", 300<<10)+`"}}`) }, 1, "more than 256 KiB", "borrow revoke"},
		"too much to scrub": {func(l *lending) { l.fields = `{"a":"` + strings.Repeat("x", 70<<10) + `"}` }, 1, "more than 64 KiB", "borrow unwrap opened revoke"},
		"no credential":     {func(l *lending) { l.fields = `{}` }, 1, "no credential in the wrapping", "borrow unwrap revoke"},
		"a zero byte":       {func(l *lending) { l.fields = `{"a":"abc\u0000def"}` }, 2, "Use --file VAR=a", "borrow unwrap opened revoke"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lend(t)
			l.with(func() { c.with(l) })
			r := l.use(t, "checkout", "db-readonly", "--", "echo", "ran")
			if r.code != c.code || !strings.Contains(r.err, c.err) || r.out != "" {
				t.Errorf("%d %s\n%s", r.code, r.out, r.err)
			}
			if got := strings.Join(l.calls(), " "); got != c.said {
				t.Errorf("called %q, want %q", got, c.said)
			}
		})
	}
}

// with changes it, in the middle of what goes on.
func (l *lending) with(do func()) *lending {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	return l
}

// nobody is where nobody answers.
func nobody(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	return srv.URL
}

// answer has Vault answer something else.
func (l *lending) answer(status int, body string) {
	l.instead = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://192.0.2.1/")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// alive tells whether a process runs.
func alive(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !bytes.Contains(data, []byte(") Z "))
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// number is the number behind a word in a text.
func number(t *testing.T, text, word string) int {
	t.Helper()
	m := regexp.MustCompile(word + `(\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in %q", word, text)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// wait has Vault tell that it was asked, and not answer before the caller has
// gone.
func (l *lending) wait(arrived chan<- struct{}) {
	l.instead = func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
}
