package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Sizes of a page of services, and how long and for how many scopes a report
// is kept while nothing is published.
const (
	defaultCoverage = 100
	maxCoverage     = 500
	coverageLife    = 30 * time.Second
	coverageScopes  = 8
)

// coverageThings are what is to be known of a service, in order.
func coverageThings() []string {
	return []string{"owner", "build", "test", "slo", "runbook", "oncall", "deploy"}
}

// GetCoverage tells of which services something is not known that agents and
// people need, by team, with the lines to add. Faults: invalid, not_found.
func (s *Service) GetCoverage(_ context.Context, who access.Caller, in GetCoverageInput) (*Coverage, error) {
	limit, err := between("limit", in.Limit, defaultCoverage, maxCoverage)
	if err != nil {
		return nil, err
	}
	if in.Missing != "" && in.Missing != "any" && !slices.Contains(coverageThings(), in.Missing) {
		return nil, fault.New(fault.Invalid, "missing: there is no thing %.60q", in.Missing).WithFix("Known: %s, any.", strings.Join(coverageThings(), ", "))
	}
	owner := ""
	if in.Owner != "" {
		ref, err := entity.ParseRef(in.Owner, "group", entity.DefaultNamespace)
		if err != nil {
			return nil, fault.New(fault.Invalid, "owner: %s", err.Error()).WithFix("Write it like group:default/payments.")
		}
		owner = ref.String()
	}
	var after coveragePlace
	if in.Cursor != "" {
		if err := decodeCursor(in.Cursor, &after); err != nil {
			return nil, err
		}
	}
	all, err := s.coveredOf(s.reading(who), in.Service)
	if err != nil {
		return nil, err
	}
	out := &Coverage{Teams: []CoverageTotal{}, Items: []ServiceCoverage{}}
	for _, it := range all {
		if owner != "" && it.Owner != owner || in.Type != "" && !strings.EqualFold(it.Type, in.Type) {
			continue
		}
		out.count(it)
		if in.Missing != "" && !it.lacks(in.Missing) {
			continue
		}
		out.Total++
		if in.Cursor != "" && !after.before(it) {
			continue
		}
		if len(out.Items) < limit {
			it.Add = additions(it)
			out.Items = append(out.Items, it)
		} else if out.NextCursor == "" {
			last := out.Items[limit-1]
			out.NextCursor = encodeCursor(coveragePlace{last.Owner, last.Ref})
		}
	}
	out.All.rate()
	for i := range out.Teams {
		out.Teams[i].rate()
	}
	return out, nil
}

// coveragePlace is where a page of services ended.
type coveragePlace struct {
	Owner string `json:"o"`
	Ref   string `json:"r"`
}

func (p coveragePlace) before(it ServiceCoverage) bool {
	return cmp.Or(cmp.Compare(it.Owner, p.Owner), cmp.Compare(it.Ref, p.Ref)) > 0
}

// count adds a service to the totals; services come by owner.
func (c *Coverage) count(it ServiceCoverage) {
	if len(c.Teams) == 0 || c.Teams[len(c.Teams)-1].Owner != it.Owner {
		c.Teams = append(c.Teams, CoverageTotal{Owner: it.Owner})
	}
	for _, t := range []*CoverageTotal{&c.All, &c.Teams[len(c.Teams)-1]} {
		t.Services++
		for _, th := range it.Things {
			switch th.State {
			case CoverageDeclared:
				t.Declared++
			case CoverageInferred:
				t.Inferred++
			case CoverageMissing:
				t.Missing++
			case CoverageNone:
				continue
			}
			t.Things++
			if th.Stale != "" {
				t.Stale++
			}
		}
	}
}

func (t *CoverageTotal) rate() {
	t.Percent = 100
	if t.Things > 0 {
		t.Percent = 100 * (t.Declared + t.Inferred) / t.Things
	}
}

// lacks tells whether a thing is missing, or any.
func (it ServiceCoverage) lacks(name string) bool {
	return slices.ContainsFunc(it.Things, func(th CoverageThing) bool {
		return th.State == CoverageMissing && (name == "any" || th.Name == name)
	})
}

