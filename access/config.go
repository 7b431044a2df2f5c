package access

import (
	"fmt"
	"net"
	"strings"
)

// Anonymous says what callers without a token may do.
type Anonymous string

// Callers without a token get nothing, or read from this machine alone.
const (
	AnonymousNone Anonymous = "none" // also what "" means
	AnonymousRead Anonymous = "read" // over the loopback interface only
)

// AuthConfig is the section auth of the configuration: who is known.
type AuthConfig struct {
	// Anonymous is none (the default) or read.
	Anonymous Anonymous `yaml:"anonymous"`
	// Tokens are static tokens, for machines and small set-ups.
	Tokens []TokenConfig `yaml:"tokens"`
	// OIDC are the issuers whose tokens are taken.
	OIDC OIDCConfigs `yaml:"oidc"`
}

// Nobody tells whether there is no token that could be shown.
func (c *AuthConfig) Nobody() bool { return len(c.Tokens) == 0 && len(c.OIDC) == 0 }

// TokenConfig is one static token and whom it stands for. The token itself is
// never in the configuration, only where to find it.
type TokenConfig struct {
	// Name is what logs and the audit call the token; each has its own.
	Name string `yaml:"name"`
	// TokenFile is the file that holds the token, relative to the
	// configuration's folder; it is read again when it changes.
	TokenFile string `yaml:"tokenFile"`
	// TokenEnv is the environment variable that holds it instead.
	TokenEnv string `yaml:"tokenEnv"`
	// Subject is the person or machine, an entity reference whose kind is
	// user if it names none.
	Subject string `yaml:"subject"`
	// Agent names the agent that uses the token for the subject; "" where
	// the subject uses it directly.
	Agent string `yaml:"agent"`
	// Groups the subject belongs to; their kind is group if they name none.
	Groups []string `yaml:"groups"`
	// Roles of the caller: reader, developer, sre, admin or those of a policy.
	Roles []string `yaml:"roles"`
}

// PolicyConfig is the section policy of the configuration.
type PolicyConfig struct {
	// Rules is the rules file, relative to the configuration's folder; ""
	// means DefaultPolicy.
	Rules string `yaml:"rules"`
	// Rego is the folder of policies in OPA's language, relative to the
	// configuration's folder: they are asked once the rules allow an act. ""
	// asks none.
	Rego string `yaml:"rego"`
	// Limits bound how often one caller does an action; see Limits.
	Limits Limits `yaml:"limits"`
}

// Validate tells everything that is wrong with the section, for a server that
// listens on the given address (host:port; "" leaves what depends on it out).
func (c *AuthConfig) Validate(listen string) Problems {
	var ps Problems
	c.validateAnonymous(&ps, listen)
	names := map[string]int{}
	for i := range c.Tokens {
		path := fmt.Sprintf("auth.tokens[%d]", i)
		c.Tokens[i].validate(&ps, path)
		name := c.Tokens[i].Name
		if at, dup := names[name]; dup && name != "" {
			ps.add(path+".name", "Give each token a name of its own.", "%q is the name of auth.tokens[%d] already", name, at)
		}
		names[name] = i
	}
	c.validateOIDC(&ps)
	return ps
}

func (c *AuthConfig) validateAnonymous(ps *Problems, listen string) {
	outside := listen != "" && !loopbackAddress(listen)
	switch c.Anonymous {
	case "", AnonymousNone:
		if outside && c.Nobody() {
			ps.add("auth", "Configure auth.tokens or auth.oidc, or listen on 127.0.0.1.", "the server would listen on %s, and there is nobody it could let in", listen)
		}
	case AnonymousRead:
		if outside {
			ps.add("auth.anonymous", "Listen on 127.0.0.1, or write anonymous: none.", "anonymous reading is for loopback only, but the server would listen on %s", listen)
		}
	default:
		ps.add("auth.anonymous", `Write "none" or "read".`, "%q is neither none nor read", clip(string(c.Anonymous), 80))
	}
}

func loopbackAddress(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && loopbackHost(host)
}

func loopbackHost(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (t *TokenConfig) validate(ps *Problems, path string) {
	if err := checkName(t.Name); err != nil {
		ps.add(path+".name", "Give the token a short name; the audit calls it by that.", "the name %v", err)
	}
	if (t.TokenFile == "") == (t.TokenEnv == "") {
		ps.add(path, "Name tokenFile or tokenEnv, and not both.", "it must be said in one place where the token is found")
	}
	if ref, err := fullRef(t.Subject, "user"); err != nil {
		ps.add(path+".subject", "Write for example user:default/ci.", "%v", err)
	} else if reserved(ref) {
		ps.add(path+".subject", "Write for example user:default/ci.", "%q is a name of Fairlead's own", clip(ref, 80))
	}
	if err := checkName(t.Agent); t.Agent != "" && err != nil {
		ps.add(path+".agent", "Write a short name such as claude-code.", "the agent %v", err)
	}
	for i, g := range t.Groups {
		if _, err := fullRef(g, "group"); err != nil {
			ps.add(fmt.Sprintf("%s.groups[%d]", path, i), "Write for example group:default/platform.", "%v", err)
		}
	}
	for i, r := range t.Roles {
		if err := checkName(r); err != nil {
			ps.add(fmt.Sprintf("%s.roles[%d]", path, i), "Write reader, developer, sre, admin or a role of your policy.", "the role %v", err)
		}
	}
}

// Validate tells everything that is wrong with the section; the rules file
// itself is LoadPolicy's to check.
func (c *PolicyConfig) Validate() Problems {
	var ps Problems
	c.Limits.validate(&ps, "policy.limits")
	return ps
}
