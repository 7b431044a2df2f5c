package gitops

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// What counts as a failure of a deployment, and as the same proposed again.
const (
	failsWithin = 24 * time.Hour
	againWithin = 7 * 24 * time.Hour
)

// counting adds up.
type counting struct {
	service       *Service
	q             FigureQuery
	reads, health access.Scope
	abouts        map[string]access.Attributes
	partial       []string

	total                   sum
	teams, services, agents map[string]*sum
}

// sum is what was added up of one of them.
type sum struct {
	FigureLine
	recovery, lead, toMerge, toLive, approvable []time.Duration
	accepted                                    int // of those with a report
}

// read reads and adds all of it.
func (t *counting) read(ctx context.Context) error {
	from := t.service.cfg.Figures
	deployed, err := from.DeployedIn(ctx, t.q)
	if err != nil {
		return err
	}
	proposed, err := from.ProposedIn(ctx, t.q)
	if err != nil {
		return err
	}
	refused, err := from.RefusedIn(ctx, t.q)
	if err != nil {
		return err
	}
	t.deployments(newest(t, "deployments", deployed))
	t.proposals(newest(t, "proposals", proposed))
	for _, r := range refused {
		if about := t.about(r.Service, nil); t.reads.Allows(about) {
			for _, s := range t.of(about, r.Agent) {
				s.Refused += r.Count
			}
		}
	}
	return nil
}

// newest are those that are counted.
func newest[T any](t *counting, what string, all []T) []T {
	if n := len(all) - maxFigures; n > 0 {
		t.partial = append(t.partial, fmt.Sprintf("the newest %d %s are counted", maxFigures, what))
		return all[n:]
	}
	return all
}

// about is how policy looks at a service: as it is, or as it was.
func (t *counting) about(service string, was *access.Attributes) access.Attributes {
	a, ok := t.abouts[service]
	if !ok {
		if a, ok = t.service.cfg.Catalog.Snapshot().Attributes(service); !ok && was != nil {
			a = *was
		}
		t.abouts[service] = a
	}
	return a
}

// of are the sums that something counts for; agent is "" where it does for none.
func (t *counting) of(about access.Attributes, agent string) []*sum {
	out := []*sum{&t.total}
	in := func(m map[string]*sum, name string) {
		if m[name] == nil {
			m[name] = &sum{FigureLine: FigureLine{Name: name}}
		}
		out = append(out, m[name])
	}
	if len(about.Owners) > 0 {
		in(t.teams, about.Owners[0])
	}
	if about.Ref != "" {
		in(t.services, about.Ref)
	}
	if agent != "" {
		in(t.agents, agent)
	}
	return out
}

// deployments adds those of services.
func (t *counting) deployments(all []Deployed) {
	later := map[string]time.Time{} // when the next of an environment was healthy
	for _, d := range slices.Backward(all) {
		key := d.Service + "\x00" + d.Environment
		about := t.about(d.Service, nil)
		if t.health.Allows(about) {
			for _, s := range t.of(about, "") {
				s.deployed(&d, later[key])
			}
		}
		if !d.HealthyAt.IsZero() && (d.DegradedAt.IsZero() || !d.RecoveredAt.IsZero()) {
			later[key] = latest(d.HealthyAt, d.RecoveredAt)
		}
	}
}

// deployed adds one; next is when the one after it was healthy, zero where none
// was.
func (s *sum) deployed(d *Deployed, next time.Time) {
	s.Deployments++
	degraded := !d.DegradedAt.IsZero() && d.DegradedAt.Sub(d.At) <= failsWithin
	if d.HealthyAt.IsZero() && !degraded && !d.Undone {
		return
	}
	s.Observed++
	if degraded || d.Undone {
		s.Failed++
	}
	if end := cmpTime(d.RecoveredAt, next); degraded && !end.IsZero() {
		s.recovery = append(s.recovery, end.Sub(d.DegradedAt))
	}
}

// cmpTime is the first time that is one.
func cmpTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
}

// proposals adds what was proposed.
func (t *counting) proposals(all []ProposedFigure) {
	again := map[string]time.Time{} // when the next of a slot was proposed
	for i := len(all) - 1; i >= 0; i-- {
		p := &all[i]
		if about := t.about(p.Service, &p.About); t.reads.Allows(about) {
			for _, s := range t.of(about, p.Agent) {
				s.proposed(p, again[p.Slot])
			}
			if p.Agent != "" {
				t.agents[p.Agent].byAgent(p)
			}
		}
		if p.Slot != "" {
			again[p.Slot] = p.CreatedAt
		}
	}
}

