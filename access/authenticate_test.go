package access_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestCredentialOf(t *testing.T) {
	for _, tt := range []struct {
		name, remote, host string
		header             map[string]string
		want               access.Credential
	}{
		{"nothing", "192.0.2.1:5", "fairlead.example.com", nil, access.Credential{}},
		{"a token", "192.0.2.1:5", "x", map[string]string{"Authorization": "Bearer abc"}, access.Credential{Bearer: "abc"}},
		{"in any case", "192.0.2.1:5", "x", map[string]string{"Authorization": "bearer   abc "}, access.Credential{Bearer: "abc"}},
		{"an empty token", "192.0.2.1:5", "x", map[string]string{"Authorization": "Bearer "}, access.Credential{Other: true}},
		{"another scheme", "192.0.2.1:5", "x", map[string]string{"Authorization": "Basic YTpi"}, access.Credential{Other: true}},
		{"no scheme", "192.0.2.1:5", "x", map[string]string{"Authorization": "abc"}, access.Credential{Other: true}},
		{"loopback", "127.0.0.1:5", "localhost:7007", nil, access.Credential{Loopback: true}},
		{"loopback by IPv6", "[::1]:5", "[::1]:7007", nil, access.Credential{Loopback: true}},
		{"loopback without a port", "[::1]:5", "[::1]", nil, access.Credential{Loopback: true}},
		{"loopback by another name", "127.0.0.1:5", "rebound.example.com:7007", nil, access.Credential{}},
		{"through a proxy", "127.0.0.1:5", "localhost", map[string]string{"X-Forwarded-For": "192.0.2.7"}, access.Credential{}},
		{"through a modest proxy", "127.0.0.1:5", "localhost", map[string]string{"Via": "1.1 x"}, access.Credential{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr, r.Host = tt.remote, tt.host
			for k, v := range tt.header {
				r.Header.Set(k, v)
			}
			if d := cmp.Diff(tt.want, access.CredentialOf(r)); d != "" {
				t.Error(d)
			}
		})
	}
}

const canary = "canary-0123456789-canary"

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestAuthenticate(t *testing.T) {
	a, err := access.NewAuthenticator(access.AuthConfig{Anonymous: access.AnonymousRead, Tokens: []access.TokenConfig{
		{Name: "ci", TokenEnv: "CI", Subject: "CI", Groups: []string{"Platform", "group:acme/x"}, Roles: []string{"sre"}},
		{Name: "alice-claude", TokenEnv: "ALICE", Subject: "user:default/alice", Agent: "claude"},
	}}, access.AuthOptions{LookupEnv: env(map[string]string{"CI": canary + "\n", "ALICE": "another-token-0123456789"})})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		c    access.Credential
		want string // subject agent token groups roles
		code fault.Code
	}{
		{"a token", access.Credential{Bearer: canary}, "user:default/ci  ci [group:default/platform group:acme/x] [sre]", ""},
		{"an agent's token", access.Credential{Bearer: "another-token-0123456789", Loopback: true}, "user:default/alice claude alice-claude [] []", ""},
		{"nothing on loopback", access.Credential{Loopback: true}, "  anonymous [] []", ""},
		{"nothing from elsewhere", access.Credential{}, "", fault.Unauthenticated},
		{"a wrong token on loopback", access.Credential{Bearer: canary + "x", Loopback: true}, "", fault.Unauthenticated},
		{"a part of a token", access.Credential{Bearer: canary[:20]}, "", fault.Unauthenticated},
		{"a huge token", access.Credential{Bearer: strings.Repeat(canary, 1000)}, "", fault.Unauthenticated},
		{"another scheme on loopback", access.Credential{Other: true, Loopback: true}, "", fault.Unauthenticated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			who, err := a.Authenticate(t.Context(), tt.c)
			if code := fault.CodeOf(err); code != tt.code || who.IsZero() != (err != nil) {
				t.Fatalf("caller %+v, error %v", who, err)
			}
			if err != nil {
				if f := fault.From(err); f.Fix == "" || strings.Contains(fmt.Sprintf("%+v", *f), "canary") {
					t.Errorf("fault = %+v", f)
				}
				return
			}
			if got := fmt.Sprint(who.Subject(), " ", who.Agent(), " ", who.Token(), " ", who.Groups(), " ", who.Roles()); got != tt.want {
				t.Errorf("caller = %q, want %q", got, tt.want)
			}
		})
	}
	var none *access.Authenticator
	if _, err := none.Authenticate(t.Context(), access.Credential{Bearer: canary}); err == nil {
		t.Error("the nil authenticator lets in")
	}
}

