package previews

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// ListStraysInput selects where to look.
type ListStraysInput struct {
	Deployer string `json:"deployer,omitempty" jsonschema:"only what this deployer finds"`
}

// StrayPreview is something that carries Fairlead's marks and that no record
// accounts for.
type StrayPreview struct {
	ID        string   `json:"id" jsonschema:"the preview that it was of"`
	Deployer  string   `json:"deployer"`
	Reason    string   `json:"reason" jsonschema:"why it is not known"`
	What      []string `json:"what" jsonschema:"what there is"`
	Service   string   `json:"service,omitempty" jsonschema:"the component that it was of, where that can be read"`
	Person    string   `json:"person,omitempty" jsonschema:"who asked for it, where that can be read"`
	Agent     string   `json:"agent,omitempty"`
	ExpiresAt string   `json:"expiresAt,omitempty" jsonschema:"when it should have ended, where that can be read"`
	Since     string   `json:"since,omitempty" jsonschema:"when it was made or changed last, where that is known"`
	DiskBytes float64  `json:"diskBytes,omitempty"`
}

// Unswept is a deployer of which it is not known what it has.
type Unswept struct {
	Deployer string `json:"deployer"`
	Reason   string `json:"reason"`
}

// StrayList is what a look for strays has found.
type StrayList struct {
	Items   []StrayPreview `json:"items"`
	Unswept []Unswept      `json:"unswept" jsonschema:"where it could not be looked"`
}

// sweepTimeout bounds one look of a deployer for strays, or one removal.
const sweepTimeout = time.Minute

// ListStrays looks for everything that deployers find under Fairlead's marks
// and that no preview accounts for; nothing is changed. A deployer that does
// not answer does not keep the others from being looked at. Faults:
// unauthenticated, forbidden (who may not previews.strays on everything),
// invalid (deployer).
func (s *Service) ListStrays(ctx context.Context, who access.Caller, in ListStraysInput) (*StrayList, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if d := s.cfg.Policy.Allow(who, access.ReadStrays, access.Attributes{}); !d.Allowed {
		code := fault.Forbidden
		if who.IsZero() || who.Anonymous() {
			code = fault.Unauthenticated
		}
		return nil, fault.New(code, "%s", d.Reason).WithFix("%s", d.Fix)
	}
	return s.strays(ctx, in.Deployer)
}

// strays asks each deployer, or the one named.
func (s *Service) strays(ctx context.Context, only string) (*StrayList, error) {
	sweepers := s.sweepers()
	if _, known := sweepers[only]; only != "" && !known {
		return nil, fault.New(fault.Invalid, "deployer: there is no deployer %q here", clip(only, 80)).
			WithFix("There are: %s.", strings.Join(slices.Sorted(maps.Keys(sweepers)), ", "))
	}
	out := &StrayList{Items: []StrayPreview{}, Unswept: []Unswept{}}
	for _, name := range slices.Sorted(maps.Keys(sweepers)) {
		if only != "" && only != name {
			continue
		}
		found, err := s.straysOf(ctx, name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			out.Unswept = append(out.Unswept, Unswept{name, explain(err)})
		}
		out.Items = append(out.Items, found...)
	}
	return out, nil
}

// sweepers are those who find what is left of previews, by name: deployers,
// and the servers of their data as postgres/main. One that cannot is nil.
func (s *Service) sweepers() map[string]Sweeper {
	out := make(map[string]Sweeper, len(s.cfg.Deployers)+len(s.cfg.Data))
	for name, d := range s.cfg.Deployers {
		out[name], _ = d.(Sweeper)
	}
	for _, at := range s.cfg.Data {
		out[at.Kind+"/"+at.Name], _ = at.Data.(Sweeper)
	}
	return out
}

// errUnsweepable tells of a deployer that cannot be asked.
var errUnsweepable = fault.New(fault.FailedPrecondition, "it cannot tell what it has").WithFix("Look for what carries the labels of previews by hand.")

func (s *Service) straysOf(ctx context.Context, name string) (out []StrayPreview, err error) {
	sweeper := s.sweepers()[name]
	if sweeper == nil {
		return nil, errUnsweepable
	}
	why, unread := map[string]string{}, error(nil)
	known := func(id string) bool {
		r, err := s.cfg.Reads.Preview(ctx, id)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			why[id] = "there is no record of it"
		case err != nil:
			unread = errors.Join(unread, err)
			return true
		case r.Phase == Gone:
			why[id] = "its record says that it is gone since " + stamp(r.Since)
		}
		return why[id] == ""
	}
	var found []Stray
	err = bounded(ctx, "the deployer "+name, sweepTimeout, func(ctx context.Context) (err error) {
		found, err = sweeper.Strays(ctx, known)
		return err
	})
	if err = errors.Join(err, unread); err != nil {
		return nil, err
	}
	for _, f := range found {
		out = append(out, StrayPreview{ID: f.ID, Deployer: name, Reason: why[f.ID], What: clipped(f.What), Service: f.Wish.Service, Person: f.Wish.Person, Agent: f.Wish.Agent,
			ExpiresAt: stamp(f.Wish.ExpiresAt), Since: stamp(f.Since), DiskBytes: float64(f.Bytes)})
	}
	return out, nil
}

