package gitops

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// fleetRepository is one repository while a fleet is planned.
type fleetRepository struct {
	*fleetPlan
	at   Place
	repo Repository
	base Base
	// others are the proposals for it that are open, files the first member that
	// changes each file, places the first that changes exactly some places.
	others        []Record
	files, places map[string]string
}

// open reads what the plan is made on.
func (r *fleetRepository) open(ctx context.Context) (err error) {
	if r.repo, r.base, err = r.cfg.Repositories.Open(ctx, r.at); err != nil {
		return err
	}
	all, err := r.cfg.Fleets.Neighbours.OpenProposals(ctx, r.at.Forge, r.at.Name, maxNeighbours)
	r.others = slices.DeleteFunc(all, func(o Record) bool { return o.Place.Repository != r.at.Repository })
	return err
}

// plan works one member out.
func (r *fleetRepository) plan(ctx context.Context, m *FleetMember, site fleetSite) (err error) {
	defer fault.Catch(&err, "planning %s", m.Service)
	c := site.changing
	m.About.Environment, m.About.Protected, m.Repository = c.env, c.protected, r.at.Repository
	if d := r.cfg.Policy.Allow(r.who, access.ProposeChange, m.About); !d.Allowed {
		return fault.New(fault.Forbidden, "%s", d.Reason).WithFix("%s", d.Fix)
	}
	done, err := planOn(ctx, r.repo, r.base, c.at, c.edit)
	if err != nil {
		return err
	}
	if m.Title = c.title(); len(done.files) == 0 {
		m.State = MemberUnchanged
		return nil
	}
	cut := Plan{Diff: done.diff}
	cut.cut(maxMemberDiff)
	m.Paths, m.Diff = done.paths, cut.Diff
	if m.Binding, err = c.binding(); err != nil {
		return err
	}
	return r.ask(ctx, m, site, done)
}

// beside sees what else changes what a member does.
func (r *fleetRepository) beside(m *FleetMember) {
	if m.State != MemberWaiting {
		return
	}
	if twin := r.places[m.Binding]; twin != "" {
		m.State, m.Reason = MemberCovered, "the same places are changed by "+twin
		return
	}
	r.places[m.Binding] = m.Service
	r.conflicts(m)
}

// ask tries what policy would say of a member.
func (r *fleetRepository) ask(ctx context.Context, m *FleetMember, site fleetSite, done *planned) error {
	in := site.proposal()
	rec := r.record(r.who, site.entity, m.About, &in, done)
	trial, err := access.Try(ctx, r.cfg.Guard, r.who, in.op(&rec, site.entity, done))
	if err != nil {
		return err
	}
	m.Notes = slices.Concat(site.site.notes, trial.Notes())
	if len(trial.Objections) > 0 {
		return fault.New(fault.FailedPrecondition, "%s", strings.Join(trial.Notes(), "; ")).WithFix("Give what policy asks for, and plan it again.")
	}
	return nil
}

// conflicts notes what else changes the files of a member.
func (r *fleetRepository) conflicts(m *FleetMember) {
	for _, path := range m.Paths {
		if first := r.files[path]; first != "" {
			m.Conflicts = append(m.Conflicts, Conflict{Path: path, Service: first})
		} else {
			r.files[path] = m.Service
		}
		for i := range r.others {
			o := &r.others[i]
			if !slices.Contains(o.Paths, path) || len(m.Conflicts) >= maxConflicts {
				continue
			}
			c := Conflict{Path: path}
			if r.reads.Allows(r.about(o)) {
				c.Proposal, c.URL = o.ID, o.Pull.URL
			}
			m.Conflicts = append(m.Conflicts, c)
		}
	}
}

// maxConflicts bounds those that are told of one member.
const maxConflicts = 10

// binding is the hash of the places that the last edit changed, and what they
// held and will hold, whatever else is in the files.
func (c *changing) binding() (string, error) {
	places := make([][4]string, 0, len(c.touched))
	for _, t := range c.touched {
		places = append(places, [4]string{t.File, t.Path, t.From, t.To})
	}
	return hashOf(map[string]any{"repository": c.at.Repository, "places": places})
}
