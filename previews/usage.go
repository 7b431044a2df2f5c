package previews

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Cost says what previews cost, for reports.
type Cost struct {
	// PerHour is the price of an hour of one preview, by deployer; those left
	// out have none.
	PerHour map[string]float64 `yaml:"perHour"`
	// Currency is what prices are in, such as EUR.
	Currency string `yaml:"currency"`
}

// UsageInput selects what is added up.
type UsageInput struct {
	Period  string `json:"period,omitempty" jsonschema:"how far to look back, for example 24h; 168h by default, at most 720h"`
	Service string `json:"service,omitempty" jsonschema:"only previews of this component, a full reference or a bare name"`
}

// Usage is what previews took in a period.
type Usage struct {
	Since    string      `json:"since" jsonschema:"when the period began, RFC 3339 in UTC"`
	Until    string      `json:"until"`
	Currency string      `json:"currency,omitempty" jsonschema:"what costs are in"`
	Total    UsageLine   `json:"total"`
	Teams    []UsageLine `json:"teams" jsonschema:"by the owner of the service"`
	People   []UsageLine `json:"people" jsonschema:"by who asked, agents included"`
	Agents   []UsageLine `json:"agents"`
}

// UsageLine is what the previews of one of them took.
type UsageLine struct {
	Name     string  `json:"name,omitempty" jsonschema:"absent for services without an owner"`
	Now      int     `json:"now" jsonschema:"previews that are there or wait for room now"`
	Oldest   string  `json:"oldest,omitempty" jsonschema:"when the oldest of those was created"`
	OldestID string  `json:"oldestId,omitempty"`
	Created  int     `json:"created" jsonschema:"previews created in the period"`
	Failed   int     `json:"failed" jsonschema:"those of them that were never ready, and have failed or are gone"`
	Hours    float64 `json:"hours" jsonschema:"hours of previews in the period, from when there was room until they were gone"`
	Peak     int     `json:"peak" jsonschema:"the most at once in the period"`
	Cost     float64 `json:"cost,omitempty" jsonschema:"price of the hours, where deployers have one"`
}

// The period of a report of usage: what it is by default and at most, which is
// how long previews are on record.
const (
	defaultPeriod = 7 * 24 * time.Hour
	MaxPeriod     = 30 * 24 * time.Hour
)

// Usage adds up, by team, person and agent, the previews that the caller may
// see. Faults: invalid (a field).
func (s *Service) Usage(ctx context.Context, who access.Caller, in UsageInput) (*Usage, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	period := defaultPeriod
	if in.Period != "" {
		var err error
		if period, err = duration("period", in.Period, time.Minute, MaxPeriod); err != nil {
			return nil, err
		}
	}
	if err := checkText("service", in.Service, 300); err != nil {
		return nil, err
	}
	sum := newTally(s.cfg.Now().UTC(), period, s.cfg.Cost.PerHour)
	scope := s.cfg.Policy.Scope(who, access.ReadPreviews)
	q := Query{Service: entity.CompleteRef(in.Service, "component"), Gone: true, GoneSince: sum.since}
	for r, err := range s.each(ctx, scope, q) {
		if err != nil {
			return nil, err
		}
		sum.add(r)
	}
	out := &Usage{Since: stamp(sum.since), Until: stamp(sum.until), Currency: s.cfg.Cost.Currency, Total: UsageLine{},
		Teams: sum.lines(byTeam), People: sum.lines(byPerson), Agents: sum.lines(byAgent)}
	if total := sum.lines(byAll); len(total) > 0 {
		out.Total = total[0]
	}
	return out, nil
}

// axis is what usage is added up by.
type axis string

const (
	byAll    axis = ""
	byTeam   axis = "team"
	byPerson axis = "person"
	byAgent  axis = "agent"
)

// tally adds up.
type tally struct {
	since, until time.Time
	prices       map[string]float64
	groups       map[axis]map[string]*group
}

// group is what is added up of one team, person or agent.
type group struct {
	UsageLine
	oldest time.Time
	edges  []edge
}

// edge is a time at which there is one preview more, or one less.
type edge struct {
	at time.Time
	by int
}

func newTally(now time.Time, period time.Duration, prices map[string]float64) *tally {
	return &tally{since: now.Add(-period), until: now, prices: prices, groups: map[axis]map[string]*group{byAll: {}, byTeam: {}, byPerson: {}, byAgent: {}}}
}

func (t *tally) add(r *Record) {
	t.count(byAll, "", r)
	t.count(byTeam, r.Owner, r)
	t.count(byPerson, r.Person, r)
	if r.Agent != "" {
		t.count(byAgent, r.Agent, r)
	}
}

func (t *tally) count(what axis, name string, r *Record) {
	g := t.groups[what][name]
	if g == nil {
		g = &group{UsageLine: UsageLine{Name: name}}
		t.groups[what][name] = g
	}
	if r.Phase != Gone {
		g.Now++
		if g.OldestID == "" || r.CreatedAt.Before(g.oldest) {
			g.oldest, g.Oldest, g.OldestID = r.CreatedAt, stamp(r.CreatedAt), r.ID
		}
	}
	if !r.CreatedAt.Before(t.since) {
		g.Created++
		if r.ReadyAt.IsZero() && !r.AdmittedAt.IsZero() && (r.Phase == Failed || r.Phase == Gone) {
			g.Failed++
		}
	}
	from, to := t.span(r)
	if !from.Before(to) {
		return
	}
	hours := to.Sub(from).Hours()
	g.Hours += hours
	g.Cost += hours * t.prices[r.Template.Deployer]
	g.edges = append(g.edges, edge{from, 1}, edge{to, -1})
}

// span is the part of the period in which a preview took room.
func (t *tally) span(r *Record) (from, to time.Time) {
	if r.AdmittedAt.IsZero() {
		return t.until, t.until
	}
	from, to = r.AdmittedAt, t.until
	if r.Phase == Gone && r.Since.Before(to) {
		to = r.Since
	}
	if from.Before(t.since) {
		from = t.since
	}
	return from, to
}

// lines are what was added up, the most hours first.
func (t *tally) lines(what axis) []UsageLine {
	out := make([]UsageLine, 0, len(t.groups[what]))
	for _, g := range t.groups[what] {
		g.Peak = peak(g.edges)
		g.Hours, g.Cost = rounded(g.Hours), rounded(g.Cost)
		out = append(out, g.UsageLine)
	}
	slices.SortFunc(out, func(a, b UsageLine) int {
		return cmp.Or(cmp.Compare(b.Hours, a.Hours), cmp.Compare(b.Now, a.Now), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// peak is the most at once; what ends makes room for what begins then.
func peak(edges []edge) int {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, e := range edges {
		now += e.by
		most = max(most, now)
	}
	return most
}

// rounded is a figure to four places.
func rounded(f float64) float64 { return math.Round(f*1e4) / 1e4 }
