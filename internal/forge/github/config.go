// Package github lists the repositories of a GitHub organization or user, and
// reads GitHub's webhooks. It is the one package that knows GitHub's API.
package github

import (
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

const publicHost = "github.com"

// Config is the section github of a catalog source or a forge.
type Config struct {
	// Host is where GitHub is: github.com, which is the default, a host of
	// GitHub Enterprise, or a URL of one.
	Host string `yaml:"host"`
	// URL is another way to write Host.
	URL string `yaml:"url"`
	// Org or User owns the repositories.
	Org  string `yaml:"org"`
	User string `yaml:"user"`
	// Filter says which repositories count.
	Filter forge.Filter `yaml:"filter"`
	// Credentials hold a token that may read the repositories' metadata;
	// GitHub's GraphQL API answers nobody without one.
	Credentials forge.Credentials `yaml:"credentials"`
	// TokenFile and TokenEnv are a shorter way to write Credentials.
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
	// OAuth lets persons link their own accounts; for forges alone.
	OAuth forge.OAuth `yaml:"oauth"`
	// WebhookSecretFile holds the secrets of webhooks, one a line; without it
	// webhooks are refused.
	WebhookSecretFile string `yaml:"webhookSecretFile"`
	// Include are the globs of catalog files in each repository; default
	// catalog-info.yaml and catalog-info.yml in every folder.
	Include []string `yaml:"include"`
	// Ref is the branch or tag that is read in each; default each one's
	// default branch.
	Ref string `yaml:"ref"`
	// Limits bound what talking to GitHub may cost.
	Limits forge.Limits `yaml:"limits"`
}

// Validate tells everything that is wrong with the section. It looks at no
// file and no network.
func (c *Config) Validate() []forge.Problem {
	var ps forge.Problems
	credentials := c.Token()
	forge.Address(&ps, c.Host, c.URL, publicHost, credentials.Set())
	switch {
	case c.Org != "" && c.User != "":
		ps.Add("org", "name org or user, and not both")
	case c.Org == "" && c.User == "":
		ps.Add("org", "the organization or user whose repositories are listed is missing")
	case c.Org != "":
		validateLogin(&ps, "org", c.Org)
	default:
		validateLogin(&ps, "user", c.User)
	}
	c.Filter.Validate(&ps, "public", "internal", "private")
	c.Credentials.ValidateOrShort(&ps, c.TokenFile, c.TokenEnv)
	if !credentials.Set() {
		ps.Add("credentials", "a token is missing; GitHub lists repositories in batches for nobody without one")
	}
	forge.ValidateFiles(&ps, c.Include, c.Ref)
	c.OAuth.ValidateNone(&ps)
	c.Limits.Validate(&ps)
	return ps
}

func validateLogin(ps *forge.Problems, field, name string) {
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		ps.Add(field, "%q is no name of one at GitHub", name)
	}
}

// Token is where the token is found, whichever way it is written, for what
// reads the repositories' contents.
func (c *Config) Token() forge.Credentials { return c.Credentials.OrShort(c.TokenFile, c.TokenEnv) }

// endpoints are where GitHub's two APIs are.
type endpoints struct {
	web     *url.URL
	rest    *url.URL // ends in a slash
	graphql *url.URL
}

// endpointsOf tells them from GitHub's own address: github.com and its
// enterprise tenants have a host for them, a server of one's own a path.
func endpointsOf(web *url.URL) endpoints {
	e := endpoints{web: web}
	host := strings.ToLower(web.Hostname())
	if host == publicHost || strings.HasSuffix(host, ".ghe.com") {
		api := *web
		api.Host = "api." + web.Host
		e.rest, e.graphql = api.JoinPath("/"), api.JoinPath("graphql")
		return e
	}
	e.rest, e.graphql = web.JoinPath("api/v3/"), web.JoinPath("api/graphql")
	return e
}

// ValidateForge tells everything that is wrong with the section of a forge,
// which names no owner and no repositories: what it needs is a token that may
// write.
func (c *Config) ValidateForge() []forge.Problem {
	var ps forge.Problems
	forge.Address(&ps, c.Host, c.URL, publicHost, true)
	if c.Org != "" || c.User != "" {
		ps.Add("org", "a forge has no owner; that is for sources")
	}
	forge.ValidateAccount(&ps, c.Token(), c.Filter, c.Include, c.Ref)
	c.Credentials.ValidateOrShort(&ps, c.TokenFile, c.TokenEnv)
	c.OAuth.Validate(&ps)
	c.Limits.Validate(&ps)
	return ps
}

// Web is where the forge's pages and repositories are; nil where the section
// does not say it.
func (c *Config) Web() *url.URL {
	return forge.Address(&forge.Problems{}, c.Host, c.URL, publicHost, false)
}
