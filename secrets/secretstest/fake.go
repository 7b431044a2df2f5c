// Package secretstest has what tests of credentials on loan need: an issuer in
// memory, and the contract that every issuer is held to.
package secretstest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/value"
)

// Fake is an issuer in memory. The zero value is one in which everything works.
// It is safe for concurrent use, and outlives those who use it as an issuer
// would.
type Fake struct {
	// Before is called before each call, and After when it has done its work;
	// an error of theirs is the call's. Both are called outside of the lock; nil
	// is nothing. The calls are open, draw, renew, revoke, unopened, accounts
	// and unwrap; id is the lease's, or the handle.
	Before, After func(call, id string) error
	// Longest is the longest that an account may last; 0 is any time.
	Longest time.Duration
	// Roles are those there are; none is all but those that no issuer has.
	Roles []string
	// Now is the time; nil is time.Now.
	Now func() time.Time

	mu       sync.Mutex
	n        int
	sealed   bool
	accounts map[string]*account
	wraps    map[string]*wrap // by accessor
	drawn    map[string]int   // how often something was issued, by lease
}

// account is an account, and the credentials that hang on it.
type account struct {
	secrets.Held
	most        time.Time
	key         string
	credentials []string // passwords
}

type wrap struct {
	token, password, handle string
	ends                    time.Time
}

var (
	_ secrets.Issuer    = (*Fake)(nil)
	_ secrets.Custodian = (*Fake)(nil)
)

// Seal has it answer nobody until it is unsealed.
func (f *Fake) Seal(sealed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sealed = sealed
}

func (f *Fake) now() time.Time {
	if f.Now != nil {
		return f.Now()
	}
	return time.Now()
}

