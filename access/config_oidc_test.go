package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestOIDCConfigTellsEverythingThatIsWrong(t *testing.T) {
	const text = `
oidc:
  - {issuer: idp.example.com}
  - {issuer: "http://idp.example.com", audience: [a, ""], algorithms: [HS256, none], clockSkew: 1h, name: "a b"}
  - {}
  - {issuer: "https://idp.example.com?x=1", audience: a, backstage: [{url: "https://b.example.com"}]}
  - {audience: a, backstage: [{url: b, plugins: ["../x"], readers: {"../y": "component:default/a", auth: "system:fairlead/pulls"}, roles: {"": ["a:b:c"]}}]}
  - {issuer: "https://idp.example.com", audience: a, subjects: {x: "group:default/y"}, groups: {z: "a b"}, roles: {sre: ["", "*", group:default/sre]}}
  - {issuer: "https://idp.example.com", audience: a, jwks: "https://user:secret@idp.example.com/keys"}
  - {issuer: "http://127.0.0.1:5556", audience: a}
  - {issuer: "http://dex:5556", audience: a, plainHTTP: true}
`
	var cfg access.AuthConfig
	if err := yaml.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`auth.oidc[0].issuer: "idp.example.com" is no http or https URL`,
		`auth.oidc[0].audience: there is no audience`,
		`auth.oidc[1].issuer: keys that are fetched from "http://idp.example.com" without encryption`,
		`auth.oidc[1].audience: there is no audience`,
		`auth.oidc[1].name: the name "a b" holds white space`,
		`auth.oidc[1].algorithms[0]: tokens signed with "HS256" are not taken`,
		`auth.oidc[1].algorithms[1]: tokens signed with "none" are not taken`,
		`auth.oidc[1].clockSkew: 1h0m0s is no tolerance for clocks`,
		`auth.oidc[2]: an entry has exactly one of issuer and backstage`,
		`auth.oidc[3]: an entry has exactly one of issuer and backstage`,
		`auth.oidc[4].backstage[0].url: "b" is no http or https URL`,
		`auth.oidc[4].backstage[0].roles: the role is empty`,
		`auth.oidc[4].backstage[0].roles.: "a:b:c" is not an entity reference`,
		`auth.oidc[4].backstage[0].plugins[0]: "../x" is no id of a plug-in`,
		`auth.oidc[4].backstage[0].readers: "../y" stands for "component:default/a", which is no reference of a user`,
		`auth.oidc[4].backstage[0].readers: "auth" stands for "system:fairlead/pulls", which is no reference of a user`,
		`auth.oidc[4].backstage[0].readers: "../y" is no id of a plug-in`,
		`auth.oidc[4]: beside backstage no other key has a meaning`,
		`auth.oidc[5].subjects: "x" stands for "group:default/y", which is no reference of a user`,
		`auth.oidc[5].groups: "z" stands for "a b", which is no reference of a group`,
		`auth.oidc[5].roles.sre: "" is not an entity reference`,
		`auth.oidc[6].jwks: the URL must have no user, query or fragment`,
		`auth.oidc[6].issuer: "https://idp.example.com" is the issuer of auth.oidc[5] already`,
	}
	got := strings.Split(cfg.Validate("").Error(), "\n")
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing %s", want[i])
		case i >= len(want):
			t.Errorf("also %s", got[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
	if strings.Contains(strings.Join(got, ""), "secret") {
		t.Error("a password is told")
	}
}

func TestOneEntryMayStandAlone(t *testing.T) {
	for text, want := range map[string]access.OIDCConfigs{
		`oidc: {issuer: "https://a", audience: x}`:                       {{Issuer: "https://a", Audience: access.Texts{"x"}}},
		`oidc: [{issuer: "https://a", audience: [x, y]}]`:                {{Issuer: "https://a", Audience: access.Texts{"x", "y"}}},
		`oidc: {backstage: [{url: "https://b"}]}`:                        {{Backstage: []access.BackstageConfig{{URL: "https://b"}}}},
		"oidc:\n  backstage: [{url: 'https://b'}]":                       {{Backstage: []access.BackstageConfig{{URL: "https://b"}}}},
		`oidc: [{backstage: [{url: "https://b"}]}, {issuer: https://a}]`: {{Backstage: []access.BackstageConfig{{URL: "https://b"}}}, {Issuer: "https://a"}},
		`oidc: []`: {},
	} {
		var cfg access.AuthConfig
		if err := yaml.Unmarshal([]byte(text), &cfg); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if d := cmp.Diff(want, cfg.OIDC); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	var cfg access.AuthConfig
	for _, text := range []string{"oidc: 5", "oidc: {audience: {a: b}}", "oidc: [5]"} {
		if err := yaml.Unmarshal([]byte(text), &cfg); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// fixed verifies every token as the same principal, or not.
type fixed struct {
	who *access.Principal
	err error
}

func (f fixed) Verify(context.Context, string) (*access.Principal, error) { return f.who, f.err }

func TestPrincipalsBecomeCallers(t *testing.T) {
	roles := map[string][]string{"sre": {"SRE"}, "admin": {"user:default/root"}, "reader": {"*"}}
	for want, v := range map[string]fixed{
		"user:default/alice bot idp [group:default/sre] [reader sre]": {who: &access.Principal{Subject: "Alice", Agent: "bot", Credential: "idp", Groups: []string{"sre", "SRE", "user:default/alice", "a b"}, Roles: roles}},
		"user:default/root  idp [] [admin reader]":                    {who: &access.Principal{Subject: "user:default/root", Credential: "idp", Roles: roles}},
		"unauthenticated":   {who: &access.Principal{Subject: "group:default/root"}},
		"unauthenticated ":  {who: &access.Principal{Subject: ""}},
		"unauthenticated  ": {who: &access.Principal{Subject: "x", Agent: "a b"}},
		"unavailable":       {err: fault.New(fault.Unavailable, "down")},
		"internal":          {},
	} {
		a, err := access.NewAuthenticator(access.AuthConfig{}, access.AuthOptions{Verifier: v})
		if err != nil {
			t.Fatal(err)
		}
		who, err := a.Authenticate(t.Context(), access.Credential{Bearer: "a.b.c"})
		got := fmt.Sprint(who.Subject(), " ", who.Agent(), " ", who.Token(), " ", who.Groups(), " ", who.Roles())
		if err != nil {
			got = string(fault.CodeOf(err))
		}
		if got != strings.TrimRight(want, " ") {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, err := a.Authenticate(t.Context(), access.Credential{Bearer: "opaque"}); fault.CodeOf(err) != fault.Unauthenticated {
			t.Errorf("an opaque token: %v", err)
		}
	}
}
