package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var _ access.Approvals = (*Store)(nil)

// keptFor is how long requests that have come to an end can be looked up; the
// audit keeps what was done.
const keptFor = 90 * 24 * time.Hour

const approvalColumns = "id, state, binding, action, operation, target, summary, plan, plan_hash, subject, agent, policy_rule, resource, approvers, " +
	"requested_at, expires_at, decided_by, decided_at, reason, used_at, changed"

// The request that answers a claim, if there is one that is neither used nor
// expired: at most one is pending or granted.
const standing = "SELECT " + approvalColumns + " FROM approvals WHERE binding = ?1 AND state IN ('pending', 'granted', 'denied') AND expires_at > ?2 ORDER BY id DESC LIMIT 1"

// Claim uses up a granted request, or finds or makes one. See
// access.Approvals.
func (s *Store) Claim(ctx context.Context, r access.ApprovalRequest, most int) (c access.Claim, err error) {
	now := r.RequestedAt.UnixMicro()
	// Asking how far a request has come writes nothing.
	found, err := s.approvals(ctx, s.read, standing, r.Binding, now)
	if err != nil {
		return c, err
	}
	if len(found) == 1 && found[0].State != access.ApprovalGranted {
		return access.Claim{Request: found[0]}, nil
	}
	err = s.changeApprovals(ctx, func(tx *sql.Tx, revision int64) error {
		c, err = s.claim(ctx, tx, revision, r, most)
		return err
	})
	return c, err
}

// claim is Claim within a transaction, before which no other begins.
func (s *Store) claim(ctx context.Context, tx *sql.Tx, revision int64, r access.ApprovalRequest, most int) (c access.Claim, err error) {
	now := r.RequestedAt.UnixMicro()
	if _, err = tx.ExecContext(ctx, s.query("UPDATE approvals SET state = 'expired', changed = ?3 WHERE binding = ?1 AND state IN ('pending', 'granted') AND expires_at <= ?2"), r.Binding, now, revision); err != nil {
		return c, s.approvalsDown("written", err)
	}
	used, err := s.approvals(ctx, tx, "UPDATE approvals SET state = 'used', used_at = ?2, changed = ?3 WHERE binding = ?1 AND state = 'granted' RETURNING "+approvalColumns, r.Binding, now, revision)
	if err != nil {
		return c, err
	}
	if len(used) == 1 {
		return access.Claim{Request: used[0], Used: true}, nil
	}
	found, err := s.approvals(ctx, tx, standing, r.Binding, now)
	if err != nil {
		return c, err
	}
	if len(found) == 1 { // somebody else made it a moment ago
		return access.Claim{Request: found[0]}, nil
	}
	var pending int
	err = tx.QueryRowContext(ctx, s.query("SELECT COUNT(*) FROM approvals WHERE subject = ?1 AND agent = ?2 AND state = 'pending' AND expires_at > ?3"), r.Subject, r.Agent, now).Scan(&pending)
	switch {
	case err != nil:
		return c, s.approvalsDown("counted", err)
	case pending >= most:
		return c, fault.New(fault.QuotaExceeded, "%d requests for approval of yours are pending, which is as many as may be", pending).
			WithFix("Wait until some are decided on or expire; see them with fairlead approvals list.")
	}
	return s.addApproval(ctx, tx, revision, r)
}

func (s *Store) addApproval(ctx context.Context, tx *sql.Tx, revision int64, r access.ApprovalRequest) (c access.Claim, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return c, fmt.Errorf("making an id for a request: %w", err)
	}
	resource, err := json.Marshal(r.Resource)
	if err != nil {
		return c, err
	}
	by, err := json.Marshal(r.By)
	if err != nil {
		return c, err
	}
	made, err := s.approvals(ctx, tx, "INSERT INTO approvals ("+approvalColumns+`)
		VALUES (?1, 'pending', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, '', 0, '', 0, ?16) RETURNING `+approvalColumns,
		id.String(), r.Binding, string(r.Action), r.Operation, r.Target, r.Summary, string(r.Plan), r.PlanHash, r.Subject, r.Agent, r.Rule,
		string(resource), string(by), r.RequestedAt.UnixMicro(), r.ExpiresAt.UnixMicro(), revision)
	if err != nil {
		return c, err
	}
	return access.Claim{Request: made[0], New: true}, nil
}

// DecideApproval grants or denies a pending request. See access.Approvals.
func (s *Store) DecideApproval(ctx context.Context, d access.ApprovalDecision) (r access.ApprovalRequest, err error) {
	err = s.changeApprovals(ctx, func(tx *sql.Tx, revision int64) error {
		decided, err := s.approvals(ctx, tx, `UPDATE approvals SET state = ?2, decided_by = ?3, reason = ?4, decided_at = ?5, changed = ?6
			WHERE id = ?1 AND state = 'pending' AND expires_at > ?5 RETURNING `+approvalColumns, d.ID, string(d.State), d.By, d.Reason, d.At.UnixMicro(), revision)
		if err != nil {
			return err
		}
		if len(decided) == 1 {
			r = decided[0]
			return nil
		}
		found, err := s.approvals(ctx, tx, "SELECT "+approvalColumns+" FROM approvals WHERE id = ?1", d.ID)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fault.New(fault.NotFound, "there is no request for approval %s", d.ID).WithFix("List the requests to see their ids: fairlead approvals list.")
		}
		return notPending(found[0].At(d.At))
	})
	return r, err
}