func TestAnonymousIsOffUnlessAskedFor(t *testing.T) {
	for _, mode := range []access.Anonymous{"", access.AnonymousNone} {
		a, err := access.NewAuthenticator(access.AuthConfig{Anonymous: mode}, access.AuthOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if who, err := a.Authenticate(t.Context(), access.Credential{Loopback: true}); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("%q lets in %+v", mode, who)
		}
	}
}

// tokenFile writes a token file.
func tokenFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTokensThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  access.TokenConfig
		want string
	}{
		{"short", access.TokenConfig{TokenFile: tokenFile(t, "canary\n", 0o600)}, "holds 6 bytes, fewer than the 20"},
		{"empty", access.TokenConfig{TokenFile: tokenFile(t, " \n", 0o600)}, "holds 0 bytes"},
		{"two", access.TokenConfig{TokenFile: tokenFile(t, canary+"\n"+canary, 0o600)}, "does not hold one token"},
		{"long", access.TokenConfig{TokenFile: tokenFile(t, strings.Repeat(canary, 1000), 0o600)}, "does not hold one token"},
		{"binary", access.TokenConfig{TokenFile: tokenFile(t, canary+"\x00", 0o600)}, "does not hold one token"},
		{"open to all", access.TokenConfig{TokenFile: tokenFile(t, canary, 0o604)}, "may be read by everybody on the machine (mode 0604) (Run: chmod o= "},
		{"missing", access.TokenConfig{TokenFile: "none"}, "none cannot be read: no such file or directory"},
		{"a folder", access.TokenConfig{TokenFile: "."}, "is not a regular file"},
		{"no variable", access.TokenConfig{TokenEnv: "NONE"}, "the environment variable NONE is not set"},
		{"an empty variable", access.TokenConfig{TokenEnv: "EMPTY"}, "the environment variable EMPTY holds 0 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Name, tt.cfg.Subject = "ci", "ci"
			_, err := access.NewAuthenticator(access.AuthConfig{Tokens: []access.TokenConfig{tt.cfg}}, access.AuthOptions{Dir: t.TempDir(), LookupEnv: env(map[string]string{"EMPTY": ""})})
			if err == nil || !strings.Contains(err.Error(), `auth.tokens[0]: token "ci": `) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestTwinsAreRefused(t *testing.T) {
	cfg := access.AuthConfig{Tokens: []access.TokenConfig{{Name: "a", Subject: "a", TokenEnv: "T"}, {Name: "b", Subject: "b", TokenEnv: "T"}}}
	_, err := access.NewAuthenticator(cfg, access.AuthOptions{LookupEnv: env(map[string]string{"T": canary})})
	if err == nil || !strings.Contains(err.Error(), `tokens "a" and "b" have the same value`) {
		t.Errorf("err = %v", err)
	}
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestTokenFilesAreReadAgain(t *testing.T) {
	const renewed = "canary-9876543210-canary-renewed"
	path := tokenFile(t, canary, 0o600)
	now, log := &clock{now: time.Now()}, &bytes.Buffer{}
	a, err := access.NewAuthenticator(access.AuthConfig{Tokens: []access.TokenConfig{{Name: "ci", Subject: "ci", TokenFile: filepath.Base(path)}}},
		access.AuthOptions{Dir: filepath.Dir(path), Now: now.Now, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	holds := func(when, token string, want bool) {
		t.Helper()
		if _, err := a.Authenticate(context.Background(), access.Credential{Bearer: token}); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	change := func(do error) {
		t.Helper()
		if do != nil {
			t.Fatal(do)
		}
		now.pass(time.Minute)
	}
	holds("at first", canary, true)
	change(os.WriteFile(path, []byte(renewed), 0o600))
	holds("renewed", renewed, true)
	holds("renewed, the old one", canary, false)
	change(os.Chmod(path, 0o644))
	holds("open to all", renewed, false)
	change(os.Chmod(path, 0o600))
	holds("closed again", renewed, true)
	change(os.Remove(path))
	holds("removed", renewed, false)
	change(os.WriteFile(path, []byte(canary), 0o600))
	holds("put back", canary, true)
	if text := log.String(); strings.Contains(text, "canary") || strings.Count(text, "out of use") != 2 || strings.Count(text, "read again") != 3 {
		t.Errorf("log:\n%s", text)
	}
}

func TestTokensUnderLoad(t *testing.T) {
	path := tokenFile(t, canary, 0o600)
	now := &clock{now: time.Now()}
	a, err := access.NewAuthenticator(access.AuthConfig{Tokens: []access.TokenConfig{{Name: "ci", Subject: "ci", TokenFile: path}}},
		access.AuthOptions{Now: now.Now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				now.pass(time.Second)
				if _, err := a.Authenticate(context.Background(), access.Credential{Bearer: canary}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
