package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
)

// startSSO serves an empty catalog to those with tokens of an issuer.
func startSSO(t *testing.T, auth string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "catalog"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.dir, "catalog", "catalog-info.yaml"), "apiVersion: backstage.io/v1alpha1\nkind: Group\nmetadata: {name: payments}\nspec: {type: team, children: []}\n")
	write(t, filepath.Join(s.dir, "fairlead.yaml"), "listen: 127.0.0.1:0\nauth:\n"+auth+"catalog: {sources: [{name: local, file: {path: ./catalog}}]}\n")
	s.start(filepath.Join(s.dir, "fairlead.yaml"))
	return s
}

func TestTokensOfAnIssuerOpenEveryDoor(t *testing.T) {
	i := oidctest.New(t)
	s := startSSO(t, "  oidc:\n    - {issuer: \""+i.URL+"\", audience: fairlead, roles: {sre: [group:default/payments]}}\n    - backstage: [{url: \""+i.URL+"\"}]\n")
	for name, token := range map[string]string{
		"issuer":    i.Token("JWT", i.With(oidctest.Claims{"groups": []string{"payments"}, "act": oidctest.Claims{"sub": "claude"}})),
		"backstage": i.User("user:default/alice", []string{"group:default/payments"}, nil),
	} {
		rest := s.send(token, http.MethodGet, "/api/v1/whoami", "")
		graph := s.graph(token, "{ whoami { subject groups } }")
		tool := s.tool(token, "whoami", map[string]any{})
		for door, text := range map[string]string{"rest": rest.body, "graphql": graph.body, "mcp": string(tool.StructuredContent)} {
			if !strings.Contains(text, `"user:default/alice"`) || !strings.Contains(text, `"group:default/payments"`) {
				t.Errorf("%s over %s: %s", name, door, text)
			}
		}
		if agent := name == "issuer"; strings.Contains(rest.body, `"agent":"claude"`) != agent || strings.Contains(rest.body, `"sre"`) != agent {
			t.Errorf("%s: %s", name, rest.body)
		}
		if a := s.send(token, http.MethodGet, "/api/catalog/entities", ""); a.status != http.StatusOK || !strings.Contains(a.body, "payments") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	wrong := i.Token("JWT", i.With(oidctest.Claims{"aud": "grafana"}))
	for _, path := range []string{"/api/v1/whoami", "/api/catalog/entities", "/graphql?query={__typename}", "/mcp"} {
		method := http.MethodGet
		if path == "/mcp" {
			method = http.MethodPost
		}
		a := s.send(wrong, method, path, "")
		metadata := `resource_metadata="` + s.url + `/.well-known/oauth-protected-resource`
		if !strings.HasPrefix(a.header.Get("WWW-Authenticate"), `Bearer error="invalid_token", resource_metadata=`) {
			t.Errorf("%s: challenge %q", path, a.header.Get("WWW-Authenticate"))
		}
		if none := s.send("", method, path, "").header.Get("WWW-Authenticate"); strings.Contains(none, "error=") || !strings.Contains(none, metadata) {
			t.Errorf("%s without a token: challenge %q", path, none)
		}
		if a.status != http.StatusUnauthorized || !strings.Contains(a.body, "wrong audience") || !strings.Contains(a.header.Get("WWW-Authenticate"), metadata) {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, a.body)
		}
	}
	for _, path := range []string{"", "/mcp"} {
		var doc struct {
			Resource             string
			AuthorizationServers []string `json:"authorization_servers"`
		}
		s.send("", http.MethodGet, "/.well-known/oauth-protected-resource"+path, "").decode(t, &doc)
		if doc.Resource != s.url+path || len(doc.AuthorizationServers) != 1 || doc.AuthorizationServers[0] != i.URL {
			t.Errorf("metadata %+v", doc)
		}
	}
	if text := s.logs.text(); strings.Contains(text, wrong) || !strings.Contains(text, `"token":"oidc:127.0.0.1`) {
		t.Error("the log tells a token, or not whose it was")
	}
}

func TestAnIssuerThatIsDownDoesNotKeepTheServerFromStarting(t *testing.T) {
	i := oidctest.New(t)
	i.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	s := startSSO(t, "  oidc: {issuer: \""+i.URL+"\", audience: fairlead}\n")
	s.await("the trouble is told", func() bool {
		a := s.send("", http.MethodGet, "/readyz", "")
		return a.status == http.StatusOK && strings.Contains(a.body, "tokens of "+i.URL+" cannot be checked")
	})
	if a := s.send(i.Token("JWT", i.With(nil)), http.MethodGet, "/api/v1/whoami", ""); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestConfigProblemsOfIssuersHaveTheirLines(t *testing.T) {
	for text, want := range map[string]string{
		"auth:\n  oidc:\n    - {issuer: x, audience: a}":                                 `line 3: auth.oidc[0].issuer: "x" is no http or https URL`,
		"auth:\n  oidc:\n    issuer: https://idp.example.com":                            `line 3: auth.oidc[0].audience: there is no audience`,
		"auth:\n  oidc:\n    - issuer: https://idp.example.com\n      audence: fairlead": `line 4: auth.oidc[0].audence: unknown key; did you mean "audience"?`,
		"auth:\n  oidc:\n    backstage:\n      - {url: https://b, plugin: [scaffolder]}": `line 4: auth.oidc.backstage[0].plugin: unknown key; did you mean "plugins"?`,
		"auth:\n  oidc:\n    - backstage:\n        - url: ftp://b":                       `line 4: auth.oidc[0].backstage[0].url: "ftp://b" is no http or https URL`,
		"auth:\n  oidc:\n    - {issuer: https://i, audience: a, clockSkew: soon}":        `line 3: "soon" is no duration`,
		"auth:\n  oidc:\n    - {issuer: https://i, audience: {a: b}}":                    `line 3: "" is no list`,
		"listen: 0.0.0.0:7007\nauth: {oidc: []}":                                         `line 2: auth: the server would listen on 0.0.0.0:7007, and there is nobody it could let in`,
	} {
		_, err := ParseConfig([]byte(text), "f", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngave %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{
		"listen: 0.0.0.0:7007\nauth:\n  oidc:\n    - {issuer: https://idp.example.com, audience: fairlead, subjectClaim: sub, groupsClaim: groups, agentClaim: act.sub}",
		"auth: {oidc: {backstage: [{url: https://backstage.example.com}]}}",
		"auth:\n  oidc:\n    backstage: [{url: https://backstage.example.com}]",
	} {
		if _, err := ParseConfig([]byte(text), "f", t.TempDir()); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
