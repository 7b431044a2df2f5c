package vault

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Vault answers that a token is revoked once it has marked what was drawn with
// it as over, and takes that back after. Whether it has done so is seen by its
// leases: one that is over and still there is being taken back, or cannot be.
//
// Of a wrapped credential the lease's name is not known. So all leases where it
// was drawn are looked at that are over then and began about when its account
// did: who waits for one that is not theirs waits for an engine that fails both.

const (
	// takeBackWithin is how long a revocation waits for the engine.
	takeBackWithin = 5 * time.Second
	// mostLeases is how many leases at a path are looked at: where there are
	// more, Vault's word that it will take back is taken.
	mostLeases = 256
	// about is how far the beginning of a lease may be from that of its account
	// by the clocks of two machines.
	about = 10 * time.Minute
	// mostPaths bounds what is remembered.
	mostPaths = 1000
)

// leases shares what was seen of Vault's leases among those who wait: names of
// leases by their paths, and when those began that are over.
type leases struct {
	names *shared[map[string]bool]
	over  *shared[map[string]time.Time]
}

func newLeases() *leases {
	return &leases{names: newShared[map[string]bool](), over: newShared[map[string]time.Time]()}
}

// takenBack waits until Vault has taken back what was drawn at a path by an
// account that began at a time and is revoked. Faults: unavailable where it has
// not in time.
func (v *Vault) takenBack(ctx context.Context, path string, began time.Time) error {
	over, err := v.leases.over.get(ctx, path, time.Now(), func() (map[string]time.Time, error) { return v.overAt(ctx, path) })
	if err != nil {
		return err
	}
	waits := map[string]bool{}
	for name, at := range over {
		if at.Sub(began).Abs() < about {
			waits[name] = true
		}
	}
	begin := time.Now()
	for pause := 4 * time.Millisecond; len(waits) > 0; pause = min(2*pause, takeBackWithin/20) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		now := time.Now()
		names, err := v.leases.names.get(ctx, path, now, func() (map[string]bool, error) { return v.leasesAt(ctx, path) })
		if err != nil {
			return err
		}
		maps.DeleteFunc(waits, func(name string, _ bool) bool { return !names[name] })
		if len(waits) > 0 && now.Sub(begin) > takeBackWithin {
			return fault.New(fault.Unavailable, "Vault has not yet taken back what was lent at %s", path).
				WithFix("See that the engine reaches what it has made the credential of: Vault's log says why it fails. It goes on trying; vault list sys/leases/lookup/%s shows what is left.", path).After(retryAfter)
		}
	}
	return nil
}

// leasesAt are the names of the leases at a path; none where Fairlead may not
// look.
func (v *Vault) leasesAt(ctx context.Context, path string) (map[string]bool, error) {
	c := call{method: methodList, path: "sys/leases/lookup/" + path}
	secret, err := v.own(ctx, c)
	switch {
	case statusOf(err) == http.StatusForbidden, err == nil && secret == nil:
		return nil, nil
	case err != nil:
		return nil, v.explain(c, err)
	}
	keys, _ := secret.Data["keys"].([]any)
	names := make(map[string]bool, len(keys))
	for _, k := range keys {
		if name, ok := k.(string); ok {
			names[name] = true
		}
	}
	return names, nil
}

// overAt are the leases at a path that are over and still there, with their
// beginnings.
func (v *Vault) overAt(ctx context.Context, path string) (map[string]time.Time, error) {
	names, err := v.leasesAt(ctx, path)
	if err != nil || len(names) > mostLeases {
		return nil, err
	}
	all := slices.Collect(maps.Keys(names))
	began, err := atOnce(all, func(name string) (time.Time, error) { return v.lookAtLease(ctx, path+"/"+name) })
	out := map[string]time.Time{}
	for i, at := range began {
		if !at.IsZero() {
			out[all[i]] = at
		}
	}
	return out, err
}

// lookAtLease gives when a lease began that is over, and the zero time for each
// other.
func (v *Vault) lookAtLease(ctx context.Context, id string) (time.Time, error) {
	c := call{method: http.MethodPut, path: "sys/leases/lookup", body: map[string]any{"lease_id": id}}
	secret, err := v.own(ctx, c)
	switch status := statusOf(err); {
	case status == http.StatusBadRequest, status == http.StatusForbidden, status == http.StatusNotFound, err == nil && secret == nil: // gone, or not ours to see
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, v.explain(c, err)
	}
	if secondsOf(secret.Data["ttl"]) > 0 {
		return time.Time{}, nil
	}
	text, _ := secret.Data["issue_time"].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // a lease that says nothing of its beginning is nobody's
	}
	return at, nil
}
