package vault

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Draw has Vault issue the credential of an order and wrap it.
func (v *Vault) Draw(ctx context.Context, o secrets.Order, a secrets.Account) (secrets.Wrapped, error) {
	defer a.Key.Wipe()
	at := time.Now()
	left := a.ExpiresAt.Sub(at).Truncate(time.Second)
	wrap := min(o.WrapTTL, left).Truncate(time.Second)
	if wrap < time.Second || a.Key.IsZero() {
		return secrets.Wrapped{}, fault.New(fault.FailedPrecondition, "credential %q: there is no time left to draw it", clip(o.Offer.Name)).WithFix("Ask again.")
	}
	d, err := drawingOf(o.Offer, roundUp(a.ExpiresAt.Sub(at)))
	if err != nil {
		return secrets.Wrapped{}, err
	}
	c := call{method: http.MethodGet, path: d.path, query: d.query, body: d.body, wrap: wrap}
	if d.body != nil {
		c.method = http.MethodPut
	}
	a.Key.Reveal(func(key []byte) { c.token = string(key) })
	secret, err := v.do(ctx, c)
	if err == nil && (secret == nil || secret.WrapInfo == nil || secret.WrapInfo.Token == "") {
		err = errAnswer
	}
	if err != nil {
		return secrets.Wrapped{}, v.undrawn(o, c, &d, err)
	}
	w := secret.WrapInfo
	ends := at.Add(time.Duration(w.TTL) * time.Second)
	v.wrappings.add(a.Handle, wrapping{w.Accessor, ends}, at)
	return secrets.Wrapped{Token: value.New([]byte(w.Token)), Accessor: w.Accessor, URL: v.config.Address + "/v1/sys/wrapping/unwrap",
		Namespace: v.config.Namespace, ExpiresAt: ends, CredentialExpiresAt: a.ExpiresAt}, nil
}

// roundUp is a duration in whole seconds, so that a credential of a fixed life
// does not end before its account.
func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// undrawn is the fault of a credential that was not issued.
func (v *Vault) undrawn(o secrets.Order, c call, d *drawing, err error) error {
	var f *fault.Error
	offer := o.Offer
	switch statusOf(err) {
	case http.StatusForbidden:
		policies, _ := v.policies(o) // they were made once already
		f = fault.New(fault.FailedPrecondition, "credential %q: the Vault policy %s does not allow it", offer.Name, strings.Join(policies, " or ")).
			WithFix(`Add to it: path "%s" { capabilities = ["%s"] }`, d.path, d.capability())
	case http.StatusNotFound:
		f = fault.New(fault.FailedPrecondition, "credential %q: Vault has nothing at %s", offer.Name, d.path).
			WithFix("Correct the mount, role or path in the catalog file, or put into Vault what is to be lent.")
	case http.StatusBadRequest:
		f = fault.New(fault.FailedPrecondition, "credential %q: the engine at %s does not issue it for role %q", offer.Name, offer.Mount, offer.Role).
			WithFix("See that the engine is configured and has the role, and that the role allows what is asked: vault read %s", d.role)
	case http.StatusInternalServerError:
		f = fault.New(fault.Unavailable, "credential %q: the engine at %s could not issue it", offer.Name, offer.Mount).
			WithFix("See that the engine reaches what it makes credentials of, and that this allows the role; Vault's log says why. Then try again.").After(retryAfter)
	default:
		return v.explain(c, err)
	}
	return f.Because(cause(c, err))
}

// Renew has an account live on, never beyond what was ordered, what its
// credential lives for, and what whom it was made by lives for.
func (v *Vault) Renew(ctx context.Context, account string, ttl time.Duration) (time.Time, error) {
	h := parseHandle(account)
	held, err := v.look(ctx, h.accessor)
	switch {
	case err != nil:
		return time.Time{}, err
	case !held.renewable:
		return held.ExpiresAt, nil
	case !held.until.IsZero():
		ttl = min(ttl, time.Until(held.until))
	}
	var limit time.Time
	if h.parent != "" {
		limit, err = v.prolong(ctx, h.parent, ttl)
	} else {
		var p pass
		p, err = v.enter(ctx, ttl)
		limit = time.Now().Add(p.left(time.Now()))
	}
	if err != nil {
		return time.Time{}, err
	}
	if ttl = min(ttl, time.Until(limit)); ttl < time.Second {
		return held.ExpiresAt, nil // there is nothing to win
	}
	ends, err := v.prolong(ctx, h.accessor, ttl)
	if err == nil && limit.Before(ends) {
		ends = limit
	}
	return ends, err
}

// prolong renews a token by its accessor, and tells when it ends.
func (v *Vault) prolong(ctx context.Context, accessor string, ttl time.Duration) (time.Time, error) {
	c := call{method: http.MethodPut, path: "auth/token/renew-accessor", body: map[string]any{"accessor": accessor, "increment": seconds(ttl)}}
	at := time.Now()
	secret, err := v.own(ctx, c)
	switch {
	case gone(err):
		return time.Time{}, fault.New(fault.NotFound, "Vault has no such account, or not any more").WithFix("Request the credential anew.").Because(cause(c, err))
	case err == nil && (secret == nil || secret.Auth == nil):
		err = errAnswer
	}
	if err != nil {
		return time.Time{}, v.explain(c, err)
	}
	return at.Add(time.Duration(secret.Auth.LeaseDuration) * time.Second), nil
}

// Revoke ends an account, and its wrapping where this process has made it, and
// waits a while until Vault has taken back what was drawn. The accessor of a
// wrapping ends that.
func (v *Vault) Revoke(ctx context.Context, account string) error {
	if w, there := v.wrappings.of(account); there {
		if err := v.end(ctx, w.accessor); err != nil {
			return err
		}
		v.wrappings.remove(account)
	}
	h := parseHandle(account)
	if err := v.end(ctx, h.accessor); err != nil {
		return err
	}
	if h.parent != "" {
		if err := v.end(ctx, h.parent); err != nil {
			return err
		}
	}
	if path, began, ok := h.lease(); ok {
		return v.takenBack(ctx, path, began)
	}
	return nil
}

// end revokes a token by its accessor.
func (v *Vault) end(ctx context.Context, accessor string) error {
	c := call{method: http.MethodPut, path: "auth/token/revoke-accessor", body: map[string]any{"accessor": accessor}}
	if _, err := v.own(ctx, c); err != nil && !gone(err) {
		return v.explain(c, err)
	}
	return nil
}
