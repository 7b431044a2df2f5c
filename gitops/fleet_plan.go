package gitops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// Bounds of fleets.
const (
	// maxFleet is how many services one change may select.
	maxFleet = 2000
	// keptPlans is how many plans of one person and agent are kept that were not
	// started, each for planTTL.
	keptPlans = 5
	planTTL   = 24 * time.Hour
	// askedAtOnce is how many services are looked for at once, openAtOnce how many
	// repositories are opened at once, and savedAtOnce how many members are written
	// down at once.
	askedAtOnce, openAtOnce, savedAtOnce = 16, 4, 50
	// maxMemberDiff is how much of a member's diff is kept, in bytes.
	maxMemberDiff = 4000
	// maxNeighbours bounds the open proposals of a repository that are looked at.
	maxNeighbours = 1000
)

// planRate is how often a person and agent may plan.
var planRate = access.Rate{Burst: 20, Per: 10 * time.Minute}

// PlanFleet works out what one change means for every service that a query
// selects: the edit, what policy says of it, what else changes the same files.
// Nothing is proposed; StartFleet does that, for exactly this plan, within a
// day. The five newest plans of a person and agent are kept. Faults: invalid
// (the query, the change, the waves), forbidden (the caller may propose
// nothing), not_found (no service is selected), quota_exceeded (20 plans in ten
// minutes), unavailable.
func (s *Service) PlanFleet(ctx context.Context, who access.Caller, in PlanFleetInput) (*Fleet, error) {
	if err := s.fleetsThere(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Until == UntilHealthy && s.cfg.Follow.Health == nil {
		return nil, fault.New(fault.FailedPrecondition, "nobody tells this server what is healthy").WithFix("Leave until out, or have the operators configure argocd.")
	}
	if err := s.mayPlan(who, in.Environment); err != nil {
		return nil, err
	}
	done, err := s.turnToPlan(ctx, who)
	if err != nil {
		return nil, err
	}
	defer done()
	selected, err := s.selected(ctx, who, in.Query)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Now().UTC().Truncate(time.Microsecond)
	f := FleetRecord{ID: record.NewID("fleet-"+in.Environment, 40), Person: who.Subject(), Agent: who.Agent(), Spec: in, Title: in.title(), State: FleetPlanning, CreatedAt: now, UpdatedAt: now}
	if err := s.cfg.Fleets.Writes.AddFleet(ctx, f, now.Add(-planTTL), keptPlans); err != nil {
		return nil, err
	}
	p := &fleetPlan{Service: s, who: who, f: &f, in: &in, rows: make([]planRow, len(selected)), reads: s.cfg.Policy.Scope(who, access.ReadProposals)}
	if err := p.workOut(ctx, selected); err != nil {
		return nil, err
	}
	if err := p.finish(ctx); err != nil {
		return nil, err
	}
	return s.fleetView(ctx, who, &f, GetFleetInput{})
}

// turnToPlan waits until few enough others plan; who has planned too often is
// refused.
func (s *Service) turnToPlan(ctx context.Context, who access.Caller) (done func(), err error) {
	wait, err := s.cfg.Fleets.Quota.Take(ctx, fmt.Sprintf("plan_fleet %q %q", who.Subject(), who.Agent()), planRate)
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, "the quota could not be asked, so nothing was planned").WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(err)
	case wait > 0:
		return nil, fault.New(fault.QuotaExceeded, "%s has used up its %s of plans", who.Name(), planRate).WithFix("Try again in %s.", wait.Round(time.Second)).After(wait)
	}
	select {
	case s.planning <- struct{}{}:
		return func() { <-s.planning }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Service) fleetsThere() error {
	if err := s.there(); err != nil {
		return err
	}
	if s.cfg.Fleets == nil {
		return fault.New(fault.FailedPrecondition, "this server makes no changes of many services").WithFix("Propose them one by one.")
	}
	return nil
}

