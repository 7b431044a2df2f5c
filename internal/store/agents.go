package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/fairlead-dev/fairlead/access"
)

const (
	insertAct = "INSERT INTO audit (" + auditColumns + ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
	// countAct counts acts into what is known of agents.
	countAct = " ON CONFLICT (agent, subject) DO UPDATE SET acts = agents.acts + 1, refused = agents.refused + excluded.refused, " +
		"last_id = CASE WHEN excluded.last_id > agents.last_id THEN excluded.last_id ELSE agents.last_id END"
)

// record writes an act down, whose columns are given, and counts it where an
// agent did it: both or neither.
func (s *Store) record(ctx context.Context, b access.Begun, id string, columns []any) error {
	if b.Who.Agent() == "" {
		_, err := s.exec(ctx, insertAct, columns...)
		return err
	}
	if s.dialect == goose.DialectPostgres { // in one journey
		_, err := s.exec(ctx, "WITH act AS ("+insertAct+" RETURNING id, agent, subject, status) INSERT INTO agents (agent, subject, acts, refused, last_id) "+
			"SELECT agent, subject, 1, CASE WHEN status = 'refused' THEN 1 ELSE 0 END, id FROM act"+countAct, columns...)
		return err
	}
	refused := 0
	if b.Outcome != nil && b.Outcome.Status == access.StatusRefused {
		refused = 1
	}
	err := inOne(ctx, s.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, insertAct, columns...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO agents (agent, subject, acts, refused, last_id) VALUES (?1, ?2, 1, ?3, ?4)"+countAct, b.Who.Agent(), b.Who.Subject(), refused, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	return nil
}

// agentsText reads a page of agents, ?1 to ?5 being whom they act for, the last
// act of the one before, how many, how many of whom each acts for, and which;
// WHOSE and WHICH stand for conditions that indexes serve.
const agentsText = `WITH page AS (
		SELECT agent, SUM(acts) AS acts, SUM(refused) AS refused, COUNT(*) AS subjects, MAX(last_id) AS last_id
		FROM agents WHERE WHOSE AND WHICH GROUP BY agent
		HAVING ?2 = '' OR MAX(last_id) < ?2 ORDER BY MAX(last_id) DESC LIMIT ?3
	), ranked AS (
		SELECT agents.agent, agents.subject, ROW_NUMBER() OVER (PARTITION BY agents.agent ORDER BY agents.last_id DESC) AS nth
		FROM agents JOIN page ON page.agent = agents.agent WHERE WHOSE
	) SELECT page.agent, CAST(page.acts AS BIGINT), CAST(page.refused AS BIGINT), page.subjects, page.last_id, ranked.subject
	FROM page JOIN ranked ON ranked.agent = page.agent AND ranked.nth <= ?4 ORDER BY page.last_id DESC, ranked.nth`

// Agents lists the agents of the audit. See access.AuditReader.
func (s *Store) Agents(ctx context.Context, q access.AgentQuery) ([]access.ActingAgent, error) {
	var out []access.ActingAgent
	_, err := gather(ctx, s.read, func(scan func(...any) error) (none struct{}, err error) {
		var a access.ActingAgent
		var subject string
		if err := scan(&a.Agent, &a.Acts, &a.Refused, &a.SubjectCount, &a.Last.ID, &subject); err != nil {
			return none, err
		}
		if n := len(out); n == 0 || out[n-1].Agent != a.Agent {
			out = append(out, a)
		}
		last := &out[len(out)-1]
		last.Subjects = append(last.Subjects, subject)
		return none, nil
	}, s.query(strings.NewReplacer("WHOSE", isOrAll("subject", "?1", q.Subject), "WHICH", isOrAll("agent", "?5", q.Agent)).Replace(agentsText)), q.Subject, q.Before, q.Limit, q.Subjects, q.Agent)
	if err == nil && len(out) > 0 {
		err = s.lastActs(ctx, out)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the agents in %s: %w", s.where, err)
	}
	return out, nil
}

// isOrAll is the condition that a column has a value, or, for "", none.
func isOrAll(column, place, value string) string {
	if value == "" {
		return place + " = ''"
	}
	return column + " = " + place
}

// lastActs fills in the last acts, of which the ids are known.
func (s *Store) lastActs(ctx context.Context, of []access.ActingAgent) error {
	places, ids := []string{}, []any{}
	for n := 1; len(ids) < len(of) || n < len(of); n *= 2 { // few texts for many lengths: each is prepared once
		for len(ids) < n {
			ids = append(ids, of[min(len(ids), len(of)-1)].Last.ID)
			places = append(places, fmt.Sprintf("?%d", len(ids)))
		}
	}
	acts, err := s.entries(ctx, "SELECT "+auditColumns+" FROM audit WHERE id IN ("+strings.Join(places, ", ")+")", ids)
	if err != nil {
		return err
	}
	byID := make(map[string]access.Entry, len(acts))
	for _, e := range acts {
		byID[e.ID] = e
	}
	for i := range of {
		e, known := byID[of[i].Last.ID]
		if !known {
			return fmt.Errorf("act %s, the last of agent %s, is not in the audit", of[i].Last.ID, of[i].Agent)
		}
		of[i].Last = e
	}
	return nil
}