// proposed adds one; again is when the same was proposed next.
func (s *sum) proposed(p *ProposedFigure, again time.Time) {
	s.Proposals++
	merged := p.Follow.MergedAt
	if p.State == Merged {
		s.Merged++
		merged = cmpTime(merged, p.EndedAt)
	}
	if p.State == Closed {
		s.Closed++
	}
	add := func(to *[]time.Duration, from, until time.Time) {
		if !from.IsZero() && !until.Before(from) {
			*to = append(*to, until.Sub(from))
		}
	}
	add(&s.toMerge, p.CreatedAt, merged)
	add(&s.lead, p.CreatedAt, p.Follow.HealthyAt)
	add(&s.toLive, merged, p.Follow.HealthyAt)
	add(&s.approvable, p.CreatedAt, p.Course.Ready)
	if p.reworked(again) {
		s.Reworked++
	}
	if p.Usage != (Usage{}) {
		s.Reported++
		s.Tokens += float64(p.Usage.Tokens)
		s.Cost += p.Usage.Cost
		if p.State == Merged {
			s.accepted++
		}
	}
}

// reworked tells whether people had to work on it.
func (p *ProposedFigure) reworked(again time.Time) bool {
	pushed := p.Pull.Head != "" && p.Commit != "" && p.Pull.Head != p.Commit
	repeated := p.State == Closed && !again.IsZero() && again.Sub(p.EndedAt) <= againWithin
	return pushed || len(p.Pull.Rejected) > 0 || p.Follow.RolledBack != nil || repeated
}

// byAgent adds what became of a proposal where it was deployed.
func (s *sum) byAgent(p *ProposedFigure) {
	f := &p.Follow
	if f.SyncedAt.IsZero() && f.DegradedAt.IsZero() && f.HealthyAt.IsZero() {
		return
	}
	d := Deployed{At: cmpTime(f.SyncedAt, f.MergedAt), HealthyAt: f.HealthyAt, DegradedAt: f.DegradedAt, Undone: f.RolledBack != nil}
	if !f.DegradedAt.IsZero() && f.HealthyAt.After(f.DegradedAt) {
		d.RecoveredAt = f.HealthyAt
	}
	s.deployed(&d, time.Time{})
}

// figures is the answer.
func (t *counting) figures() *ChangeFigures {
	days := t.q.Until.Sub(t.q.Since).Hours() / 24
	out := &ChangeFigures{Since: t.q.Since, Until: t.q.Until, Partial: t.partial, Total: t.total.line(days), Teams: lines(t, "teams", t.teams, days), Services: lines(t, "services", t.services, days), Agents: lines(t, "agents", t.agents, days)}
	out.Partial = t.partial
	return out
}

// maxLines bounds the lines of a kind.
const maxLines = 500

func lines(t *counting, what string, of map[string]*sum, days float64) []FigureLine {
	out := make([]FigureLine, 0, len(of))
	for _, s := range of {
		out = append(out, s.line(days))
	}
	slices.SortFunc(out, func(a, b FigureLine) int {
		return cmp.Or(b.Deployments+b.Proposals-a.Deployments-a.Proposals, strings.Compare(a.Name, b.Name))
	})
	if len(out) > maxLines {
		t.partial = append(t.partial, fmt.Sprintf("%d %s are shown of %d", maxLines, what, len(out)))
		out = out[:maxLines]
	}
	return out
}

// line works out rates and spreads.
func (s *sum) line(days float64) FigureLine {
	l := s.FigureLine
	l.PerDay = math.Round(100*float64(l.Deployments)/days) / 100
	l.FailureRate, l.ReworkRate = share(l.Failed, l.Observed), share(l.Reworked, l.Proposals)
	l.Recovery, l.LeadTime, l.ToMerge, l.ToLive, l.Approvable = spread(s.recovery), spread(s.lead), spread(s.toMerge), spread(s.toLive), spread(s.approvable)
	if s.accepted > 0 {
		each := math.Round(10000*l.Cost/float64(s.accepted)) / 10000
		l.CostPerMerged = &each
	}
	return l
}

// share is a part in per cent, nil of nothing.
func share(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	return new(tenth(100 * float64(part) / float64(whole)))
}

// spread is how durations are spread, nil of none.
func spread(all []time.Duration) *Spread {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	at := func(part float64) string { // the nearest rank
		return all[max(int(math.Ceil(part*float64(len(all))))-1, 0)].Round(time.Second).String()
	}
	return &Spread{Count: len(all), Median: at(0.5), P90: at(0.9)}
}
