package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/client"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func tokenFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestResolve(t *testing.T) {
	file := tokenFile(t, "  from-a-file\n")
	logins := &client.Logins{Server: "https://noted.example.com", Logins: []client.Login{{Server: "https://noted.example.com/", Token: "noted"}}}
	for name, c := range map[string]struct {
		flags  client.Flags
		env    map[string]string
		logins *client.Logins
		server string
		token  string
		fails  string
	}{
		"nothing":                 {server: client.DefaultServer},
		"login":                   {logins: logins, server: "https://noted.example.com", token: "noted"},
		"environment beats it":    {logins: logins, env: map[string]string{"FAIRLEAD_SERVER": "https://env.example.com/", "FAIRLEAD_TOKEN": "env"}, server: "https://env.example.com", token: "env"},
		"flags beat all":          {flags: client.Flags{Server: "http://LOCALHOST:1/base/", TokenFile: file}, env: map[string]string{"FAIRLEAD_SERVER": "https://env.example.com", "FAIRLEAD_TOKEN": "env"}, logins: logins, server: "http://localhost:1/base", token: "from-a-file"},
		"a file beats a token":    {env: map[string]string{"FAIRLEAD_TOKEN_FILE": file, "FAIRLEAD_TOKEN": "env"}, server: client.DefaultServer, token: "from-a-file"},
		"not to another server":   {flags: client.Flags{Server: "https://other.example.com"}, logins: logins, server: "https://other.example.com"},
		"plain http":              {flags: client.Flags{Server: "http://far.example.com", TokenFile: file}, fails: "plain HTTP to far.example.com"},
		"plain http, insecure":    {flags: client.Flags{Server: "http://far.example.com", TokenFile: file, Insecure: true}, server: "http://far.example.com", token: "from-a-file"},
		"plain http, no token":    {flags: client.Flags{Server: "http://far.example.com"}, server: "http://far.example.com"},
		"a host like loopback":    {flags: client.Flags{Server: "http://localhost.example.com", TokenFile: file}, fails: "plain HTTP"},
		"loopback of IPv6":        {flags: client.Flags{Server: "http://[::1]:7007", TokenFile: file}, server: "http://[::1]:7007", token: "from-a-file"},
		"no scheme":               {flags: client.Flags{Server: "127.0.0.1:7007"}, fails: "not a URL"},
		"another scheme":          {flags: client.Flags{Server: "ftp://x"}, fails: "http://"},
		"a password":              {flags: client.Flags{Server: "https://a:secret@x"}, fails: "user name or password"},
		"a query":                 {flags: client.Flags{Server: "https://x/?a=b"}, fails: "query"},
		"no such file":            {flags: client.Flags{TokenFile: "/nowhere/token"}, fails: "/nowhere/token"},
		"an empty file":           {flags: client.Flags{TokenFile: tokenFile(t, "\n")}, fails: "holds no token"},
		"a file that is no token": {flags: client.Flags{TokenFile: tokenFile(t, "two words")}, fails: "does not hold one token"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.logins == nil {
				c.logins = &client.Logins{}
			}
			s, err := client.Resolve(c.flags, func(k string) string { return c.env[k] }, c.logins)
			if c.fails != "" {
				if fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("got %v, want an invalid that says %q", err, c.fails)
				}
				if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "two words") {
					t.Fatalf("%v shows a secret", err)
				}
				return
			}
			if err != nil || s.Server != c.server || s.Token != c.token {
				t.Fatalf("got %q %q %v, want %q %q", s.Server, s.Token, err, c.server, c.token)
			}
		})
	}
}

func TestLogins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "config.yaml")
	l, err := client.LoadLogins(path)
	if err != nil || l.Server != "" {
		t.Fatal(l, err)
	}
	l.Set("https://a.example.com", "one")
	l.Set("https://b.example.com", "two")
	l.Set("https://a.example.com", "three")
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	got, err := client.LoadLogins(path)
	if err != nil || got.Server != "https://a.example.com" || got.Token("https://a.example.com") != "three" || got.Token("https://b.example.com") != "two" || got.Exposed {
		t.Fatalf("%+v %v", got, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err = client.LoadLogins(path); err != nil || !got.Exposed {
		t.Fatalf("%+v %v", got, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = client.LoadLogins(path); fault.CodeOf(err) != fault.Invalid {
		t.Fatal(err)
	}
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		media   string
		body    string
		header  map[string]string
		code    fault.Code
		message string
		fix     string
	}{
		"ok":              {status: 200, media: "application/json; charset=utf-8", body: `{"a":1}`},
		"fault":           {status: 404, media: "application/json", body: `{"error":{"code":"not_found","message":"no x","fix":"try y","details":{"refs":["a"]}}}`, code: fault.NotFound, message: "no x", fix: "try y"},
		"unauthenticated": {status: 401, media: "application/json", body: `{"error":{"code":"unauthenticated","message":"who?","fix":"Send the header"}}`, code: fault.Unauthenticated, message: "who?", fix: "The token came from --token-file: run `fairlead login"},
		"quota":           {status: 429, media: "application/json", body: `{"error":{"code":"quota_exceeded","message":"slow","details":{"retryAfter":"5s"}}}`, code: fault.QuotaExceeded, message: "slow", fix: "Try again in 5s."},
		"proxy":           {status: 502, media: "text/html", body: "<html>", code: fault.Unavailable, message: "status 502"},
		"a page":          {status: 200, media: "text/html", body: "<html>", code: fault.Unavailable, message: "no Fairlead server"},
		"broken JSON":     {status: 200, media: "application/json", body: "{", code: fault.Unavailable, message: "no Fairlead server"},
		"redirect":        {status: 302, header: map[string]string{"Location": "https://evil.example.com/"}, code: fault.Invalid, message: "evil.example.com"},
		"not there":       {status: 404, media: "text/plain", body: "404", code: fault.Unavailable, message: "no such operation"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer tok" || r.Header.Get("User-Agent") != "fairlead/v1" {
					t.Errorf("headers %v", r.Header)
				}
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.Header().Set("Content-Type", c.media)
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer srv.Close()
			cl := client.New(client.Settings{Server: srv.URL, Token: "tok", TokenFrom: "--token-file"}, "v1")
			raw, err := cl.Get(t.Context(), "/api/v1/x", nil)
			if c.code == "" {
				if err != nil || string(raw) != c.body {
					t.Fatal(string(raw), err)
				}
				return
			}
			f := fault.From(err)
			if f.Code != c.code || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Fix, c.fix) {
				t.Fatalf("got %s %q %q", f.Code, f.Message, f.Fix)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	server := srv.URL
	srv.Close()
	_, err := client.New(client.Settings{Server: server, ServerFrom: "the default"}, "v1").Get(t.Context(), "/x", nil)
	f := fault.From(err)
	if f.Code != fault.Unavailable || !strings.Contains(f.Message, server) || !strings.Contains(f.Fix, "fairleadd serve") || !strings.Contains(f.Fix, strings.TrimPrefix(server, "http://")) {
		t.Fatalf("%+v", f)
	}
}

func TestDeadlineAndCancel(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(release)
	cl := client.New(client.Settings{Server: srv.URL}, "v1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := cl.Get(ctx, "/", nil); fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "in time") {
		t.Fatal(err)
	}
	why := errors.New("why")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(why)
	if _, err := cl.Get(stopped, "/", nil); !errors.Is(err, why) {
		t.Fatal(err)
	}
}
