package access

import (
	"context"
	"encoding/json"
	"time"
)

// ApprovalState is how far a request for approval has come.
type ApprovalState string

// The states of a request for approval.
const (
	ApprovalPending ApprovalState = "pending" // nobody has decided yet
	ApprovalGranted ApprovalState = "granted" // the act may be done, once
	ApprovalDenied  ApprovalState = "denied"  // the act may not be done; asking again is in vain until it expires
	ApprovalUsed    ApprovalState = "used"    // the act was begun
	ApprovalExpired ApprovalState = "expired" // nobody decided in time, or it was granted and not used
)

// Approval is a request for approval of one act by one caller, and what has
// become of it.
type Approval struct {
	ID          string          `json:"id" jsonschema:"identifies the request; later ones have greater ids"`
	State       ApprovalState   `json:"state" jsonschema:"pending, granted, denied, used or expired"`
	Action      Action          `json:"action" jsonschema:"what policy calls the act, for example catalog.refresh"`
	Operation   string          `json:"operation" jsonschema:"the operation's name, for example refresh_entity"`
	Target      string          `json:"target,omitempty" jsonschema:"what it would be done to"`
	Summary     string          `json:"summary" jsonschema:"what would be done, in a sentence"`
	Plan        json.RawMessage `json:"plan" jsonschema:"what would be done, in whole, secrets masked"`
	PlanHash    string          `json:"planHash" jsonschema:"sha256: and the hash of the plan; another plan needs another approval"`
	Subject     string          `json:"subject" jsonschema:"the person or machine that asked"`
	Agent       string          `json:"agent,omitempty" jsonschema:"the agent that acted for the subject"`
	Rule        string          `json:"rule" jsonschema:"the policy rule that asks for approval"`
	Approvers   []string        `json:"approvers" jsonschema:"who may decide: references of groups and persons, and role:NAME"`
	MayDecide   bool            `json:"mayDecide" jsonschema:"whether you may decide on it now"`
	RequestedAt time.Time       `json:"requestedAt" jsonschema:"when it was asked for"`
	ExpiresAt   time.Time       `json:"expiresAt" jsonschema:"when it ends, decided or not"`
	DecidedBy   string          `json:"decidedBy,omitempty" jsonschema:"the person who granted or denied it"`
	DecidedAt   time.Time       `json:"decidedAt,omitzero" jsonschema:"when that was"`
	Reason      string          `json:"reason,omitempty" jsonschema:"what that person said"`
	UsedAt      time.Time       `json:"usedAt,omitzero" jsonschema:"when the act began"`
}

// ApprovalRequest is an Approval as it is kept.
type ApprovalRequest struct {
	Approval
	// Binding is the hash of all that the approval is bound to: act, thing,
	// requester, plan, and who may decide.
	Binding string
	// Resource is what the act would be done to, as policy looks at it.
	Resource Attributes
	// By are those who may decide.
	By Approvers
	// Changed is the revision at which it changed last; see
	// Approvals.ApprovalsRevision.
	Changed int64
}

// At gives the request as it is at a time: what has not been used in time is
// expired.
func (r ApprovalRequest) At(now time.Time) ApprovalRequest {
	if (r.State == ApprovalPending || r.State == ApprovalGranted) && !now.Before(r.ExpiresAt) {
		r.State = ApprovalExpired
	}
	return r
}

// Claim is the answer to an act that needs approval.
type Claim struct {
	// Request is the request that the act is about.
	Request ApprovalRequest
	// Used tells that it was granted and is used up by now: the act may begin.
	Used bool
	// New tells that the request was made just now.
	New bool
}

// ApprovalDecision is what somebody says to a request.
type ApprovalDecision struct {
	ID     string
	State  ApprovalState // granted or denied
	By     string        // the person
	Reason string
	At     time.Time
}

// ApprovalQuery selects requests; a zero field selects all.
type ApprovalQuery struct {
	ID      string
	State   ApprovalState
	Subject string
	Agent   string
	Action  Action
	Target  string
	Before  string // requests with a smaller id
	// ByChange has requests come in the order of their changes, those after
	// the revision After; otherwise newest come first.
	ByChange bool
	After    int64
	Now      time.Time // decides what has expired
	Limit    int       // at most so many, 1 or more
}

// Approvals is where requests for approval are kept. Several replicas may
// share one.
type Approvals interface {
	// Claim uses up the request of the same Binding that is granted and has
	// not expired at r.RequestedAt: of several claims exactly one gets it. If
	// there is none, it gives the one that is pending or denied, and if there
	// is none of these either it keeps r, with an id of its own. A requester,
	// subject and agent taken together, has at most most pending ones; beyond
	// that it is a quota_exceeded.
	Claim(ctx context.Context, r ApprovalRequest, most int) (Claim, error)
	// ListApprovals gives requests as they are at q.Now.
	ListApprovals(ctx context.Context, q ApprovalQuery) ([]ApprovalRequest, error)
	// DecideApproval grants or denies a request that is pending and has not
	// expired. Faults: not_found, conflict (it is not pending any more).
	DecideApproval(ctx context.Context, d ApprovalDecision) (ApprovalRequest, error)
	// ApprovalsRevision grows with every change, by whichever replica.
	ApprovalsRevision(ctx context.Context) (int64, error)
}
