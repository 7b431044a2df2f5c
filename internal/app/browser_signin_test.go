package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// portal is the front end beside a real auth back end of Backstage, with the
// catalog of a Fairlead elsewhere by discovery alone.
type portal struct {
	s                   *server
	backstage, fairlead string // where a browser finds the two
}

// startPortal has people sign in with providers of the auth back end, of whose
// configuration more is what the test adds.
func startPortal(t *testing.T, providers string, more func(p *portal) string) *portal {
	t.Helper()
	realtest.Browser(t) // or the test is skipped
	var fairlead, issuer atomic.Pointer[string]
	front := func(auth *atomic.Pointer[string]) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := &fairlead
			if strings.HasPrefix(r.URL.Path, "/api/auth/") {
				to = auth
			}
			url := to.Load()
			if url == nil {
				http.Error(w, "not started yet", http.StatusServiceUnavailable)
				return
			}
			passOn(t, *url).ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	p := &portal{backstage: front(&issuer), fairlead: front(&fairlead)}
	tokens := realtest.BackstageTokens(t, false, fmt.Sprintf("app: {baseUrl: %[1]q}\nbackend: {baseUrl: %[1]q}\n", p.backstage)+more(p))
	issuer.Store(&tokens.URL)
	p.s = startBrowsed(t, func(config string) string {
		config = strings.Replace(config, "auth:\n", fmt.Sprintf("cors: [%q]\nauth:\n  oidc: [{backstage: [{url: %[1]q, readers: {auth: user:default/portal}, roles: {developer: [\"*\"]}}]}]\n", p.backstage), 1)
		settings := fmt.Sprintf(`ui: {settings: {signIn: {providers: %s}, discovery: {endpoints: [{target: %q, plugins: [catalog]}]}}, dir`, providers, p.fairlead+"/api/catalog")
		config, _, _ = strings.Cut(strings.Replace(config, "ui: {dir", settings, 1), ", guest: ")
		return config + "}\n"
	})
	fairlead.Store(&p.s.url) // which serves Backstage the app's files as well
	return p
}

// acted holds that the catalog was asked by Backstage's tokens alone, and that
// the person had the ledger read again.
func (p *portal) acted(t *testing.T, got realtest.Walked, person string) {
	t.Helper()
	var out struct{ Tokens []string }
	if err := json.Unmarshal(got.Out, &out); err != nil {
		t.Fatal(err)
	}
	for _, token := range out.Tokens {
		header, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(strings.Split(token, ".")[0], "Bearer "))
		if !strings.Contains(string(header), "vnd.backstage.user") {
			t.Errorf("the catalog is asked with %s", token)
		}
	}
	audit := p.s.send("sre", http.MethodGet, "/api/v1/audit?action=catalog.refresh&subject="+person, "").body
	if len(out.Tokens) == 0 || !strings.Contains(audit, "component:default/ledger") || !strings.Contains(audit, "backstage") {
		t.Errorf("%d tokens were shown; the audit says %s", len(out.Tokens), audit)
	}
}

// TestBrowserSignsInAtBackstage signs in on Backstage's page as its guest:
// Fairlead knows by Backstage's token who asks.
func TestBrowserSignsInAtBackstage(t *testing.T) {
	p := startPortal(t, "[guest, github, oidc]", func(*portal) string { return "" })
	p.acted(t, browse(t, p.backstage, "signin.cjs", map[string]string{"catalog": p.fairlead}), realtest.Guest)
}

// startProvider has people sign in with an account at a real provider of OpenID
// Connect, which Gitea is, in a window of its own. Backstage's auth back end finds
// who that is by their address in Fairlead's catalog, which it reads for itself.
// Given are what a script needs to sign in.
func startProvider(t *testing.T, name, email string) (p *portal, given map[string]string) {
	t.Helper()
	gitea := realtest.Gitea(t)
	given = map[string]string{"name": strings.ToLower(rand.Text()[:8]), "password": rand.Text()}
	gitea.API(t, http.MethodPost, "/admin/users", map[string]any{"username": given["name"], "full_name": name, "email": email,
		"password": given["password"], "must_change_password": false}, nil)
	t.Cleanup(func() {
		if err := gitea.Ask(context.WithoutCancel(t.Context()), http.MethodDelete, "/admin/users/"+given["name"]+"?purge=true", nil, nil); err != nil {
			t.Error(err)
		}
	})
	p = startPortal(t, "[guest, oidc]", func(p *portal) string {
		var app struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		}
		gitea.API(t, http.MethodPost, "/user/applications/oauth2", map[string]any{"name": "portal", "confidential_client": true,
			"redirect_uris": []string{p.backstage + "/api/auth/oidc/handler/frame"}}, &app)
		return fmt.Sprintf(`discovery: {endpoints: [{target: %q, plugins: [catalog]}]}
auth:
  session: {secret: %q}
  providers:
    oidc:
      development:
        {metadataUrl: %q, clientId: %q, clientSecret: %q, prompt: auto, signIn: {resolvers: [{resolver: emailMatchingUserEntityProfileEmail}]}}
`, p.fairlead+"/api/catalog", rand.Text(), gitea.URL+"/.well-known/openid-configuration", app.ID, app.Secret)
	})
	given["catalog"] = p.fairlead
	return p, given
}

// TestBrowserSignsInAtItsProvider signs in as a person does whom the catalog knows.
func TestBrowserSignsInAtItsProvider(t *testing.T) {
	p, given := startProvider(t, "Bob Brandt", "bob@shop.test")
	p.acted(t, browse(t, p.backstage, "signin-oidc.cjs", given), "user:default/bob")
}

// TestBrowserLetsNobodyInWhomItDoesNotKnow signs in as somebody who has an account
// at the provider alone: they are told so, and are nobody at Fairlead.
func TestBrowserLetsNobodyInWhomItDoesNotKnow(t *testing.T) {
	p, given := startProvider(t, "Mallory Moe", "mallory@elsewhere.test")
	var out struct{ Asked []string }
	if err := json.Unmarshal(browse(t, p.backstage, "signin-unknown.cjs", given).Out, &out); err != nil {
		t.Fatal(err)
	}
	if out.Asked == nil || len(out.Asked) > 0 {
		t.Errorf("the page asked the catalog for %v", out.Asked)
	}
	audit := p.s.send("sre", http.MethodGet, "/api/v1/audit", "").body
	if strings.Contains(audit, "mallory") || strings.Contains(audit, "backstage") {
		t.Errorf("the audit knows of %s", audit)
	}
}
