package gitops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// abandoned is after which time a proposal of which nothing was pushed is in
// nobody's way.
const abandoned = 10 * time.Minute

// slotOf is what stands for a thing that one proposal at a time may be about.
func slotOf(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:])
}

// givenUp tells of a proposal that never became a pull request and was ended
// because it was in the way of others.
func (r *Record) givenUp() bool { return r.State == Closed && r.Pull.Number == 0 }

// enter keeps a new proposal, or gives the one that it goes on with. mine is
// false where somebody else proposes exactly that already, which is then given;
// where they propose something else for the same it is a conflict. What people
// have undone is refused, also where they do so at this moment.
func (s *Service) enter(ctx context.Context, who access.Caller, r Record, defaultKey bool, p *planned) (kept *Record, mine bool, err error) {
	for range maxTries {
		if err := s.held(ctx, &r, defaultKey, p); err != nil {
			return nil, false, err
		}
		have, err := s.cfg.Records.AddProposal(ctx, r)
		switch {
		case fault.CodeOf(err) == fault.NotFound: // what was in the way, or what it follows, has just ended
			continue
		case err != nil:
			return nil, false, err
		}
		if have.Person == r.Person && have.Agent == r.Agent && have.Key == r.Key {
			return &have, true, elsewhere(&have, &r)
		}
		if have, err = s.settled(ctx, have, p); err != nil {
			return nil, false, err
		}
		if have.EndedAt.IsZero() {
			other, err := s.others(who, &have, &r)
			return other, false, err
		}
	}
	return nil, false, fault.New(fault.Conflict, "others propose the same at this moment").WithFix("Ask again in a moment.").After(time.Second)
}

// elsewhere refuses a key that was used for something else.
func elsewhere(kept, r *Record) error {
	if kept.Place.Repository == r.Place.Repository && kept.Kind == r.Kind && (kept.Slot == r.Slot || kept.Slot == "") {
		return nil
	}
	return fault.New(fault.Conflict, "the key was used for proposal %s, which is about something else", kept.ID).WithFix("Use another key.")
}

// others answers where somebody else has an open proposal for the same.
func (s *Service) others(who access.Caller, have, r *Record) (*Record, error) {
	seen := s.cfg.Policy.Scope(who, access.ReadProposals).Allows(s.about(have))
	if !seen {
		return nil, fault.New(fault.Conflict, "another proposal changes the same, and is not decided on yet").WithFix("Wait until it is.")
	}
	if have.PlanHash == r.PlanHash && have.State == Open {
		have.Notes = append(have.Notes, "it was proposed already, by "+access.Acting(have.Person, have.Agent))
		return have, nil
	}
	return nil, fault.New(fault.Conflict, "proposal %s by %s changes the same, and is not decided on yet", have.ID, access.Acting(have.Person, have.Agent)).
		WithFix("Wait until it is merged or closed, or talk to %s: %s", have.Person, cmp.Or(have.Pull.URL, "its branch is "+have.Branch)).WithDetail("proposal", have.ID)
}

// settled looks whether a proposal that is in the way of another still counts:
// the forge is asked, and one that nobody can finish any more is ended.
func (s *Service) settled(ctx context.Context, r Record, p *planned) (Record, error) {
	if r.State == Open {
		return s.refreshed(ctx, r)
	}
	over, err := s.over(ctx, &r, p)
	if err != nil || !over {
		return r, err
	}
	now, holder := s.cfg.Now().UTC().Truncate(time.Microsecond), record.NewID("settle", 40)
	held, ok, err := s.cfg.Records.ClaimProposal(ctx, r.ID, holder, now, now.Add(10*time.Second))
	if err != nil || !ok {
		return r, err
	}
	held.State, held.EndedAt = Closed, now
	held.Notes = append(held.Notes, "it was ended when another was proposed for the same: nobody went on with it, or its branch is gone or merged")
	return held, s.save(ctx, &held, holder, true)
}

// over tells of a proposal without a pull request whether it is done with: its
// branch is gone, or holds what the base has, or nothing was ever pushed.
func (s *Service) over(ctx context.Context, r *Record, p *planned) (bool, error) {
	if r.Commit == "" {
		return s.cfg.Now().Sub(r.UpdatedAt) > abandoned, nil
	}
	head, err := p.repo.Head(ctx, r.Branch)
	return head == "" || head == p.commit, err
}
