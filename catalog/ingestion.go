package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Sizes of a page of ingestion errors.
const (
	defaultProblems = 100
	maxProblems     = 500
)

// RefreshEntity reads the source of an entity, or a source by its name, again
// now; it returns once what was found is served. It is an act: policy, quota
// and audit look at the entity, or at no entity where a source is named.
func (s *Service) RefreshEntity(ctx context.Context, who access.Caller, in RefreshEntityInput) (*RefreshResult, error) {
	op := access.Op{Action: access.RefreshCatalog, Operation: "refresh_entity", Input: in}
	source, err := s.sourceOf(who, in, &op)
	if err != nil {
		return nil, err
	}
	return access.Do(ctx, s.guard, who, op, func(ctx context.Context) (*RefreshResult, error) {
		ing, err := s.ingest()
		if err != nil {
			return nil, err
		}
		if in.EntityRef == "" && !slices.ContainsFunc(ing.Sources(), func(st SourceStatus) bool { return st.Name == source }) {
			return nil, fault.New(fault.NotFound, "no source %q", source).WithFix("List the sources to see their names.")
		}
		access.Report(ctx, access.Progress{Total: 1, Message: "reading " + source})
		out, err := ing.Refresh(ctx, source)
		if err == nil {
			access.Report(ctx, access.Progress{Done: 1, Total: 1, Message: "serving what was read"})
		}
		return out, err
	})
}

// sourceOf is the source that is meant; it completes op with the entity.
func (s *Service) sourceOf(who access.Caller, in RefreshEntityInput, op *access.Op) (string, error) {
	switch {
	case in.EntityRef != "" && in.Source != "":
		return "", fault.New(fault.Invalid, "both an entity and a source are given").WithFix("Give one of entityRef and source.")
	case in.Source != "":
		op.Target = "source:" + in.Source
		return in.Source, nil
	case in.EntityRef == "":
		return "", fault.New(fault.Invalid, "neither an entity nor a source is given").WithFix("Give entityRef or source.")
	}
	e, err := s.reading(who).find(in.EntityRef)
	if err != nil {
		return "", err
	}
	op.Resource = index.AttributesOf(e)
	return e.From.Source, nil
}

// ListSources is the state of each source that the caller may know of: all of
// them for who may read the whole catalog, else those of which they may read an
// entity.
func (s *Service) ListSources(_ context.Context, who access.Caller, _ ListSourcesInput) (*Sources, error) {
	out := &Sources{Items: []SourceStatus{}}
	r := s.reading(who)
	if r.scope.None() {
		return out, nil
	}
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	knows := r.knows()
	for _, src := range ing.Sources() {
		if knows(src.Name) {
			out.Items = append(out.Items, src)
		}
	}
	return out, nil
}

// ListLocations are the registered locations, oldest first, and then the
// configured roots, less those whose entity is out of scope and those of
// sources that ListSources does not show.
func (s *Service) ListLocations(ctx context.Context, who access.Caller, _ ListLocationsInput) (*Locations, error) {
	r, reg := s.reading(who), s.registration.Load()
	out := &Locations{Items: []LocationItem{}, Registrable: reg != nil}
	if r.scope.None() {
		return out, nil
	}
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	var all []LocationItem
	if reg != nil {
		registered, err := reg.Store.Locations(ctx)
		if err != nil {
			return nil, err
		}
		for _, l := range registered {
			if r.knowsOf(l) {
				all = append(all, l.Item())
			}
		}
	}
	knows := r.knowsRoot()
	for _, l := range ing.Locations() {
		if knows(l) {
			all = append(all, l)
		}
	}
	out.Items = append(out.Items, all...)
	return out, nil
}

// knowsRoot tells of which configured roots the caller may know.
func (r reading) knowsRoot() func(LocationItem) bool {
	knows := r.knows()
	return func(l LocationItem) bool {
		return knows(l.Source) && (l.EntityRef == "" || r.allows(l.EntityRef, ""))
	}
}

// ListIngestionErrors is a page of the problems that the caller may see: those
// of entities in scope, by reference or owner, and those of no entity.
func (s *Service) ListIngestionErrors(ctx context.Context, who access.Caller, in ListIngestionErrorsInput) (*IngestionErrors, error) {
	return s.ListProblems(ctx, who, ListProblemsInput{ListIngestionErrorsInput: in})
}

