package access

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// OIDCConfigs is the list auth.oidc. A single entry may stand without its
// list.
type OIDCConfigs []OIDCConfig

// OIDCConfig is one entry of auth.oidc: an issuer of tokens by OpenID Connect,
// or back ends of Backstage.
type OIDCConfig struct {
	// Name is what logs and the audit call the issuer's tokens; "oidc:" and
	// the issuer's host if empty.
	Name string `yaml:"name"`
	// Issuer is the https URL that the tokens name as theirs, letter by
	// letter. Its keys are found by discovery.
	Issuer string `yaml:"issuer"`
	// Audience are the audiences that a token may be for, one of which it must
	// name.
	Audience Texts `yaml:"audience"`
	// JWKS is the https URL of the keys, where the issuer has no discovery.
	JWKS string `yaml:"jwks"`
	// SubjectClaim is the claim that names the person, "sub" if empty.
	SubjectClaim string `yaml:"subjectClaim"`
	// SubjectSuffix is taken off the claim's value, such as "@example.com"; a
	// token without it is refused.
	SubjectSuffix string `yaml:"subjectSuffix"`
	// Subjects name the person for values that are no names in the catalog.
	Subjects map[string]string `yaml:"subjects"`
	// GroupsClaim is the claim with the person's groups, "groups" if empty.
	GroupsClaim string `yaml:"groupsClaim"`
	// Groups name the group for values that are no names in the catalog.
	Groups map[string]string `yaml:"groups"`
	// AgentClaim is the claim that names the agent acting for the person,
	// "act.sub" if empty.
	AgentClaim string `yaml:"agentClaim"`
	// Roles are who has a role: references of groups or users, or "*".
	Roles map[string][]string `yaml:"roles"`
	// Jobs is the name of the forge, under forges, whose CI gives its jobs the
	// tokens of this issuer: what such a job borrows ends with it. "" for none.
	Jobs string `yaml:"jobs"`
	// Algorithms are those that tokens may be signed with; all of RS, PS and
	// ES with 256, 384 and 512 bits, and EdDSA, if empty.
	Algorithms []string `yaml:"algorithms"`
	// ClockSkew is how far the issuer's clock may be off, 30s if zero, at most
	// 5m.
	ClockSkew time.Duration `yaml:"clockSkew"`
	// PlainHTTP lets the issuer be at an http URL beyond this machine.
	PlainHTTP bool `yaml:"plainHTTP"`
	// Backstage are back ends of Backstage whose users' tokens are taken.
	Backstage []BackstageConfig `yaml:"backstage"`
}

// BackstageConfig is a back end of Backstage whose users' tokens are taken.
type BackstageConfig struct {
	// Name is what logs and the audit call the tokens; "backstage:" and the
	// host if empty.
	Name string `yaml:"name"`
	// URL is the back end's base URL, without /api.
	URL string `yaml:"url"`
	// Plugins are the ids of back-end plug-ins that may ask for a user.
	Plugins []string `yaml:"plugins"`
	// Readers are back-end plug-ins that may read for themselves, by their ids,
	// and the subject that each is then, with the role reader alone. The plug-in
	// auth looks up who signs in; any other's token that names no user is not
	// taken.
	Readers map[string]string `yaml:"readers"`
	// AuthorizationServer tells clients that they can get tokens there, which
	// needs auth.clientIdMetadataDocuments or dynamic registration on in it.
	AuthorizationServer bool `yaml:"authorizationServer"`
	// Roles are who has a role: references of groups or users, or "*".
	Roles map[string][]string `yaml:"roles"`
	// PlainHTTP lets the back end be at an http URL beyond this machine.
	PlainHTTP bool `yaml:"plainHTTP"`
}

// Texts is a list of texts, of which a single one may stand without its list.
type Texts []string

// UnmarshalYAML reads a text or a list of them.
func (t *Texts) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return n.Decode((*[]string)(t))
	}
	var one string
	err := n.Decode(&one)
	*t = Texts{one}
	return err
}

// UnmarshalYAML reads a list, or its only entry.
func (c *OIDCConfigs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return n.Decode((*[]OIDCConfig)(c))
	}
	*c = make(OIDCConfigs, 1)
	return n.Decode(&(*c)[0])
}

// SigningAlgorithms are those that tokens of others may be signed with: none
// that needs a shared secret.
func SigningAlgorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

const maxClockSkew = 5 * time.Minute

func (c *AuthConfig) validateOIDC(ps *Problems) {
	issuers := map[string]int{}
	for i := range c.OIDC {
		path := fmt.Sprintf("auth.oidc[%d]", i)
		o := &c.OIDC[i]
		o.validate(ps, path)
		if at, dup := issuers[o.Issuer]; dup && o.Issuer != "" {
			ps.add(path+".issuer", "Give all audiences in one entry.", "%q is the issuer of auth.oidc[%d] already", clip(o.Issuer, 200), at)
		}
		issuers[o.Issuer] = i
	}
}

