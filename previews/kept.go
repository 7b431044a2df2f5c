package previews

import (
	"context"
	"time"
)

// Limits are how many previews there may be at once; 0 means the default.
type Limits struct {
	// PerTeam counts those of the services of one owner, 20 by default.
	PerTeam int `yaml:"perTeam"`
	// PerPerson counts those that one person has asked for, agents included,
	// 10 by default.
	PerPerson int `yaml:"perPerson"`
	// PerAgent counts those that one agent has asked for, for one person, 5
	// by default.
	PerAgent int `yaml:"perAgent"`
	// Queue is how many may wait for room at once, 200 by default.
	Queue int `yaml:"queue"`
}

// WithDefaults puts the defaults in the place of zeros.
func (l Limits) WithDefaults() Limits {
	for _, f := range []struct{ at, by *int }{
		{&l.PerTeam, new(20)}, {&l.PerPerson, new(10)}, {&l.PerAgent, new(5)}, {&l.Queue, new(200)},
	} {
		if *f.at == 0 {
			*f.at = *f.by
		}
	}
	return l
}

// Wishes is where what callers wish is kept.
type Wishes interface {
	// AddPreview keeps a new preview: admitted if the limits leave room for
	// it, else in the queue. One of the same person, agent and key is given
	// back in its place, if it was created from the same input; a conflict if
	// not; quota_exceeded where the queue is full.
	AddPreview(ctx context.Context, r Record, l Limits) (Record, error)
	// PutOffPreview has a preview that is not ending by then end at until. by
	// is who wants it. failed_precondition where it is ending.
	PutOffPreview(ctx context.Context, id string, until, now time.Time, by string) (Record, error)
	// EndPreview has a preview removed from now on; one that is ending
	// already stays as it is.
	EndPreview(ctx context.Context, id string, now time.Time, by string) (Record, error)
	// PreviewOfKey is the preview of a person, agent and key; not_found where
	// there is none.
	PreviewOfKey(ctx context.Context, person, agent, key string) (Record, error)
}

// Query selects previews.
type Query struct {
	// Service, Person, Agent and Phase select; "" is all.
	Service, Person, Agent string
	Phase                  Phase
	// Gone lists those that are gone, too; of those only the ones that are
	// since a time where GoneSince is one.
	Gone      bool
	GoneSince time.Time
	// Before lists those created before this time, and with the same time
	// those of lesser ids; zero lists from the newest.
	Before   time.Time
	BeforeID string
	// Limit is the most that are given.
	Limit int
}

// Reads is where previews are read.
type Reads interface {
	// Preview is one preview; not_found where there is none.
	Preview(ctx context.Context, id string) (Record, error)
	// Previews are those meant, newest first.
	Previews(ctx context.Context, q Query) ([]Record, error)
	// PreviewEvents are the last events of a preview, oldest first.
	PreviewEvents(ctx context.Context, id string, most int) ([]Event, error)
	// PreviewPositions are the places of those that wait for room, by id.
	PreviewPositions(ctx context.Context) (map[string]int, error)
}

// Turn is a right to look after a preview. Each change of the wish begins a new
// one, and so does what finds a preview that nobody looks after; with that the
// earlier ones are over.
type Turn struct {
	ID     string
	Number int64
}

// Hold is how a claim went.
type Hold int

// A claim takes a preview, or finds it held by somebody else for the time
// being, or finds that its turn is over.
const (
	Taken Hold = iota
	Held
	Over
)

// Claims is where the reconciler takes previews and puts down what became of
// them.
type Claims interface {
	// ClaimPreview takes a preview for holder until a time, or takes it anew.
	ClaimPreview(ctx context.Context, t Turn, holder string, now, until time.Time) (Record, Hold, error)
	// ReportPreview puts down a record's state and an event, if there is one.
	// ok is false where holder does not hold it any more, or its end is not
	// the record's any more; then nothing is put down, and it is let go.
	// overdue is from when on nobody is known to look after it; the zero time
	// keeps holding it.
	ReportPreview(ctx context.Context, r Record, holder string, e *Event, overdue time.Time) (ok bool, err error)
	// AdmitPreviews admits those of the queue that there is room for, in
	// order; they are overdue then, and nobody holds them.
	AdmitPreviews(ctx context.Context, l Limits, now time.Time) error
	// OverduePreviews gives new turns to previews that nobody looks after.
	OverduePreviews(ctx context.Context, now time.Time) ([]Turn, error)
}
