package gitops

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Accounts are the accounts at forges that persons have linked.
type Accounts interface {
	// AccountOf is what acts for a person at a forge; nil where they have linked
	// none.
	AccountOf(ctx context.Context, person, forge string) (*Account, error)
}

// ErrDenied says that a forge does not let an account do something.
var ErrDenied = errors.New("the account may not do that")

// actAs finds what acts for the person whose proposal it is, and asks the forge whether it
// still does before anything is pushed. Where it does not, nothing is done:
// Fairlead's own account never steps in for a person's unasked.
func (w *work) actAs(ctx context.Context) (err error) {
	at := w.r.Place
	if w.cfg.Accounts == nil || w.cfg.Forges[at.Forge] == nil {
		return nil
	}
	if w.as, err = w.cfg.Accounts.AccountOf(ctx, w.r.Person, at.Forge); err != nil || w.as == nil {
		return err
	}
	_, err = w.as.Forge.FindPull(ctx, at.Name, at.Base, w.r.Branch)
	return err
}

// forge is that of the place, acting as the person where they have linked their
// account; nil where it is at none.
func (w *work) forge() Forge {
	if w.as != nil {
		return w.as.Forge
	}
	return w.cfg.Forges[w.r.Place.Forge]
}

// notLet explains that the person's own account may not push.
func (w *work) notLet(err error) error {
	if w.as == nil || !errors.Is(err, ErrDenied) {
		return err
	}
	return fault.New(fault.FailedPrecondition, "%s does not let %s, whom %s has linked, push to %s", w.r.Place.Forge, line(w.as.Name, 100), w.r.Person, w.r.Place.Name).
		WithFix("Ask for the right to write there, or link the account anew: fairlead login --forge %s. To have Fairlead's own account propose: fairlead login --forge %s --unlink.", w.r.Place.Forge, w.r.Place.Forge).Because(err)
}
