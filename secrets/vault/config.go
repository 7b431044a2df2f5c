package vault

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config is the section vault of the configuration.
type Config struct {
	// Address is the URL of Vault.
	Address string `yaml:"address"`
	// Namespace is that of Vault Enterprise in which everything is; none if
	// empty.
	Namespace string `yaml:"namespace"`
	// CAFile holds the certificates, PEM, that Vault's own is signed by; those
	// of the machine if empty.
	CAFile string `yaml:"caFile"`
	// ServerName is the name in Vault's certificate, that of the address if
	// empty.
	ServerName string `yaml:"serverName"`
	// CertificateFile and KeyFile are what Fairlead shows where Vault asks for
	// a certificate.
	CertificateFile string `yaml:"certificateFile"`
	KeyFile         string `yaml:"keyFile"`
	// Timeout bounds each request, 10s by default.
	Timeout time.Duration `yaml:"timeout"`
	// Auth is how Fairlead logs in: one of its ways.
	Auth Auth `yaml:"auth"`
	// TokenRole is the token role (auth/token/roles) that accounts are made by,
	// fairlead by default. It makes orphans, and allows Policies. Where neither it
	// nor Policies is set, nor there, Fairlead makes both if its own token may.
	TokenRole string `yaml:"tokenRole"`
	// Policies are those of accounts, fairlead/{namespace}/{service} by default.
	// The placeholders are those of Placeholders.
	Policies []string `yaml:"policies"`
	// Callers has accounts made in the names of callers who show a token that
	// Vault knows; off if it is left out.
	Callers *Callers `yaml:"callers"`

	prepares bool // neither TokenRole nor Policies is set
}

// Auth is one of the ways to log in.
type Auth struct {
	AppRole    *AppRole    `yaml:"approle"`
	Kubernetes *Kubernetes `yaml:"kubernetes"`
	JWT        *JWT        `yaml:"jwt"`
	// TokenFile holds a token, which somebody else may replace, for example an
	// agent of Vault's.
	TokenFile string `yaml:"tokenFile"`
}

// AppRole logs in by a role and its secret.
type AppRole struct {
	// Mount is where it is mounted below auth/, approle by default.
	Mount string `yaml:"mount"`
	// RoleID is no secret. SecretIDFile holds the one that goes with it, and is
	// read for each login.
	RoleID       string `yaml:"roleID"`
	SecretIDFile string `yaml:"secretIDFile"`
}

// Kubernetes logs in by the token of a service account.
type Kubernetes struct {
	// Mount is where it is mounted below auth/, kubernetes by default.
	Mount string `yaml:"mount"`
	// Role is the role at that mount.
	Role string `yaml:"role"`
	// TokenFile is by default where Pods find theirs. It is read for each login.
	TokenFile string `yaml:"tokenFile"`
}

// JWT logs in by a JSON Web Token.
type JWT struct {
	// Mount is where it is mounted below auth/, jwt by default.
	Mount string `yaml:"mount"`
	// Role is the role at that mount.
	Role string `yaml:"role"`
	// TokenFile holds the token. It is read for each login.
	TokenFile string `yaml:"tokenFile"`
}

// Callers exchanges the token that a caller showed to Fairlead for one of
// Vault's, so that Vault knows whom a credential is for and names them in its
// audit.
type Callers struct {
	// Mount is where such tokens are taken below auth/, jwt by default.
	Mount string `yaml:"mount"`
	// Role is the role at that mount. Its policies allow to make tokens by
	// TokenRole and nothing else.
	Role string `yaml:"role"`
	// TokenRole is the token role that accounts of callers are made by, which
	// makes no orphans; fairlead-callers by default.
	TokenRole string `yaml:"tokenRole"`
}

// Problem is one thing wrong with a Config.
type Problem struct {
	// Field is the key below vault, for example auth.approle.roleID.
	Field string
	// Message says what is wrong and what to write.
	Message string
}

// Placeholders are what Config.Policies may hold in braces: parts of the order.
func Placeholders() []string {
	return []string{"namespace", "service", "environment", "engine", "mount", "role", "name"}
}

const podToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // the path of a file, as Kubernetes has it

