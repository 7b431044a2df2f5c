package previews

import (
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Phase is how far a preview has come.
type Phase string

// The phases of a preview. Gone is the only one that nothing follows.
const (
	Pending  Phase = "pending"  // accepted; nothing of it is there yet
	Creating Phase = "creating" // being brought about
	Ready    Phase = "ready"    // runs the commit and answers
	Degraded Phase = "degraded" // was ready and is not now; it is being put right
	Deleting Phase = "deleting" // being removed
	Gone     Phase = "gone"     // seen to be absent
	Failed   Phase = "failed"   // will not become ready; it is kept for its logs until it ends
)

// Record is everything that is kept of a preview. What callers wish is theirs
// to change, and the reconciler's part the reconciler's; neither writes the
// other's.
type Record struct {
	Wish
	// Key is the idempotency key that it was created under, "" for none, and
	// InputHash tells whether a later use of the key asks for the same.
	Key, InputHash string
	// Revision is what was asked for: a branch, a tag or a commit.
	Revision string
	// About is what policy looks at: the service as it was.
	About access.Attributes
	// CreatedAt is when the call was accepted; ExpiresAt counts from it.
	CreatedAt time.Time
	// EndedAt is when somebody had it deleted, zero if nobody has; EndedBy is
	// who.
	EndedAt time.Time
	EndedBy string
	// Pull is the id of the pull request that it follows, as PullRef writes it,
	// and PullURL that one's page; "" for none.
	Pull, PullURL string
	// Turn is the number of the turn that is not over.
	Turn int64

	State
}

// State is the reconciler's part of a Record.
type State struct {
	Phase  Phase
	Reason string
	// Since is when the phase began.
	Since time.Time
	// AdmittedAt is when there was room for it; zero while it waits.
	AdmittedAt time.Time
	// ReadyAt is when it was ready for the first time.
	ReadyAt time.Time
	// URL is where it answers, "" while it does not.
	URL string
	// Running is the commit that was seen to run, and Applied the last one that
	// the deployer took on; the wish may have gone on to another since.
	Running, Applied string
	// Remains names what was still there at the last look of one that is
	// being removed.
	Remains []string
	// Tries counts the moves made in this phase.
	Tries int
	// WarnedOf is the end that was warned of, zero for none.
	WarnedOf time.Time
	// StuckAt is when its removal was first called stuck, zero for never.
	StuckAt time.Time
}

// ending tells whether a preview is to be removed by now. One whose removal
// has begun is, whatever another replica's clock says.
func (r *Record) ending(now time.Time) bool {
	return !r.EndedAt.IsZero() || !now.Before(r.ExpiresAt) || r.Phase == Deleting
}

// Preview is a preview as callers see it.
type Preview struct {
	ID        string   `json:"id"`
	Service   string   `json:"service" jsonschema:"full reference of the component"`
	Revision  string   `json:"revision" jsonschema:"what was asked for: a branch, a tag or a commit"`
	Commit    string   `json:"commit" jsonschema:"the commit that the revision named when the preview was asked for"`
	Phase     Phase    `json:"phase" jsonschema:"pending, creating, ready, degraded, deleting, gone or failed"`
	Reason    string   `json:"reason,omitempty" jsonschema:"why it is in that phase"`
	Since     string   `json:"since" jsonschema:"when the phase began, RFC 3339 in UTC"`
	URL       string   `json:"url,omitempty" jsonschema:"where it answers, once it does"`
	ExpiresAt string   `json:"expiresAt" jsonschema:"when it ends, RFC 3339 in UTC"`
	EndsSoon  bool     `json:"endsSoon,omitempty" jsonschema:"its end has been warned of: extend it now to keep it"`
	CreatedAt string   `json:"createdAt"`
	ReadyAt   string   `json:"readyAt,omitempty" jsonschema:"when it was ready for the first time"`
	Owner     string   `json:"owner,omitempty" jsonschema:"who owns the service"`
	Person    string   `json:"person" jsonschema:"who asked for it"`
	Agent     string   `json:"agent,omitempty" jsonschema:"the agent that asked for the person"`
	Deployer  string   `json:"deployer"`
	Pull      string   `json:"pullRequest,omitempty" jsonschema:"page of the pull request that it follows"`
	Position  int      `json:"position,omitempty" jsonschema:"its place among those that wait for room, 1 for the next"`
	Remains   []string `json:"remains,omitempty" jsonschema:"what is still there of one that is being removed"`
	Events    []Event  `json:"events,omitempty" jsonschema:"what happened to it, oldest first; told of a single one"`
}

// View is the record as callers see it; position is its place in the queue, 0
// for none.
func (r *Record) View(position int) *Preview {
	return &Preview{
		ID: r.ID, Service: r.Service, Revision: r.Revision, Commit: r.Commit, Phase: r.Phase, Reason: r.Reason, Since: stamp(r.Since),
		URL: r.URL, ExpiresAt: stamp(r.ExpiresAt), EndsSoon: r.warned(), CreatedAt: stamp(r.CreatedAt), ReadyAt: stamp(r.ReadyAt),
		Owner: r.Owner, Person: r.Person, Agent: r.Agent, Deployer: r.Template.Deployer, Pull: r.PullURL, Position: position, Remains: r.Remains,
	}
}

// warned tells whether the end of one that lives has been warned of.
func (r *Record) warned() bool {
	return !r.WarnedOf.IsZero() && r.WarnedOf.Equal(r.ExpiresAt) && r.EndedAt.IsZero() && r.Phase != Deleting && r.Phase != Gone
}

// stamp writes a time; "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Event is something that happened to a preview.
type Event struct {
	At    time.Time `json:"at"`
	Phase Phase     `json:"phase"`
	Text  string    `json:"text"`
	By    string    `json:"by,omitempty" jsonschema:"who did it; absent for what Fairlead did by itself"`
}

// maxReason bounds what is kept of a reason, in bytes.
const maxReason = 600

// clip shortens what comes from elsewhere.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a character
		cut--
	}
	return s[:cut] + "…"
}
