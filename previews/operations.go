package previews

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// GetInput names a preview.
type GetInput struct {
	ID string `json:"id" jsonschema:"id of the preview"`
}

// maxEvents is how many events of a preview are told.
const maxEvents = 50

// Get is one preview and what happened to it. Faults: not_found.
func (s *Service) Get(ctx context.Context, who access.Caller, in GetInput) (*Preview, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := s.view(ctx, &r)
	if err != nil {
		return nil, err
	}
	p.Events, err = s.cfg.Reads.PreviewEvents(ctx, r.ID, maxEvents)
	return p, err
}

// ListInput selects previews; a field left out selects all.
type ListInput struct {
	Service string `json:"service,omitempty" jsonschema:"only of this component"`
	Person  string `json:"person,omitempty" jsonschema:"only of this person"`
	Agent   string `json:"agent,omitempty" jsonschema:"only of this agent"`
	Phase   string `json:"phase,omitempty" jsonschema:"only in this phase"`
	Gone    bool   `json:"gone,omitempty" jsonschema:"those that are gone, too"`
	Limit   int    `json:"limit,omitempty" jsonschema:"1 to 200, default 50"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// Page is a page of previews, newest first.
type Page struct {
	Items      []Preview `json:"items"`
	NextCursor string    `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

// pages are those of the list of previews.
func pages() record.List { return record.List{Name: "previews", Usual: 50, Most: 200} }

// batch is how many records are read at once.
const batch = 200

// List lists previews, newest first. Faults: invalid (a field).
func (s *Service) List(ctx context.Context, who access.Caller, in ListInput) (*Page, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	found, places, next, err := s.page(ctx, who, in)
	if err != nil {
		return nil, err
	}
	out := &Page{Items: make([]Preview, len(found)), NextCursor: next}
	for i := range found {
		out.Items[i] = *found[i].queued(places[found[i].ID])
	}
	return out, nil
}

// page gives the records of a page, the places of those in the queue, and
// where the next page begins.
func (s *Service) page(ctx context.Context, who access.Caller, in ListInput) (found []Record, places map[string]int, next string, err error) {
	q, err := listQuery(in)
	if err != nil {
		return nil, nil, "", err
	}
	scope := s.cfg.Policy.Scope(who, access.ReadPreviews)
	if scope.None() {
		return nil, nil, "", nil
	}
	if places, err = s.cfg.Reads.PreviewPositions(ctx); err != nil {
		return nil, nil, "", err
	}
	for r, err := range s.each(ctx, scope, q) {
		if err != nil {
			return nil, nil, "", err
		}
		if len(found) == q.Limit {
			last := found[q.Limit-1]
			return found, places, pages().Cursor(last.CreatedAt, last.ID), nil
		}
		found = append(found, *r)
	}
	return found, places, "", nil
}

// each yields the previews that are meant and in scope, newest first.
func (s *Service) each(ctx context.Context, scope access.Scope, q Query) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if scope.None() {
			return
		}
		for r, err := range all(ctx, s.cfg.Reads, q) {
			if (err != nil || scope.Allows(s.about(r))) && !yield(r, err) {
				return
			}
		}
	}
}

// all yields the previews that are meant, newest first, as many as there are.
func all(ctx context.Context, reads Reads, q Query) iter.Seq2[*Record, error] {
	return record.All(record.Page{Limit: batch, Before: q.Before, BeforeID: q.BeforeID}, func(p record.Page) ([]Record, error) {
		q.Limit, q.Before, q.BeforeID = p.Limit, p.Before, p.BeforeID
		return reads.Previews(ctx, q)
	}, func(r *Record) (time.Time, string) { return r.CreatedAt, r.ID })
}

// listQuery checks the input.
func listQuery(in ListInput) (q Query, err error) {
	for field, text := range map[string]string{"service": in.Service, "person": in.Person, "agent": in.Agent, "phase": in.Phase, "cursor": in.Cursor} {
		if err := checkText(field, text, 300); err != nil {
			return q, err
		}
	}
	q = Query{Service: entity.CompleteRef(in.Service, "component"), Person: entity.CompleteRef(in.Person, "user"), Agent: in.Agent, Phase: Phase(in.Phase), Gone: in.Gone || in.Phase == string(Gone), Limit: in.Limit}
	switch q.Phase {
	case "", Pending, Creating, Ready, Degraded, Deleting, Gone, Failed:
	default:
		return q, fault.New(fault.Invalid, "phase: there is no phase %q", clip(in.Phase, 80)).WithFix("There are pending, creating, ready, degraded, deleting, gone and failed.")
	}
	page, err := pages().Page(in.Limit, in.Cursor)
	q.Limit, q.Before, q.BeforeID = page.Limit, page.Before, page.BeforeID
	return q, err
}