// ListProblems is ListIngestionErrors, by severity and class too. Faults:
// invalid (a field).
func (s *Service) ListProblems(_ context.Context, who access.Caller, in ListProblemsInput) (*IngestionErrors, error) {
	if in.Severity != "" && in.Severity != string(entity.SeverityError) && in.Severity != string(entity.SeverityWarning) {
		return nil, fault.New(fault.Invalid, "severity: %.60q is neither error nor warning", in.Severity).WithFix("Write error or warning, or leave it out for both.")
	}
	limit, err := between("limit", in.Limit, defaultProblems, maxProblems)
	if err != nil {
		return nil, err
	}
	after, err := problemAfter(in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &IngestionErrors{Items: []IngestionError{}}
	r := s.reading(who)
	if r.scope.None() {
		return out, nil
	}
	all, err := s.problems(r)
	if err != nil {
		return nil, err
	}
	for _, p := range sorted(all) {
		if !in.selects(p) {
			continue
		}
		out.Total++
		if after != nil && compareProblems(p, *after) <= 0 {
			continue
		}
		if len(out.Items) < limit {
			out.Items = append(out.Items, p)
		} else if out.NextCursor == "" {
			out.NextCursor = encodeCursor(placeOf(out.Items[limit-1]))
		}
	}
	return out, nil
}

// problems are those that the caller may see.
func (s *Service) problems(r reading) ([]IngestionError, error) {
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	knows := r.knows()
	return slices.DeleteFunc(append(unshown(r.Snapshot), ing.Problems()...), func(p IngestionError) bool {
		return !knows(p.Source) && p.Ref == "" && p.Owner == "" || !r.shows(p)
	}), nil
}

// selects tells whether a problem is meant.
func (in *ListProblemsInput) selects(p IngestionError) bool {
	return (in.Source == "" || p.Source == in.Source) && (in.Owner == "" || p.Owner == entity.Lower(in.Owner)) &&
		(in.Severity == "" || string(p.Severity) == in.Severity) && (in.Class == "" || strings.EqualFold(p.Name, in.Class))
}

// knows tells of which sources the caller may know.
func (r reading) knows() func(source string) bool {
	if r.scope.All() {
		return func(string) bool { return true }
	}
	names := r.Sources(r.scope)
	return func(source string) bool { return names[source] }
}

// shows tells whether a problem is for the caller's eyes.
func (r reading) shows(p IngestionError) bool {
	return p.Ref == "" && p.Owner == "" || r.allows(p.Ref, p.Owner)
}

// allows tells whether an entity is in scope, also one that the catalog does
// not hold; ref or owner may be missing.
func (r reading) allows(ref, owner string) bool {
	if a, ok := r.Attributes(ref); ok {
		return r.scope.Allows(a)
	}
	a := access.Attributes{Ref: ref}
	if parsed, err := entity.ParseRef(ref, "", ""); err == nil {
		a.Kind, a.Namespace = parsed.Kind, parsed.Namespace
	}
	if owner != "" {
		a.Owners = []string{owner}
	}
	return r.scope.Allows(a)
}

// problemPlace is where a page of problems ended.
type problemPlace struct {
	Source  string `json:"s"`
	File    string `json:"f"`
	Line    uint32 `json:"l"`
	Column  uint32 `json:"c"`
	Message string `json:"m"`
}

func placeOf(p IngestionError) problemPlace {
	return problemPlace{p.Source, p.File, p.Line, p.Column, p.Message}
}

func problemAfter(cursor string) (*IngestionError, error) {
	if cursor == "" {
		return nil, nil
	}
	var c problemPlace
	if err := decodeCursor(cursor, &c); err != nil {
		return nil, err
	}
	return &IngestionError{Source: c.Source, Problem: Problem{File: c.File, Line: c.Line, Column: c.Column, Message: c.Message}}, nil
}

func compareProblems(a, b IngestionError) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
}

// unshown are the problems that keep processed entities from being shown.
func unshown(s *index.Snapshot) []IngestionError {
	var out []IngestionError
	for rec, err := range s.Unshown() {
		f, from := fault.From(err), rec.Entity.From
		p := IngestionError{Source: from.Source, Problem: Problem{
			Severity: entity.SeverityError, Name: "InputError", Message: f.Message, Fix: f.Fix,
			File: from.Path, Line: from.Line, Ref: rec.Entity.Ref.String(),
		}}
		p.FirstSeen = Sighting{Commit: from.Commit, At: from.VerifiedAt}
		p.LastSeen = p.FirstSeen
		for _, e := range rec.Edges {
			if e.Source == p.Ref && e.Type == "ownedBy" {
				p.Owner = e.Target
				break
			}
		}
		out = append(out, p)
	}
	return out
}

func sorted(ps []IngestionError) []IngestionError {
	slices.SortStableFunc(ps, compareProblems)
	return ps
}
