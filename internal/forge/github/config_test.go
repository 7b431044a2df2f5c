package github

import (
	"testing"

	"github.com/fairlead-dev/fairlead/internal/forge"
)

func TestEndpoints(t *testing.T) {
	for host, want := range map[string][2]string{
		"":                                {"https://api.github.com/", "https://api.github.com/graphql"},
		"github.com":                      {"https://api.github.com/", "https://api.github.com/graphql"},
		"acme.ghe.com":                    {"https://api.acme.ghe.com/", "https://api.acme.ghe.com/graphql"},
		"github.example.com":              {"https://github.example.com/api/v3/", "https://github.example.com/api/graphql"},
		"https://github.example.com:8443": {"https://github.example.com:8443/api/v3/", "https://github.example.com:8443/api/graphql"},
	} {
		var ps forge.Problems
		e := endpointsOf(forge.Address(&ps, host, "", publicHost, true))
		if e.rest.String() != want[0] || e.graphql.String() != want[1] || len(ps) > 0 {
			t.Errorf("%s: %s, %s, %v", host, e.rest, e.graphql, ps)
		}
	}
}