// mayPlan refuses who may propose nothing, and whom a rule denies fleets.
func (s *Service) mayPlan(who access.Caller, environment string) error {
	d := s.cfg.Policy.AllowHolder(who, access.RunFleet, access.Attributes{Environment: environment})
	if d.Allowed && s.cfg.Policy.Scope(who, access.ProposeChange).None() {
		d = s.cfg.Policy.Allow(who, access.ProposeChange, access.Attributes{})
	}
	if d.Allowed {
		return nil
	}
	return fault.New(fault.Forbidden, "%s", d.Reason).WithFix("%s", d.Fix)
}

// selected are the components that a query selects, by reference.
func (s *Service) selected(ctx context.Context, who access.Caller, query []string) ([]*catalog.Entity, error) {
	page, err := s.cfg.Catalog.ListEntities(ctx, who, catalog.ListEntitiesInput{Filter: query, TotalItems: "exclude"})
	if err != nil {
		return nil, err
	}
	out := slices.DeleteFunc(slices.Clone(page.Items), func(e *catalog.Entity) bool { return e.Ref.Kind != "component" })
	switch {
	case len(out) == 0:
		return nil, fault.New(fault.NotFound, "the query selects no component that you may see").WithFix("Try it with `fairlead get components --filter`, for example spec.owner=payments.")
	case len(out) > maxFleet:
		return nil, fault.New(fault.Invalid, "the query selects %d components, more than %d", len(out), maxFleet).WithFix("Narrow it down, and do it in parts.")
	}
	slices.SortFunc(out, func(a, b *catalog.Entity) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return out, nil
}

// fleetPlan is a plan being worked out.
type fleetPlan struct {
	*Service
	who   access.Caller
	f     *FleetRecord
	in    *PlanFleetInput
	reads access.Scope
	mu    sync.Mutex
	// rows say what came of each member, by position.
	rows []planRow
}

// planRow is what of a member the whole plan is made of.
type planRow struct {
	service, state, binding string
	protected               bool
}

// fleetSite is where a member is to be changed.
type fleetSite struct {
	position int
	entity   *catalog.Entity
	*changing
}

// workOut plans every member; those of one repository on one commit of it, which
// is opened once.
func (p *fleetPlan) workOut(ctx context.Context, selected []*catalog.Entity) error {
	places, out := p.sites(ctx, selected)
	if err := cmp.Or(ctx.Err(), p.add(ctx, out)); err != nil {
		return err
	}
	g, each := beside.WithContext(ctx)
	g.SetLimit(openAtOnce)
	for _, key := range slices.Sorted(maps.Keys(places)) {
		g.Go(func() error { return p.repository(each, places[key]) })
	}
	return g.Wait()
}

// sites are where the members are to be changed, by repository and branch, and
// those of which that is not known. An Argo CD may have to be asked for each.
func (p *fleetPlan) sites(ctx context.Context, selected []*catalog.Entity) (places map[string][]fleetSite, out []FleetMember) {
	found, errs := make([]*changing, len(selected)), make([]error, len(selected))
	var g beside.Group
	g.SetLimit(askedAtOnce)
	for i, e := range selected {
		g.Go(func() error {
			defer fault.Catch(&errs[i], "planning %s", e.Ref)
			found[i], errs[i] = p.site(ctx, p.who, ProposeChangeInput{Service: e.Ref.String(), Environment: p.in.Environment, Change: p.in.Change, Reason: p.in.Reason, Evidence: p.in.Evidence})
			return nil
		})
	}
	_ = g.Wait() // what fails is a member all the same
	places = map[string][]fleetSite{}
	for i, e := range selected {
		if errs[i] != nil {
			out = append(out, p.without(i, e, errs[i]))
			continue
		}
		key := found[i].at.Repository + "\x00" + found[i].at.Base
		places[key] = append(places[key], fleetSite{i, e, found[i]})
	}
	return places, out
}

// member begins a member.
func (p *fleetPlan) member(position int, e *catalog.Entity) FleetMember {
	about := index.AttributesOf(e)
	about.Environment = p.in.Environment
	return FleetMember{Fleet: p.f.ID, Position: position, About: about, Member: Member{Service: e.Ref.String(), State: MemberWaiting, UpdatedAt: p.f.CreatedAt}}
}

// without is a member that it is not known how to change.
func (p *fleetPlan) without(position int, e *catalog.Entity, err error) FleetMember {
	m := p.member(position, e)
	m.refuse(err)
	if fault.CodeOf(err) == fault.NotFound {
		m.State = MemberAbsent
	}
	return m
}

// refuse leaves a member out.
func (m *FleetMember) refuse(err error) {
	f := fault.From(err)
	m.State, m.Reason, m.Fix = MemberRefused, clip(f.Message, 500), clip(f.Fix, 500)
}

// add writes members down.
func (p *fleetPlan) add(ctx context.Context, members []FleetMember) error {
	if len(members) == 0 {
		return nil
	}
	p.note(members)
	return p.cfg.Fleets.Writes.AddFleetMembers(ctx, members)
}

// note takes down what the whole plan is made of.
func (p *fleetPlan) note(members []FleetMember) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range members {
		m := &members[i]
		p.rows[m.Position] = planRow{m.Service, m.State, m.Binding, m.About.Protected}
	}
}

