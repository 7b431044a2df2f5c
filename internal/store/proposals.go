package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

var (
	_ gitops.Records = (*Store)(nil)
	_ gitops.Reads   = (*Store)(nil)
)

const proposalColumns = `id, kind, title, service, about, place, branch, person, agent, idem_key, reason, evidence, paths, plan_hash, diff, base_commit, commit_id, state, pull, notes,
	created_at, updated_at, checked_at, ended_at, slot, environment, asked, touched, follow, course, outcome, follow_at, changed_at, rendered, state_then, used`

// scanProposal reads proposalColumns.
func scanProposal(scan func(...any) error) (r gitops.Record, err error) {
	var about, place, evidence, paths, pull, notes, touched, follow, course, outcome, rendered, then, used string
	var created, updated, checked, ended, followed, changed int64
	err = scan(&r.ID, &r.Kind, &r.Title, &r.Service, &about, &place, &r.Branch, &r.Person, &r.Agent, &r.Key, &r.Reason, &evidence, &paths, &r.PlanHash, &r.Diff, &r.BaseCommit, &r.Commit, &r.State, &pull, &notes,
		&created, &updated, &checked, &ended, &r.Slot, &r.Environment, &r.Asked, &touched, &follow, &course, &outcome, &followed, &changed, &rendered, &then, &used)
	if err != nil {
		return r, err
	}
	r.CreatedAt, r.UpdatedAt, r.CheckedAt, r.EndedAt = instant(created), instant(updated), instant(checked), instant(ended)
	r.FollowAt, r.ChangedAt = instant(followed), instant(changed)
	for _, f := range []struct {
		text string
		into any
	}{{about, &r.About}, {place, &r.Place}, {evidence, &r.Evidence}, {paths, &r.Paths}, {pull, &r.Pull}, {notes, &r.Notes}, {touched, &r.Touched}, {follow, &r.Follow}, {course, &r.Course}, {rendered, &r.Rendered}, {then, &r.StateThen}, {used, &r.Usage}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return r, fmt.Errorf("reading proposal %s: %w", r.ID, err)
		}
	}
	return r, nil
}

// proposalValues are the values of proposalColumns, and those to find it by.
func proposalValues(r *gitops.Record) ([]any, error) {
	var texts [12]string
	for i, v := range []any{r.About, r.Place, append([]string{}, r.Evidence...), append([]string{}, r.Paths...), r.Pull, append([]string{}, r.Notes...), append([]gitops.Touched{}, r.Touched...), r.Follow, r.Course, r.Rendered, r.StateThen, r.Usage} {
		enc, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts[i] = string(enc)
	}
	return []any{r.ID, r.Kind, r.Title, r.Service, texts[0], texts[1], r.Branch, r.Person, r.Agent, r.Key, r.Reason, texts[2], texts[3], r.PlanHash, r.Diff, r.BaseCommit, r.Commit, r.State, texts[4], texts[5],
		micros(r.CreatedAt), micros(r.UpdatedAt), micros(r.CheckedAt), micros(r.EndedAt), r.Slot,
		r.Environment, r.Asked, texts[6], texts[7], texts[8], r.Follow.Outcome, micros(r.FollowAt), micros(r.ChangedAt), texts[9], texts[10], texts[11], r.Place.Forge, r.Place.Name}, nil
}

func (s *Store) proposalsDown(what string, err error) error {
	return s.down("the proposals", what, err)
}

func (s *Store) proposalsIn(ctx context.Context, q querier, rest string, args ...any) ([]gitops.Record, error) {
	out, err := gather(ctx, q, scanProposal, s.query("SELECT "+proposalColumns+" FROM proposals "+rest), args...)
	if err != nil {
		return nil, s.proposalsDown("read", err)
	}
	return out, nil
}

func (s *Store) oneProposal(ctx context.Context, q querier, rest string, args ...any) (gitops.Record, error) {
	all, err := s.proposalsIn(ctx, q, rest, args...)
	switch {
	case err != nil:
		return gitops.Record{}, err
	case len(all) == 0:
		return gitops.Record{}, fault.New(fault.NotFound, "there is no such proposal").WithFix("List the proposals to see their ids.")
	}
	return all[0], nil
}

// AddProposal keeps a proposal. See gitops.Records.
func (s *Store) AddProposal(ctx context.Context, r gitops.Record) (gitops.Record, error) {
	values, err := proposalValues(&r)
	if err != nil {
		return r, err
	}
	insert := "INSERT INTO proposals (" + proposalColumns + ", forge, name, holder, held_until) VALUES (" + marks(len(values)) + ", '', 0) ON CONFLICT DO NOTHING"
	if err := s.addFollowing(ctx, r.Follows, insert, values); err != nil {
		return r, s.proposalsDown("written", err)
	}
	// The one of the key before the one in the way.
	return s.oneProposal(ctx, s.write, `WHERE ended_at = 0 AND (person = ?1 AND agent = ?2 AND idem_key = ?3 OR slot = ?4 AND slot <> '')
		ORDER BY CASE WHEN person = ?1 AND agent = ?2 AND idem_key = ?3 THEN 0 ELSE 1 END LIMIT 1`, r.Person, r.Agent, r.Key, r.Slot)
}

