package vault_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/secrets/vault"
)

func TestConfig(t *testing.T) {
	good := func() vault.Config {
		return vault.Config{Address: "https://vault.example.com:8200", Auth: vault.Auth{TokenFile: "token"}}
	}
	for _, c := range []struct {
		name   string
		change func(*vault.Config)
		field  string // "" for none
		says   string
	}{
		{"the least", func(*vault.Config) {}, "", ""},
		{"loopback without TLS", func(c *vault.Config) { c.Address = "http://127.0.0.1:8200/" }, "", ""},
		{"everything", func(c *vault.Config) {
			c.Namespace, c.CAFile, c.ServerName, c.CertificateFile, c.KeyFile, c.Timeout = "org/team-a/", "ca", "vault", "c", "k", time.Second
			c.TokenRole, c.Policies, c.Callers = "lend", []string{"lend-{service}-{role}", "lend/{mount}"}, &vault.Callers{Mount: "oidc", Role: "caller", TokenRole: "callers"}
		}, "", ""},
		{"no address", func(c *vault.Config) { c.Address = "" }, "address", "missing"},
		{"no URL", func(c *vault.Config) { c.Address = "vault.example.com" }, "address", "no URL"},
		{"another scheme", func(c *vault.Config) { c.Address = "ftp://vault.example.com" }, "address", "no URL"},
		{"a password in the address", func(c *vault.Config) { c.Address = "https://a:canary@vault.example.com" }, "address", "alone"},
		{"a path in the address", func(c *vault.Config) { c.Address = "https://vault.example.com/v1" }, "address", "alone"},
		{"no TLS", func(c *vault.Config) { c.Address = "http://vault.example.com" }, "address", "use https"},
		{"certificates without TLS", func(c *vault.Config) { c.Address, c.CAFile = "http://127.0.0.1:1", "x" }, "caFile", "without https"},
		{"namespace", func(c *vault.Config) { c.Namespace = "a/../b" }, "namespace", "no namespace"},
		{"half a certificate", func(c *vault.Config) { c.KeyFile = "k" }, "certificateFile", "go together"},
		{"timeout", func(c *vault.Config) { c.Timeout = time.Hour }, "timeout", "at most 5m"},
		{"no way in", func(c *vault.Config) { c.Auth = vault.Auth{} }, "auth", "one of approle"},
		{"two ways in", func(c *vault.Config) { c.Auth.JWT = &vault.JWT{Role: "r", TokenFile: "f"} }, "auth", "jwt and tokenFile"},
		{"approle without its id", func(c *vault.Config) { c.Auth = vault.Auth{AppRole: &vault.AppRole{SecretIDFile: "f"}} }, "auth.approle.roleID", "missing"},
		{"approle without its secret", func(c *vault.Config) { c.Auth = vault.Auth{AppRole: &vault.AppRole{RoleID: "x"}} }, "auth.approle.secretIDFile", "missing"},
		{"a mount that is a path", func(c *vault.Config) {
			c.Auth = vault.Auth{AppRole: &vault.AppRole{Mount: "../sys", RoleID: "x", SecretIDFile: "f"}}
		}, "auth.approle.mount", "no mount"},
		{"kubernetes without its role", func(c *vault.Config) { c.Auth = vault.Auth{Kubernetes: &vault.Kubernetes{}} }, "auth.kubernetes.role", "missing"},
		{"kubernetes", func(c *vault.Config) { c.Auth = vault.Auth{Kubernetes: &vault.Kubernetes{Role: "r"}} }, "", ""},
		{"jwt without its file", func(c *vault.Config) { c.Auth = vault.Auth{JWT: &vault.JWT{Role: "r"}} }, "auth.jwt.tokenFile", "missing"},
		{"jwt with a role that is a path", func(c *vault.Config) { c.Auth = vault.Auth{JWT: &vault.JWT{Role: "a/b", TokenFile: "f"}} }, "auth.jwt.role", "no name"},
		{"token role", func(c *vault.Config) { c.TokenRole = "a/b" }, "tokenRole", "no name"},
		{"unknown placeholder", func(c *vault.Config) { c.Policies = []string{"x-{team}"} }, "policies[0]", "{namespace}"},
		{"policy root", func(c *vault.Config) { c.Policies = []string{"a", "root"} }, "policies[1]", "no policy"},
		{"policy", func(c *vault.Config) { c.Policies = []string{"a b"} }, "policies[0]", "no policy"},
		{"callers without their role", func(c *vault.Config) { c.Callers = &vault.Callers{} }, "callers.role", "missing"},
		{"token role of callers", func(c *vault.Config) { c.Callers = &vault.Callers{Role: "r", TokenRole: ".."} }, "callers.tokenRole", "no name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good()
			c.change(&cfg)
			ps := cfg.Validate()
			if c.field == "" {
				if len(ps) != 0 {
					t.Errorf("it says %v", ps)
				}
				return
			}
			if len(ps) != 1 || ps[0].Field != c.field || !strings.Contains(ps[0].Message, c.says) || strings.Contains(ps[0].Message, "canary") {
				t.Errorf("it says %v", ps)
			}
			if _, err := vault.New(cfg, "x", slog.Default()); err == nil {
				t.Error("New takes it")
			}
		})
	}
}

func TestFilesAreRelativeToTheConfiguration(t *testing.T) {
	c := vault.Config{CAFile: "ca", CertificateFile: "/c", Auth: vault.Auth{TokenFile: "t", AppRole: &vault.AppRole{SecretIDFile: "s"}, JWT: &vault.JWT{TokenFile: "j"}, Kubernetes: &vault.Kubernetes{}}}
	c.In("/etc/fairlead")
	for got, want := range map[string]string{c.CAFile: "/etc/fairlead/ca", c.CertificateFile: "/c", c.KeyFile: "", c.Auth.TokenFile: "/etc/fairlead/t",
		c.Auth.AppRole.SecretIDFile: "/etc/fairlead/s", c.Auth.JWT.TokenFile: "/etc/fairlead/j"} {
		if got != want {
			t.Errorf("%q and not %q", got, want)
		}
	}
}

func TestCertificatesThatCannotBeRead(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("what?"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{none, empty} {
		_, err := vault.New(vault.Config{Address: "https://vault.example.com", CAFile: name, Auth: vault.Auth{TokenFile: "t"}}, "x", slog.Default())
		if err == nil || !strings.Contains(err.Error(), "vault.caFile") || !strings.Contains(err.Error(), name) {
			t.Errorf("it says %v", err)
		}
	}
}
