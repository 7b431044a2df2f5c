package loan

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

func TestParse(t *testing.T) {
	const base = `{"lease":"l","service":"component:default/s","name":"n","state":"live","expiresAt":"2096-01-31T12:00:00Z"`
	for name, c := range map[string]struct {
		raw  string
		code fault.Code
	}{
		"a loan":         {base + `,"wrap":{"token":"tok","unwrapURL":"http://x"}}`, ""},
		"used":           {base + `,"wrapping":"opened"}`, fault.FailedPrecondition},
		"of an agent":    {base + `,"wrapping":"unopened"}`, fault.Forbidden},
		"an empty token": {base + `,"wrap":{"token":""}}`, fault.Forbidden},
		"no lease":       {`{}`, fault.Unavailable},
		"a list":         {`[]`, fault.Unavailable},
		"a wrong type":   {base + `,"wrap":{"token":{"a":"tok"}}}`, fault.Unavailable},
	} {
		raw := json.RawMessage(c.raw)
		l, err := Parse(raw)
		if fault.CodeOf(err) != c.code || strings.Trim(string(raw), "\x00") != "" {
			t.Errorf("%s: %v, left %q", name, err, raw)
		}
		if err == nil && strings.Contains(fmt.Sprintf("%v %+v %#v", l, *l.Wrap, l.Wrap), "tok\"") {
			t.Errorf("%s prints its token", name)
		}
		if _, err := json.Marshal(l); c.code == "" && err == nil {
			t.Errorf("%s becomes JSON", name)
		}
	}
}

func loanOf(url string) *Loan {
	return &Loan{Status: Status{Lease: "l"}, Name: "db", Wrap: &Wrap{UnwrapURL: url, Token: secret{value.New([]byte("tok"))}}}
}

