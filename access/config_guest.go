package access

import (
	"fmt"
	"strings"
)

// GuestConfig is whom a front end without sign-in is let in as.
type GuestConfig struct {
	// Subject is the user, a reference such as user:default/guest.
	Subject string `yaml:"subject"`
	// Groups are those that the guest is in.
	Groups []string `yaml:"groups"`
	// Roles are the guest's: reader, developer or others of the policy.
	Roles []string `yaml:"roles"`
}

// Validate tells what is wrong with it; path is where it is in the
// configuration.
func (c *GuestConfig) Validate(path string) Problems {
	var ps Problems
	validateRefs(&ps, path+".subject", map[string]string{"guest": c.Subject}, "user")
	for i, g := range c.Groups {
		if full, err := fullRef(g, "group"); err != nil || !strings.HasPrefix(full, "group:") {
			ps.add(fmt.Sprintf("%s.groups[%d]", path, i), "Write for example group:default/payments.", "%q is no reference of a group", clip(g, 80))
		}
	}
	for _, r := range c.Roles {
		validateRoles(&ps, path+".roles", map[string][]string{r: {"*"}})
	}
	return ps
}
