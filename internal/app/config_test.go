package app

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigProblemsAllAtOnce(t *testing.T) {
	const text = `listen: nowhere
publicUrl: https://fairlead.example.com
catalog:
  refresh: soon
  sources:
    - {name: a, git: {url: https://git.example.com/a.git, reff: main}}
    - {name: a, file: {path: ./x}}
    - {name: b}
    - {name: "c d", git: {url: ""}}
auth:
  anonymous: write
  tokens:
    - {name: ci, subject: user:default/ci}
`
	_, err := ParseConfig([]byte(text), "fairlead.yaml", t.TempDir())
	var config *ConfigError
	if !errors.As(err, &config) {
		t.Fatalf("got %v", err)
	}
	got := config.Error()
	for _, want := range []string{
		`line 1: listen: "nowhere" is no address`,
		`line 2: publicUrl: unknown key; did you mean "publicURL"?`,
		`line 4: "soon" is no duration such as 30s, 5m or 2h`,
		`line 6: catalog.sources[0].git.reff: unknown key; did you mean "ref"?`,
		`line 7: catalog.sources[1].name: another source is called "a"`,
		`line 8: catalog.sources[2]: a source has exactly one of git`,
		`line 9: catalog.sources[3].name: "c d" is no name`,
		`line 9: catalog.sources[3].git.url`,
		`line 11: auth.anonymous: "write" is neither none nor read`,
		`line 13: auth.tokens[0]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing %q in:\n%s", want, got)
		}
	}
}

func TestConfigDefaults(t *testing.T) {
	dir := t.TempDir()
	cfg, err := ParseConfig(nil, "fairlead.yaml", dir)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Listen != "127.0.0.1:7007" || cfg.State != filepath.Join(dir, "state") || cfg.Cache != cfg.State || cfg.Catalog.Refresh.String() != "1m0s" {
		t.Errorf("got %+v", cfg)
	}
}

func TestConfigRefusesOpenDoors(t *testing.T) {
	for _, text := range []string{
		"listen: 0.0.0.0:7007",
		"{listen: '0.0.0.0:7007', auth: {anonymous: read}}",
	} {
		if _, err := ParseConfig([]byte(text), "f", t.TempDir()); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

func TestConfigNeedsCacheBesidePostgres(t *testing.T) {
	_, err := ParseConfig([]byte("state: postgres://db.example.com/fairlead"), "f", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "cache directory") {
		t.Errorf("got %v", err)
	}
}

func TestConfigChecksRules(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), []byte("rules:\n  - {name: x, effect: perhaps}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ParseConfig([]byte("policy: {rules: ./rules.yaml}"), "f", dir)
	if err == nil || !strings.Contains(err.Error(), "rules.yaml:2") {
		t.Errorf("got %v", err)
	}
}

func TestConfigChecksPoliciesAsCode(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"policy", "good"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"policy/a.rego": "package fairlead\n\ndeny contains http.send({}) if true\n", "good/a.rego": "package fairlead\n\ndeny contains \"no\" if input.caller.agent != \"\"\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	for folder, want := range map[string]string{"./policy": "a.rego:3:", "./none": "cannot be read"} {
		_, err := ParseConfig([]byte("policy: {rego: "+folder+"}"), "f", dir)
		if err == nil || !strings.Contains(err.Error(), "policy.rego") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	cfg, err := ParseConfig([]byte("policy: {rego: ./good}"), "f", dir)
	if err != nil || cfg.judge == nil {
		t.Errorf("%v", err)
	}
}

func TestConfigTellsOfTokensThatCannotBeRead(t *testing.T) {
	const text = `auth:
  tokens:
    - {name: ci, subject: user:default/ci, tokenFile: ./nowhere, roles: [reader]}
`
	cfg, err := ParseConfig([]byte(text), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatalf("the files of tokens are read when the server starts: %v", err)
	}
	_, started := New(t.Context(), cfg, io.Discard)
	for doing, err := range map[string]error{"a check": cfg.CheckPresent(), "a start": started} {
		var config *ConfigError
		if !errors.As(err, &config) || !strings.Contains(config.Error(), "fairlead.yaml: line 3: auth.tokens[0]") {
			t.Errorf("%s: got %v", doing, err)
		}
	}
}

func TestConfigCheckLooksForWhatItNames(t *testing.T) {
	cfg, err := ParseConfig([]byte(`catalog:
  sources:
    - {name: a, file: {path: ./gone}}
    - {name: b, git: {url: "https://git.example.com/b.git", credentials: {tokenFile: ./gone.token}}}
    - {name: c, git: {url: "https://git.example.com/c.git", credentials: {tokenEnv: FAIRLEAD_TEST_NOT_SET}}}
    - {name: d, file: {path: .}}
`), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var config *ConfigError
	if err := cfg.CheckPresent(); !errors.As(err, &config) || len(config.Problems) != 3 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"line 3: catalog.sources[0].file.path", "line 4: catalog.sources[1].git.credentials.tokenFile", "line 5: catalog.sources[2].git.credentials.tokenEnv"} {
		if !strings.Contains(config.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, config)
		}
	}
}
