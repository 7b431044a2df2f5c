package vault

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/vault/api"
)

// session is Fairlead's own pass, got and renewed when it is needed. One at a
// time looks after it.
type session struct {
	turn chan struct{} // holds one
	pass pass
}

func newSession() *session {
	s := &session{turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// enter gives a pass that lives on for a time, or for as long as Vault gives:
// it is renewed, or another is got, where it does not.
func (v *Vault) enter(ctx context.Context, need time.Duration) (pass, error) {
	s := v.session
	select {
	case <-ctx.Done():
		return pass{}, ctx.Err()
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	p := s.pass
	if p.token != "" && v.lasts(p, need) {
		return p, nil
	}
	if p.token != "" && p.left(time.Now()) > 0 {
		var err error
		if p, err = v.renewed(ctx, p); err == nil && v.lasts(p, need) {
			s.pass = p
			return p, nil
		} // a refusal is a reason to log in anew, and any other failure comes again there
	}
	p, err := v.login(ctx)
	if err != nil {
		if s.pass.token != "" && s.pass.left(time.Now()) > 0 {
			return s.pass, nil // it still does
		}
		return pass{}, err
	}
	s.pass = p
	return p, nil
}

// lasts tells whether a pass need not be renewed: it lives as long as is needed,
// or most of what Vault gives at a time.
func (v *Vault) lasts(p pass, need time.Duration) bool {
	return p.left(time.Now()) >= max(min(need, p.ttl*2/3), time.Second)
}

// leave forgets a pass that Vault no longer takes.
func (v *Vault) leave(ctx context.Context, p pass) {
	select {
	case <-ctx.Done():
	case <-v.session.turn:
		if v.session.pass.token == p.token {
			v.session.pass = pass{}
		}
		v.session.turn <- struct{}{}
	}
}

// own does a call as Fairlead. Some Vaults tell by the same words that a token is
// not allowed to and that there is no such token: so a refused one is looked at
// and, if it is gone, replaced, once.
func (v *Vault) own(ctx context.Context, c call) (*api.Secret, error) {
	for first := true; ; first = false {
		p, err := v.enter(ctx, 0)
		if err != nil {
			return nil, err
		}
		c.token = p.token
		secret, err := v.do(ctx, c)
		if err == nil || !first || statusOf(err) != http.StatusForbidden || !says(err, "invalid token") && !v.dead(ctx, p) {
			return secret, err
		}
		v.leave(ctx, p)
	}
}

// dead tells whether Vault knows a pass no more.
func (v *Vault) dead(ctx context.Context, p pass) bool {
	_, err := v.do(ctx, call{method: http.MethodGet, path: "auth/token/lookup-self", token: p.token})
	return statusOf(err) == http.StatusForbidden
}

// Run keeps Fairlead logged in until the context ends. Without it, the first
// request after a pause logs in anew, which a token of a file cannot.
func (v *Vault) Run(ctx context.Context) error {
	for {
		p, err := v.enter(ctx, forGood)
		pause := min(max(p.left(time.Now())/2, time.Second), time.Hour)
		if err != nil {
			v.log.WarnContext(ctx, "logging in to Vault failed", "error", err)
			pause = retryAfter
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