// finish makes the waves and the hash of the plan, and keeps it.
func (p *fleetPlan) finish(ctx context.Context) error {
	positions, bound := p.waiting()
	if err := p.cfg.Fleets.Writes.FleetWaves(ctx, p.f.ID, wavesOf(p.in.Waves, positions)); err != nil {
		return err
	}
	var err error
	if p.f.PlanHash, err = hashOf(map[string]any{"environment": p.in.Environment, "change": p.in.Change, "waves": p.in.Waves, "until": p.in.Until, "maxFailures": p.in.MaxFailures, "members": bound}); err != nil {
		return err
	}
	p.f.State, p.f.Next = FleetPlanned, "Start it, within a day."
	if len(bound) == 0 {
		p.f.Next = "Nothing: there is nothing to propose."
	} else if trial, err := access.Try(ctx, p.cfg.Guard, p.who, p.startOp(p.who, p.f, nil)); err == nil && len(trial.Notes()) > 0 {
		p.f.Next = "Start it, within a day; " + strings.Join(trial.Notes(), "; ") + "."
	}
	_, err = p.cfg.Fleets.Writes.MoveFleet(ctx, *p.f, false, FleetPlanning)
	return err
}

// waiting are the positions of those to propose, and what the plan binds them
// to.
func (p *fleetPlan) waiting() (positions []int, bound [][2]string) {
	for i, r := range p.rows {
		if r.state == MemberWaiting {
			positions, bound = append(positions, i), append(bound, [2]string{r.service, r.binding})
			p.f.Protected = p.f.Protected || r.protected
		}
	}
	return positions, bound
}

// repository plans the members of one repository.
func (p *fleetPlan) repository(ctx context.Context, sites []fleetSite) error {
	r := &fleetRepository{fleetPlan: p, at: sites[0].at, files: map[string]string{}, places: map[string]string{}}
	failed := r.open(ctx)
	for batch := range slices.Chunk(sites, savedAtOnce) {
		out := r.batch(ctx, batch, failed)
		if ctx.Err() != nil { // what was refused was so because of that
			return ctx.Err()
		}
		if err := p.add(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// batch plans some members, several at once; failed is why the repository cannot
// be read.
func (r *fleetRepository) batch(ctx context.Context, sites []fleetSite, failed error) []FleetMember {
	out := make([]FleetMember, len(sites))
	var g beside.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, site := range sites {
		g.Go(func() error {
			out[i] = r.member(site.position, site.entity)
			err := cmp.Or(failed, ctx.Err())
			if err == nil {
				err = r.plan(ctx, &out[i], site)
			}
			if err != nil {
				out[i].refuse(err)
			}
			return nil
		})
	}
	_ = g.Wait() // what fails is refused
	for i := range out {
		r.beside(&out[i])
	}
	return out
}