var (
	vaultNamespace = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?$`)
	policyName     = regexp.MustCompile(`^[a-z0-9_{}][a-z0-9_.{}-]*(/[a-z0-9_{}][a-z0-9_.{}-]*)*$`)
	braces         = regexp.MustCompile(`\{([^{}]*)\}`)
)

// In resolves relative files against the configuration's folder.
func (c *Config) In(dir string) {
	files := []*string{&c.CAFile, &c.CertificateFile, &c.KeyFile, &c.Auth.TokenFile}
	if a := c.Auth.AppRole; a != nil {
		files = append(files, &a.SecretIDFile)
	}
	if k := c.Auth.Kubernetes; k != nil {
		files = append(files, &k.TokenFile)
	}
	if j := c.Auth.JWT; j != nil {
		files = append(files, &j.TokenFile)
	}
	for _, f := range files {
		if *f != "" && !filepath.IsAbs(*f) {
			*f = filepath.Join(dir, *f)
		}
	}
}

// adder notes a problem.
type adder func(field, format string, args ...any)

// Validate tells everything that is wrong with the section. It looks at no
// file.
func (c *Config) Validate() []Problem {
	var ps []Problem
	add := func(field, format string, args ...any) {
		ps = append(ps, Problem{field, fmt.Sprintf(format, args...)})
	}
	c.validateAddress(add)
	if c.Namespace != "" && !vaultNamespace.MatchString(c.Namespace) {
		add("namespace", "%q is no namespace of Vault; write for example team-a or org/team-a", c.Namespace)
	}
	if (c.CertificateFile == "") != (c.KeyFile == "") {
		add("certificateFile", "certificateFile and keyFile go together; one of them is missing")
	}
	if c.Timeout < 0 || c.Timeout > 5*time.Minute {
		add("timeout", "%s is no sensible bound of one request; write for example 10s, at most 5m", c.Timeout)
	}
	c.Auth.validate(add)
	if c.TokenRole != "" && !plainName.MatchString(c.TokenRole) {
		add("tokenRole", "%q is no name of a token role", c.TokenRole)
	}
	c.validatePolicies(add)
	if c.Callers != nil {
		c.Callers.validate(add)
	}
	return ps
}

func (c *Config) validateAddress(add adder) {
	u, err := url.Parse(c.Address)
	switch {
	case c.Address == "":
		add("address", "the URL of Vault is missing; write for example https://vault.example.com")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		add("address", "this is no URL of Vault; write for example https://vault.example.com:8200")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		add("address", "the URL of Vault is its scheme, host and port alone; write for example https://vault.example.com:8200")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		add("address", "credentials could be read on the way to %s; use https", u.Host)
	}
	if u != nil && u.Scheme == "http" {
		for field, file := range map[string]string{"caFile": c.CAFile, "serverName": c.ServerName, "certificateFile": c.CertificateFile} {
			if file != "" {
				add(field, "there are no certificates without https; remove it or use https")
			}
		}
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (c *Config) validatePolicies(add adder) {
	for i, p := range c.Policies {
		field := fmt.Sprintf("policies[%d]", i)
		for _, m := range braces.FindAllStringSubmatch(p, -1) {
			if !slices.Contains(Placeholders(), m[1]) {
				add(field, "there is no placeholder {%s}; there are {%s}", m[1], strings.Join(Placeholders(), "}, {"))
				return
			}
		}
		if !policyName.MatchString(p) || p == "root" {
			add(field, "%q is no policy for accounts; write for example fairlead/{namespace}/{service}", p)
		}
	}
}

func (a *Auth) validate(add adder) {
	var ways []string
	if a.AppRole != nil {
		ways = append(ways, "approle")
		a.AppRole.validate(add)
	}
	if k := a.Kubernetes; k != nil {
		ways = append(ways, "kubernetes")
		validateRole(add, "auth.kubernetes", k.Mount, k.Role)
	}
	if j := a.JWT; j != nil {
		ways = append(ways, "jwt")
		validateRole(add, "auth.jwt", j.Mount, j.Role)
		if j.TokenFile == "" {
			add("auth.jwt.tokenFile", "the file is missing that holds the token")
		}
	}
	if a.TokenFile != "" {
		ways = append(ways, "tokenFile")
	}
	switch len(ways) {
	case 1:
	case 0:
		add("auth", "say how to log in: one of approle, kubernetes, jwt and tokenFile")
	default:
		add("auth", "there are %s; keep one of them", strings.Join(ways, " and "))
	}
}

func (a *AppRole) validate(add adder) {
	validateMount(add, "auth.approle", a.Mount)
	if a.RoleID == "" {
		add("auth.approle.roleID", "the id of the role is missing: vault read auth/approle/role/NAME/role-id")
	}
	if a.SecretIDFile == "" {
		add("auth.approle.secretIDFile", "the file is missing that holds the role's secret id")
	}
}

func (c *Callers) validate(add adder) {
	validateRole(add, "callers", c.Mount, c.Role)
	if c.TokenRole != "" && !plainName.MatchString(c.TokenRole) {
		add("callers.tokenRole", "%q is no name of a token role", c.TokenRole)
	}
}

func validateRole(add adder, field, mount, role string) {
	validateMount(add, field, mount)
	if role == "" {
		add(field+".role", "the role to log in by is missing")
	} else if !plainName.MatchString(role) {
		add(field+".role", "%q is no name of a role", role)
	}
}

func validateMount(add adder, field, mount string) {
	if mount != "" && !isPath(mount, maxMount) {
		add(field+".mount", "%q is no mount below auth/; write for example jwt", mount)
	}
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	c.Address = strings.TrimRight(c.Address, "/")
	c.Namespace = strings.TrimRight(c.Namespace, "/")
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.prepares = c.TokenRole == "" && len(c.Policies) == 0
	c.TokenRole = cmp.Or(c.TokenRole, "fairlead")
	if len(c.Policies) == 0 {
		c.Policies = []string{"fairlead/{namespace}/{service}"}
	}
	if c.Callers != nil {
		with := *c.Callers
		with.Mount, with.TokenRole = cmp.Or(with.Mount, "jwt"), cmp.Or(with.TokenRole, "fairlead-callers")
		c.Callers = &with
	}
	return c
}
