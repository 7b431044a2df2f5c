package catalog

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// Origin is where an entity was read and how current that is, as doors tell it.
type Origin struct {
	Source string `json:"source"`
	Repo   string `json:"repo,omitempty"`
	// Commit is the one that was read.
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path"`
	Line   uint32 `json:"line,omitempty"`
	// ChangedAt is the author time of the newest commit that changed the file,
	// and ChangedIn that commit; both are empty until that is known for certain.
	ChangedAt time.Time `json:"changedAt,omitzero"`
	ChangedIn string    `json:"changedIn,omitempty"`
	// VerifiedAt is when the source was last seen to say this still.
	VerifiedAt time.Time `json:"verifiedAt,omitzero"`
	// StaleSince is the commit since which the file has errors.
	StaleSince string `json:"staleSince,omitempty"`
}

// Origin tells where an entity was read.
func (s *Service) Origin(e *Entity) Origin {
	f := &e.From
	o := Origin{Source: f.Source, Repo: f.Repository, Commit: f.Commit, Path: f.Path, Line: f.Line, VerifiedAt: f.VerifiedAt, StaleSince: f.StaleSince}
	if c, known := f.History.Last(); known {
		o.ChangedAt, o.ChangedIn = c.At, c.Commit
	}
	if f.StaleSince != "" {
		return o
	}
	if ev, ok := s.evidence(); ok {
		if v := ev.Verified(f.Source).At; v.After(o.VerifiedAt) {
			o.VerifiedAt = v
		}
	}
	return o
}

func (s *Service) evidence() (Evidence, bool) {
	p := s.ingestion.Load()
	if p == nil {
		return nil, false
	}
	ev, ok := (*p).(Evidence)
	return ev, ok
}

// DescribeEntityInput names an entity as GetEntityInput does.
type DescribeEntityInput = GetEntityInput

// DescribeEntity is GetEntity with one member more: source says where the
// entity was read, when its file was changed last and when that was verified.
// An entity that has a member of that name keeps its own.
func (s *Service) DescribeEntity(ctx context.Context, who access.Caller, in DescribeEntityInput) (*Entity, error) {
	e, err := s.GetEntity(ctx, who, in)
	if err != nil {
		return nil, err
	}
	if _, own := e.Root.Lookup("source"); own {
		return e, nil
	}
	whole, err := e.MarshalJSON()
	if err != nil {
		return nil, err
	}
	origin, err := json.Marshal(s.Origin(e))
	if err != nil {
		return nil, err
	}
	const key = `,"source":`
	out := make([]byte, 0, len(whole)+len(key)+len(origin))
	out = append(append(out, whole[:len(whole)-1]...), key...)
	return e.WithJSON(append(append(out, origin...), '}')), nil
}
