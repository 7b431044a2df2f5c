package store_test

import (
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

func TestSweepApprovals(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		s := open(t, name)
		now := time.Now()
		for _, binding := range []string{"a", "b"} {
			r := access.ApprovalRequest{Binding: binding, Approval: access.Approval{Subject: "user:default/alice", Plan: []byte("{}"), RequestedAt: now, ExpiresAt: now.Add(time.Hour)}}
			if _, err := s.Claim(t.Context(), r, 9); err != nil {
				t.Fatal(err)
			}
		}
		count := func(q access.ApprovalQuery) int {
			q.Now, q.Limit = now, 9 // as it was before anything expired
			list, err := open(t, name).ListApprovals(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		for _, step := range []struct {
			at               time.Duration
			pending, expired int
		}{{0, 2, 0}, {time.Hour - time.Second, 2, 0}, {time.Hour, 0, 2}, {time.Hour, 0, 2}, {90 * 24 * time.Hour, 0, 2}, {91 * 24 * time.Hour, 0, 0}} {
			if err := s.SweepApprovals(t.Context(), now.Add(step.at)); err != nil {
				t.Fatal(err)
			}
			if p, e := count(access.ApprovalQuery{State: access.ApprovalPending}), count(access.ApprovalQuery{State: access.ApprovalExpired}); p != step.pending || e != step.expired {
				t.Errorf("after %s: %d pending, %d expired", step.at, p, e)
			}
		}
	})
}
