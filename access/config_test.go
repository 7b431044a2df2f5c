package access_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
)

func TestAuthConfigTellsEverythingThatIsWrong(t *testing.T) {
	const text = `
anonymous: some
tokens:
  - {name: ci, tokenFile: a, tokenEnv: B, subject: ""}
  - {name: ci, subject: "user:a b", agent: "a\tb", groups: [g, "a:b:c"], roles: [""]}
`
	var cfg access.AuthConfig
	dec := yaml.NewDecoder(strings.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&cfg); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`auth.anonymous: "some" is neither none nor read (Write "none" or "read".)`,
		`auth.tokens[0]: it must be said in one place where the token is found (Name tokenFile or tokenEnv, and not both.)`,
		`auth.tokens[0].subject: "" is not an entity reference of the form kind:namespace/name (Write for example user:default/ci.)`,
		`auth.tokens[1]: it must be said in one place where the token is found (Name tokenFile or tokenEnv, and not both.)`,
		`auth.tokens[1].subject: "user:a b" is not an entity reference of the form kind:namespace/name (Write for example user:default/ci.)`,
		`auth.tokens[1].agent: the agent "a\tb" holds white space or characters that cannot be printed (Write a short name such as claude-code.)`,
		`auth.tokens[1].groups[1]: "a:b:c" is not an entity reference of the form kind:namespace/name (Write for example group:default/platform.)`,
		`auth.tokens[1].roles[0]: the role is empty (Write reader, developer, sre, admin or a role of your policy.)`,
		`auth.tokens[1].name: "ci" is the name of auth.tokens[0] already (Give each token a name of its own.)`,
	}, "\n")
	if d := cmp.Diff(want, cfg.Validate("127.0.0.1:7007").Error()); d != "" {
		t.Error(d)
	}
}

func TestWhereTheServerListens(t *testing.T) {
	token := []access.TokenConfig{{Name: "ci", TokenEnv: "CI", Subject: "ci"}}
	for _, tt := range []struct {
		name, listen string
		cfg          access.AuthConfig
		want         string
	}{
		{"loopback", "127.0.0.1:7007", access.AuthConfig{}, ""},
		{"loopback by name", "localhost:7007", access.AuthConfig{Anonymous: "read"}, ""},
		{"loopback by IPv6", "[::1]:7007", access.AuthConfig{Anonymous: "read"}, ""},
		{"everywhere with tokens", ":7007", access.AuthConfig{Tokens: token}, ""},
		{"everywhere without", "0.0.0.0:7007", access.AuthConfig{}, "auth: the server would listen on 0.0.0.0:7007, and there is nobody"},
		{"everywhere, anonymous", ":7007", access.AuthConfig{Anonymous: "read", Tokens: token}, "auth.anonymous: anonymous reading is for loopback only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.cfg.Validate(tt.listen).Error(); !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestPolicyConfig(t *testing.T) {
	var cfg access.PolicyConfig
	if err := yaml.Unmarshal([]byte("limits: {catalog.refresh: 10/m, '*': 5/1h30m}"), &cfg); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cfg.Limits); got != "map[*:5/1h30m0s catalog.refresh:10/1m0s]" || len(cfg.Validate()) > 0 {
		t.Errorf("limits = %s, %v", got, cfg.Validate())
	}
	for _, text := range []string{"10", "x/m", "10/", "10/q", "0/m", "-1/m", "1/-1m", "1/0s", "10/5ns", "1/90000h", "99999999999999999999/m"} {
		if err := new(access.Rate).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a rate", text)
		}
	}
	cfg.Limits = access.Limits{"moon.*": {Burst: 1, Per: 1}, "catalog.*": {}}
	want := "policy.limits[catalog.*]: 0/0s is no rate that can be metered (Write for example 30/1m.)\npolicy.limits[moon.*]: the pattern matches no action"
	if got := cfg.Validate().Error(); !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestSecretIsNotTold(t *testing.T) {
	s := access.NewSecret(canary)
	type holder struct {
		S access.Secret
		P *access.Secret
	}
	h := holder{s, &s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&out, verb+verb+verb, s, h, &s)
	}
	for _, marshal := range []func(any) ([]byte, error){json.Marshal, yaml.Marshal} {
		text, err := marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	for _, log := range []*slog.Logger{slog.New(slog.NewTextHandler(&out, nil)), slog.New(slog.NewJSONHandler(&out, nil))} {
		log.Info("x", "s", s, "p", &s, "h", h)
	}
	if hex := fmt.Sprintf("%x", canary); strings.Contains(out.String(), "canary") || strings.Contains(out.String(), hex) {
		t.Errorf("told: %s", out.String())
	}
	if s.Reveal() != canary || s.IsZero() || !(access.Secret{}).IsZero() {
		t.Error("the value is lost")
	}
	if a, b := access.NewToken(), access.NewToken(); a == b || len(a.Reveal()) < 40 || !strings.HasPrefix(a.Reveal(), "fairlead_") {
		t.Error("tokens are not random")
	}
}
