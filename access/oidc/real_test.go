package oidc_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestRealTokensOfBackstage(t *testing.T) {
	for name, omit := range map[string]bool{"with ownership": false, "without ownership": true} {
		t.Run(name, func(t *testing.T) {
			b := realtest.BackstageTokens(t, omit)
			i := &oidctest.Issuer{URL: b.URL}
			l := newLock(t, i, `oidc: {backstage: [{url: ISSUER, name: portal, plugins: [asker], roles: {developer: [`+realtest.GuestGroup+`]}}]}`)
			user := b.User()
			others := b.Others(user)
			const want = realtest.Guest + "  portal [" + realtest.GuestGroup + "] [developer]"
			const behalf = realtest.Guest + "  portal/asker [" + realtest.GuestGroup + "] [developer]"
			for _, tt := range []struct{ name, token, want string }{
				{"user", user, want}, {"limited", others.Limited, want}, {"on behalf", others.Behalf, behalf},
				{"for itself", others.Own, `unauthenticated: the token of Backstage's plug-in "asker" names no person`},
				{"changed", user[:len(user)-4] + "AAAA", "unauthenticated: the token's signature does not hold"},
			} {
				starts(t, tt.name, l.who(t, tt.token), tt.want)
			}
			strict := newLock(t, i, `oidc: [{backstage: [{url: ISSUER, name: portal, readers: {asker: user:default/asker}}]}]`)
			starts(t, "a reader for itself", strict.who(t, others.Own), "user:default/asker  portal/asker [] [reader]")
			starts(t, "a reader for a user", strict.who(t, others.Behalf), `unauthenticated: Backstage's plug-in "asker" is not let in for its users`)
			strict = newLock(t, i, `oidc: [{backstage: [{url: ISSUER, name: portal}]}]`)
			starts(t, "a plug-in that is not listed", strict.who(t, others.Behalf), `unauthenticated: tokens of Backstage's plug-in "asker" are not taken here`)
		})
	}
}
