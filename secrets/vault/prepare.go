package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
)

// errUnprepared is why an account was not made where Vault lacks what the guide
// has operators make.
var errUnprepared = errors.New("not prepared")

// policyOf names the policy that allows one drawing and nothing else. It does
// not depend on who draws, so that there are as few as there are credentials.
func policyOf(d drawing) string {
	sum := sha256.Sum256([]byte(d.capability() + " " + d.path))
	return "fairlead/draw/" + hex.EncodeToString(sum[:10])
}

// chosen are the policies of an account: the one that was written for what it
// draws, or those that operators write.
func (v *Vault) chosen(d drawing, policies []string) []string {
	if own := policyOf(d); v.config.prepares {
		if _, there := v.prepared.Load(own); there {
			return []string{own}
		}
	}
	return policies
}

// prepare makes what the guide has operators make, where they have not and
// Fairlead's own token may: the token role, and a policy of one drawing, which
// must be wrapped. Whoever gives Fairlead such a token has given it everything
// already; accounts get no more than what they are for. done is false where the
// token may not, or the configuration names what to use.
func (v *Vault) prepare(ctx context.Context, d drawing) (done bool) {
	if !v.config.prepares {
		return false
	}
	own := policyOf(d)
	rule := fmt.Sprintf("path %q {\n  capabilities = [%q]\n  min_wrapping_ttl = \"1s\"\n}\n", d.path, d.capability())
	for _, c := range []call{
		{method: http.MethodPut, path: "sys/policies/acl/" + own, body: map[string]any{"policy": rule}},
		{method: http.MethodPut, path: "auth/token/roles/" + v.config.TokenRole, body: map[string]any{"orphan": true, "token_type": "service", "allowed_policies_glob": "fairlead/*"}},
	} {
		if _, err := v.own(ctx, c); err != nil {
			v.log.DebugContext(ctx, "Vault is not prepared, and Fairlead may not do it", "error", cause(c, err))
			return false
		}
	}
	v.prepared.Store(own, true)
	v.log.InfoContext(ctx, "made a token role and a policy in Vault, as nobody had", "role", v.config.TokenRole, "policy", own)
	return true
}
