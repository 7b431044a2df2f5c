// Package gitea lists the repositories of a Gitea or Forgejo organization or
// user, and reads their webhooks. It is the one package that knows Gitea's
// API.
package gitea

import (
	"net/url"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

// Config is the section gitea of a catalog source or a forge.
type Config struct {
	// URL is where Gitea is, with the path it is served below.
	URL string `yaml:"url"`
	// Host is another way to write URL, if that is https without a path.
	Host string `yaml:"host"`
	// Org or User owns the repositories.
	Org  string `yaml:"org"`
	User string `yaml:"user"`
	// Filter says which repositories count.
	Filter forge.Filter `yaml:"filter"`
	// Credentials hold a token with the scopes read:repository and
	// read:organization, or read:user for a user's; without one, what is
	// public is listed.
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
	// Limits bound what talking to Gitea may cost. As Gitea has no limits of
	// its own, the default pace is 6,000 requests a minute.
	Limits forge.Limits `yaml:"limits"`
}

// defaultPace is in requests a minute: one for each repository that changed is
// needed.
const defaultPace = 6000

// Validate tells everything that is wrong with the section. It looks at no
// file and no network.
func (c *Config) Validate() []forge.Problem {
	var ps forge.Problems
	forge.Address(&ps, c.Host, c.URL, "", c.Token().Set())
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
	c.Filter.Validate(&ps, "public", "private")
	c.Credentials.ValidateOrShort(&ps, c.TokenFile, c.TokenEnv)
	forge.ValidateFiles(&ps, c.Include, c.Ref)
	c.OAuth.ValidateNone(&ps)
	c.Limits.Validate(&ps)
	return ps
}

// Token is where the token is found, whichever way it is written, for what
// reads the repositories' contents.
func (c *Config) Token() forge.Credentials { return c.Credentials.OrShort(c.TokenFile, c.TokenEnv) }

// ValidateForge tells everything that is wrong with the section of a forge,
// which names no owner and no repositories: what it needs is a token that may
// write.
func (c *Config) ValidateForge() []forge.Problem {
	var ps forge.Problems
	forge.Address(&ps, c.Host, c.URL, "", true)
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
func (c *Config) Web() *url.URL { return forge.Address(&forge.Problems{}, c.Host, c.URL, "", false) }
