package gitops

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// FleetReads is where fleets are looked up.
type FleetReads interface {
	// Fleet is one; not_found where there is none.
	Fleet(ctx context.Context, id string) (FleetRecord, error)
	// Fleets are those that a query selects, newest first.
	Fleets(ctx context.Context, q FleetQuery) ([]FleetRecord, error)
	// FleetMembers are those that a query selects, by position.
	FleetMembers(ctx context.Context, q MemberQuery) ([]FleetMember, error)
	// TallyFleet calls tally with what is counted of each member, by position.
	TallyFleet(ctx context.Context, id string, tally func(MemberTally)) error
}

// FleetWrites is where fleets are written down.
type FleetWrites interface {
	// AddFleet keeps a new one. Plans that were never started are removed where
	// they are older than stale, and beyond the newest few of the same person
	// and agent.
	AddFleet(ctx context.Context, r FleetRecord, stale time.Time, few int) error
	// AddFleetMembers keeps members of one that is being planned.
	AddFleetMembers(ctx context.Context, members []FleetMember) error
	// FleetWaves puts the waiting members up to a position into a wave, from the
	// one after another position on.
	FleetWaves(ctx context.Context, id string, waves []WaveRange) error
	// MoveFleet writes a fleet down if it is in one of some states; ok is false
	// where it is not. With again, members that failed are tried again.
	MoveFleet(ctx context.Context, r FleetRecord, again bool, from ...string) (ok bool, err error)
}

// FleetClaims is where fleets are looked after.
type FleetClaims interface {
	// DueFleets are the ids of running fleets that are due and that nobody holds.
	DueFleets(ctx context.Context, now time.Time, most int) ([]string, error)
	// ClaimFleet takes a running one for holder until a time; ok is false where
	// somebody else has it, or it does not run.
	ClaimFleet(ctx context.Context, id, holder string, now, until time.Time) (r FleetRecord, ok bool, err error)
	// SaveFleetMember writes a member down for who holds the fleet; ok is false
	// where nobody goes on with it: it does not run any more, or another has it.
	SaveFleetMember(ctx context.Context, m FleetMember, holder string) (ok bool, err error)
	// ReportFleet lets a fleet go until it is due again, with its state, wave and
	// words where it still runs.
	ReportFleet(ctx context.Context, r FleetRecord, holder string, due time.Time) error
}

// Neighbours is where other proposals for the same files are found.
type Neighbours interface {
	// OpenProposals are those of a repository at a forge that have not ended,
	// without their diffs, at most so many.
	OpenProposals(ctx context.Context, forge, name string, most int) ([]Record, error)
}

// FleetQuery selects fleets; a zero field selects all.
type FleetQuery struct {
	Person, State string
	Before        time.Time
	BeforeID      string
	Limit         int
}

// MemberQuery selects members of a fleet; a zero field selects all.
type MemberQuery struct {
	Fleet  string
	States []string
	// UpTo is the last wave of theirs; 0 selects those in none, too.
	UpTo int
	// After is the position to go on after, from -1.
	After int
	Limit int
	// Bare leaves their diffs out.
	Bare bool
}

// MemberTally is what is counted of a member.
type MemberTally struct {
	State      string
	Wave       int
	Conflicted bool
	About      access.Attributes
}

// WaveRange are the positions of a wave: after From, up to To.
type WaveRange struct{ Wave, From, To int }

// FleetConfig is what fleets are done with; everything is needed.
type FleetConfig struct {
	Reads      FleetReads
	Writes     FleetWrites
	Claims     FleetClaims
	Neighbours Neighbours
	// Acting makes the caller of a mandate anew.
	Acting func(m access.Mandate, now time.Time) (access.Caller, error)
	// Quota paces the opening of pull requests, across replicas, by Pace: rates
	// by the forge's name, all of which must let one be opened.
	Quota access.Quota
	Pace  map[string][]access.Rate
}