// clipped bounds what a deployer tells of one preview.
func clipped(what []string) []string {
	const most = 20
	out := make([]string, 0, min(len(what), most+1))
	for i, it := range what {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(what)-most))
		}
		out = append(out, clip(it, 200))
	}
	return out
}

// CountStrays tells how many strays each deployer has, and what kept some from
// being looked at. It is for figures, which everybody may see.
func (s *Service) CountStrays(ctx context.Context) (map[string]int, []Unswept) {
	counts := map[string]int{}
	list, err := s.strays(ctx, "")
	if err != nil {
		return nil, []Unswept{{"", explain(err)}}
	}
	for name := range s.cfg.Deployers {
		if !slices.ContainsFunc(list.Unswept, func(u Unswept) bool { return u.Deployer == name }) {
			counts[name] = 0
		}
	}
	for _, it := range list.Items {
		counts[it.Deployer]++
	}
	return counts, slices.DeleteFunc(list.Unswept, func(u Unswept) bool { return u.Reason == explain(errUnsweepable) })
}

// SweepStraysInput names what to remove: what a look has shown.
type SweepStraysInput struct {
	IDs      []string `json:"ids" jsonschema:"the strays to remove, 1 to 200 of those that were listed"`
	Deployer string   `json:"deployer,omitempty" jsonschema:"only what this deployer finds"`
}

// Swept is what became of strays.
type Swept struct {
	Removed   []string       `json:"removed" jsonschema:"those of which nothing is left"`
	Remaining []StrayPreview `json:"remaining" jsonschema:"those of which something is still there; sweep again"`
	Skipped   []string       `json:"skipped" jsonschema:"those that are no strays, or not any more"`
	Failed    []Unswept      `json:"failed" jsonschema:"what did not work"`
}

const maxSwept = 200

// SweepStrays removes strays for good. What is not a stray at the time of the
// act is left alone. Faults: unauthenticated, forbidden, invalid (ids,
// deployer).
func (s *Service) SweepStrays(ctx context.Context, who access.Caller, in SweepStraysInput) (*Swept, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if len(in.IDs) == 0 || len(in.IDs) > maxSwept {
		return nil, fault.New(fault.Invalid, "ids names %d strays, not 1 to %d", len(in.IDs), maxSwept).WithFix("List the strays, and name those to remove.")
	}
	for _, id := range in.IDs {
		if !record.IsID(id) {
			return nil, fault.New(fault.Invalid, "ids: %q is no id of a preview", clip(id, 80)).WithFix("Name those that the list of strays shows.")
		}
	}
	in.IDs = slices.Compact(slices.Sorted(slices.Values(in.IDs)))
	op := access.Op{Action: access.SweepPreviews, Operation: "sweep_preview_strays", Target: clip(strings.Join(in.IDs, " "), 400), Input: in,
		Summary: fmt.Sprintf("Remove what is left of %d previews that are not known: %s", len(in.IDs), clip(strings.Join(in.IDs, ", "), 400))}
	return access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Swept, error) { return s.sweep(ctx, in) })
}

func (s *Service) sweep(ctx context.Context, in SweepStraysInput) (*Swept, error) {
	found, err := s.strays(ctx, in.Deployer)
	if err != nil {
		return nil, err
	}
	out := &Swept{Removed: []string{}, Remaining: []StrayPreview{}, Skipped: []string{}, Failed: found.Unswept}
	touched := map[string]bool{}
	for _, it := range found.Items {
		if !slices.Contains(in.IDs, it.ID) {
			continue
		}
		touched[it.ID] = true
		access.Report(ctx, access.Progress{Done: float64(len(touched)), Total: float64(len(in.IDs)), Message: "removing " + it.ID + " from " + it.Deployer})
		err := bounded(ctx, "the deployer "+it.Deployer, sweepTimeout, func(ctx context.Context) error {
			return s.sweepers()[it.Deployer].RemoveStray(ctx, it.ID)
		})
		if err != nil {
			out.Failed = append(out.Failed, Unswept{it.Deployer, it.ID + ": " + explain(err)})
		}
	}
	left, err := s.strays(ctx, in.Deployer)
	if err != nil {
		return nil, err
	}
	blind := len(left.Unswept) > len(found.Unswept) // what cannot be seen is not called removed
	for _, id := range in.IDs {
		still := slices.IndexFunc(left.Items, func(it StrayPreview) bool { return it.ID == id })
		switch {
		case still >= 0:
			out.Remaining = append(out.Remaining, left.Items[still])
		case touched[id] && !blind:
			out.Removed = append(out.Removed, id)
		case !touched[id]:
			out.Skipped = append(out.Skipped, id)
		}
	}
	if blind {
		out.Failed = append(out.Failed, left.Unswept...)
	}
	return out, nil
}
