package catalog

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// ListStaleEntitiesInput narrows the list of stale entities.
type ListStaleEntitiesInput struct {
	Owner  string `json:"owner,omitempty" jsonschema:"only of this owner, a full reference such as group:default/payments"`
	Source string `json:"source,omitempty" jsonschema:"only of this source"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 500, default 100"`
	Cursor string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// StaleEntities is a page of entities that are served as they were, by
// reference.
type StaleEntities struct {
	Items      []StaleEntity `json:"items"`
	Total      int           `json:"total" jsonschema:"on all pages"`
	NextCursor string        `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// StaleReason is why an entity is served as it was.
type StaleReason string

// The reasons. Where both hold it is the file's, which stays wrong once its
// source is read again.
const (
	StaleFile   StaleReason = "file"   // its file is wrong now
	StaleSource StaleReason = "source" // its source cannot be read
)

// StaleEntity is an entity that is served as it was.
type StaleEntity struct {
	Ref        string      `json:"ref" jsonschema:"the entity"`
	Reason     StaleReason `json:"reason" jsonschema:"file: its file is wrong now; source: its source cannot be read"`
	Message    string      `json:"message" jsonschema:"what is wrong"`
	Fix        string      `json:"fix,omitempty"`
	StaleSince string      `json:"staleSince,omitempty" jsonschema:"commit since which its file is wrong; absent for folders and where the source cannot be read"`
	Since      *time.Time  `json:"since,omitempty" jsonschema:"when what is wrong was first seen"`
	Owner      string      `json:"owner,omitempty" jsonschema:"who owns the entity"`
	Source     string      `json:"source" jsonschema:"name of the source"`
	File       string      `json:"file" jsonschema:"file within the source"`
	Line       uint32      `json:"line,omitempty" jsonschema:"where it is wrong, or else where the entity began"`
}

// stalePlace is where a page of stale entities ended.
type stalePlace struct {
	Ref string `json:"r"`
}

// aged is a stale entity with its reference and owner.
type aged struct {
	*Entity
	ref, owner string
}

// ListStaleEntities lists the entities in scope that are served as they were,
// because their file is wrong now or their source cannot be read, with what is
// wrong and since when. Faults: invalid (a field).
func (s *Service) ListStaleEntities(_ context.Context, who access.Caller, in ListStaleEntitiesInput) (*StaleEntities, error) {
	limit, err := between("limit", in.Limit, defaultProblems, maxProblems)
	if err != nil {
		return nil, err
	}
	var after stalePlace
	if in.Cursor != "" {
		if err := decodeCursor(in.Cursor, &after); err != nil {
			return nil, err
		}
	}
	out, r := &StaleEntities{Items: []StaleEntity{}}, s.reading(who)
	if r.scope.None() {
		return out, nil
	}
	w, err := s.whyStale(r)
	if err != nil {
		return nil, err
	}
	for _, e := range s.stale(r, w.failing, in) {
		out.Total++
		if e.ref <= after.Ref {
			continue
		}
		if len(out.Items) < limit {
			out.Items = append(out.Items, w.tell(e))
		} else if out.NextCursor == "" {
			out.NextCursor = encodeCursor(stalePlace{out.Items[limit-1].Ref})
		}
	}
	return out, nil
}

// stale are the stale entities that are asked for, by reference.
func (s *Service) stale(r reading, failing map[string]SourceStatus, in ListStaleEntitiesInput) []aged {
	var out []aged
	owner := entity.Lower(in.Owner)
	for e, of := range s.staleIn(r, failing) {
		if (owner == "" || of == owner) && (in.Source == "" || e.From.Source == in.Source) {
			out = append(out, aged{e, e.Ref.String(), of})
		}
	}
	slices.SortFunc(out, func(a, b aged) int { return cmp.Compare(a.ref, b.ref) })
	return out
}

// staleIn are the stale entities in scope with their owners, each once.
func (s *Service) staleIn(r reading, failing map[string]SourceStatus) iter.Seq2[*Entity, string] {
	fails := func(e *Entity) bool { _, ok := failing[e.From.Source]; return ok }
	return func(yield func(*Entity, string) bool) {
		for _, t := range s.troublesIn(r) {
			if !t.broken() && !fails(t.Entity) && !yield(t.Entity, t.owner) {
				return
			}
		}
		if len(failing) == 0 {
			return
		}
		for e := range r.In(r.scope) {
			if fails(e) && !yield(e, e.Owner()) {
				return
			}
		}
	}
}

// stateFailing is that of a source that cannot be read.
const stateFailing = "failing"

// failingOf are the sources that cannot be read, by name.
func failingOf(ing Ingestion) map[string]SourceStatus {
	out := map[string]SourceStatus{}
	for _, st := range ing.Sources() {
		if st.State == stateFailing {
			out[st.Name] = st
		}
	}
	return out
}

// whyStale is what is wrong that makes entities stale.
type whyStale struct {
	failing map[string]SourceStatus
	errors  map[[2]string][]IngestionError // by source and file, "" for the source itself
}

func (s *Service) whyStale(r reading) (*whyStale, error) {
	ing, err := s.ingest()
	if err != nil {
		return nil, err
	}
	problems, err := s.problems(r)
	if err != nil {
		return nil, err
	}
	w := &whyStale{failingOf(ing), map[[2]string][]IngestionError{}}
	for _, p := range problems {
		if p.Severity != entity.SeverityWarning {
			at := [2]string{p.Source, p.File}
			w.errors[at] = append(w.errors[at], p)
		}
	}
	return w, nil
}

// tell says why an entity is stale, and since when.
func (w *whyStale) tell(e aged) StaleEntity {
	from := &e.From
	out := StaleEntity{Ref: e.ref, Owner: e.owner, Source: from.Source, File: from.Path, Line: from.Line}
	if from.StaleSince == "" {
		st := w.failing[from.Source]
		out.Reason, out.Message, out.Fix = StaleSource, st.Error, st.Fix
		for _, p := range w.errors[[2]string{from.Source, ""}] {
			out.Since = &p.FirstSeen.At
		}
		return out
	}
	out.Reason = StaleFile
	w.wrong(e, &out)
	if at, err := time.Parse(time.RFC3339, from.StaleSince); err == nil { // a folder has no commits
		out.Since = &at
	} else {
		out.StaleSince = from.StaleSince
	}
	return out
}

// wrong says what is wrong with the file of an entity: with its own document
// where that is told, else with the file as a whole. What the caller is told of
// no problem says the entity itself.
func (w *whyStale) wrong(e aged, out *StaleEntity) {
	all := w.errors[[2]string{e.From.Source, e.From.Path}]
	if i := slices.IndexFunc(all, func(p IngestionError) bool { return p.Ref == e.ref }); i > 0 {
		all = all[i:]
	}
	if len(all) > 0 {
		p := all[0]
		out.Message, out.Fix, out.Line = p.Message, p.Fix, cmp.Or(p.Line, out.Line)
		if p.FirstSeen.Commit == e.From.StaleSince {
			out.Since = &p.FirstSeen.At
		}
		return
	}
	if len(e.Status) > 0 {
		out.Message, _, _ = strings.Cut(e.Status[0].Message, "; what is shown is ")
	}
}
