package app

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/rego"
)

// checkRego reads the policies in OPA's language.
func (c *Config) checkRego(k *checker) {
	if c.Policy.Rego == "" {
		return
	}
	p, err := rego.Load(context.Background(), c.path(c.Policy.Rego))
	var ps access.Problems
	switch {
	case err == nil:
		c.judge = p
	case errors.As(err, &ps):
		for _, one := range ps {
			k.add("policy.rego", "%s", one.String())
		}
	default:
		k.add("policy.rego", "%v", err)
	}
}
