// Package gitlab lists the projects of a GitLab group with its subgroups, or
// of a user, and reads GitLab's webhooks. It is the one package that knows
// GitLab's API.
package gitlab

import (
	"net/url"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

const publicHost = "gitlab.com"

// Config is the section gitlab of a catalog source or a forge.
type Config struct {
	// Host is where GitLab is; default gitlab.com.
	Host string `yaml:"host"`
	// URL is another way to write Host, with the path that it is served
	// below.
	URL string `yaml:"url"`
	// Group, by its full path, owns the projects, in its subgroups too; or
	// User does.
	Group string `yaml:"group"`
	User  string `yaml:"user"`
	// Filter says which projects count.
	Filter forge.Filter `yaml:"filter"`
	// Credentials hold a token with the scope read_api; without one, what is
	// public is listed.
	Credentials forge.Credentials `yaml:"credentials"`
	// TokenFile and TokenEnv are a shorter way to write Credentials.
	TokenFile string `yaml:"tokenFile"`
	TokenEnv  string `yaml:"tokenEnv"`
	// OAuth lets persons link their own accounts; for forges alone.
	OAuth forge.OAuth `yaml:"oauth"`
	// WebhookSecretFile holds the secret and signing tokens of webhooks, one
	// a line; without it webhooks are refused.
	WebhookSecretFile string `yaml:"webhookSecretFile"`
	// Include are the globs of catalog files in each repository; default
	// catalog-info.yaml and catalog-info.yml in every folder.
	Include []string `yaml:"include"`
	// Ref is the branch or tag that is read in each; default each one's
	// default branch.
	Ref string `yaml:"ref"`
	// Limits bound what talking to GitLab may cost. The default pace is 300
	// requests a minute, half of what gitlab.com allows for lists.
	Limits forge.Limits `yaml:"limits"`
}

const defaultPace = 300 // requests a minute

// Validate tells everything that is wrong with the section. It looks at no
// file and no network.
func (c *Config) Validate() []forge.Problem {
	var ps forge.Problems
	forge.Address(&ps, c.Host, c.URL, publicHost, c.Token().Set())
	switch {
	case c.Group != "" && c.User != "":
		ps.Add("group", "name group or user, and not both")
	case c.Group == "" && c.User == "":
		ps.Add("group", "the group or user whose projects are listed is missing")
	case c.Group != "":
		forge.ValidateName(&ps, "group", c.Group)
	default:
		forge.ValidateName(&ps, "user", c.User)
	}
	c.Filter.Validate(&ps, "public", "internal", "private")
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
	forge.Address(&ps, c.Host, c.URL, publicHost, true)
	if c.Group != "" || c.User != "" {
		ps.Add("group", "a forge has no owner; that is for sources")
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
