package oidc_test

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc"
	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// clock is a clock that tests move.
type clock struct {
	mu    sync.Mutex
	moved time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.moved)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += d
}

// lock is an authenticator over a configuration in YAML, in which ISSUER
// stands for an issuer's URL.
type lock struct {
	*access.Authenticator
	verifier *oidc.Verifier
	clock    *clock
}

func newLock(t testing.TB, i *oidctest.Issuer, config string) *lock {
	t.Helper()
	var cfg access.AuthConfig
	dec := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(config, "ISSUER", i.URL)))
	dec.KnownFields(true)
	if err := dec.Decode(&cfg); err != nil {
		t.Fatal(err)
	}
	l := &lock{clock: &clock{}}
	l.verifier = oidc.New(cfg.OIDC, oidc.Options{Now: l.clock.Now, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	var err error
	if l.Authenticator, err = access.NewAuthenticator(cfg, access.AuthOptions{Verifier: l.verifier,
		LookupEnv: func(string) (string, bool) { return "a-static-token-0123456789", true }}); err != nil {
		t.Fatal(err)
	}
	return l
}

// who tells whom a token stands for, or the fault.
func (l *lock) who(t testing.TB, token string) string {
	t.Helper()
	c, err := l.Authenticate(t.Context(), access.Credential{Bearer: token})
	if err == nil {
		return fmt.Sprint(c.Subject(), " ", c.Agent(), " ", c.Token(), " ", c.Groups(), " ", c.Roles())
	}
	f := fault.From(err)
	if f.Fix == "" {
		t.Errorf("%v has no fix", f)
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 8 && strings.Contains(fmt.Sprintf("%+v", *f), part) {
			t.Errorf("%+v tells the token", *f)
		}
	}
	return string(f.Code) + ": " + f.Message
}

const company = `
oidc:
  - issuer: ISSUER
    name: idp
    audience: [fairlead, "https://fairlead.example.com/mcp"]
    subjects: {"repo:acme/deploy:ref:refs/heads/main": user:default/ci}
    groups: {"CN=SRE,OU=x": group:default/sre}
    roles: {sre: [group:default/sre], admin: [user:default/root], reader: ["*"]}
`

func TestTokensOfAnIssuer(t *testing.T) {
	i := oidctest.New(t)
	l := newLock(t, i, company)
	hour := time.Hour
	for _, tt := range []struct {
		name   string
		claims oidctest.Claims
		want   string
	}{
		{"a person", nil, "user:default/alice  idp [] [reader]"},
		{"a person of a namespace", oidctest.Claims{"sub": "User:Acme/Bob"}, "user:acme/bob  idp [] [reader]"},
		{"a mapped subject", oidctest.Claims{"sub": "repo:acme/deploy:ref:refs/heads/main"}, "user:default/ci  idp [] [reader]"},
		{"groups", oidctest.Claims{"groups": []string{"Payments", "/search", "/a/b/c", "CN=SRE,OU=x", "CN=other,OU=x y", "component:x", "payments"}},
			"user:default/alice  idp [group:default/payments group:default/search group:default/sre] [reader sre]"},
		{"one group", oidctest.Claims{"groups": "payments"}, "user:default/alice  idp [group:default/payments] [reader]"},
		{"a role by name", oidctest.Claims{"sub": "root"}, "user:default/root  idp [] [admin reader]"},
		{"an agent", oidctest.Claims{"act": oidctest.Claims{"sub": "claude-code"}}, "user:default/alice claude-code idp [] [reader]"},
		{"several audiences", oidctest.Claims{"aud": []string{"x", "https://fairlead.example.com/mcp"}}, "user:default/alice  idp [] [reader]"},
		{"a clock a little ahead", oidctest.Claims{"nbf": time.Now().Add(20 * time.Second).Unix()}, "user:default/alice  idp [] [reader]"},
		{"just expired", oidctest.Claims{"exp": time.Now().Add(-2 * time.Second).Unix()}, "user:default/alice  idp [] [reader]"},
		{"expired", oidctest.Claims{"exp": time.Now().Add(-hour).Unix()}, "unauthenticated: the token expired 1h0m"},
		{"no expiry", oidctest.Claims{"exp": nil}, "unauthenticated: the token does not say when it expires"},
		{"an expiry in words", oidctest.Claims{"exp": "tomorrow"}, "unauthenticated: the token does not say when it expires"},
		{"not before ever", oidctest.Claims{"nbf": 0}, "user:default/alice  idp [] [reader]"},
		{"not before a text", oidctest.Claims{"nbf": "2999-01-01"}, "unauthenticated: the token's claim nbf is no time"},
		{"not before the end of time", oidctest.Claims{"nbf": 1e18}, "unauthenticated: the token's claim nbf is no time"},
		{"not yet", oidctest.Claims{"nbf": time.Now().Add(hour).Unix()}, "unauthenticated: the token holds from "},
		{"another audience", oidctest.Claims{"aud": "grafana"}, `unauthenticated: the token is for the wrong audience "grafana"`},
		{"no audience", oidctest.Claims{"aud": nil}, "unauthenticated: the token names no audience"},
		{"another issuer", oidctest.Claims{"iss": "https://evil.example.com"}, `unauthenticated: tokens of the issuer "https://evil.example.com" are not taken here`},
		{"no issuer", oidctest.Claims{"iss": nil}, `unauthenticated: tokens of the issuer "" are not taken here`},
		{"no subject", oidctest.Claims{"sub": nil}, "unauthenticated: the token's claim sub does not name a person"},
		{"a number for a subject", oidctest.Claims{"sub": 5}, "unauthenticated: the token's claim sub does not name a person"},
		{"a system for a subject", oidctest.Claims{"sub": "system:default/reaper"}, `unauthenticated: the token's subject "system:default/reaper" is no user`},
		{"a sentence for a subject", oidctest.Claims{"sub": "a b"}, `unauthenticated: the token's subject "a b" is no user`},
		{"an agent without a name", oidctest.Claims{"act": oidctest.Claims{}}, "unauthenticated: the token's claim act.sub does not name the agent"},
		{"an agent that is no name", oidctest.Claims{"act": "claude"}, "unauthenticated: the token's claim act.sub does not name the agent"},
		{"an agent of two lines", oidctest.Claims{"act": oidctest.Claims{"sub": "a\nb"}}, "unauthenticated: the name of the token's agent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.who(t, i.Token("JWT", i.With(tt.claims))); !strings.HasPrefix(got, tt.want) || !strings.HasPrefix(tt.want, "unauth") && got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if got := l.who(t, "a-static-token-0123456789"); !strings.HasPrefix(got, "unauthenticated: the bearer token is none that this server knows") {
		t.Errorf("an opaque token: %s", got)
	}
	if n := i.Asked("/keys"); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	if d := cmp.Diff([]string{i.URL}, l.verifier.Issuers()); d != "" {
		t.Error(d)
	}
}

func TestClaimsAreFoundWhereTheConfigurationSays(t *testing.T) {
	i := oidctest.New(t)
	l := newLock(t, i, `
oidc: {issuer: ISSUER, audience: fairlead, subjectClaim: email, subjectSuffix: "@example.com", groupsClaim: realm.roles, agentClaim: client_id, clockSkew: 1m, subjects: {root@example.com: "user:default/root"}}
`)
	for want, claims := range map[string]oidctest.Claims{
		"user:default/bob claude oidc:" + i.URL[7:] + " [group:default/sre] []":                        {"email": "bob@example.com", "email_verified": true, "realm": oidctest.Claims{"roles": []string{"sre"}}, "client_id": "claude"},
		"user:default/carol  oidc:" + i.URL[7:] + " [group:default/dev] []":                            {"email": "carol@example.com", "realm.roles": []string{"dev"}},
		`unauthenticated: the token's subject "mallory@evil.example" does not end with "@example.com"`: {"email": "mallory@evil.example"},
		"unauthenticated: the token's e-mail address has not been verified by its issuer":              {"email": "bob@example.com", "email_verified": false},
	} {
		if got := l.who(t, i.Token("at+jwt", i.With(claims))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for verified, want := range map[any]string{ // an address that the configuration maps must be its owner's, too
		true: "user:default/root  oidc:" + i.URL[7:] + " [] []", false: "unauthenticated: the token's e-mail address has not been verified by its issuer",
		"no": "unauthenticated: the token's e-mail address has not been verified by its issuer",
	} {
		if got := l.who(t, i.Token("JWT", i.With(oidctest.Claims{"email": "root@example.com", "email_verified": verified}))); got != want {
			t.Errorf("verified %v: got %s, want %s", verified, got, want)
		}
	}
}

func TestTokensOfBackstage(t *testing.T) {
	i := oidctest.New(t)
	i.Own("user:default/dora", "user:default/dora", "group:default/search")
	l := newLock(t, i, `
oidc:
  backstage: [{url: ISSUER/, name: portal, plugins: [scaffolder], readers: {auth: portal}, roles: {developer: [group:default/payments]}}]
`)
	ent := []string{"user:default/alice", "group:default/payments"}
	for _, tt := range []struct{ name, token, want string }{
		{"a user", i.User("user:default/alice", ent, nil), "user:default/alice  portal [group:default/payments] [developer]"},
		{"a user without ownership", i.User("user:default/dora", nil, oidctest.Claims{"ent": nil}), "user:default/dora  portal [group:default/search] []"},
		{"a limited token", i.Limited("user:default/dora"), "user:default/dora  portal [group:default/search] []"},
		{"a plug-in for a user", i.Plugin("scaffolder", "catalog", i.Limited("user:default/dora")), "user:default/dora  portal/scaffolder [group:default/search] []"},
		{"a plug-in for itself", i.Plugin("scaffolder", "catalog", ""), `unauthenticated: the token of Backstage's plug-in "scaffolder" names no person`},
		{"a plug-in for another", i.Plugin("scaffolder", "search", i.Limited("user:default/dora")), `unauthenticated: the token is for the wrong audience "search"`},
		{"an unknown plug-in", i.Plugin("../../evil", "catalog", ""), `unauthenticated: tokens of Backstage's plug-in "../../evil" are not taken here`},
		{"a plug-in with a full token", i.Plugin("scaffolder", "catalog", i.User("user:default/dora", nil, nil)), `unauthenticated: the token of Backstage's plug-in "scaffolder" carries no token of a user`},
		{"a reader for itself", i.Plugin("auth", "catalog", ""), "user:default/portal  portal/auth [] [reader]"},
		{"a reader of another", i.Plugin("auth", "search", ""), `unauthenticated: the token is for the wrong audience "search"`},
		{"a reader for a user", i.Plugin("auth", "catalog", i.Limited("user:default/dora")), `unauthenticated: Backstage's plug-in "auth" is not let in for its users`},
		{"another audience", i.User("user:default/alice", ent, oidctest.Claims{"aud": "fairlead"}), `unauthenticated: the token is for the wrong audience "fairlead"`},
		{"expired", i.User("user:default/alice", ent, oidctest.Claims{"exp": time.Now().Add(-time.Hour).Unix()}), "unauthenticated: the token expired"},
		{"a service", i.User("component:default/x", ent, nil), `unauthenticated: the token's subject "component:default/x" is no user`},
		{"another type", i.Token("vnd.backstage.other", i.With(nil)), `unauthenticated: the token is of Backstage's type "vnd.backstage.other"`},
		{"an issuer's token", i.Token("JWT", i.With(nil)), "unauthenticated: tokens of the issuer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.who(t, tt.token); !strings.HasPrefix(got, tt.want) || !strings.HasPrefix(tt.want, "unauth") && got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if n := i.Asked("/api/auth/.well-known/jwks.json"); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	if len(l.verifier.Issuers()) != 0 {
		t.Error("Backstage is no authorization server unless the configuration says so")
	}
	portal := newLock(t, i, "oidc: {backstage: [{url: ISSUER/, authorizationServer: true}]}")
	if d := cmp.Diff([]string{i.URL + "/api/auth"}, portal.verifier.Issuers()); d != "" {
		t.Error(d)
	}
	none := newLock(t, i, "oidc: {issuer: ISSUER, audience: fairlead}")
	if got := none.who(t, i.User("user:default/alice", ent, nil)); !strings.HasPrefix(got, "unauthenticated: tokens of Backstage are not taken here") {
		t.Error(got)
	}
}