// ExtendInput puts off a preview's end.
type ExtendInput struct {
	ID  string `json:"id" jsonschema:"id of the preview"`
	TTL string `json:"ttl" jsonschema:"how much longer it lives than it would, for example 30m"`
}

// Extend has a preview live longer, never beyond the hard cap of its age.
// Faults: not_found, forbidden, invalid (ttl), failed_precondition (it is
// ending already, or the cap).
func (s *Service) Extend(ctx context.Context, who access.Caller, in ExtendInput) (*Preview, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	more, err := duration("ttl", in.TTL, time.Second, s.cfg.TTL.Max)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.ExtendPreview, Operation: "extend_preview_environment", Resource: s.extending(&r), Target: r.ID, Input: in}
	out, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		until, last := r.ExpiresAt.Add(more), r.CreatedAt.Add(s.cfg.TTL.HardCap)
		if until.After(last) {
			return nil, fault.New(fault.FailedPrecondition, "preview %s may live until %s, which is %s from its creation, and not until %s", r.ID, stamp(last), s.cfg.TTL.HardCap, stamp(until)).
				WithFix("Extend it by less, or create another.")
		}
		r, err := s.cfg.Wishes.PutOffPreview(ctx, r.ID, until, s.cfg.Now(), who.Name())
		if err != nil {
			return nil, err
		}
		s.cfg.Wake(ctx, Turn{r.ID, r.Turn})
		return &r, nil
	})
	if err != nil {
		return nil, err
	}
	return s.view(ctx, out)
}

// DeleteInput names a preview to remove.
type DeleteInput struct {
	ID string `json:"id" jsonschema:"id of the preview"`
}

// Delete has a preview removed now. It answers at once; the preview is gone
// when its phase says so. Faults: not_found, forbidden.
func (s *Service) Delete(ctx context.Context, who access.Caller, in DeleteInput) (*Preview, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.DeletePreview, Operation: "delete_preview_environment", Resource: s.about(&r), Target: r.ID, Input: in}
	out, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		r, err := s.cfg.Wishes.EndPreview(ctx, r.ID, s.cfg.Now(), who.Name())
		if err != nil {
			return nil, err
		}
		if r.Phase != Gone {
			s.cfg.Wake(ctx, Turn{r.ID, r.Turn})
		}
		return &r, nil
	})
	if err != nil {
		return nil, err
	}
	return s.view(ctx, out)
}

// LogsInput names a preview and how much of its log is asked for.
type LogsInput struct {
	ID   string `json:"id" jsonschema:"id of the preview"`
	Tail int    `json:"tail,omitempty" jsonschema:"how many of the last lines, 1 to 1000, default 100"`
}

// Logs are lines that a preview wrote.
type Logs struct {
	ID    string    `json:"id"`
	Lines []LogLine `json:"lines" jsonschema:"oldest first"`
}

const defaultTail, maxTail, maxLine = 100, 1000, 4000

// Logs are the last lines that a preview wrote, oldest first. What is in them
// comes from the service. Faults: not_found, invalid (tail), unavailable.
func (s *Service) Logs(ctx context.Context, who access.Caller, in LogsInput) (*Logs, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Tail == 0:
		in.Tail = defaultTail
	case in.Tail < 0 || in.Tail > maxTail:
		return nil, fault.New(fault.Invalid, "tail is %d, not between 1 and %d", in.Tail, maxTail).WithFix("Ask for at most %d lines.", maxTail)
	}
	out := &Logs{ID: r.ID, Lines: []LogLine{}}
	if r.Phase == Pending || r.Phase == Gone {
		return out, nil
	}
	d, err := s.deployer(r.Template.Deployer)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	lines, err := d.Logs(ctx, r.Wish, in.Tail)
	if err != nil {
		return nil, err
	}
	for _, l := range lines[max(0, len(lines)-in.Tail):] {
		l.Text = clip(strings.ToValidUTF8(l.Text, "\uFFFD"), maxLine)
		out.Lines = append(out.Lines, l)
	}
	return out, nil
}
