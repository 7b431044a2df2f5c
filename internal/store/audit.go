package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const auditColumns = "id, begun_at, action, operation, target, subject, agent, token_name, group_refs, input, policy_rule, status, code, message, took, approval"

// Begin records an act that begins, or a refusal; it returns when the record
// is on disk. See access.Log.
func (s *Store) Begin(ctx context.Context, b access.Begun) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("making an id for the audit: %w", err)
	}
	groups, err := json.Marshal(append([]string{}, b.Who.Groups()...))
	if err != nil {
		return "", fmt.Errorf("recording the caller's groups: %w", err)
	}
	o := access.Outcome{Status: access.StatusUnknown}
	if b.Outcome != nil {
		o = *b.Outcome
	}
	err = s.record(ctx, b, id.String(), []any{id.String(), b.Time.UnixMicro(), string(b.Action), b.Operation, b.Target, b.Who.Subject(), b.Who.Agent(), b.Who.Token(),
		string(groups), b.Input, b.Rule, string(o.Status), string(o.Code), o.Message, int64(o.Took), b.Approval})
	if err != nil {
		return "", fmt.Errorf("recording an act: %w", err)
	}
	return id.String(), nil
}

// End records how an act ended; a power cut right after it may leave the act
// without an outcome. See access.Log.
func (s *Store) End(ctx context.Context, id string, o access.Outcome) error {
	n, err := s.execLazily(ctx, "UPDATE audit SET status = ?2, code = ?3, message = ?4, took = ?5 WHERE id = ?1 AND status = 'unknown'",
		id, string(o.Status), string(o.Code), o.Message, int64(o.Took))
	if err != nil {
		return fmt.Errorf("recording the outcome of act %s: %w", id, err)
	}
	if n != 1 {
		return fmt.Errorf("recording the outcome of act %s: there is no such act without an outcome", id)
	}
	return nil
}

// Audit lists acts, newest first. See access.AuditReader.
func (s *Store) Audit(ctx context.Context, q access.AuditQuery) (entries []access.Entry, err error) {
	var where []string
	var args []any
	add := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf("%s ?%d", condition, len(args)))
	}
	if q.Agent == access.AnyAgent {
		where, q.Agent = append(where, "agent <> ''"), ""
	}
	for _, f := range []struct{ condition, value string }{
		{"subject =", q.Subject}, {"agent =", q.Agent}, {"action =", string(q.Action)}, {"target =", q.Target}, {"status =", string(q.Status)}, {"id <", q.Before},
	} {
		if f.value != "" {
			add(f.condition, f.value)
		}
	}
	if !q.Since.IsZero() {
		add("begun_at >=", ceilMicro(q.Since))
	}
	if !q.Until.IsZero() {
		add("begun_at <", ceilMicro(q.Until))
	}
	text := "SELECT " + auditColumns + " FROM audit"
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, q.Limit)
	return s.entries(ctx, fmt.Sprintf("%s ORDER BY id DESC LIMIT ?%d", text, len(args)), args)
}

// ceilMicro is the first microsecond not before t.
func ceilMicro(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

func (s *Store) entries(ctx context.Context, text string, args []any) (entries []access.Entry, err error) {
	rows, err := s.read.QueryContext(ctx, s.query(text), args...)
	if err != nil {
		return nil, fmt.Errorf("reading the audit in %s: %w", s.where, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e access.Entry
		var groups, code string
		var begun, took int64
		var o access.Outcome
		if err := rows.Scan(&e.ID, &begun, &e.Action, &e.Operation, &e.Target, &e.Subject, &e.Agent, &e.Token, &groups, &e.Input, &e.Rule, &o.Status, &code, &o.Message, &took, &e.Approval); err != nil {
			return nil, fmt.Errorf("reading the audit in %s: %w", s.where, err)
		}
		if err := json.Unmarshal([]byte(groups), &e.Groups); err != nil {
			return nil, fmt.Errorf("reading the groups of act %s: %w", e.ID, err)
		}
		e.Time = time.UnixMicro(begun).UTC().Format(time.RFC3339Nano)
		o.Code, o.Took, e.Status = fault.Code(code), time.Duration(took), o.Status
		if o.Status != access.StatusUnknown {
			e.End(o)
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
