package access

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Status is how an act ended.
type Status string

// The statuses of an act in the audit.
const (
	StatusOK      Status = "ok"      // it was done
	StatusRefused Status = "refused" // policy or quota did not let it begin
	StatusFailed  Status = "failed"  // it began and ended in an error
	StatusUnknown Status = "unknown" // it began; its end was not recorded, or is still to come
)

// Entry is one act in the audit.
type Entry struct {
	ID        string   `json:"id" jsonschema:"identifies the entry; later entries have greater ones"`
	Time      string   `json:"time" jsonschema:"when it began, RFC 3339 in UTC"`
	Action    Action   `json:"action" jsonschema:"what policy calls the act, for example catalog.refresh"`
	Operation string   `json:"operation,omitempty" jsonschema:"the operation's name, for example refresh_entity"`
	Target    string   `json:"target,omitempty" jsonschema:"what it was done to"`
	Subject   string   `json:"subject" jsonschema:"the person or machine that asked, empty for an anonymous caller"`
	Agent     string   `json:"agent,omitempty" jsonschema:"the agent that acted for the subject"`
	Token     string   `json:"token,omitempty" jsonschema:"the name of the credential shown"`
	Groups    []string `json:"groups,omitempty" jsonschema:"the subject's groups at the time"`
	Input     string   `json:"input,omitempty" jsonschema:"summary of the input as JSON, secrets masked, cut where long"`
	Rule      string   `json:"rule,omitempty" jsonschema:"the policy rule that decided"`
	Approval  string   `json:"approval,omitempty" jsonschema:"the request for approval that it made, used or decided on"`
	Status    Status   `json:"status" jsonschema:"ok, refused, failed, or unknown where no end is recorded"`
	Code      string   `json:"code,omitempty" jsonschema:"fault code of a refusal or failure"`
	Message   string   `json:"message,omitempty" jsonschema:"what the caller was told of it"`
	Took      string   `json:"took,omitempty" jsonschema:"how long it took, for example 1.2s"`
}

// Outcome is how an act ended.
type Outcome struct {
	Status  Status
	Code    fault.Code // "" for ok
	Message string     // as the caller sees it; "" for ok
	Took    time.Duration
}

// Begun is what is known of an act before it happens.
type Begun struct {
	Time      time.Time
	Action    Action
	Operation string
	Target    string
	Who       Caller
	Input     string // already redacted
	Rule      string
	// Approval is the id of the request for approval that the act made, used
	// or decided on.
	Approval string
	// Outcome is set where the act ends before it begins: a refusal.
	Outcome *Outcome
}

// Log is where acts are recorded. Begin returns only when the record is safe;
// ids ascend. End completes the entry once; a second End, or one for an id
// that Begin did not give, is an error.
type Log interface {
	Begin(ctx context.Context, b Begun) (id string, err error)
	End(ctx context.Context, id string, o Outcome) error
}

// AnyAgent as an AuditQuery's Agent stands for whichever there is.
const AnyAgent = "*"

// AuditQuery selects entries; a zero field selects all.
type AuditQuery struct {
	Subject string
	Agent   string // AnyAgent for all acts by agents
	Action  Action
	Target  string
	Status  Status
	Since   time.Time // at or after
	Until   time.Time // before
	Before  string    // entries with a smaller id
	Limit   int       // at most so many, 1 or more
}

// AuditReader reads what a Log recorded, newest first.
type AuditReader interface {
	Audit(ctx context.Context, q AuditQuery) ([]Entry, error)
	// Agents lists those that acted, by their newest acts.
	Agents(ctx context.Context, q AgentQuery) ([]ActingAgent, error)
}

// NewEntry gives the entry that a Begun makes, with the outcome unknown unless
// it has one.
func NewEntry(id string, b Begun) Entry {
	e := Entry{
		ID: id, Time: b.Time.UTC().Format(time.RFC3339Nano),
		Action: b.Action, Operation: b.Operation, Target: b.Target,
		Subject: b.Who.Subject(), Agent: b.Who.Agent(), Token: b.Who.Token(), Groups: b.Who.Groups(),
		Input: b.Input, Rule: b.Rule, Approval: b.Approval, Status: StatusUnknown,
	}
	if b.Outcome != nil {
		e.End(*b.Outcome)
	}
	return e
}

// End completes the entry.
func (e *Entry) End(o Outcome) {
	e.Status, e.Code, e.Message, e.Took = o.Status, string(o.Code), o.Message, o.Took.String()
}
