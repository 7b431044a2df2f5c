package oidc

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Tokens that hold are remembered for a while, so that not every request costs
// a signature; so long may a key that its issuer has withdrawn still count.
const (
	rememberFor   = time.Minute
	maxRemembered = 4096
)

// verified remembers tokens that hold, by their digests.
type verified struct {
	mu   sync.Mutex
	held map[[sha256.Size]byte]remembered
}

type remembered struct {
	who   *access.Principal
	until time.Time
}

func (v *verified) get(token string, now time.Time) *access.Principal {
	key := sha256.Sum256([]byte(token))
	v.mu.Lock()
	defer v.mu.Unlock()
	r, ok := v.held[key]
	if !ok || !now.Before(r.until) {
		return nil
	}
	return r.who
}

func (v *verified) put(token string, who *access.Principal, now, expires time.Time) {
	until := now.Add(rememberFor)
	if expires.Before(until) {
		until = expires
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held == nil || len(v.held) >= maxRemembered {
		v.held = map[[sha256.Size]byte]remembered{}
	}
	v.held[sha256.Sum256([]byte(token))] = remembered{who, until}
}
