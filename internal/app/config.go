package app

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/registry"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// Config is the configuration of a server, one strict YAML file. Relative
// paths are relative to that file's folder.
type Config struct {
	// Listen is the address to serve at, 127.0.0.1:7007 if empty.
	Listen string `yaml:"listen"`
	// PublicURL is how clients reach the server, for links and metadata; the
	// listen address if empty.
	PublicURL string `yaml:"publicURL"`
	// State is a directory, ./state if empty, or a postgres:// URL.
	State string `yaml:"state"`
	// Cache is the directory of what can always be read again: clones of
	// repositories and the last good catalog. It is the state directory if
	// that is one, else needed.
	Cache string `yaml:"cache"`
	// Auth says who is known.
	Auth access.AuthConfig `yaml:"auth"`
	// Policy says who may do what.
	Policy access.PolicyConfig `yaml:"policy"`
	// Catalog says what is read.
	Catalog CatalogConfig `yaml:"catalog"`
	// Forges are where pull requests are opened and followed.
	Forges []ForgeConfig `yaml:"forges"`
	// ArgoCD are the Argo CDs that deploy previews and tell what runs where.
	ArgoCD []instance.Config `yaml:"argocd"`
	// Metrics are those of the services.
	Metrics MetricsConfig `yaml:"metrics"`
	// Registries are those of container images that may be asked what images were
	// built from; no other is.
	Registries []registry.Config `yaml:"registries"`
	// Proposals lets changes be proposed without a forge, too, and says where
	// answers go.
	Proposals *ProposalsConfig `yaml:"proposals"`
	// Knowledge says what is searched beside the catalog.
	Knowledge KnowledgeConfig `yaml:"knowledge"`
	// Previews lets services be previewed; off if it is left out.
	Previews *PreviewsConfig `yaml:"previews"`
	// Vault issues credentials; none are lent if it is left out.
	Vault *vault.Config `yaml:"vault"`
	// Secrets bounds what is lent.
	Secrets SecretsConfig `yaml:"secrets"`
	// UI is the front end that is served; none if it is left out.
	UI *UIConfig `yaml:"ui"`
	// CORS lists the origins of front ends that call from a browser.
	CORS []string `yaml:"cors"`
	// Telemetry says where traces go and how much is logged.
	Telemetry TelemetryConfig `yaml:"telemetry"`

	// Version is what clients are told; it is no key of the file.
	Version string `yaml:"-"`
	// Argo connects to ArgoCD; it is no key of the file.
	Argo *ArgoDialer `yaml:"-"`
	// RenderProgram is fairlead-render, where it is not beside this program; it
	// is no key of the file.
	RenderProgram string `yaml:"-"`

	file, dir string
	root      *yaml.Node // the file's content, for the lines of its keys
	policy    *access.Policy
	judge     access.Judge                 // nil without policies in Rego
	deployers map[string]previews.Deployer // of tests, beside those configured
	lender    lender                       // of tests, in the place of Vault
	pulls     previews.PullForges          // of tests, in the place of those configured
	ci        func(*gitops.CIConfig)       // of tests, which name other forges
}

// CatalogConfig says what is read into the catalog and how often.
type CatalogConfig struct {
	// Sources in order of precedence for names that two of them claim.
	Sources []SourceConfig `yaml:"sources"`
	// Refresh is the pause between polls, 1m if empty, at least 1s.
	Refresh time.Duration `yaml:"refresh"`
	// Kinds are further kinds of entities that are let in.
	Kinds []string `yaml:"kinds"`
	// Forges tells what software serves a host of your own: github, gitlab,
	// gitea, bitbucketCloud, bitbucketServer or azure.
	Forges map[string]string `yaml:"forges"`
	// Locations lets locations be registered; off if it is left out.
	Locations *LocationsConfig `yaml:"locations"`
}

// TelemetryConfig says what is told to the outside about requests.
type TelemetryConfig struct {
	// OTLP is the URL of an OpenTelemetry collector (OTLP over HTTP); traces
	// are off without it.
	OTLP string `yaml:"otlp"`
	// LogLevel is debug, info (default), warn or error.
	LogLevel string `yaml:"logLevel"`
}

// ConfigError is everything that is wrong with a configuration.
type ConfigError struct {
	File     string
	Problems []ConfigProblem
}