func notPending(r access.ApprovalRequest) error {
	how := string(r.State)
	if r.DecidedBy != "" {
		how += ", and was decided on by " + r.DecidedBy
	}
	return fault.New(fault.Conflict, "request %s is %s: nothing is left to decide", r.ID, how).
		WithFix("Nothing is to be done. Who asked makes a new request by doing the same again, once this one is used or has expired.")
}

// ListApprovals gives requests, newest first, or by change. See
// access.Approvals.
func (s *Store) ListApprovals(ctx context.Context, q access.ApprovalQuery) ([]access.ApprovalRequest, error) {
	args := []any{q.Limit}
	where := []string{"id <> ''"} // every one
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf("%s ?%d", condition, len(args)))
	}
	for _, f := range []struct{ condition, value string }{
		{"id =", q.ID}, {"subject =", q.Subject}, {"agent =", q.Agent}, {"action =", string(q.Action)}, {"target =", q.Target}, {"id <", q.Before},
	} {
		if f.value != "" {
			add(f.condition, f.value)
		}
	}
	if q.State != "" {
		args = append(args, q.Now.UnixMicro())
		add(fmt.Sprintf("CASE WHEN state IN ('pending', 'granted') AND expires_at <= ?%d THEN 'expired' ELSE state END =", len(args)), string(q.State))
	}
	order := "id DESC"
	if q.ByChange {
		add("changed >", q.After)
		order = "changed, id"
	}
	out, err := s.approvals(ctx, s.read, "SELECT "+approvalColumns+" FROM approvals WHERE "+strings.Join(where, " AND ")+" ORDER BY "+order+" LIMIT ?1", args...)
	for i := range out {
		out[i] = out[i].At(q.Now)
	}
	return out, err
}

// ApprovalsRevision grows with every change of a request.
func (s *Store) ApprovalsRevision(ctx context.Context) (int64, error) {
	n, err := s.counted(ctx, "approvals")
	return n, s.approvalsDown("read", err)
}

// SweepApprovals notes which requests have expired and forgets those that came
// to an end 90 days ago.
func (s *Store) SweepApprovals(ctx context.Context, now time.Time) error {
	const late = "state IN ('pending', 'granted') AND expires_at <= ?1"
	var n int
	if err := s.read.QueryRowContext(ctx, s.query("SELECT COUNT(*) FROM approvals WHERE "+late), now.UnixMicro()).Scan(&n); err != nil {
		return s.approvalsDown("counted", err)
	}
	if n > 0 {
		err := s.changeApprovals(ctx, func(tx *sql.Tx, revision int64) error {
			_, err := tx.ExecContext(ctx, s.query("UPDATE approvals SET state = 'expired', changed = ?2 WHERE "+late), now.UnixMicro(), revision)
			return err
		})
		if err != nil {
			return s.approvalsDown("written", err)
		}
	}
	_, err := s.exec(ctx, "DELETE FROM approvals WHERE state IN ('used', 'denied', 'expired') AND expires_at < ?1", now.Add(-keptFor).UnixMicro())
	return err
}

// changeApprovals makes a change and counts it.
func (s *Store) changeApprovals(ctx context.Context, change func(tx *sql.Tx, revision int64) error) error {
	return s.approvalsDown("written", s.counting(ctx, "approvals", change))
}

// approvals gives the requests that a statement returns.
func (s *Store) approvals(ctx context.Context, in querier, text string, args ...any) ([]access.ApprovalRequest, error) {
	out, err := gather(ctx, in, scanApproval, s.query(text), args...)
	if err != nil {
		return nil, s.approvalsDown("read", err)
	}
	return out, nil
}

func scanApproval(scan func(...any) error) (r access.ApprovalRequest, err error) {
	var plan, resource, by string
	var requested, expires, decided, used int64
	err = scan(&r.ID, &r.State, &r.Binding, &r.Action, &r.Operation, &r.Target, &r.Summary, &plan, &r.PlanHash, &r.Subject, &r.Agent, &r.Rule, &resource, &by,
		&requested, &expires, &r.DecidedBy, &decided, &r.Reason, &used, &r.Changed)
	if err != nil {
		return r, err
	}
	if err := errors.Join(json.Unmarshal([]byte(resource), &r.Resource), json.Unmarshal([]byte(by), &r.By)); err != nil {
		return r, fmt.Errorf("request %s: %w", r.ID, err)
	}
	r.Plan, r.Approvers = json.RawMessage(plan), r.By.List()
	r.RequestedAt, r.ExpiresAt, r.DecidedAt, r.UsedAt = moment(requested), moment(expires), moment(decided), moment(used)
	return r, nil
}

// moment is the time of microseconds since 1970, zero for none.
func moment(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

func (s *Store) approvalsDown(what string, err error) error {
	return s.down("the requests for approval", what, err)
}
