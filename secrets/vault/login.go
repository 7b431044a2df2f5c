package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// pass is a token of Vault's, by which Fairlead or a caller is let in.
type pass struct {
	token, accessor string
	// ends is when it does; zero for never.
	ends time.Time
	// ttl is how long it lived when it was last given or renewed.
	ttl       time.Duration
	renewable bool
}

// left is how long it lives on, for good if it has no end.
func (p pass) left(now time.Time) time.Duration {
	if p.ends.IsZero() {
		return forGood
	}
	return p.ends.Sub(now)
}

const forGood = 100 * 365 * 24 * time.Hour

// passOf is what a login or a renewal gave, asked for at a time.
func passOf(auth *api.SecretAuth, at time.Time) pass {
	p := pass{token: auth.ClientToken, accessor: auth.Accessor, ttl: time.Duration(auth.LeaseDuration) * time.Second, renewable: auth.Renewable}
	if p.ttl > 0 {
		p.ends = at.Add(p.ttl)
	}
	return p
}

// way is how the configuration logs in: where, and with what; for a token of a
// file, the token.
func (a Auth) way() (c call, token string, err error) {
	read := func(file string) string {
		var text string
		text, err = readSecret(file)
		return text
	}
	switch {
	case a.AppRole != nil:
		c = loginAt(cmp.Or(a.AppRole.Mount, "approle"), map[string]any{"role_id": a.AppRole.RoleID, "secret_id": read(a.AppRole.SecretIDFile)})
	case a.Kubernetes != nil:
		k := a.Kubernetes
		c = loginAt(cmp.Or(k.Mount, "kubernetes"), map[string]any{"role": k.Role, "jwt": read(cmp.Or(k.TokenFile, podToken))})
	case a.JWT != nil:
		c = loginAt(cmp.Or(a.JWT.Mount, "jwt"), map[string]any{"role": a.JWT.Role, "jwt": read(a.JWT.TokenFile)})
	default:
		token = read(a.TokenFile)
	}
	return c, token, err
}

func loginAt(mount string, body map[string]any) call {
	return call{method: http.MethodPut, path: "auth/" + mount + "/login", body: body}
}

// login gets a pass of Fairlead's own.
func (v *Vault) login(ctx context.Context) (pass, error) {
	c, token, err := v.config.Auth.way()
	switch {
	case err != nil:
		return pass{}, fault.New(fault.Unavailable, "Fairlead cannot log in to Vault: %s", err).WithFix("See to the file that vault.auth names, and that Fairlead may read it.")
	case token != "":
		return v.known(ctx, token)
	}
	at := time.Now()
	secret, err := v.do(ctx, c)
	if err != nil {
		if status := statusOf(err); status == http.StatusBadRequest || status == http.StatusForbidden {
			return pass{}, fault.New(fault.Unavailable, "Vault does not accept Fairlead's login at %s", c.path).
				WithFix("See that the role is there and that what vault.auth names is its own and has not expired.").Because(cause(c, err))
		}
		return pass{}, v.explain(c, err)
	}
	if secret == nil || secret.Auth == nil {
		return pass{}, v.explain(c, errAnswer)
	}
	return passOf(secret.Auth, at), nil
}

// known is a pass by a token that somebody else got.
func (v *Vault) known(ctx context.Context, token string) (pass, error) {
	c := call{method: http.MethodGet, path: "auth/token/lookup-self", token: token}
	at := time.Now()
	secret, err := v.do(ctx, c)
	if statusOf(err) == http.StatusForbidden {
		return pass{}, fault.New(fault.Unavailable, "Vault does not accept the token of vault.auth.tokenFile").
			WithFix("Put a token into the file that has not expired and may look itself up (policy default).").Because(cause(c, err))
	}
	if err != nil {
		return pass{}, v.explain(c, err)
	}
	p := pass{token: token, ttl: secondsOf(secret.Data["ttl"])}
	p.accessor, _ = secret.Data["accessor"].(string)
	p.renewable, _ = secret.Data["renewable"].(bool)
	if p.ttl > 0 {
		p.ends = at.Add(p.ttl)
	}
	return p, nil
}

// renewed is a pass that has been prolonged, or not, where its limit is reached
// or it cannot be.
func (v *Vault) renewed(ctx context.Context, p pass) (pass, error) {
	if !p.renewable {
		return p, nil
	}
	at := time.Now()
	secret, err := v.do(ctx, call{method: http.MethodPut, path: "auth/token/renew-self", token: p.token, body: map[string]any{}})
	if err != nil {
		return p, err
	}
	if secret != nil && secret.Auth != nil {
		q := passOf(secret.Auth, at)
		p.ends, p.renewable = q.ends, q.renewable
	}
	return p, nil
}

// secondsOf reads a number of seconds out of an answer.
func secondsOf(v any) time.Duration {
	n, _ := v.(json.Number)
	s, err := n.Int64()
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(s) * time.Second
}
