package loan

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	// beatEvery is how often the server is told that the credential is in use;
	// it ends a lease that it has not heard of for sessionEnds.
	beatEvery   = 10 * time.Second
	sessionEnds = 90 * time.Second
	// lookAgain is how long to wait where the clocks differ.
	lookAgain = time.Second
)

// keeper keeps a lease, as long as the server lets it.
type keeper struct {
	server  Server
	lease   string
	expires time.Time
	heard   time.Time
	// every is beatEvery, but for tests.
	every time.Duration
}

// watch tells why a lease is over, once it is; "" if ctx ends before.
func (k *keeper) watch(ctx context.Context) string {
	k.heard, k.every = time.Now(), cmp.Or(k.every, beatEvery)
	for wait := k.next(); ; wait = k.next() {
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(wait):
		}
		if why := k.beat(ctx); why != "" {
			return why
		}
	}
}

// next is how long to wait: no longer than the lease lasts.
func (k *keeper) next() time.Duration {
	left := time.Until(k.expires)
	if left <= 0 {
		left = lookAgain // by the server's clock it is not over
	}
	return min(k.every, left)
}

// beat tells the server, and gives why the lease is over, if it is. While the
// server can be asked, it decides that, for clocks differ.
func (k *keeper) beat(ctx context.Context) (why string) {
	call, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	st, err := k.server.Beat(call, k.lease)
	switch code := fault.CodeOf(err); {
	case ctx.Err() != nil:
		return ""
	case err == nil && st.State != stateLive:
		return cmp.Or(st.Reason, "its lease is "+st.State)
	case err == nil:
		k.heard, k.expires = time.Now(), st.ExpiresAt
		return ""
	case code == fault.NotFound || code == fault.FailedPrecondition:
		return fault.From(err).Message
	case time.Now().After(k.expires):
		return "its time is up"
	case time.Since(k.heard) > sessionEnds-beatEvery:
		return fmt.Sprintf("the server has not been heard of for %s", time.Since(k.heard).Round(time.Second))
	}
	return ""
}
