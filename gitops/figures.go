package gitops

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// GetChangeFiguresInput selects what is counted; a field left out selects all.
type GetChangeFiguresInput struct {
	Period      string `json:"period,omitempty" jsonschema:"how far to look back, for example 168h; 720h by default, at most 9600h"`
	Service     string `json:"service,omitempty" jsonschema:"only this component, a full reference or a bare name"`
	Environment string `json:"environment,omitempty" jsonschema:"only this environment, as DORA's keys are about production"`
}

// ChangeFigures are DORA's keys and what concerns agents, of what was deployed
// and proposed in a period, as far as the caller may read of it. The keys are
// those of DORA's research (https://dora.dev/guides/dora-metrics-four-keys/): how
// often is deployed, how long a change takes to get there, how many deployments
// fail, and how long it takes to recover; and rework. Each field says how it is
// counted here.
type ChangeFigures struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Partial says that there was more than is counted, and what.
	Partial  []string     `json:"partial,omitempty"`
	Total    FigureLine   `json:"total"`
	Teams    []FigureLine `json:"teams" jsonschema:"by the owner of the service"`
	Services []FigureLine `json:"services"`
	Agents   []FigureLine `json:"agents" jsonschema:"of what each has proposed"`
}

// FigureLine are the figures of one team, service or agent. Of an agent,
// deployments are the proposals of it that were synced.
type FigureLine struct {
	Name string `json:"name,omitempty"`
	// Deployments are the revisions that Argo CD synced, or tried to, in the
	// period; PerDay is how many of them on a day (DORA's deployment frequency).
	Deployments int     `json:"deployments"`
	PerDay      float64 `json:"perDay"`
	// Observed are those of which it became known whether they were well. Failed
	// are those of them that were degraded within a day of their sync, whose sync
	// failed, or that were taken back (what had been there before came back).
	// FailureRate is their share in per cent (DORA's change failure rate).
	Observed    int      `json:"observed"`
	Failed      int      `json:"failed"`
	FailureRate *float64 `json:"failureRate,omitempty" jsonschema:"per cent of observed"`
	// Recovery is from when one was degraded until that or what replaced it was
	// healthy (DORA's failed deployment recovery time), of those that recovered.
	Recovery *Spread `json:"recovery,omitempty" jsonschema:"from degraded to healthy again"`
	// Proposals are the changes and rollbacks that were proposed in the period;
	// Merged and Closed are what became of them.
	Proposals int `json:"proposals"`
	Merged    int `json:"merged"`
	Closed    int `json:"closed"`
	// LeadTime is from when a change was proposed until it was live and healthy,
	// ToMerge until it was merged, ToLive from then on (DORA's change lead time,
	// which begins with the commit; when the commit was made that an image was
	// built from is not known here).
	LeadTime *Spread `json:"leadTime,omitempty" jsonschema:"from proposed to healthy"`
	ToMerge  *Spread `json:"toMerge,omitempty" jsonschema:"from proposed to merged"`
	ToLive   *Spread `json:"toLive,omitempty" jsonschema:"from merged to healthy"`
	// Approvable is from when one was proposed until its pull request could be
	// merged but for reviews: no conflict, no draft, all checks passed.
	Approvable *Spread `json:"approvable,omitempty" jsonschema:"from proposed to a pull request that lacks reviews at most"`
	// Reworked are the proposals that people had to work on: somebody pushed to
	// the branch, a reviewer asked for changes, it was taken back after it was
	// merged, or it was closed and the same was proposed again within a week.
	Reworked   int      `json:"reworked"`
	ReworkRate *float64 `json:"reworkRate,omitempty" jsonschema:"per cent of proposals"`
	// Refused is how often the lock did not let somebody propose: rules, policy
	// as code, quota.
	Refused int `json:"refused"`
	// Reported are the proposals whose caller said what they took; Tokens and
	// Cost are the sums of that, and CostPerMerged is the cost of all of them for
	// each that was merged.
	Reported      int      `json:"reported"`
	Tokens        float64  `json:"tokens,omitempty"`
	Cost          float64  `json:"cost,omitempty" jsonschema:"in the money that callers report in"`
	CostPerMerged *float64 `json:"costPerMerged,omitempty"`
}

