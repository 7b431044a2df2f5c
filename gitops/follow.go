package gitops

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// BranchPrefix begins the branches of proposals.
const BranchPrefix = "fairlead/"

// followWork names in records what follows proposals.
const followWork = "proposals"

// How proposals end.
const (
	// OutcomeHealthy is one that is live and well.
	OutcomeHealthy = "healthy"
	// OutcomeDegraded is one that is live, or was to be, and is not well.
	OutcomeDegraded = "degraded"
	// OutcomeRolledBack is one that was taken back before it was found well.
	OutcomeRolledBack = "rolled_back"
	// OutcomeClosed is one that was not merged.
	OutcomeClosed = "closed"
	// OutcomeMerged is one that is merged, where nobody tells what runs.
	OutcomeMerged = "merged"
	// OutcomeUnknown is one of which it did not become known in time.
	OutcomeUnknown = "unknown"
)

// Follow is how far a proposal has come after it was opened.
type Follow struct {
	Merged   string    `json:"merged,omitempty" jsonschema:"commit on the base that has it"`
	MergedAt time.Time `json:"mergedAt,omitzero"`
	ClosedAt time.Time `json:"closedAt,omitzero"`
	// Synced is the first revision that Argo CD synced which holds Merged.
	Synced   string    `json:"synced,omitempty" jsonschema:"revision with it that was synced"`
	SyncedAt time.Time `json:"syncedAt,omitzero"`
	// Healthy is the revision that was live when it was found well, HealthyAt
	// since when it is so without a break.
	Healthy   string    `json:"healthy,omitempty" jsonschema:"revision with it that was found well"`
	HealthyAt time.Time `json:"healthyAt,omitzero"`
	// DegradedAt is when it was first found not well, Grounds why it last was.
	DegradedAt time.Time   `json:"degradedAt,omitzero"`
	Grounds    []string    `json:"grounds,omitempty"`
	RolledBack *RolledBack `json:"rolledBack,omitempty"`
	Window     *Window     `json:"window,omitempty"`
	// Waits is what it waits for.
	Waits   string    `json:"waits,omitempty"`
	Outcome string    `json:"outcome,omitempty" jsonschema:"healthy, degraded, rolled_back, closed, merged or unknown"`
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// RolledBack tells that what a proposal changed was taken back.
type RolledBack struct {
	At time.Time `json:"at"`
	// Commit is the one that did, Proposal the proposal that it was, if it was
	// one.
	Commit   string `json:"commit,omitempty"`
	Proposal string `json:"proposal,omitempty"`
}

// Touched is a value that a proposal changes.
type Touched struct {
	File string `json:"file"`
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Course is what following a proposal has to remember from turn to turn.
type Course struct {
	// Opened is when its pull request was first seen, Moved when something about
	// it last changed.
	Opened time.Time `json:"opened,omitzero"`
	Moved  time.Time `json:"moved,omitzero"`
	// Ready is when it first lacked reviews at most.
	Ready time.Time `json:"ready,omitzero"`
	// Reviewers are who was asked to review.
	Reviewers []string `json:"reviewers,omitempty"`
	// Unsure is since when the forge does not tell whether it can be merged.
	Unsure time.Time `json:"unsure,omitzero"`
	// Trouble says why the forge could not be asked, Fails how often in a row a
	// turn came to nothing.
	Trouble string `json:"trouble,omitempty"`
	Fails   int    `json:"fails,omitempty"`
	// Repairs is how often it was made anew, Stopped why it is not any more, and
	// StoppedBy what of a Blocker that is.
	Repairs   int    `json:"repairs,omitempty"`
	Stopped   string `json:"stopped,omitempty"`
	StoppedBy string `json:"stoppedBy,omitempty"`
	// Base is the commit that was last looked at for what was taken back.
	Base string `json:"base,omitempty"`
	// Replaced tells that another change has come in its place.
	Replaced bool `json:"replaced,omitempty"`
	// Lacks are revisions, as they are listed, that do not hold what was merged.
	Lacks string `json:"lacks,omitempty"`
	// Unwell is since when it is not well, zero while it is.
	Unwell time.Time `json:"unwell,omitzero"`
	// Notices are who has to be told of its end.
	Notices []Notice `json:"notices,omitempty"`
	// Print tells what callers were told when it last changed.
	Print string `json:"print,omitempty"`
}

// Health tells how deployments are doing.
type Health interface {
	// GetDeploymentHealth is that of HealthService.
	GetDeploymentHealth(ctx context.Context, who access.Caller, in GetDeploymentHealthInput) (*DeploymentHealth, error)
	// CompareWindows is that of HealthService.
	CompareWindows(ctx context.Context, who access.Caller, in CompareWindowsInput) (*Window, error)
}

// Lineage tells how the commits of repositories follow each other.
type Lineage interface {
	// Contains tells whether a revision is a commit or comes after it. Faults:
	// invalid (the revision is none of a repository), not_found.
	Contains(ctx context.Context, at Place, revision, commit string) (bool, error)
	// LastChange is the newest commit up to a revision that changed a file; zero
	// where that cannot be told.
	LastChange(ctx context.Context, at Place, revision, path string) (commit string, when time.Time, err error)
}

// FollowConfig is how proposals are followed.
type FollowConfig struct {
	// Health tells what runs, Lineage whether that has what was merged; without
	// Health a proposal ends when it is merged.
	Health  Health
	Lineage Lineage
	// Every is how often an open pull request is looked at of which there is no
	// news, 10 m by default.
	Every time.Duration
	// Verify is how long what is healthy is watched before it counts, 10 m by
	// default.
	Verify time.Duration
	// Within is how long after it was merged a proposal is followed, 24 h by
	// default; then it is unknown how it ended.
	Within time.Duration
	// Notify is who is told when a proposal ends.
	Notify []Receiver
	// Ended is told of proposals whose pull requests are merged or closed; nil
	// without.
	Ended func(ctx context.Context, id string)
}

func (c *FollowConfig) complete() error {
	for _, d := range []struct {
		value *time.Duration
		other time.Duration
	}{{&c.Every, 10 * time.Minute}, {&c.Verify, 10 * time.Minute}, {&c.Within, 24 * time.Hour}} {
		if *d.value <= 0 {
			*d.value = d.other
		}
	}
	if c.Health != nil && c.Lineage == nil {
		return errors.New("gitops: Lineage is needed with Health")
	}
	return nil
}

// next says what to do about a merged proposal.
func (f *Follow) next() string {
	switch {
	case f.RolledBack != nil:
		return "It was taken back: find out why before you propose it again."
	case f.Outcome == OutcomeHealthy && len(f.Grounds) > 0:
		return "Nothing: it was healthy until another change took its place."
	case f.Outcome == OutcomeHealthy:
		return "Nothing: it is live and healthy."
	case f.Outcome == OutcomeMerged:
		return "Nothing: it is merged."
	case f.Outcome == OutcomeUnknown:
		return "Look at the deployment's health: it did not become known in time how it went."
	case f.Outcome == OutcomeDegraded, !f.DegradedAt.IsZero() && f.HealthyAt.IsZero():
		return "It is not well: look at the deployment's health, and propose a rollback."
	case !f.HealthyAt.IsZero():
		return "Wait: it is live and healthy, and is being watched."
	case f.Synced != "":
		return "Wait until it is healthy."
	case f.Outcome == "" && f.MergedAt.IsZero():
		return "Nothing: it is merged."
	}
	return "Wait until it is live."
}

// end notes how a proposal ended, once.
func (s *Service) end(r *Record, outcome string, grounds ...string) {
	if r.Follow.Outcome != "" {
		return
	}
	r.Follow.Outcome, r.Follow.EndedAt, r.Follow.Waits = outcome, s.now(), ""
	if len(grounds) > 0 {
		r.Follow.Grounds = grounds
	}
	r.FollowAt = time.Time{}
	for _, to := range s.cfg.Follow.Notify {
		r.Course.Notices = append(r.Course.Notices, Notice{To: to.Name, At: r.Follow.EndedAt})
	}
	if len(s.cfg.Follow.Notify) > 0 || r.reversible() {
		r.FollowAt = r.Follow.EndedAt
	}
}

// reversible tells of a proposal of which it can be seen whether it was taken
// back.
func (r *Record) reversible() bool {
	return r.State == Merged && len(r.Touched) > 0 && r.Follow.RolledBack == nil && !r.Follow.SyncedAt.IsZero()
}

// now is the time, as it is kept.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

// save writes down what a holder made of a proposal.
func (s *Service) save(ctx context.Context, r *Record, holder string, release bool) error {
	over := s.settle(r)
	if p := r.print(); p != r.Course.Print {
		r.Course.Print, r.ChangedAt = p, s.now()
	}
	err := s.cfg.Records.SaveProposal(ctx, *r, holder, release)
	if err == nil && over && s.cfg.Follow.Ended != nil {
		s.cfg.Follow.Ended(ctx, r.ID)
	}
	return err
}

// settle decides when a proposal is looked at next, where its state has just
// become another; over tells that its pull request has ended.
func (s *Service) settle(r *Record) (over bool) {
	f := &r.Follow
	switch {
	case r.State == Open && r.FollowAt.IsZero():
		r.FollowAt = r.CheckedAt.Add(s.cfg.Follow.Every)
	case r.EndedAt.IsZero() || f.Outcome != "":
	case r.State == Closed:
		f.ClosedAt = r.EndedAt
		s.end(r, OutcomeClosed)
		return true
	case r.State == Merged && f.MergedAt.IsZero():
		f.Merged, f.MergedAt, r.FollowAt = r.Pull.Merged, r.EndedAt, s.now()
		if r.Environment == "" || s.cfg.Follow.Health == nil {
			s.end(r, OutcomeMerged)
		}
		return true
	case r.State == Unchanged:
		r.FollowAt = time.Time{}
		return true
	}
	return false
}

// unavailable tells of an error that may be another one soon.
func unavailable(err error) bool {
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.Internal, fault.QuotaExceeded:
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
