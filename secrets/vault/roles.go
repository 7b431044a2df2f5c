package vault

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// roles remembers for a while how long credentials of engines' roles live at
// most.
type roles struct {
	mu    sync.Mutex
	known map[string]limit
}

// limit is the longest life, as it was read at a time.
type limit struct {
	longest time.Duration
	at      time.Time
}

const (
	rememberFor = 30 * time.Second
	mostRoles   = 10_000
)

func newRoles() *roles { return &roles{known: map[string]limit{}} }

func (r *roles) get(path string, now time.Time) (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, there := r.known[path]
	return l.longest, there && now.Sub(l.at) < rememberFor
}

func (r *roles) put(path string, longest time.Duration, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= mostRoles {
		clear(r.known)
	}
	r.known[path] = limit{longest, now}
}

// longest is how long the credential of an offer lives at most, however often
// its account is renewed: Vault does not tell of a wrapped credential, so what
// its role says counts. It is for good where there is no role, or Fairlead may
// not read it.
func (v *Vault) longest(ctx context.Context, o secrets.Offer, d drawing) (time.Duration, error) {
	if d.role == "" {
		return forGood, nil
	}
	if longest, known := v.roles.get(d.role, time.Now()); known {
		return longest, nil
	}
	c := call{method: http.MethodGet, path: d.role}
	secret, err := v.own(ctx, c)
	longest := forGood
	switch status := statusOf(err); {
	case status == http.StatusForbidden || status == http.StatusMethodNotAllowed:
	case status == http.StatusNotFound && o.Engine == secrets.EngineGeneric: // it may keep its roles elsewhere
	case status == http.StatusNotFound:
		return 0, fault.New(fault.FailedPrecondition, "credential %q: Vault has no role %q at %s", o.Name, o.Role, o.Mount).
			WithFix("Correct the mount or the role in the catalog file, or make the role: vault write %s …", d.role).Because(cause(c, err))
	case err != nil:
		return 0, v.explain(c, err)
	default:
		mount, err := v.tuned(ctx, o.Mount)
		if err != nil {
			return 0, err
		}
		longest = mount.limit(d.limits, secret.Data)
	}
	v.roles.put(d.role, longest, time.Now())
	return longest, nil
}

// tuning is what a mount has where a role says nothing; forGood if it is not
// known.
type tuning struct{ ttl, most time.Duration }

// limit is the longest life by the fields of a role.
func (t tuning) limit(fields []string, role map[string]any) time.Duration {
	longest := t.most
	for _, field := range fields {
		most := secondsOf(role[field])
		if most == 0 && field == fieldDefault {
			most = t.ttl
		}
		if most > 0 {
			longest = min(longest, most)
		}
	}
	return longest
}

// fieldDefault is the field of a role that the mount's own takes the place of.
const fieldDefault = "default_ttl"

// tuned reads a mount's own limits, where Fairlead may.
func (v *Vault) tuned(ctx context.Context, mount string) (tuning, error) {
	c := call{method: http.MethodGet, path: "sys/mounts/" + mount + "/tune"}
	secret, err := v.own(ctx, c)
	switch status := statusOf(err); {
	case status == http.StatusForbidden:
		return tuning{forGood, forGood}, nil
	case err != nil:
		return tuning{}, v.explain(c, err)
	}
	return tuning{secondsOf(secret.Data["default_lease_ttl"]), secondsOf(secret.Data["max_lease_ttl"])}, nil
}
