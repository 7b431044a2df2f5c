package gitops

import (
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// The states of a proposal.
const (
	// Planned is a proposal that was only worked out (dry_run).
	Planned = "planned"
	// Unchanged says that the files are as wanted already: there is nothing to
	// propose.
	Unchanged = "unchanged"
	// Preparing is one that has not been pushed yet, or whose pushing ended
	// half way: asking again with the same key goes on with it.
	Preparing = "preparing"
	// Pushed is a branch of a repository that is at no configured forge.
	Pushed = "pushed"
	// Open, Merged and Closed are those of its pull request.
	Open   = PullOpen
	Merged = PullMerged
	Closed = PullClosed
)

// Proposal is a change that is proposed, and what has become of it.
type Proposal struct {
	ID      string `json:"id" jsonschema:"identifies the proposal"`
	Kind    string `json:"kind" jsonschema:"what is proposed: answer, skill, change, rollback"`
	Title   string `json:"title"`
	Service string `json:"service,omitempty" jsonschema:"the entity that it is about"`
	// Environment is the one that it changes.
	Environment string    `json:"environment,omitempty"`
	State       string    `json:"state" jsonschema:"planned, unchanged, preparing, pushed, open, merged or closed"`
	Repository  string    `json:"repository" jsonschema:"clone URL of the repository that it goes to"`
	Base        string    `json:"base" jsonschema:"branch that it is to be merged into"`
	Branch      string    `json:"branch,omitempty" jsonschema:"branch that it is on"`
	Commit      string    `json:"commit,omitempty" jsonschema:"head of that branch, as it was pushed"`
	URL         string    `json:"url,omitempty" jsonschema:"page of its pull request"`
	Paths       []string  `json:"paths" jsonschema:"the files that it changes"`
	Plan        Plan      `json:"plan"`
	Rendered    *Rendered `json:"rendered,omitempty" jsonschema:"what it makes of the manifests"`
	// StateThen is how the environment did when it was proposed.
	StateThen *EnvironmentState `json:"stateThen,omitempty" jsonschema:"how the environment did when it was proposed"`
	Person    string            `json:"person" jsonschema:"on whose behalf it was proposed"`
	Agent     string            `json:"agent,omitempty" jsonschema:"the agent that proposed it"`
	Reason    string            `json:"reason,omitempty"`
	Evidence  []string          `json:"evidence,omitempty"`
	CreatedAt time.Time         `json:"createdAt,omitzero"`
	UpdatedAt time.Time         `json:"updatedAt,omitzero" jsonschema:"when it was last pushed"`
	CheckedAt time.Time         `json:"checkedAt,omitzero" jsonschema:"when the forge was last asked"`
	// What the forge says.
	Mergeable string   `json:"mergeable,omitempty" jsonschema:"clean, conflict, blocked or unknown"`
	Blocked   string   `json:"blocked,omitempty" jsonschema:"what stands against merging, in the forge's word"`
	Checks    []Check  `json:"checks,omitempty"`
	Approved  []string `json:"approved,omitempty"`
	Rejected  []string `json:"rejected,omitempty"`
	// Blocking is what keeps it from being merged, the most pressing first.
	Blocking []Blocker `json:"blocking,omitempty"`
	Follow   Follow    `json:"follow"`
	Notes    []string  `json:"notes,omitempty" jsonschema:"what could not be done, or is held"`
	Next     string    `json:"next,omitempty" jsonschema:"what to do next"`
}

// Plan is what would be changed, or was.
type Plan struct {
	Hash string `json:"hash" jsonschema:"sha256: and the hash of the whole plan"`
	Diff string `json:"diff,omitempty" jsonschema:"unified diff against the base"`
	// Omitted is how many bytes of the diff are left out.
	Omitted int `json:"omitted,omitempty" jsonschema:"bytes of the diff that are left out"`
}

// Record is a proposal as it is kept.
type Record struct {
	ID, Kind, Title string
	// Service is the entity that it is about, About how policy looks at it.
	Service string
	About   access.Attributes
	Place   Place
	// Branch is made for this proposal and no other.
	Branch string
	// Person and Agent asked for it, with Key.
	Person, Agent, Key string
	// Slot is what no other open proposal may be about; "" for nothing.
	Slot string
	// Follows is the open proposal of the same key that whoever adds this one has
	// seen: if that has ended since, this is not added. It is not kept.
	Follows        string
	Reason         string
	Evidence       []string
	Paths          []string
	PlanHash, Diff string
	// Rendered is what it makes of the manifests, nil where nothing was rendered.
	Rendered *Rendered
	// StateThen is how the environment did when it was proposed, nil where that
	// was not known.
	StateThen *EnvironmentState
	// BaseCommit is what the branch was made on, Commit its head; both are ""
	// until it is pushed.
	BaseCommit, Commit string
	State              string
	// Pull is the pull request as it was last read; zero without one.
	Pull                                     Pull
	Notes                                    []string
	CreatedAt, UpdatedAt, CheckedAt, EndedAt time.Time
	// Environment is the one that it changes, "" for none.
	Environment string
	// Asked is what was asked, a ProposeChangeInput as JSON, so that it can be
	// made anew; "" for what cannot be. Touched are the values that it changes.
	Asked   string
	Touched []Touched
	// Follow is what callers are told of how it went on, Course what following
	// has to remember besides.
	Follow Follow
	Course Course
	// Usage is what making it took, as its caller has reported.
	Usage Usage
	// FollowAt is when it is looked at next, zero for never; ChangedAt when what
	// callers are told changed last.
	FollowAt, ChangedAt time.Time
}

// maxDiff is how much of a diff is shown, in bytes; maxKeptDiff how much is
// kept.
const (
	maxDiff     = 10 << 10
	maxKeptDiff = 256 << 10
)

// View is the record as callers see it.
func (r *Record) View() *Proposal {
	p := &Proposal{ID: r.ID, Kind: r.Kind, Title: r.Title, Service: r.Service, State: r.State, Repository: r.Place.Repository, Base: r.Place.Base, Branch: r.Branch, Commit: r.Commit,
		URL: r.Pull.URL, Paths: append([]string{}, r.Paths...), Plan: Plan{Hash: r.PlanHash, Diff: r.Diff}, Rendered: r.Rendered.shown(), StateThen: r.StateThen, Person: r.Person, Agent: r.Agent, Reason: r.Reason, Evidence: r.Evidence,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, CheckedAt: r.CheckedAt,
		Mergeable: r.Pull.Mergeable, Blocked: r.Pull.Blocked, Checks: r.Pull.Checks, Approved: r.Pull.Approved, Rejected: r.Pull.Rejected, Notes: append(r.Rendered.notes(), r.Notes...),
		Environment: r.Environment, Follow: r.Follow}
	switch {
	case r.State == Merged && p.Follow.MergedAt.IsZero():
		p.Follow.Merged, p.Follow.MergedAt = r.Pull.Merged, r.EndedAt
		p.Follow.Outcome, p.Follow.EndedAt = OutcomeMerged, r.EndedAt // it ended before proposals were followed
	case r.State == Closed:
		p.Follow.ClosedAt = r.EndedAt
	}
	p.Plan.cut(maxDiff)
	p.Blocking = r.blocking(time.Now())
	p.Next = next(p)
	return p
}

// cut leaves out what is beyond a bound, at the end of a line.
func (p *Plan) cut(most int) {
	if len(p.Diff) <= most {
		return
	}
	at := most
	for at > 0 && p.Diff[at-1] != '\n' {
		at--
	}
	p.Omitted, p.Diff = len(p.Diff)-at, p.Diff[:at]
}

// next says what to do, by the state.
func next(p *Proposal) string {
	switch {
	case p.State == Planned:
		return "Ask again without dry_run to propose it."
	case p.State == Unchanged:
		return "Nothing: it is so already."
	case p.State == Preparing:
		return "Ask again with the same key to go on."
	case p.State == Pushed:
		return "Merge the branch " + p.Branch + ", or apply the diff: the repository is at no forge that is configured here."
	case p.State == Merged:
		return p.Follow.next()
	case p.State == Closed:
		return "It was closed without being merged and is not opened again; ask who closed it."
	case len(p.Blocking) > 0:
		return p.Blocking[0].Next
	default:
		return "Wait for people to merge it."
	}
}
