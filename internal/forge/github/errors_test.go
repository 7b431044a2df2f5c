package github_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
)

func TestErrorsNameStepHostAndFix(t *testing.T) {
	graphqlError := func(kind, extensions string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"data":{"owner":null},"errors":[{"type":"` + kind + `","message":"said to ` + token + `"` + extensions + `}]}`))
		}
	}
	for name, tc := range map[string]struct {
		change func(*host, *github.Config)
		code   fault.Code
		words  []string
	}{
		"revoked":              {func(h *host, _ *github.Config) { h.revoked = true }, fault.Unauthenticated, []string{"organization acme", "revoked", "/token"}},
		"no such organization": {func(_ *host, c *github.Config) { c.Org = "nobody" }, fault.NotFound, []string{"organization nobody", "127.0.0.1"}},
		"token file gone":      {func(_ *host, c *github.Config) { c.Credentials.TokenFile = "gone" }, fault.Unauthenticated, []string{"/gone"}},
		"empty variable": {func(_ *host, c *github.Config) {
			c.Credentials.TokenFile, c.Credentials.TokenEnv = "", "FAIRLEAD_TEST_NO_SUCH_TOKEN"
		}, fault.Unauthenticated, []string{"FAIRLEAD_TEST_NO_SUCH_TOKEN"}},
		"single sign-on": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{graphqlError("FORBIDDEN", `,"extensions":{"saml_failure":true}`)}
		}, fault.Forbidden, []string{"single sign-on", "/token"}},
		"scopes": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{graphqlError("INSUFFICIENT_SCOPES", "")}
		}, fault.Forbidden, []string{"read:org"}},
		"unknown": {func(h *host, _ *github.Config) { h.answers = []http.HandlerFunc{graphqlError("SOMETHING", "")} }, fault.Unavailable, []string{"error of its own"}},
		"forbidden, echoing the token": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusForbidden, "no: "+token) }}
		}, fault.Forbidden, []string{"HTTP 403"}},
		"no JSON": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }}
		}, fault.Unavailable, []string{"does not answer as it should"}},
		"no list": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"data":{"owner":{}}}`)) }}
		}, fault.Unavailable, []string{"does not answer as it should"}},
		"endless": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 33<<20)) }}
		}, fault.FailedPrecondition, []string{"exceeds"}},
		"too many": {func(_ *host, c *github.Config) { c.Limits.Repositories = 2 }, fault.FailedPrecondition, []string{"3", "limits.repositories"}},
		"redirect elsewhere": {func(h *host, _ *github.Config) {
			h.answers = []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.2:9/elsewhere", http.StatusTemporaryRedirect)
			}}
		}, fault.FailedPrecondition, []string{"127.0.0.2:9", "another host"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, 3)
			server := httptest.NewServer(h)
			defer server.Close()
			c := client(t, server.URL, func(cfg *github.Config) { tc.change(h, cfg) })
			_, err := c.Repositories(t.Context())
			wantFault(t, err, tc.code, tc.words...)
		})
	}
}

func wantFault(t *testing.T, err error, code fault.Code, words ...string) {
	t.Helper()
	f := fault.From(err)
	if f == nil || f.Code != code || f.Fix == "" {
		t.Fatalf("%v (fix %q), not %s", err, f.Fix, code)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+f.Fix, word) {
			t.Errorf("%q is not in %q, fix %q", word, f.Message, f.Fix)
		}
	}
	if strings.Contains(f.Error()+f.Fix, token) {
		t.Errorf("the token is in the error: %s", f.Error())
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := client(t, server.URL, nil).Repositories(t.Context())
	wantFault(t, err, fault.Unavailable, "cannot be reached")
}

