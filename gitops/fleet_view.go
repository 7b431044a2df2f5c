package gitops

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// maxFailing bounds the failing members that are told of in one answer, and
// maxMembers a page of members.
const maxFailing, maxMembers = 20, 200

// GetFleet is one fleet with a page of its members, by name. Who planned it and
// who may read the proposal of one of its services at least sees it. Faults:
// invalid (a field), not_found.
func (s *Service) GetFleet(ctx context.Context, who access.Caller, in GetFleetInput) (*Fleet, error) {
	f, err := s.readableFleet(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	return s.fleetView(ctx, who, &f, in)
}

// readableFleet finds a fleet that the caller may see.
func (s *Service) readableFleet(ctx context.Context, who access.Caller, id string) (f FleetRecord, err error) {
	if err := s.fleetsThere(); err != nil {
		return f, err
	}
	missing := fault.New(fault.NotFound, "there is no fleet %q", clip(id, 80)).WithFix("List the fleets to see their ids.")
	if s.cfg.Policy.Scope(who, access.ReadProposals).None() || !record.IsID(id) {
		return f, missing
	}
	f, err = s.cfg.Fleets.Reads.Fleet(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return f, missing
	case err != nil:
		return f, err
	}
	seen, err := s.tally(ctx, who, &f)
	if err != nil {
		return f, err
	}
	if f.Person != who.Subject() && seen.counts.Total == 0 {
		return f, missing
	}
	return f, nil
}

// tally is what is counted of a fleet for a caller.
type tally struct {
	counts FleetCounts
	waves  []FleetWave
}

// tally counts the members that a caller may see.
func (s *Service) tally(ctx context.Context, who access.Caller, f *FleetRecord) (out tally, err error) {
	scope := s.cfg.Policy.Scope(who, access.ReadProposals)
	out.waves = []FleetWave{}
	err = s.cfg.Fleets.Reads.TallyFleet(ctx, f.ID, func(m MemberTally) {
		if scope.Allows(s.aboutNow(m.About)) {
			out.count(m)
		}
	})
	return out, err
}

// aboutNow is what policy looks at: a service as it is, or as it was when it is
// not in the catalog any more.
func (s *Service) aboutNow(a access.Attributes) access.Attributes {
	return s.about(&Record{Service: a.Ref, About: a})
}

// count adds a member.
func (t *tally) count(m MemberTally) {
	c := &t.counts
	if n := c.of(m.State); n != nil {
		*n++
	}
	c.Total++
	if m.Conflicted {
		c.Conflicted++
	}
	if m.Wave == 0 {
		return
	}
	for len(t.waves) < m.Wave {
		t.waves = append(t.waves, FleetWave{Number: len(t.waves) + 1})
	}
	w := &t.waves[m.Wave-1]
	w.Size++
	switch m.State {
	case MemberDone, MemberUnchanged, MemberCovered:
		w.Done++
	case MemberOpen, MemberApproval, MemberMerged:
		w.Open++
	case MemberFailed:
		w.Failed++
	}
}

// of is where members of a state are counted.
func (c *FleetCounts) of(state string) *int {
	return map[string]*int{MemberWaiting: &c.Waiting, MemberApproval: &c.Approval, MemberOpen: &c.Open, MemberMerged: &c.Merged, MemberDone: &c.Done,
		MemberUnchanged: &c.Unchanged, MemberCovered: &c.Covered, MemberAbsent: &c.Absent, MemberRefused: &c.Refused, MemberFailed: &c.Failed}[state]
}

// view is a fleet as callers see it, without its members.
func (f *FleetRecord) view(t *tally) *Fleet {
	return &Fleet{ID: f.ID, State: f.State, Query: f.Spec.Query, Environment: f.Spec.Environment, Title: f.Title, Reason: f.Spec.Reason, Evidence: f.Spec.Evidence,
		Until: f.Spec.Until, MaxFailures: f.Spec.MaxFailures, Person: f.Person, Agent: f.Agent, PlanHash: f.PlanHash, Wave: f.Wave, Counts: t.counts, Waves: t.waves,
		Why: f.Why, Next: f.Next, CreatedAt: f.CreatedAt, StartedAt: f.StartedAt, UpdatedAt: f.UpdatedAt, EndedAt: f.EndedAt, Failing: []Member{}, Members: []Member{}}
}

// fleetView is a fleet with a page of its members.
func (s *Service) fleetView(ctx context.Context, who access.Caller, f *FleetRecord, in GetFleetInput) (*Fleet, error) {
	q, err := memberQuery(f.ID, in)
	if err != nil {
		return nil, err
	}
	t, err := s.tally(ctx, who, f)
	if err != nil {
		return nil, err
	}
	out, limit := f.view(&t), q.Limit
	for q.Limit = maxMembers; ; {
		found, err := s.cfg.Fleets.Reads.FleetMembers(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range found {
			m, seen := s.memberView(who, f, &found[i])
			if seen && len(out.Members) == limit {
				out.NextCursor = "members:" + strconv.Itoa(q.After)
				return out, s.failing(ctx, who, f, out)
			}
			if q.After = found[i].Position; seen {
				out.Members = append(out.Members, m)
			}
		}
		if len(found) < q.Limit {
			return out, s.failing(ctx, who, f, out)
		}
	}
}

// failing adds the first members that failed or wait for somebody to agree, and
// as far as there is room those that the plan refused.
func (s *Service) failing(ctx context.Context, who access.Caller, f *FleetRecord, out *Fleet) error {
	for _, states := range [][]string{{MemberFailed}, {MemberApproval}, {MemberRefused}} {
		found, err := s.cfg.Fleets.Reads.FleetMembers(ctx, MemberQuery{Fleet: f.ID, States: states, After: -1, Limit: maxMembers, Bare: true})
		if err != nil {
			return err
		}
		for i := range found {
			if m, seen := s.memberView(who, f, &found[i]); seen && len(out.Failing) < maxFailing {
				out.Failing = append(out.Failing, m)
			}
		}
	}
	return nil
}

// memberView is a member as a caller sees it: what others there are is told of
// as far as they may see them.
func (s *Service) memberView(who access.Caller, f *FleetRecord, m *FleetMember) (Member, bool) {
	scope := s.cfg.Policy.Scope(who, access.ReadProposals)
	out := m.Member
	if !scope.Allows(s.aboutNow(m.About)) {
		return out, false
	}
	if scope.All() || who.Subject() == f.Person {
		return out, true
	}
	out.Conflicts = make([]Conflict, len(m.Conflicts))
	for i, c := range m.Conflicts {
		out.Conflicts[i] = Conflict{Path: c.Path}
	}
	if out.State == MemberCovered {
		out.Reason = "another member changes the same places"
	}
	return out, true
}

// memberQuery checks which members are asked for.
func memberQuery(fleet string, in GetFleetInput) (q MemberQuery, err error) {
	q = MemberQuery{Fleet: fleet, After: -1, Limit: in.Limit}
	switch {
	case q.Limit == 0:
		q.Limit = defaultPage
	case q.Limit < 0 || q.Limit > maxMembers:
		return q, fault.New(fault.Invalid, "limit is %d, not between 1 and %d", q.Limit, maxMembers).WithFix("Ask for at most %d and go on with the cursor.", maxMembers)
	}
	if in.State != "" {
		if (&FleetCounts{}).of(in.State) == nil {
			return q, fault.New(fault.Invalid, "state: no member is %q", clip(in.State, 80)).WithFix("Write waiting, approval, open, merged, done, unchanged, covered, absent, refused or failed.")
		}
		q.States = []string{in.State}
	}
	if in.Cursor != "" {
		after, ok := strings.CutPrefix(in.Cursor, "members:")
		if q.After, err = strconv.Atoi(after); err != nil || !ok {
			return q, fault.New(fault.Invalid, "cursor %q is not one of members", clip(in.Cursor, 80)).WithFix("Give nextCursor of the page before as it is, or leave cursor out.")
		}
	}
	return q, nil
}

// ListFleets lists fleets, newest first. Faults: invalid (a field).
func (s *Service) ListFleets(ctx context.Context, who access.Caller, in ListFleetsInput) (*FleetPage, error) {
	if err := s.fleetsThere(); err != nil {
		return nil, err
	}
	q, err := fleetQuery(in)
	if err != nil {
		return nil, err
	}
	out, last := &FleetPage{Items: []Fleet{}}, (*FleetRecord)(nil)
	if s.cfg.Policy.Scope(who, access.ReadProposals).None() {
		return out, nil
	}
	for f, err := range s.eachFleet(ctx, q) {
		if err != nil {
			return nil, err
		}
		t, err := s.tally(ctx, who, f)
		switch {
		case err != nil:
			return nil, err
		case f.Person != who.Subject() && t.counts.Total == 0:
			continue
		case len(out.Items) == q.Limit:
			out.NextCursor = fleetPages().Cursor(last.CreatedAt, last.ID)
			return out, nil
		}
		out.Items, last = append(out.Items, *f.view(&t)), f
	}
	return out, nil
}

// eachFleet yields the fleets that are meant, newest first.
func (s *Service) eachFleet(ctx context.Context, q FleetQuery) iter.Seq2[*FleetRecord, error] {
	return record.All(record.Page{Limit: maxPage, Before: q.Before, BeforeID: q.BeforeID}, func(p record.Page) ([]FleetRecord, error) {
		q.Limit, q.Before, q.BeforeID = p.Limit, p.Before, p.BeforeID
		return s.cfg.Fleets.Reads.Fleets(ctx, q)
	}, func(f *FleetRecord) (time.Time, string) { return f.CreatedAt, f.ID })
}

// fleetQuery checks the input.
func fleetQuery(in ListFleetsInput) (q FleetQuery, err error) {
	q = FleetQuery{Person: entity.CompleteRef(in.Person, "user"), State: in.State, Limit: in.Limit}
	switch q.State {
	case "", FleetPlanning, FleetPlanned, FleetRunning, FleetPaused, FleetStopped, FleetDone, FleetCancelled:
	default:
		return q, fault.New(fault.Invalid, "state: no fleet is %q", clip(in.State, 80)).WithFix("Write planned, running, paused, stopped, done or cancelled.")
	}
	page, err := fleetPages().Page(in.Limit, in.Cursor)
	q.Limit, q.Before, q.BeforeID = page.Limit, page.Before, page.BeforeID
	return q, err
}