// coverages keeps reports until something is published or found.
type coverages struct {
	mu    sync.Mutex // guards what follows, and lets one report be made at a time
	of    *index.Snapshot
	found uint64
	until time.Time
	kept  map[string][]ServiceCoverage // by scope
}

// coveredOf is the coverage of one component, or of all where none is named.
func (s *Service) coveredOf(r reading, service string) ([]ServiceCoverage, error) {
	if service == "" {
		return s.covered(r), nil
	}
	e, err := r.find(service)
	if err != nil || e.Ref.Kind != "component" {
		return nil, err
	}
	return []ServiceCoverage{s.coverage(r, e)}, nil
}

// covered is the coverage of all components that a caller may see, by owner
// and reference, less what to add; it is not to be changed.
func (s *Service) covered(r reading) []ServiceCoverage {
	c := &s.coverages
	c.mu.Lock()
	defer c.mu.Unlock()
	found := s.generation()
	if c.of != r.Snapshot || c.found != found || time.Now().After(c.until) || len(c.kept) >= coverageScopes {
		c.of, c.found, c.until, c.kept = r.Snapshot, found, time.Now().Add(coverageLife), map[string][]ServiceCoverage{}
	}
	if kept, ok := c.kept[r.scope.Key()]; ok {
		return kept
	}
	var out []ServiceCoverage
	for e := range r.Kind(r.scope, "component") {
		out = append(out, s.coverage(r, e))
	}
	slices.SortFunc(out, func(a, b ServiceCoverage) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Ref, b.Ref))
	})
	c.kept[r.scope.Key()] = out
	return out
}

// generation changes whenever something else is found.
func (s *Service) generation() uint64 {
	if p := s.findings.Load(); p != nil {
		if g, ok := (*p).(interface{ Generation() uint64 }); ok {
			return g.Generation()
		}
	}
	return 0
}

// coverage is what is known of one component.
func (s *Service) coverage(r reading, e *Entity) ServiceCoverage {
	b, _ := s.known(r, e, "")
	out := ServiceCoverage{Ref: b.Ref, Owner: e.Owner(), Type: e.Spec().String("type"), entity: e}
	commands := b.Commands
	if commands == nil {
		commands = &Commands{}
	}
	owner := thing("owner", b.Owner)
	if _, there := r.Attributes(out.Owner); !there && owner.State == CoverageDeclared && r.allows(out.Owner, "") {
		owner.Stale = out.Owner + " is not in the catalog"
	}
	out.Things = []CoverageThing{owner, thing("build", commands.Build), thing("test", commands.Test),
		things("slo", b.SLOs), things("runbook", b.Runbooks), thing("oncall", b.Oncall), things("deploy", b.Environments)}
	if isOnlyUsed(out.Type) {
		for i := 3; i < len(out.Things); i++ {
			if out.Things[i].State == CoverageMissing {
				out.Things[i].State = CoverageNone
			}
		}
	}
	return out
}

// isOnlyUsed tells whether a type of component is run by others, or not at
// all, so that there are no objectives for it and nobody is on call.
func isOnlyUsed(kind string) bool {
	switch strings.ToLower(kind) {
	case "library", "documentation", "tool", "cli", "template", "package":
		return true
	}
	return false
}

func thing(name string, f *Fact) CoverageThing {
	switch {
	case f == nil:
		return CoverageThing{Name: name, State: CoverageMissing}
	case f.Kind == Inferred:
		return CoverageThing{Name: name, State: CoverageInferred, Stale: f.Stale}
	}
	return CoverageThing{Name: name, State: CoverageDeclared, Stale: f.Stale}
}

// things are declared if one of them is.
func things(name string, facts []Fact) CoverageThing {
	if i := slices.IndexFunc(facts, func(f Fact) bool { return f.Kind == Declared }); i >= 0 {
		return thing(name, &facts[i])
	}
	if len(facts) > 0 {
		return thing(name, &facts[0])
	}
	return thing(name, nil)
}