func TestRotatedTokenCounts(t *testing.T) {
	h := newHost(t, 3)
	server := httptest.NewServer(h)
	defer server.Close()
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "token"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	c, err := github.New("org", github.Config{Host: server.URL, Org: "acme", TokenFile: "token"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Repositories(t.Context())
	wantFault(t, err, fault.Unauthenticated, "token")
	write(token)
	if got := list(t, c); len(got) != 3 {
		t.Errorf("%d repositories with the new token", len(got))
	}
}

func TestStumblingHostIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, 300)
		bad := func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusBadGateway, "unicorn") }
		h.answers = []http.HandlerFunc{nil, bad, bad, bad, nil}
		c := client(t, "http://127.0.0.1:1", nil, github.WithTransport(h))
		if got := list(t, c); len(got) != 300 {
			t.Errorf("%d repositories", len(got))
		}
		for range 9 {
			h.answers = append(h.answers, bad)
		}
		c.Relist()
		_, err := c.Repositories(t.Context())
		wantFault(t, err, fault.Unavailable, "HTTP 502")
		if got := list(t, c); len(got) != 300 {
			t.Errorf("%d repositories after the trouble", len(got))
		}
	})
}

func TestChangesAreNotLostToTrouble(t *testing.T) {
	h := newHost(t, 3)
	server := httptest.NewServer(h)
	defer server.Close()
	c := client(t, server.URL, nil)
	list(t, c)
	list(t, c)
	h.repos[1].head, h.repos[1].pushed = commit(77), h.repos[2].pushed.Add(1e9)
	denied := func(w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusForbidden, "no") }
	h.answers = []http.HandlerFunc{nil, nil, denied}
	if _, err := c.Repositories(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if got := list(t, c); got[1].Head != commit(77) {
		t.Errorf("the change before the trouble is lost: %s", got[1].Head)
	}
	h.repos[0].head, h.repos[0].pushed = commit(78), h.repos[1].pushed.Add(1e9)
	h.answers = []http.HandlerFunc{denied}
	if got := list(t, c); got[0].Head != commit(78) {
		t.Errorf("where the token may not ask for changes they are lost: %s", got[0].Head)
	}
}

func TestConfigProblems(t *testing.T) {
	for _, tc := range []struct {
		change func(*github.Config)
		field  string
	}{
		{func(c *github.Config) { c.Org = "" }, "org"},
		{func(c *github.Config) { c.User = "me" }, "org"},
		{func(c *github.Config) { c.Org = "../x" }, "org"},
		{func(c *github.Config) { c.Host = "http://github.example.com" }, "host"},
		{func(c *github.Config) { c.Host = "https://u:p@github.example.com" }, "host"},
		{func(c *github.Config) { c.Host, c.URL = "a.example.com", "https://b.example.com" }, "host"},
		{func(c *github.Config) { c.TokenEnv = "X" }, "credentials"},
		{func(c *github.Config) { c.Credentials.TokenFile = "" }, "credentials"},
		{func(c *github.Config) { c.Filter.Names.Include = []string{"["} }, "filter.names.include[0]"},
		{func(c *github.Config) { c.Filter.Topics.Exclude = []string{"a", " "} }, "filter.topics.exclude[1]"},
		{func(c *github.Config) { c.Filter.Visibility = "secret" }, "filter.visibility"},
		{func(c *github.Config) { c.Include = []string{"/abs"} }, "include[0]"},
		{func(c *github.Config) { c.Ref = "a..b" }, "ref"},
		{func(c *github.Config) { c.Limits.ReservePercent = 95 }, "limits.reservePercent"},
		{func(c *github.Config) { c.Limits.Wait = -1 }, "limits.wait"},
	} {
		cfg := github.Config{Org: "acme"}
		cfg.Credentials.TokenFile = "token"
		if ps := cfg.Validate(); len(ps) != 0 {
			t.Fatal(ps)
		}
		tc.change(&cfg)
		ps := cfg.Validate()
		if len(ps) != 1 || ps[0].Field != tc.field || strings.Contains(ps[0].Message, "u:p") {
			t.Errorf("%s: %+v", tc.field, ps)
		}
		if _, err := github.New("x", cfg, "."); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: New gives %v", tc.field, err)
		}
	}
}