// Error lists all problems, a line each.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = printable(e.File + ": " + p.String())
	}
	return strings.Join(lines, "\n")
}

// LoadConfig reads and checks a configuration file. The error is a
// *ConfigError with all problems at once, or says why the file cannot be read.
func LoadConfig(file string) (*Config, error) {
	data, err := readBounded(file)
	if err != nil {
		return nil, &ConfigError{File: file, Problems: []ConfigProblem{{Message: fmt.Sprintf("the file cannot be read: %v", reason(err))}}}
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	return ParseConfig(data, file, dir)
}

// ParseConfig reads a configuration whose relative paths are relative to dir.
func ParseConfig(data []byte, file, dir string) (*Config, error) {
	cfg := &Config{file: file, dir: dir}
	var problems []ConfigProblem
	cfg.root, problems = decodeStrict(data, cfg)
	cfg.complete()
	if cfg.root != nil {
		problems = append(problems, cfg.check()...)
	}
	if err := cfg.refuse(problems); err != nil {
		return nil, err
	}
	return cfg, nil
}

// refuse is the error of a configuration with problems, nil without.
func (c *Config) refuse(problems []ConfigProblem) error {
	if len(problems) == 0 {
		return nil
	}
	return &ConfigError{File: c.file, Problems: problems}
}

func (c *Config) complete() {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:7007"
	}
	if c.State == "" {
		c.State = "./state"
	}
	if !isPostgres(c.State) {
		c.State = c.path(c.State)
		if c.Cache == "" {
			c.Cache = c.State
		}
	}
	if c.Cache != "" {
		c.Cache = c.path(c.Cache)
	}
	c.completePreviews()
	c.completeArgoCD()
	c.completeRegistries()
	if c.Proposals != nil {
		for i := range c.Proposals.Notify {
			c.Proposals.Notify[i].In(c.dir)
		}
	}
	if p := c.Metrics.Prometheus; p != nil {
		p.In(c.dir)
	}
	if c.Vault != nil {
		c.Vault.In(c.dir)
	}
	if c.Catalog.Refresh == 0 {
		c.Catalog.Refresh = time.Minute
	}
	for i := range c.Catalog.Sources {
		if f := c.Catalog.Sources[i].File; f != nil && f.Path != "" {
			f.Path = c.path(f.Path)
		}
	}
}

func isPostgres(state string) bool {
	return strings.HasPrefix(state, "postgres://") || strings.HasPrefix(state, "postgresql://")
}

func (c *Config) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(c.dir, p)
}

// checker gathers problems with the lines of their keys.
type checker struct {
	root     *yaml.Node
	problems []ConfigProblem
}

func (k *checker) add(path, format string, args ...any) {
	k.problems = append(k.problems, ConfigProblem{Line: lineAt(k.root, path), Path: path, Message: fmt.Sprintf(format, args...)})
}

func (k *checker) access(ps access.Problems) {
	for _, p := range ps {
		text := p.Message
		if p.Fix != "" {
			text += ". " + p.Fix
		}
		if p.File != "" {
			if p.Path != "" {
				text = p.Path + ": " + text
			}
			text = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, text)
			p.Path = "policy.rules"
		}
		k.add(p.Path, "%s", text)
	}
}

func (c *Config) check() []ConfigProblem {
	k := &checker{root: c.root}
	c.checkServer(k)
	k.access(c.Auth.Validate(c.Listen))
	k.access(c.Policy.Validate())
	c.checkPolicy(k)
	c.checkCatalog(k)
	c.checkForges(k)
	c.checkProposals(k)
	c.checkKnowledge(k)
	c.checkPreviews(k)
	c.checkSecrets(k)
	c.checkJobs(k)
	c.checkUI(k)
	c.checkArgoCD(k)
	c.checkMetrics(k)
	c.checkRegistries(k)
	c.checkTelemetry(k)
	return k.problems
}

func (c *Config) checkServer(k *checker) {
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "" {
		k.add("listen", "%q is no address to listen at; write host:port, for example 127.0.0.1:7007", c.Listen)
	}
	if c.PublicURL != "" && !httpURL(c.PublicURL) {
		k.add("publicURL", "%q is no http or https URL", c.PublicURL)
	}
	if c.Cache == "" {
		k.add("state", "with the state in PostgreSQL a cache directory is needed too; add for example: cache: ./cache")
	}
	for i, o := range c.CORS {
		if u, err := url.Parse(o); err != nil || !httpURL(o) || u.Path != "" || u.RawQuery != "" {
			k.add(fmt.Sprintf("cors[%d]", i), "%q is no origin; write for example https://backstage.example.com", o)
		}
	}
}

func httpURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (c *Config) checkPolicy(k *checker) {
	c.checkRego(k)
	c.policy = access.DefaultPolicy()
	if c.Policy.Rules == "" {
		return
	}
	file := c.path(c.Policy.Rules)
	data, err := readBounded(file)
	if err != nil {
		k.add("policy.rules", "the rules file %s cannot be read", file)
		return
	}
	p, err := access.LoadPolicy(data, file)
	if ps, ok := err.(access.Problems); ok { //nolint:errorlint // LoadPolicy returns its problems unwrapped
		k.access(ps)
		return
	}
	if err != nil {
		k.add("policy.rules", "%v", err)
		return
	}
	c.policy = p
}

func (c *Config) checkCatalog(k *checker) {
	if c.Catalog.Refresh < time.Second {
		k.add("catalog.refresh", "%s is too short; at least 1s", c.Catalog.Refresh)
	}
	names := map[string]bool{}
	for i, s := range c.Catalog.Sources {
		path := fmt.Sprintf("catalog.sources[%d]", i)
		switch {
		case s.Name == "" || s.Name == "." || s.Name == ".." || strings.ContainsAny(s.Name, "/\\ \t\n"):
			k.add(path+".name", "%q is no name for a source; use letters, digits, - and _", s.Name)
		case names[s.Name]:
			k.add(path+".name", "another source is called %q", s.Name)
		}
		names[s.Name] = true
		c.checkSource(k, path, s)
	}
	c.checkLocations(k)
	known := descriptor.ForgeNames()
	for _, host := range slices.Sorted(maps.Keys(c.Catalog.Forges)) {
		if forge := c.Catalog.Forges[host]; !slices.Contains(known, forge) {
			k.add("catalog.forges."+host, "%q is none of %s", forge, strings.Join(known, ", "))
		}
	}
}

func (c *Config) checkTelemetry(k *checker) {
	if c.Telemetry.OTLP != "" && !httpURL(c.Telemetry.OTLP) {
		k.add("telemetry.otlp", "%q is no http or https URL", c.Telemetry.OTLP)
	}
	if _, err := logLevel(c.Telemetry.LogLevel); err != nil {
		k.add("telemetry.logLevel", "%q is none of debug, info, warn, error", c.Telemetry.LogLevel)
	}
}

func hostOf(hostport string) string {
	hostport, _, _ = strings.Cut(hostport, "/")
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// loopback tells whether a host or host:port is this machine alone.
func loopback(hostport string) bool {
	host := hostOf(hostport)
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// ListenAt has the server listen elsewhere than configured; the same rules
// hold for that address.
func (c *Config) ListenAt(address string) error {
	c.Listen = address
	k := &checker{root: c.root}
	c.checkServer(k)
	k.access(c.Auth.Validate(address))
	return c.refuse(k.problems)
}

// issuers are those whose tokens are taken, and the guest; nil where none are
// configured.
func (c *Config) issuers(log *slog.Logger, guest *oidc.Guest) *oidc.Verifier {
	if len(c.Auth.OIDC) == 0 && guest == nil {
		return nil
	}
	return oidc.New(c.Auth.OIDC, oidc.Options{Logger: log, Guest: guest})
}

func (c *Config) authenticator(log *slog.Logger, issuers access.Verifier) (*access.Authenticator, error) {
	a, err := access.NewAuthenticator(c.Auth, access.AuthOptions{Dir: c.dir, Logger: log, Verifier: issuers})
	if ps, ok := err.(access.Problems); ok { //nolint:errorlint // NewAuthenticator returns its problems unwrapped
		k := &checker{root: c.root}
		k.access(ps)
		return nil, c.refuse(k.problems)
	}
	return a, err
}

// AddDeployer lets catalog files name a deployer besides those configured; for
// tests and tools that share the process. It is to be called before New.
func (c *Config) AddDeployer(name string, d previews.Deployer) {
	if c.deployers == nil {
		c.deployers = map[string]previews.Deployer{}
	}
	c.deployers[name] = d
}
