package previews

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ForceRemoveInput names a preview whose removal is stuck.
type ForceRemoveInput struct {
	ID string `json:"id" jsonschema:"id of the preview"`
	// Why is kept with its events.
	Why string `json:"why" jsonschema:"why it may be forced, for those who ask later"`
}

// ForceRemove takes away by force what keeps a preview from going, such as
// finalizers that nobody answers to: what they stood for is then not cleared
// up. A person alone may do that, and only once the removal has been stuck for
// as long as the deadline of removals. Faults: not_found, forbidden, invalid
// (why), failed_precondition (it is not stuck, or its deployer cannot force).
func (s *Service) ForceRemove(ctx context.Context, who access.Caller, in ForceRemoveInput) (*Preview, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if err := checkText("why", in.Why, 300); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Why) == "" {
		return nil, fault.New(fault.Invalid, "why is empty").WithFix("Say why what is left may be removed by force.")
	}
	op := access.Op{Action: access.ForcePreview, Operation: "force_remove_preview_environment", Resource: s.about(&r), Target: r.ID, Input: in,
		Summary: "Remove what is left of preview " + r.ID + " by force: " + in.Why}
	_, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		if who.Agent() != "" {
			return nil, fault.New(fault.Forbidden, "an agent removes nothing by force").WithFix("Have a person do it: fairlead previews delete %s --force.", r.ID)
		}
		return &r, s.force(ctx, &r)
	})
	if err != nil {
		return nil, err
	}
	s.cfg.Wake(ctx, Turn{r.ID, r.Turn})
	if now, err := s.cfg.Reads.Preview(ctx, r.ID); err == nil {
		r = now
	}
	return s.view(ctx, &r)
}

// force has the deployer remove what is left of a preview that is stuck.
func (s *Service) force(ctx context.Context, r *Record) error {
	age := s.cfg.Now().Sub(r.Since)
	if r.Phase != Deleting || age < s.cfg.Deadlines.Remove {
		return fault.New(fault.FailedPrecondition, "preview %s is %s for %s, and only one that is being removed for %s is forced", r.ID, r.Phase, coarse(age), s.cfg.Deadlines.Remove).
			WithFix("Delete it first, and wait.")
	}
	d, err := s.deployer(r.Template.Deployer)
	if err != nil {
		return err
	}
	f, ok := d.(Forcer)
	if !ok {
		return fault.New(fault.FailedPrecondition, "the deployer %s removes nothing by force", r.Template.Deployer).WithFix("Remove what the preview names under remains by hand.")
	}
	ctx, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	forced, err := f.Force(ctx, r.Wish)
	if err != nil {
		return err
	}
	if len(forced) == 0 {
		return fault.New(fault.FailedPrecondition, "nothing is seen that keeps preview %s from going", r.ID).WithFix("Look at its reason: something else may be wrong, such as a cluster that does not answer.")
	}
	s.cfg.Logger.WarnContext(ctx, "what was left of a preview was removed by force", "preview", r.ID, "what", forced)
	return nil
}
