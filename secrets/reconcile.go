package secrets

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// The ledger is held against the issuer each reconcileEvery, handlesAtOnce
// accounts at a time. Accounts younger than settleFor are left alone: they may
// be on their way into the ledger.
const (
	reconcileEvery = 10 * time.Minute
	handlesAtOnce  = 500
	settleFor      = 2 * time.Minute
)

// Reconcile holds the ledger against what the issuer has: accounts that no lease
// is known of are taken back, and live leases whose account is gone are over.
func (s *Service) Reconcile(ctx context.Context) error {
	began := s.now()
	var page []Held
	var trouble error
	err := s.cfg.Custodian.Accounts(ctx, func(h Held) bool {
		if page = append(page, h); len(page) == handlesAtOnce {
			trouble = errors.Join(trouble, s.sort(ctx, page, began))
			page = page[:0]
		}
		return ctx.Err() == nil
	})
	if err != nil { // what was not seen is not gone
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := errors.Join(trouble, s.sort(ctx, page, began)); err != nil {
		return err
	}
	return s.lost(ctx, began)
}

// sort notes which accounts were seen, and takes back those that no lease is
// known of.
func (s *Service) sort(ctx context.Context, page []Held, now time.Time) error {
	if len(page) == 0 {
		return nil
	}
	handles, made := make([]string, len(page)), make(map[string]Held, len(page))
	for i, h := range page {
		handles[i], made[h.Handle] = h.Handle, h
	}
	unknown, err := s.cfg.Accounts.SeenAccounts(ctx, handles, now)
	if err != nil {
		return err
	}
	for _, handle := range unknown {
		h := made[handle]
		if now.Sub(h.CreatedAt) < settleFor {
			continue
		}
		one, cancel := context.WithTimeout(ctx, lookFor)
		left := s.cfg.Issuer.Revoke(one, handle)
		cancel()
		err = errors.Join(err, left)
		s.cfg.Observe(HappenedStray)
		s.cfg.Guard.Note(ctx, reaperWork, access.Op{Action: access.RevokeCredentials, Operation: "reconcile_credentials", Target: h.Lease,
			Input: map[string]string{"lease": h.Lease, "reason": "the issuer had an account that no lease is known of"}}, left)
	}
	return err
}

// lost ends live leases whose accounts the issuer does not have.
func (s *Service) lost(ctx context.Context, began time.Time) error {
	for {
		gone, err := s.cfg.Accounts.UnseenLeases(ctx, began.Add(-settleFor), began, handlesAtOnce)
		if err != nil || len(gone) == 0 {
			return err
		}
		for _, r := range gone {
			now := s.now()
			r.over(now, "", "its account was gone at the issuer", Expired)
			if _, err := s.end(ctx, r); err != nil {
				return fmt.Errorf("lease %s: %w", r.ID, err)
			}
			s.cfg.Observe(HappenedLost)
		}
	}
}