func (c *OIDCConfig) validate(ps *Problems, path string) {
	if (c.Issuer == "") == (len(c.Backstage) == 0) {
		ps.add(path, "Write for example {issuer: https://idp.example.com, audience: fairlead} or {backstage: [{url: https://backstage.example.com}]}.",
			"an entry has exactly one of issuer and backstage")
		return
	}
	for i := range c.Backstage {
		c.Backstage[i].validate(ps, fmt.Sprintf("%s.backstage[%d]", path, i))
	}
	if c.Issuer != "" {
		c.validateIssuer(ps, path)
		return
	}
	rest := *c
	rest.Backstage = nil
	if !rest.empty() {
		ps.add(path, "Write them in an entry with an issuer, and roles beside the back end's url.", "beside backstage no other key has a meaning")
	}
}

// empty tells whether nothing is set.
func (c *OIDCConfig) empty() bool {
	return c.Name == "" && len(c.Audience) == 0 && c.JWKS == "" && c.SubjectClaim == "" && c.SubjectSuffix == "" && len(c.Subjects) == 0 &&
		c.GroupsClaim == "" && len(c.Groups) == 0 && c.AgentClaim == "" && len(c.Roles) == 0 && len(c.Algorithms) == 0 && c.ClockSkew == 0 && !c.PlainHTTP
}

func (c *OIDCConfig) validateIssuer(ps *Problems, path string) {
	validateURL(ps, path+".issuer", c.Issuer, c.PlainHTTP)
	if c.JWKS != "" {
		validateURL(ps, path+".jwks", c.JWKS, c.PlainHTTP)
	}
	if len(c.Audience) == 0 || slices.Contains(c.Audience, "") {
		ps.add(path+".audience", "Name the audience that the issuer writes into tokens for Fairlead; tokens for others must not be taken.", "there is no audience")
	}
	validateName(ps, path+".name", c.Name)
	validateRefs(ps, path+".subjects", c.Subjects, "user")
	validateRefs(ps, path+".groups", c.Groups, "group")
	validateRoles(ps, path+".roles", c.Roles)
	for i, a := range c.Algorithms {
		if !slices.Contains(SigningAlgorithms(), a) {
			ps.add(fmt.Sprintf("%s.algorithms[%d]", path, i), "There are: "+strings.Join(SigningAlgorithms(), ", ")+".", "tokens signed with %q are not taken", clip(a, 40))
		}
	}
	if c.ClockSkew < 0 || c.ClockSkew > maxClockSkew {
		ps.add(path+".clockSkew", "Write at most 5m, and set the clocks.", "%s is no tolerance for clocks", c.ClockSkew)
	}
}

// pluginID is what Backstage takes for the id of a plug-in.
var pluginID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

func (b *BackstageConfig) validate(ps *Problems, path string) {
	validateURL(ps, path+".url", b.URL, b.PlainHTTP)
	validateName(ps, path+".name", b.Name)
	validateRoles(ps, path+".roles", b.Roles)
	for i, p := range b.Plugins {
		validatePlugin(ps, fmt.Sprintf("%s.plugins[%d]", path, i), p, "scaffolder")
	}
	validateRefs(ps, path+".readers", b.Readers, "user")
	for _, id := range slices.Sorted(maps.Keys(b.Readers)) {
		validatePlugin(ps, path+".readers", id, "auth")
	}
}

func validatePlugin(ps *Problems, path, id, example string) {
	if !pluginID.MatchString(id) {
		ps.add(path, fmt.Sprintf("Write for example %s.", example), "%q is no id of a plug-in", clip(id, 80))
	}
}

// validateURL wants a bare https URL: whoever can change what comes from it
// can be anybody.
func validateURL(ps *Problems, path, text string, plain bool) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		ps.add(path, "Write for example https://idp.example.com.", "%q is no http or https URL", clip(text, 200))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		ps.add(path, "Write for example https://idp.example.com.", "the URL must have no user, query or fragment")
	case u.Scheme == "http" && !plain && !loopbackHost(u.Hostname()):
		ps.add(path, "Use https, or write plainHTTP: true if nobody else can reach the network between.", "keys that are fetched from %q without encryption could be anybody's", clip(text, 200))
	}
}

func validateName(ps *Problems, path, name string) {
	if err := checkName(name); name != "" && err != nil {
		ps.add(path, "Give it a short name; the audit calls it by that.", "the name %v", err)
	}
}

func validateRefs(ps *Problems, path string, refs map[string]string, kind string) {
	for _, from := range slices.Sorted(maps.Keys(refs)) {
		to := refs[from]
		full, err := fullRef(to, kind)
		if err != nil || !strings.HasPrefix(full, kind+":") {
			ps.add(path, fmt.Sprintf("Write for example %s:default/name.", kind), "%q stands for %q, which is no reference of a %s", clip(from, 80), clip(to, 80), kind)
		}
	}
}

func validateRoles(ps *Problems, path string, roles map[string][]string) {
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		if err := checkName(role); err != nil {
			ps.add(path, "Write reader, developer, sre, admin or a role of your policy.", "the role %v", err)
		}
		for _, m := range roles[role] {
			if _, err := fullRef(m, "group"); m != "*" && err != nil {
				ps.add(path+"."+role, `Write for example group:default/sre, user:default/alice or "*".`, "%v", err)
			}
		}
	}
}
