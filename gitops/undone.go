package gitops

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// held refuses to do again what people have undone: a proposal of the key that
// was closed, or merged and taken back. Where the key is none that was given
// for this very wish, it does not matter who had proposed it. A proposal of the
// key that is open has r follow it: it is not begun anew if that ends meanwhile.
func (s *Service) held(ctx context.Context, r *Record, defaultKey bool, p *planned) error {
	old, err := s.cfg.Records.ProposalOfKey(ctx, r.Person, r.Agent, r.Key)
	r.Follows = ""
	switch {
	case fault.CodeOf(err) == fault.NotFound:
	case err != nil:
		return err
	default:
		if old.State == Open { // people may have closed it meanwhile
			if old, err = s.refreshed(ctx, old); err != nil {
				return err
			}
		}
		if err := s.undone(ctx, &old, r, p); err != nil {
			return err
		}
		if old.EndedAt.IsZero() {
			r.Follows = old.ID
		}
	}
	if !defaultKey {
		return nil
	}
	return s.refuseTakenBack(ctx, r, p)
}

// undone tells whether people have decided against a proposal already. Where the
// files went on from there it is another matter, if that can be told.
func (s *Service) undone(ctx context.Context, old, r *Record, p *planned) error {
	switch {
	case old.State == Closed && !old.givenUp():
		return fault.New(fault.FailedPrecondition, "proposal %s with this key was closed without being merged, and is not opened again behind people's backs", old.ID).
			WithFix("Read why at %s; to propose it all the same, give another key.", old.Pull.URL).WithDetail("proposal", old.ID).WithDetail("undone", "closed")
	case old.State == Merged && old.PlanHash == r.PlanHash:
		if same, known, err := s.asBefore(ctx, old, p); err != nil || known && !same {
			return err
		}
		return wasTakenBack(old)
	}
	return nil
}

func wasTakenBack(old *Record) error {
	return fault.New(fault.FailedPrecondition, "proposal %s made exactly this change, was merged, and has been taken back since", old.ID).
		WithFix("Ask who took it back, and why; to propose it all the same, give another key.").WithDetail("proposal", old.ID).WithDetail("undone", "taken_back")
}

// maxSame is how many proposals of exactly the same are looked at.
const maxSame = 5

// refuseTakenBack refuses a change that somebody else has proposed exactly so,
// that was merged, and after which the files are again as they were before it:
// who did that did not want it. Files that went on from there are another
// matter.
func (s *Service) refuseTakenBack(ctx context.Context, r *Record, p *planned) error {
	found, err := s.cfg.Reads.Proposals(ctx, Query{Service: r.Service, PlanHash: r.PlanHash, Limit: maxSame})
	if err != nil {
		return err
	}
	for i := range found {
		old := &found[i]
		if old.State == Open && old.ID != r.Follows { // it may have been merged meanwhile; of what r follows the forge was just asked
			if *old, err = s.refreshed(ctx, *old); err != nil {
				return err
			}
		}
		if old.State != Merged {
			continue
		}
		if same, _, err := s.asBefore(ctx, old, p); err != nil || same {
			return cmp.Or(err, wasTakenBack(old))
		}
	}
	return nil
}

// asBefore tells whether the files of a plan are on its base as they were before
// a proposal was made; known is false where nobody can tell any more.
func (s *Service) asBefore(ctx context.Context, old *Record, p *planned) (same, known bool, err error) {
	before, err := s.cfg.Repositories.At(ctx, old.Place, old.BaseCommit)
	if err != nil {
		if errors.Is(err, ErrNoCommit) {
			err = nil
		}
		return false, false, err
	}
	same, err = sameFiles(ctx, before, p.repo, p.paths)
	return same, true, errors.Join(err, before.Close())
}

// sameFiles tells whether files are the same in two commits, or missing in
// both.
func sameFiles(ctx context.Context, a, b Files, paths []string) (bool, error) {
	for _, path := range paths {
		x, err := a.Read(ctx, path)
		if err != nil && !errors.Is(err, ErrNoFile) {
			return false, err
		}
		y, otherErr := b.Read(ctx, path)
		if otherErr != nil && !errors.Is(otherErr, ErrNoFile) {
			return false, otherErr
		}
		if (err == nil) != (otherErr == nil) || !bytes.Equal(x, y) {
			return false, nil
		}
	}
	return true, nil
}