// addFollowing inserts a proposal, unless it follows one that has ended.
func (s *Store) addFollowing(ctx context.Context, follows, insert string, values []any) error {
	return inOne(ctx, s.write, func(tx *sql.Tx) error {
		if follows != "" { // writing holds the row until the end
			open, err := s.changed(tx.ExecContext(ctx, s.query("UPDATE proposals SET held_until = held_until WHERE id = ?1 AND ended_at = 0"), follows))
			if err != nil || open == 0 {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, s.query(insert), values...)
		return err
	})
}

// ProposalOfKey is the last one with a key. See gitops.Records.
func (s *Store) ProposalOfKey(ctx context.Context, person, agent, key string) (gitops.Record, error) {
	return s.oneProposal(ctx, s.read, "WHERE person = ?1 AND agent = ?2 AND idem_key = ?3 ORDER BY CASE WHEN ended_at = 0 THEN 0 ELSE 1 END, created_at DESC, id LIMIT 1", person, agent, key)
}

// ClaimProposal takes a proposal. See gitops.Records.
func (s *Store) ClaimProposal(ctx context.Context, id, holder string, now, until time.Time) (gitops.Record, bool, error) {
	n, err := s.changed(s.write.ExecContext(ctx, s.query("UPDATE proposals SET holder = ?2, held_until = ?4 WHERE id = ?1 AND (held_until <= ?3 OR holder = ?2)"),
		id, holder, micros(now), micros(until)))
	if err != nil {
		return gitops.Record{}, false, s.proposalsDown("written", err)
	}
	r, err := s.oneProposal(ctx, s.write, "WHERE id = ?1", id)
	return r, n > 0 && err == nil, err
}

// SaveProposal writes a proposal down. See gitops.Records.
func (s *Store) SaveProposal(ctx context.Context, r gitops.Record, holder string, release bool) error {
	values, err := proposalValues(&r)
	if err != nil {
		return err
	}
	set := make([]string, 0, len(values))
	args := []any{r.ID, holder}
	for i, column := range strings.Split(strings.NewReplacer("\n", "", "\t", "", " ", "").Replace(proposalColumns), ",") {
		if column == "id" || column == "created_at" {
			continue
		}
		args = append(args, values[i])
		set = append(set, fmt.Sprintf("%s = ?%d", column, len(args)))
	}
	if release {
		set = append(set, "holder = ''", "held_until = 0")
	}
	n, err := s.changed(s.write.ExecContext(ctx, s.query("UPDATE proposals SET "+strings.Join(set, ", ")+" WHERE id = ?1 AND holder = ?2"), args...))
	switch {
	case err != nil:
		return s.proposalsDown("written", err)
	case n == 0:
		return fault.New(fault.Conflict, "another call has taken over proposal %s", r.ID).WithFix("Look at the proposal; ask again with the same key.")
	}
	return nil
}

// Proposal is one proposal. See gitops.Reads.
func (s *Store) Proposal(ctx context.Context, id string) (gitops.Record, error) {
	return s.oneProposal(ctx, s.read, "WHERE id = ?1", id)
}

// Proposals are those meant. See gitops.Reads.
func (s *Store) Proposals(ctx context.Context, q gitops.Query) ([]gitops.Record, error) {
	where := []string{"1 = 1"}
	var args []any
	for _, f := range []struct{ column, value string }{{"service", q.Service}, {"person", q.Person}, {"agent", q.Agent}, {"state", q.State}, {"kind", q.Kind}, {"plan_hash", q.PlanHash}} {
		if f.value != "" {
			args = append(args, f.value)
			where = append(where, fmt.Sprintf("%s = ?%d", f.column, len(args)))
		}
	}
	if !q.ChangedSince.IsZero() {
		args = append(args, micros(q.ChangedSince))
		where = append(where, fmt.Sprintf("changed_at >= ?%d", len(args)))
	}
	if !q.Before.IsZero() {
		args = append(args, q.Before.UnixMicro(), q.BeforeID)
		where = append(where, fmt.Sprintf("(created_at < ?%d OR created_at = ?%d AND id < ?%d)", len(args)-1, len(args)-1, len(args)))
	}
	return s.proposalsIn(ctx, s.read, "WHERE "+strings.Join(where, " AND ")+fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", q.Limit), args...)
}

// DueProposals are those whose time has come. See gitops.Reads.
func (s *Store) DueProposals(ctx context.Context, now time.Time, most int) ([]gitops.Record, error) {
	return s.proposalsIn(ctx, s.read, fmt.Sprintf("WHERE follow_at > 0 AND follow_at <= ?1 AND held_until <= ?1 ORDER BY follow_at, id LIMIT %d", most), micros(now))
}

// mostTold is how many proposals a push to their base makes due at once. More
// of them come in their turn: each asks the forge, and each that is merged is
// another push.
const mostTold = 20

// TellProposals notes news of a branch. See gitops.Reads.
func (s *Store) TellProposals(ctx context.Context, forge, name, branch string) error {
	const those = "forge = ?1 AND name = ?2 AND state IN ('open', 'merged') AND outcome = '' AND follow_at > 0"
	text, args := fmt.Sprintf("follow_at = 1 WHERE "+those+" AND (SELECT COUNT(*) FROM proposals WHERE "+those+") <= %d", mostTold), []any{forge, name}
	if strings.HasPrefix(branch, gitops.BranchPrefix) {
		text, args = "checked_at = 0, follow_at = 1 WHERE forge = ?1 AND name = ?2 AND branch = ?3 AND state = 'open'", append(args, branch)
	}
	if _, err := s.write.ExecContext(ctx, s.query("UPDATE proposals SET "+text), args...); err != nil {
		return s.proposalsDown("written", err)
	}
	return nil
}
