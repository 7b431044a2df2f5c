package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
)

var _ gitops.FigureReads = (*Store)(nil)

// span is the condition of a query on a column of time, a service and an
// environment; ?1 to ?4 are its values.
func span(time, service, environment string) string {
	return fmt.Sprintf("%s >= ?1 AND %s < ?2 AND (?3 = '' OR %s = ?3) AND (?4 = '' OR %s = ?4)", time, time, service, environment)
}

func spanValues(q gitops.FigureQuery) []any {
	return []any{micros(q.Since), micros(q.Until), q.Service, q.Environment, q.Most}
}

// DeployedIn are the deployments of a time. See gitops.FigureReads.
func (s *Store) DeployedIn(ctx context.Context, q gitops.FigureQuery) ([]gitops.Deployed, error) {
	// The newest first, so that the bound takes away the oldest.
	out, err := gather(ctx, s.read, scanDeployed, s.query("SELECT "+deployedColumns+" FROM (SELECT * FROM deployed WHERE "+span("deployed_at", "service", "environment")+
		" ORDER BY deployed_at DESC, seen_at DESC LIMIT ?5) AS newest ORDER BY deployed_at, seen_at"), spanValues(q)...)
	return out, s.deployedDown("read", err)
}

const proposedColumns = "service, agent, slot, state, about, created_at, ended_at, commit_id, pull, follow, course, used"

func scanProposed(scan func(...any) error) (p gitops.ProposedFigure, err error) {
	var about, pull, follow, course, used string
	var created, ended int64
	if err = scan(&p.Service, &p.Agent, &p.Slot, &p.State, &about, &created, &ended, &p.Commit, &pull, &follow, &course, &used); err != nil {
		return p, err
	}
	p.CreatedAt, p.EndedAt = instant(created), instant(ended)
	for _, f := range []struct {
		text string
		into any
	}{{about, &p.About}, {pull, &p.Pull}, {follow, &p.Follow}, {course, &p.Course}, {used, &p.Usage}} {
		if err = json.Unmarshal([]byte(f.text), f.into); err != nil {
			return p, fmt.Errorf("reading a proposal about %s: %w", p.Service, err)
		}
	}
	return p, nil
}

// ProposedIn are the changes and rollbacks of a time. See gitops.FigureReads.
func (s *Store) ProposedIn(ctx context.Context, q gitops.FigureQuery) ([]gitops.ProposedFigure, error) {
	out, err := gather(ctx, s.read, scanProposed, s.query("SELECT "+proposedColumns+" FROM (SELECT "+proposedColumns+", id FROM proposals WHERE kind IN ('change', 'rollback') AND "+span("created_at", "service", "environment")+
		" ORDER BY created_at DESC, id DESC LIMIT ?5) AS newest ORDER BY created_at, id"), spanValues(q)...)
	if err != nil {
		return nil, s.proposalsDown("read", err)
	}
	return out, nil
}

// RefusedIn counts refusals of a time. The audit knows of no environment. See
// gitops.FigureReads.
func (s *Store) RefusedIn(ctx context.Context, q gitops.FigureQuery) ([]gitops.RefusedFigure, error) {
	out, err := gather(ctx, s.read, func(scan func(...any) error) (r gitops.RefusedFigure, err error) {
		return r, scan(&r.Service, &r.Agent, &r.Count)
	}, s.query("SELECT target, agent, COUNT(*) FROM audit WHERE status = 'refused' AND action = ?5 AND begun_at >= ?1 AND begun_at < ?2 AND (?3 = '' OR target = ?3) GROUP BY target, agent ORDER BY COUNT(*) DESC LIMIT ?4"),
		micros(q.Since), micros(q.Until), q.Service, q.Most, string(access.ProposeChange))
	if err != nil {
		return nil, fmt.Errorf("counting refusals in %s: %w", s.where, err)
	}
	return out, nil
}
