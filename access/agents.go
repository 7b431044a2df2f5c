package access

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// agentCursor tells the cursors of agents from others.
const agentCursor = "agents:"

// maxSubjects is how many of those for whom an agent acts are named.
const maxSubjects = 20

// ListAgentsInput asks for a page of agents.
type ListAgentsInput struct {
	Agent  string `json:"agent,omitempty" jsonschema:"only this agent, by its name"`
	Limit  int    `json:"limit,omitempty" jsonschema:"agents per page, 1 to 500, default 50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// ActingAgent is an agent, and what the audit holds of it.
type ActingAgent struct {
	Agent        string   `json:"agent" jsonschema:"the agent's name"`
	Subjects     []string `json:"subjects" jsonschema:"for whom it acted, the 20 for whom it did so last"`
	SubjectCount int      `json:"subjectCount" jsonschema:"for how many it acted"`
	Acts         int      `json:"acts" jsonschema:"how many acts are on record"`
	Refused      int      `json:"refused" jsonschema:"how many of these were refused"`
	Last         Entry    `json:"last" jsonschema:"the newest act"`
}

// AgentsPage is a page of agents, those that acted last first.
type AgentsPage struct {
	Items      []ActingAgent `json:"items"`
	NextCursor string        `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// AgentQuery selects agents, those that acted last first.
type AgentQuery struct {
	Agent    string // "" for all
	Subject  string // "" for all; else what they did for this one alone counts
	Before   string // agents whose newest act has a smaller id
	Limit    int    // at most so many, 1 or more
	Subjects int    // so many of those for whom each acted, 1 or more
}

// ListAgents lists the agents that the audit knows, however long ago they acted.
// Those whom policy does not allow audit.read see what agents did for them.
// Faults: unauthenticated, invalid (a field), unavailable.
func (s *Service) ListAgents(ctx context.Context, who Caller, in ListAgentsInput) (*AgentsPage, error) {
	if who.IsZero() || who.Anonymous() {
		return nil, nobody()
	}
	limit, err := auditLimit(in.Limit)
	if err != nil {
		return nil, err
	}
	if !plainText(in.Agent) {
		return nil, fault.New(fault.Invalid, "agent is longer than %d bytes or holds control characters", maxText).WithFix("Give it as an entry of the audit shows it.")
	}
	q := AgentQuery{Agent: in.Agent, Limit: limit + 1, Subjects: maxSubjects} // one more tells whether there is a next page
	var ok bool
	if q.Before, ok = strings.CutPrefix(in.Cursor, agentCursor); in.Cursor != "" && (!ok || q.Before == "" || !plainText(q.Before)) {
		return nil, fault.New(fault.Invalid, "cursor %q is not one of the agents'", clip(in.Cursor, 80)).WithFix("Give nextCursor of the page before as it is, or leave cursor out for the first page.")
	}
	if !s.readsAudit(who) {
		q.Subject = who.Subject()
	}
	items, err := s.audit.Agents(ctx, q)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the audit could not be read").WithFix("Try again in a moment.").Because(err)
	}
	page := &AgentsPage{Items: append([]ActingAgent{}, items[:min(len(items), limit)]...)}
	if len(items) > limit {
		page.NextCursor = agentCursor + items[limit-1].Last.ID
	}
	return page, nil
}
