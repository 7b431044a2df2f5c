package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// GetCatalogHealthInput bounds the report.
type GetCatalogHealthInput struct {
	Limit int `json:"limit,omitempty" jsonschema:"so many owners, 1 to 500, default 100"`
}

// CatalogHealth counts what is wrong with the catalog, as far as the caller may
// see it.
type CatalogHealth struct {
	Entities int `json:"entities" jsonschema:"in scope"`
	Sources  int `json:"sources" jsonschema:"that you may know of"`
	Failing  int `json:"failing" jsonschema:"sources of which the last good state is served"`
	HealthCounts
	Owners  []OwnerHealth  `json:"owners" jsonschema:"those who own something of it, the most problems first"`
	More    bool           `json:"more" jsonschema:"there are more owners"`
	Classes []ProblemCount `json:"classes" jsonschema:"problems by class and severity, the most first"`
}

// HealthCounts is how much is wrong.
type HealthCounts struct {
	Errors    int `json:"errors" jsonschema:"problems that keep a document out of the catalog"`
	Warnings  int `json:"warnings" jsonschema:"problems that do not"`
	Conflicts int `json:"conflicts" jsonschema:"problems, counted above too, of names that are described twice"`
	Stale     int `json:"stale" jsonschema:"entities that are served as they were: their file is wrong now, or their source cannot be read"`
	Broken    int `json:"broken" jsonschema:"relations to what the catalog does not hold"`
}

// OwnerHealth is how much is wrong with what somebody owns.
type OwnerHealth struct {
	Owner string `json:"owner,omitempty" jsonschema:"full reference; absent for what nobody owns"`
	HealthCounts
}

// ProblemCount is how many problems there are of a class.
type ProblemCount struct {
	Class    string          `json:"class" jsonschema:"for example InputError or ConflictError"`
	Severity entity.Severity `json:"severity"`
	Count    int             `json:"count"`
}

// Bounds of the owners that are told.
const defaultOwners, maxOwners = 100, 500

// GetCatalogHealth counts problems, stale entities and broken relations, in all
// and by owner. Faults: invalid (limit).
func (s *Service) GetCatalogHealth(_ context.Context, who access.Caller, in GetCatalogHealthInput) (*CatalogHealth, error) {
	limit, err := between("limit", in.Limit, defaultOwners, maxOwners)
	if err != nil {
		return nil, err
	}
	out, r := &CatalogHealth{Owners: []OwnerHealth{}, Classes: []ProblemCount{}}, s.reading(who)
	if r.scope.None() {
		return out, nil
	}
	problems, err := s.problems(r)
	if err != nil {
		return nil, err
	}
	failing, err := s.sourcesFor(r, out)
	if err != nil {
		return nil, err
	}
	h := &healthOf{owners: map[string]*OwnerHealth{}, classes: map[ProblemCount]int{}}
	for _, p := range problems {
		h.problem(p)
	}
	out.Entities = r.Count(r.scope)
	for _, t := range s.troublesIn(r) {
		if t.broken() {
			h.of(t.owner).Broken++
		}
	}
	for _, owner := range s.staleIn(r, failing) {
		h.of(owner).Stale++
	}
	h.tell(out, limit)
	return out, nil
}

// sourcesFor counts the sources that the caller may know of, and gives those
// that fail.
func (s *Service) sourcesFor(r reading, out *CatalogHealth) (failing map[string]SourceStatus, err error) {
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	knows := r.knows()
	for _, st := range ing.Sources() {
		if knows(st.Name) {
			out.Sources++
			if st.State == stateFailing {
				out.Failing++
			}
		}
	}
	return failingOf(ing), nil
}

// healthOf counts by owner and by class.
type healthOf struct {
	owners  map[string]*OwnerHealth
	classes map[ProblemCount]int
}

func (h *healthOf) of(owner string) *OwnerHealth {
	if h.owners[owner] == nil {
		h.owners[owner] = &OwnerHealth{Owner: owner}
	}
	return h.owners[owner]
}

func (h *healthOf) problem(p IngestionError) {
	o := h.of(p.Owner)
	if p.Severity == entity.SeverityWarning {
		o.Warnings++
	} else {
		o.Errors++
	}
	if p.Name == "ConflictError" {
		o.Conflicts++
	}
	h.classes[ProblemCount{Class: p.Name, Severity: p.Severity}]++
}

// tell sums up, and names the owners of most.
func (h *healthOf) tell(out *CatalogHealth, limit int) {
	for _, o := range h.owners {
		out.Errors += o.Errors
		out.Warnings += o.Warnings
		out.Conflicts += o.Conflicts
		out.Stale += o.Stale
		out.Broken += o.Broken
		out.Owners = append(out.Owners, *o)
	}
	slices.SortFunc(out.Owners, func(a, b OwnerHealth) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(b.Warnings+b.Broken+b.Stale, a.Warnings+a.Broken+a.Stale), cmp.Compare(a.Owner, b.Owner))
	})
	out.More = len(out.Owners) > limit
	out.Owners = out.Owners[:min(len(out.Owners), limit)]
	for c, n := range h.classes {
		c.Count = n
		out.Classes = append(out.Classes, c)
	}
	slices.SortFunc(out.Classes, func(a, b ProblemCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Severity, b.Severity))
	})
}
