package app

import (
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

// TestBrowserSignsInAtBackstage opens the front end beside a real auth back end
// of Backstage, with the catalog of a Fairlead elsewhere by discovery alone, and
// signs in on Backstage's page: Fairlead knows by Backstage's token who asks.
func TestBrowserSignsInAtBackstage(t *testing.T) {
	issuer := realtest.BackstageTokens(t, false)
	var at atomic.Pointer[string] // where Fairlead is, once it has been started
	pass := func(except string) *httptest.Server {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := *at.Load()
			if except != "" && strings.HasPrefix(r.URL.Path, except) {
				to = issuer.URL
			}
			passOn(t, to).ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		return front
	}
	backstage, fairlead := pass("/api/auth/"), pass("")
	s := startBrowsed(t, func(config string) string {
		config = strings.Replace(config, "auth:\n", fmt.Sprintf("cors: [%q]\nauth:\n  oidc: [{backstage: [{url: %q, roles: {developer: [\"*\"]}}]}]\n", backstage.URL, issuer.URL), 1)
		settings := fmt.Sprintf(`ui: {settings: {signIn: {providers: [guest, github, oidc]}, discovery: {endpoints: [{target: %q, plugins: [catalog]}]}}, dir`, fairlead.URL+"/api/catalog")
		config, _, _ = strings.Cut(strings.Replace(config, "ui: {dir", settings, 1), ", guest: ")
		return config + "}\n"
	})
	at.Store(&s.url) // which serves Backstage the app's files as well
	got := browse(t, backstage.URL, "signin.cjs", map[string]string{"catalog": fairlead.URL})
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
	audit := s.send("sre", http.MethodGet, "/api/v1/audit?action=catalog.refresh&subject="+realtest.Guest, "").body
	if len(out.Tokens) == 0 || !strings.Contains(audit, "component:default/ledger") || !strings.Contains(audit, "backstage") {
		t.Errorf("%d tokens were shown; the audit says %s", len(out.Tokens), audit)
	}
}