// Spread is how some durations are spread.
type Spread struct {
	Count  int    `json:"count"`
	Median string `json:"median"`
	P90    string `json:"p90" jsonschema:"nine in ten take no longer"`
}

// FigureReads is where figures are read from; bounds hold in the database.
type FigureReads interface {
	// DeployedIn are the deployments that a query selects, oldest first.
	DeployedIn(ctx context.Context, q FigureQuery) ([]Deployed, error)
	// ProposedIn are the changes and rollbacks, oldest first.
	ProposedIn(ctx context.Context, q FigureQuery) ([]ProposedFigure, error)
	// RefusedIn counts what was refused to be proposed, by service and agent.
	RefusedIn(ctx context.Context, q FigureQuery) ([]RefusedFigure, error)
}

// FigureQuery selects by time; of more than Most the newest. Service and
// Environment are "" for all.
type FigureQuery struct {
	Since, Until         time.Time
	Service, Environment string
	Most                 int
}

// ProposedFigure is what is counted of a proposal.
type ProposedFigure struct {
	Service, Agent, Slot, State string
	About                       access.Attributes
	CreatedAt, EndedAt          time.Time
	// Commit is the head of the branch as it was pushed here.
	Commit string
	Pull   Pull
	Follow Follow
	Course Course
	Usage  Usage
}

// RefusedFigure is how often somebody was refused.
type RefusedFigure struct {
	Service, Agent string
	Count          int
}

// Usage is what making a proposal took, as its caller reports it.
type Usage struct {
	Tokens int64 `json:"tokens,omitempty" jsonschema:"of models, in and out"`
	// Cost is of models and computing.
	Cost float64 `json:"cost,omitempty" jsonschema:"in the organisation's money"`
}

// check tells what is wrong with a report.
func (u *Usage) check() error {
	if u == nil || u.Tokens >= 0 && u.Tokens <= 1e15 && u.Cost >= 0 && u.Cost <= 1e12 {
		return nil
	}
	return fault.New(fault.Invalid, "usage: %d tokens and a cost of %v cannot be", u.Tokens, u.Cost).WithFix("Report what making the proposal took so far, or leave it out.")
}

// The period of figures: what it is by default and at most, which is how long
// deployments are on record; and how many of each kind are counted.
const (
	figuresPeriod = 30 * 24 * time.Hour
	maxFigures    = 20_000
)

// GetChangeFigures counts. Faults: invalid (a field).
func (s *Service) GetChangeFigures(ctx context.Context, who access.Caller, in GetChangeFiguresInput) (*ChangeFigures, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	q, err := s.figureQuery(&in)
	if err != nil {
		return nil, err
	}
	t := &counting{service: s, q: q, reads: s.cfg.Policy.Scope(who, access.ReadProposals), health: s.cfg.Policy.Scope(who, access.ReadHealth),
		abouts: map[string]access.Attributes{}, teams: map[string]*sum{}, services: map[string]*sum{}, agents: map[string]*sum{}}
	if s.cfg.Figures != nil {
		if err := t.read(ctx); err != nil {
			return nil, err
		}
	}
	return t.figures(), nil
}

// figureQuery checks the input.
func (s *Service) figureQuery(in *GetChangeFiguresInput) (q FigureQuery, err error) {
	for field, text := range map[string]string{"service": in.Service, "environment": in.Environment} {
		if len(text) > 300 || line(text, 300) != strings.TrimSpace(text) {
			return q, fault.New(fault.Invalid, "%s is longer than 300 bytes or holds control characters", field).WithFix("Correct %s.", field)
		}
	}
	period := figuresPeriod
	if in.Period != "" {
		if period, err = time.ParseDuration(in.Period); err != nil || period < time.Minute || period > KeptDeployedFor {
			return q, fault.New(fault.Invalid, "period: %q is no time between a minute and %s", clip(in.Period, 40), KeptDeployedFor).WithFix("Write for example 168h for a week.")
		}
	}
	until := s.cfg.Now().UTC().Truncate(time.Second).Add(time.Second) // with this second
	return FigureQuery{Since: until.Add(-period), Until: until, Service: entity.CompleteRef(in.Service, "component"), Environment: strings.TrimSpace(in.Environment), Most: maxFigures + 1}, nil
}