// TestOpensOverTLS holds the opener to trusting the authorities it is told of
// and no others, and to no proxy.
func TestOpensOverTLS(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Vault-Token") != "tok" || r.Header.Get("Authorization") != "" || r.ContentLength > 0 {
			w.WriteHeader(http.StatusTeapot)
		}
		fmt.Fprint(w, `{"data":{"password":"p"}}`)
	}))
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.Config.ErrorLog = nil
	srv.StartTLS()
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	knowing, err := NewOpener(file, false)
	if err != nil {
		t.Fatal(err)
	}
	l := loanOf(srv.URL)
	c, err := knowing.Open(t.Context(), l)
	if err != nil || len(c.fields) != 1 || !l.Wrap.Token.IsZero() {
		t.Fatal(c, err, l.Wrap.Token.IsZero())
	}
	other, _ := NewOpener("", false)
	if _, err := other.Open(t.Context(), loanOf(srv.URL)); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(fault.From(err).Fix, "--vault-ca-file") {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewOpener(file, false); fault.CodeOf(err) != fault.Invalid {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := knowing.Open(ctx, loanOf(srv.URL)); err == nil || err.Error() != "enough" {
		t.Error(err)
	}
}

func TestUsual(t *testing.T) {
	c := func(engine string, fields ...string) *Credential {
		out := &Credential{name: "db-ro", engine: engine, fields: map[string]value.Value{}}
		for _, f := range fields {
			out.fields[f] = value.New([]byte("x"))
		}
		return out
	}
	for name, it := range map[string]struct {
		credential *Credential
		named      map[string]string
		want       string
	}{
		"database": {c("database", "username", "password"), map[string]string{"PGUSER": "username", "X": "other", "PATH": "password", "A B": "password"}, "map[DB_RO_PASSWORD:password DB_RO_USERNAME:username PGUSER:username]"},
		"kv":       {c("kv", "api.key", "path", "ld_preload", "1st"), nil, "map[API_KEY:api.key DB_RO_1ST:1st DB_RO_API_KEY:api.key DB_RO_LD_PRELOAD:ld_preload DB_RO_PATH:path]"},
		"generic":  {c("generic", "token"), nil, "map[DB_RO_TOKEN:token]"},
	} {
		if got := fmt.Sprint(it.credential.usual(it.named)); got != it.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestFiles(t *testing.T) {
	if f := (&files{places: []string{t.TempDir(), "/nowhere"}}); fault.CodeOf(f.make()) != fault.FailedPrecondition && !inMemory(t.TempDir()) {
		t.Error("a credential would be written to a disk")
	}
	if !inMemory("/dev/shm") {
		t.Skip("there is no /dev/shm in memory here")
	}
	place, err := os.MkdirTemp("/dev/shm", "fairlead-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(place)
	live, dead := &files{places: []string{place}}, &files{places: []string{place}}
	for _, f := range []*files{live, dead} {
		one, err := f.write("A", []byte("1"))
		two, err2 := f.write("A", []byte("2"))
		if err != nil || err2 != nil || one == two {
			t.Fatal(one, two, err, err2)
		}
		old := time.Now().Add(-2 * abandonedAfter)
		if err := os.Chtimes(f.path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	dead.lock.Close() // as when its process is killed
	next := &files{places: []string{place}}
	if _, err := next.write("a", nil); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(place + "/*")
	if want := []string{live.path, next.path}; len(left) != 2 || !slices.Contains(left, want[0]) || !slices.Contains(left, want[1]) {
		t.Errorf("left %v, want %v", left, want)
	}
	live.remove()
	next.remove()
	next.remove()
	if left, _ = filepath.Glob(place + "/*"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// beats is a server that answers one thing after the other.
type beats struct {
	mu      sync.Mutex
	answers []any
}

func (b *beats) Beat(context.Context, string) (Status, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.answers[0]
	if len(b.answers) > 1 {
		b.answers = b.answers[1:]
	}
	if st, ok := next.(Status); ok {
		return st, nil
	}
	return Status{}, next.(error)
}
func (b *beats) Opened(context.Context, string) (Status, error) { return Status{}, nil }
func (b *beats) Alarm(context.Context, string) (Status, error)  { return Status{}, nil }
func (b *beats) Revoke(context.Context, string) (Status, error) { return Status{}, nil }

func TestKeeper(t *testing.T) {
	live := func(left time.Duration) Status { return Status{State: "live", ExpiresAt: time.Now().Add(left)} }
	gone := fault.New(fault.Unavailable, "nobody answers")
	for name, c := range map[string]struct {
		answers []any
		left    time.Duration
		want    string
	}{
		"revoked":                 {[]any{live(time.Hour), Status{State: "revoking", Reason: "it was revoked"}}, time.Hour, "it was revoked"},
		"ended for no reason":     {[]any{Status{State: "expired"}}, time.Hour, "its lease is expired"},
		"not there any more":      {[]any{fault.New(fault.NotFound, "there is no lease l")}, time.Hour, "there is no lease l"},
		"over":                    {[]any{gone, fault.New(fault.FailedPrecondition, "lease l is over: stolen")}, time.Hour, "lease l is over: stolen"},
		"expired without server":  {[]any{gone}, 30 * time.Millisecond, "its time is up"},
		"renewed meanwhile":       {[]any{live(time.Hour), gone, gone, gone, Status{State: "revoked", Reason: "x"}}, 15 * time.Millisecond, "x"},
		"the server's clock says": {[]any{live(-time.Minute), Status{State: "expired", Reason: "its time was up"}}, time.Hour, "its time was up"},
		"the token is over":       {[]any{fault.New(fault.Unauthenticated, "who?"), fault.New(fault.Forbidden, "no"), Status{State: "revoked", Reason: "x"}}, time.Hour, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := keeper{server: &beats{answers: c.answers}, lease: "l", expires: time.Now().Add(c.left), every: 10 * time.Millisecond}
			if got := k.watch(t.Context()); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	k := keeper{server: &beats{answers: []any{gone}}, expires: time.Now().Add(time.Hour), heard: time.Now().Add(-2 * sessionEnds)}
	if why := k.beat(t.Context()); !strings.Contains(why, "has not been heard of") {
		t.Error(why)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if why := k.beat(ctx); why != "" || k.watch(ctx) != "" {
		t.Error(why)
	}
}
