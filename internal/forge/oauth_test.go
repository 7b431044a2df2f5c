package forge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/forge/gitea"
	"github.com/fairlead-dev/fairlead/internal/forge/github"
	"github.com/fairlead-dev/fairlead/internal/forge/gitlab"
)

// issuer behaves as a forge's OAuth does.
type issuer struct {
	t       *testing.T
	form    url.Values
	answer  string
	status  int
	revoked []string
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := ""
	switch {
	case strings.HasSuffix(r.URL.Path, "/access_token"), r.URL.Path == "/sub/oauth/token":
		if err := r.ParseForm(); err != nil {
			i.t.Error(err)
		}
		i.form = r.PostForm
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(i.status)
		fmt.Fprint(w, i.answer)
		return
	case strings.HasSuffix(r.URL.Path, "/user"):
		if !strings.HasSuffix(r.Header.Get("Authorization"), " at-1") {
			i.t.Errorf("%s by %s", r.URL.Path, r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":9,"login":"ada","username":"ada"}`)
		return
	case r.Method == http.MethodDelete:
		var in map[string]string
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			i.t.Error(err)
		}
		id, secret, _ := r.BasicAuth()
		body = id + " " + secret + " " + in["access_token"]
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == "/sub/oauth/revoke":
		body = r.FormValue("client_id") + " " + r.FormValue("client_secret") + " " + r.FormValue("token")
	default:
		i.t.Errorf("asked for %s %s", r.Method, r.URL.Path)
	}
	i.revoked = append(i.revoked, r.URL.Path+" "+body)
}

// flows are those of each forge at the issuer: GitHub's is an Enterprise, and
// GitLab is below a path.
func flows(t *testing.T) (*issuer, map[string]gitops.Authorizer) {
	t.Helper()
	i := &issuer{t: t, status: http.StatusOK}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for name, text := range map[string]string{"secret": "app-secret\n", "token": "own-token-0123456789"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app, budgets := forge.OAuth{ClientID: "app", ClientSecretFile: "secret"}, &forge.Budgets{}
	tea, err1 := gitea.NewForge("tea", gitea.Config{URL: server.URL, TokenFile: "token", OAuth: app}, dir)
	hub, err2 := github.NewForge("hub", github.Config{URL: server.URL, TokenFile: "token", OAuth: app}, dir)
	lab, err3 := gitlab.NewForge("lab", gitlab.Config{URL: server.URL + "/sub", TokenFile: "token", OAuth: app}, dir)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return i, map[string]gitops.Authorizer{"tea": tea.Flow(dir, budgets), "hub": hub.Flow(dir, budgets), "lab": lab.Flow(dir, budgets)}
}

func TestFlows(t *testing.T) {
	i, all := flows(t)
	for name, want := range map[string]struct{ path, scope, revoked string }{
		"tea": {"/login/oauth/authorize", "write:repository write:issue read:user", ""},
		"hub": {"/login/oauth/authorize", "repo", "/api/v3/applications/app/grant app app-secret at-1"},
		"lab": {"/sub/oauth/authorize", "api", "/sub/oauth/revoke app app-secret at-1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := all[name]
			u, err := url.Parse(f.Ask("the-state", "the-verifier", "https://fairlead.example.com/back"))
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if u.Path != want.path || q.Get("state") != "the-state" || q.Get("client_id") != "app" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("redirect_uri") != "https://fairlead.example.com/back" || q.Get("scope") != want.scope || q.Get("response_type") != "code" {
				t.Errorf("asked at %s", u)
			}
			if strings.Contains(u.String(), "the-verifier") || strings.Contains(u.String(), "app-secret") {
				t.Errorf("the browser is shown %s", u)
			}
			i.answer = `{"access_token":"at-1","token_type":"bearer","expires_in":3600,"refresh_token":"rt-1"}`
			g, err := f.Take(t.Context(), "the-code", "the-verifier", "https://fairlead.example.com/back")
			if err != nil || g.Token.Reveal() != "at-1" || g.Refresh.Reveal() != "rt-1" || g.Account != "ada" || time.Until(g.Expires) < 59*time.Minute || time.Until(g.Expires) > time.Hour {
				t.Fatalf("%+v %v", g, err)
			}
			for k, v := range map[string]string{"code": "the-code", "code_verifier": "the-verifier", "client_secret": "app-secret", "grant_type": "authorization_code", "redirect_uri": "https://fairlead.example.com/back"} {
				if i.form.Get(k) != v {
					t.Errorf("%s is %q", k, i.form.Get(k))
				}
			}
			if _, err = f.Renew(t.Context(), g.Refresh); err != nil || i.form.Get("refresh_token") != "rt-1" || i.form.Get("grant_type") != "refresh_token" {
				t.Errorf("%v %v", i.form, err)
			}
			i.revoked = nil
			err = f.Revoke(t.Context(), *g)
			if want.revoked == "" && !errors.Is(err, gitops.ErrNoRevoking) || want.revoked != "" && (err != nil || !slices.Equal(i.revoked, []string{want.revoked})) {
				t.Errorf("revoked %q, %v", i.revoked, err)
			}
		})
	}
}

func TestFlowsThatFail(t *testing.T) {
	i, all := flows(t)
	for name, tt := range map[string]struct {
		status int
		answer string
		code   fault.Code
		words  string
	}{
		"refused":            {400, `{"error":"invalid_grant","error_description":"rt-secret is not known"}`, fault.FailedPrecondition, "invalid_grant"},
		"refused by GitHub":  {200, `{"error":"bad_verification_code","error_description":"rt-secret"}`, fault.FailedPrecondition, "bad_verification_code"},
		"unknown to it":      {401, `{"error":"invalid_client"}`, fault.Unavailable, "oauth.clientID"},
		"unknown to GitHub":  {200, `{"error":"incorrect_client_credentials"}`, fault.Unavailable, "oauth.clientID"},
		"in trouble":         {502, `<html>rt-secret`, fault.Unavailable, "in trouble"},
		"no token":           {200, `{"token_type":"bearer"}`, fault.Unavailable, ""},
		"a kind of its own":  {200, `{"access_token":"at-1","token_type":"mac"}`, fault.FailedPrecondition, "MAC"},
		"leads away":         {302, ``, "", ""},
		"something else":     {200, `"hello"`, fault.Unavailable, ""},
		"a token of nothing": {200, `{"access_token":"","token_type":"bearer"}`, fault.Unavailable, ""},
	} {
		i.status, i.answer = tt.status, tt.answer
		_, err := all["lab"].Renew(t.Context(), gitops.NewToken("rt-secret"))
		f := fault.From(err)
		if f == nil || tt.code != "" && f.Code != tt.code || f.Fix == "" || !strings.Contains(f.Message+f.Fix, tt.words) || strings.Contains(fmt.Sprintf("%v %+v %s", err, err, f.Message), "rt-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all["lab"].Take(ended, "c", "v", "https://x/"); err == nil {
		t.Error("exchanged after the caller had gone")
	}
}

func TestLentCredentials(t *testing.T) {
	c := forge.Lent("user:default/ada", "tea", gitops.NewToken("at-secret"))
	if text := fmt.Sprintf("%v %+v %#v %s %+v", c, c, c, c, struct{ c forge.Credentials }{c}); strings.Contains(text, "at-secret") {
		t.Errorf("they print as %s", text)
	}
	w := forge.Wire{Host: "git.example.com", Credentials: c}
	for status, words := range map[int]string{401: "fairlead login --forge tea. Or", 403: "--forge tea --unlink"} {
		for _, explain := range []func(string, error) error{w.Explain, w.ExplainWrite} {
			f := fault.From(explain("opening it", &forge.StatusError{Status: status}))
			if f.Code != fault.FailedPrecondition || !strings.Contains(f.Fix, words) || !strings.Contains(f.Message, "the account that user:default/ada has linked") {
				t.Errorf("%d: %v %s", status, f, f.Fix)
			}
		}
	}
}

func TestOAuthProblems(t *testing.T) {
	for field, cfg := range map[string]gitea.Config{
		"oauth.clientSecretFile": {URL: "https://git.example.com", TokenFile: "t", OAuth: forge.OAuth{ClientID: "app"}},
		"oauth.clientID":         {URL: "https://git.example.com", TokenFile: "t", OAuth: forge.OAuth{ClientSecretFile: "s"}},
	} {
		if ps := cfg.ValidateForge(); len(ps) != 1 || ps[0].Field != field {
			t.Errorf("%s: %+v", field, ps)
		}
	}
	source := github.Config{Org: "acme", TokenFile: "t", OAuth: forge.OAuth{ClientID: "app", ClientSecretFile: "s"}}
	if ps := source.Validate(); len(ps) != 1 || ps[0].Field != "oauth" {
		t.Errorf("of a source: %+v", ps)
	}
	c, err := gitlab.NewForge("lab", gitlab.Config{TokenFile: "token", OAuth: forge.OAuth{ClientID: "app", ClientSecretFile: "gone"}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Flow(t.TempDir(), &forge.Budgets{}).Take(t.Context(), "c", "v", "https://x/"); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(fault.From(err).Message, "secret of the OAuth application") {
		t.Errorf("without its file: %v", err)
	}
}