// call does a call's work.
func (f *Fake) call(ctx context.Context, name, id string, do func(now time.Time) error) error {
	if f.Before != nil {
		if err := f.Before(name, id); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	if err := f.work(do); err != nil {
		return err
	}
	if f.After != nil {
		return f.After(name, id)
	}
	return nil
}

func (f *Fake) work(do func(now time.Time) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sealed {
		return fault.New(fault.Unavailable, "the vault is sealed").WithFix("Have its operators unseal it.")
	}
	if f.accounts == nil {
		f.accounts, f.wraps, f.drawn = map[string]*account{}, map[string]*wrap{}, map[string]int{}
	}
	now := f.now()
	for handle, a := range f.accounts {
		if !now.Before(a.ExpiresAt) {
			delete(f.accounts, handle)
		}
	}
	return do(now)
}

// Open makes an account.
func (f *Fake) Open(ctx context.Context, o secrets.Order) (out secrets.Account, err error) {
	err = f.call(ctx, "open", o.Lease, func(now time.Time) error {
		f.n++
		a := &account{Held: secrets.Held{Handle: fmt.Sprintf("handle-%d", f.n), Lease: o.Lease, CreatedAt: now, ExpiresAt: now.Add(o.TTL)}, most: now.Add(max(o.MaxTTL, o.TTL)), key: fmt.Sprintf("key-%d", f.n)}
		if f.Longest > 0 {
			a.most = earlier(a.most, now.Add(f.Longest))
		}
		a.ExpiresAt = earlier(a.ExpiresAt, a.most)
		f.accounts[a.Handle] = a
		out = secrets.Account{Handle: a.Handle, Key: value.New([]byte(a.key)), ExpiresAt: a.ExpiresAt}
		return nil
	})
	return out, err
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

var (
	oneName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	aPath   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
)

// lends refuses what there is not.
func (f *Fake) lends(o *secrets.Offer) error {
	kv := o.Engine == secrets.EngineKV
	if !aPath.MatchString(o.Mount) || kv && !aPath.MatchString(o.Path) || !kv && !oneName.MatchString(o.Role) {
		return fault.New(fault.Invalid, "%q at %q is no name that an issuer has", o.Role+o.Path, o.Mount).WithFix("Correct the catalog file.")
	}
	if !kv && (strings.HasPrefix(o.Role, "missing") || len(f.Roles) > 0 && !slices.Contains(f.Roles, o.Role)) {
		return fault.New(fault.FailedPrecondition, "there is no role %q at %s", o.Role, o.Mount).WithFix("Have it made, or correct the catalog file.")
	}
	return nil
}

// Draw issues a credential.
func (f *Fake) Draw(ctx context.Context, o secrets.Order, a secrets.Account) (out secrets.Wrapped, err error) {
	defer a.Key.Wipe()
	err = f.call(ctx, "draw", o.Lease, func(now time.Time) error {
		at := f.accounts[a.Handle]
		same := false
		a.Key.Reveal(func(key []byte) { same = at != nil && at.key == string(key) })
		if !same {
			return fault.New(fault.FailedPrecondition, "the account has ended").WithFix("Ask again.")
		}
		if err := f.lends(&o.Offer); err != nil {
			return err
		}
		f.n++
		f.drawn[o.Lease]++
		w := &wrap{token: fmt.Sprintf("wrapping-%d", f.n), password: fmt.Sprintf("password-%d", f.n), handle: a.Handle, ends: now.Add(o.WrapTTL)}
		at.credentials = append(at.credentials, w.password)
		accessor := fmt.Sprintf("accessor-%d", f.n)
		f.wraps[accessor] = w
		out = secrets.Wrapped{Token: value.New([]byte(w.token)), Accessor: accessor, URL: "http://vault.test/v1/sys/wrapping/unwrap", ExpiresAt: w.ends, CredentialExpiresAt: at.ExpiresAt}
		return nil
	})
	return out, err
}

// Renew has an account last longer.
func (f *Fake) Renew(ctx context.Context, handle string, ttl time.Duration) (until time.Time, err error) {
	err = f.call(ctx, "renew", handle, func(now time.Time) error {
		a := f.accounts[handle]
		if a == nil {
			return fault.New(fault.NotFound, "there is no such account")
		}
		a.ExpiresAt = earlier(now.Add(ttl), a.most)
		until = a.ExpiresAt
		return nil
	})
	return until, err
}

// Revoke ends an account, or a wrapping.
func (f *Fake) Revoke(ctx context.Context, handle string) error {
	return f.call(ctx, "revoke", handle, func(time.Time) error {
		delete(f.accounts, handle)
		delete(f.wraps, handle)
		return nil
	})
}

// Unopened tells whether a wrapping is there.
func (f *Fake) Unopened(ctx context.Context, accessor string) (there bool, err error) {
	err = f.call(ctx, "unopened", accessor, func(now time.Time) error {
		w := f.wraps[accessor]
		there = w != nil && now.Before(w.ends)
		return nil
	})
	return there, err
}

// Accounts gives all accounts.
func (f *Fake) Accounts(ctx context.Context, do func(secrets.Held) bool) error {
	var all []secrets.Held
	err := f.call(ctx, "accounts", "", func(time.Time) error {
		for _, a := range f.accounts {
			all = append(all, a.Held)
		}
		return nil
	})
	for _, h := range all {
		if err != nil || !do(h) {
			break
		}
	}
	return err
}

// Unwrap opens a wrapping.
func (f *Fake) Unwrap(ctx context.Context, w secrets.Wrapped) (out map[string]secrets.Value, err error) {
	token := ""
	w.Token.Reveal(func(secret []byte) { token = string(secret) })
	err = f.call(ctx, "unwrap", w.Accessor, func(now time.Time) error {
		for accessor, it := range f.wraps {
			if it.token == token && now.Before(it.ends) {
				delete(f.wraps, accessor)
				out = map[string]secrets.Value{"username": value.New([]byte("v-" + it.handle)), "password": value.New([]byte(it.password))}
				return nil
			}
		}
		return fault.New(fault.FailedPrecondition, "the wrapping was opened already, or has ended").WithFix("Collect the credential again.")
	})
	return out, err
}

// Works tells whether a credential is good still.
func (f *Fake) Works(fields map[string]secrets.Value) bool {
	works := false
	err := f.work(func(time.Time) error {
		fields["password"].Reveal(func(secret []byte) {
			for _, a := range f.accounts {
				works = works || slices.Contains(a.credentials, string(secret))
			}
		})
		return nil
	})
	return works && err == nil
}

// Lose ends all accounts of a lease behind everybody's back.
func (f *Fake) Lose(lease string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for handle, a := range f.accounts {
		if a.Lease == lease {
			delete(f.accounts, handle)
		}
	}
}

// Steal opens the wrappings of a lease behind everybody's back.
func (f *Fake) Steal(lease string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for accessor, w := range f.wraps {
		if a := f.accounts[w.handle]; a != nil && a.Lease == lease {
			delete(f.wraps, accessor)
		}
	}
}

// There are the leases of the accounts that there are, each as often as it has
// one.
func (f *Fake) There() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	out := []string{}
	for _, a := range f.accounts {
		if now.Before(a.ExpiresAt) {
			out = append(out, a.Lease)
		}
	}
	slices.Sort(out)
	return out
}

// Drawn is how often a credential was issued for a lease.
func (f *Fake) Drawn(lease string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drawn[lease]
}
