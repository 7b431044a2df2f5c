package gitops

import (
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// The states of a fleet.
const (
	// FleetPlanning is one whose plan is being worked out, or was left half way.
	FleetPlanning = "planning"
	// FleetPlanned is one that can be started.
	FleetPlanned = "planned"
	// FleetRunning is one whose proposals are opened wave by wave.
	FleetRunning = "running"
	// FleetPaused is one that somebody has paused.
	FleetPaused = "paused"
	// FleetStopped is one that stopped by itself, because of failures.
	FleetStopped = "stopped"
	// FleetDone is one whose members are all as wanted.
	FleetDone = "done"
	// FleetCancelled is one that somebody has ended for good.
	FleetCancelled = "cancelled"
)

// The states of a member of a fleet.
const (
	// MemberWaiting is to be proposed when its wave comes.
	MemberWaiting = "waiting"
	// MemberApproval is one whose own policy wants a person to agree first.
	MemberApproval = "approval"
	// MemberOpen has a pull request, or a pushed branch, that is not merged.
	MemberOpen = "open"
	// MemberMerged is merged, and is waited for to be healthy.
	MemberMerged = "merged"
	// MemberDone is merged, or healthy where that was asked for.
	MemberDone = "done"
	// MemberUnchanged was as wanted already.
	MemberUnchanged = "unchanged"
	// MemberCovered is made so by another member's change of the same places.
	MemberCovered = "covered"
	// MemberAbsent has no such environment.
	MemberAbsent = "absent"
	// MemberRefused cannot be changed so, or policy refuses it: it is left out.
	MemberRefused = "refused"
	// MemberFailed was refused when it was proposed, was closed, or did not come
	// to be well.
	MemberFailed = "failed"
)

// What a wave waits for.
const (
	UntilMerged  = "merged"
	UntilHealthy = "healthy"
)

// PlanFleetInput is one change to many services.
type PlanFleetInput struct {
	Query       []string `json:"query" jsonschema:"catalog filters that select the services, such as kind=component,spec.owner=payments; items are alternatives"`
	Environment string   `json:"environment" jsonschema:"for example staging"`
	Change      Change   `json:"change" jsonschema:"as for propose_change"`
	Reason      string   `json:"reason" jsonschema:"why, for reviewers"`
	Evidence    []string `json:"evidence,omitempty" jsonschema:"what shows that it is good, with links"`
	Waves       []string `json:"waves,omitempty" jsonschema:"sizes of the waves in turn, in services or percent of them; the last one repeats. Default 1, 10%, 50%"`
	Until       string   `json:"until,omitempty" jsonschema:"merged (default) or healthy: what all of a wave must be before the next"`
	MaxFailures int      `json:"maxFailures,omitempty" jsonschema:"how many may fail before it stops, default 0"`
}

// StartFleetInput has a planned fleet begin, or one that is paused or stopped
// go on.
type StartFleetInput struct {
	ID          string `json:"id" jsonschema:"id of the fleet"`
	PlanHash    string `json:"planHash,omitempty" jsonschema:"hash of the plan that is meant; another one is refused"`
	MaxFailures int    `json:"maxFailures,omitempty" jsonschema:"how many may fail in all before it stops; as planned if left out"`
}

// StopFleetInput pauses a fleet, or ends it.
type StopFleetInput struct {
	ID     string `json:"id" jsonschema:"id of the fleet"`
	Cancel bool   `json:"cancel,omitempty" jsonschema:"end it for good"`
	Reason string `json:"reason,omitempty" jsonschema:"why, for the record"`
}

// GetFleetInput names a fleet, and a page of its members.
type GetFleetInput struct {
	ID     string `json:"id" jsonschema:"id of the fleet"`
	State  string `json:"state,omitempty" jsonschema:"only members in this state"`
	Limit  int    `json:"limit,omitempty" jsonschema:"members per page, 1 to 200, default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// ListFleetsInput selects fleets.
type ListFleetsInput struct {
	Person string `json:"person,omitempty" jsonschema:"only of this person"`
	State  string `json:"state,omitempty" jsonschema:"only in this state: planned, running, paused, stopped, done, cancelled"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 100, default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// Fleet is one change to many services, and what has become of it. Counts,
// waves and members are those of services that the caller may see.
type Fleet struct {
	ID          string      `json:"id"`
	State       string      `json:"state" jsonschema:"planning, planned, running, paused, stopped, done or cancelled"`
	Query       []string    `json:"query"`
	Environment string      `json:"environment"`
	Title       string      `json:"title" jsonschema:"what is changed, in a line"`
	Reason      string      `json:"reason"`
	Evidence    []string    `json:"evidence,omitempty"`
	Until       string      `json:"until" jsonschema:"merged or healthy"`
	MaxFailures int         `json:"maxFailures"`
	Person      string      `json:"person" jsonschema:"on whose behalf it is done"`
	Agent       string      `json:"agent,omitempty" jsonschema:"the agent that planned or started it"`
	PlanHash    string      `json:"planHash,omitempty" jsonschema:"sha256: and the hash of the whole plan"`
	Wave        int         `json:"wave,omitempty" jsonschema:"the wave at work, from 1"`
	Counts      FleetCounts `json:"counts"`
	Waves       []FleetWave `json:"waves"`
	// Failing are the first of those that failed, or that the plan refused.
	Failing   []Member  `json:"failing"`
	Why       string    `json:"why,omitempty" jsonschema:"why it stopped, or what it waits for"`
	Next      string    `json:"next,omitempty" jsonschema:"what to do next"`
	CreatedAt time.Time `json:"createdAt"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	Members   []Member  `json:"members"`
	// NextCursor leads to more members.
	NextCursor string `json:"nextCursor,omitempty" jsonschema:"cursor of the next page of members; absent on the last"`
}

// FleetCounts are how many members are in each state.
type FleetCounts struct {
	Total      int `json:"total"`
	Waiting    int `json:"waiting"`
	Approval   int `json:"approval" jsonschema:"waiting for a person to agree"`
	Open       int `json:"open"`
	Merged     int `json:"merged" jsonschema:"merged, and not yet known to be healthy"`
	Done       int `json:"done"`
	Unchanged  int `json:"unchanged" jsonschema:"so already"`
	Covered    int `json:"covered" jsonschema:"made so by another member's change"`
	Absent     int `json:"absent" jsonschema:"without such an environment"`
	Refused    int `json:"refused" jsonschema:"left out by the plan"`
	Failed     int `json:"failed"`
	Conflicted int `json:"conflicted" jsonschema:"whose files other open proposals, or other members, change as well"`
}

// FleetWave is one wave.
type FleetWave struct {
	Number int `json:"number"`
	Size   int `json:"size"`
	Done   int `json:"done"`
	Open   int `json:"open" jsonschema:"proposed, or waiting for approval"`
	Failed int `json:"failed"`
}

// Member is one service of a fleet.
type Member struct {
	Service    string     `json:"service"`
	State      string     `json:"state" jsonschema:"waiting, approval, open, merged, done, unchanged, covered, absent, refused or failed"`
	Wave       int        `json:"wave,omitempty"`
	Title      string     `json:"title,omitempty"`
	Repository string     `json:"repository,omitempty"`
	Paths      []string   `json:"paths,omitempty"`
	Diff       string     `json:"diff,omitempty" jsonschema:"as planned, the first 4,000 bytes"`
	Reason     string     `json:"reason,omitempty" jsonschema:"why it is in this state"`
	Fix        string     `json:"fix,omitempty"`
	Conflicts  []Conflict `json:"conflicts,omitempty" jsonschema:"what else changes the same files"`
	Proposal   string     `json:"proposal,omitempty" jsonschema:"id of its proposal"`
	URL        string     `json:"url,omitempty" jsonschema:"page of its pull request"`
	Notes      []string   `json:"notes,omitempty"`
	UpdatedAt  time.Time  `json:"updatedAt,omitzero"`
}

// Conflict is something else that changes a file of a member.
type Conflict struct {
	Path string `json:"path"`
	// Proposal is the id of an open proposal, "" where the caller may not see
	// it; Service is another member of the same fleet instead.
	Proposal string `json:"proposal,omitempty"`
	Service  string `json:"service,omitempty"`
	URL      string `json:"url,omitempty"`
}

// FleetPage is a page of fleets, newest first, without their members.
type FleetPage struct {
	Items      []Fleet `json:"items"`
	NextCursor string  `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// FleetRecord is a fleet as it is kept.
type FleetRecord struct {
	ID string
	// Person planned it, with Agent; Mandate is what who started it left behind.
	Person, Agent string
	Mandate       access.Mandate
	Spec          PlanFleetInput
	Title         string
	State         string
	PlanHash      string
	// Wave is at work, from 1; 0 before the start.
	Wave int
	// Protected tells that the environment of a member is.
	Protected bool
	// Approval is the one that let it start.
	Approval access.Grant
	// Why it stopped or what it waits for, and what to do next.
	Why, Next                                string
	CreatedAt, StartedAt, UpdatedAt, EndedAt time.Time
}

// FleetMember is a member as it is kept.
type FleetMember struct {
	Fleet    string
	Position int
	About    access.Attributes
	Member
	// Binding is the hash of the places that the plan changes and what they
	// held: another change than this is not made.
	Binding string
}
