package gitops

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

// freshFor is how long what a forge said of an open pull request is good
// enough for who asks.
const freshFor = 10 * time.Second

// GetProposalInput names a proposal.
type GetProposalInput struct {
	ID string `json:"id" jsonschema:"id of the proposal"`
}

// GetProposal is one proposal; of an open one the forge is asked, if that was
// not done just now. A forge that does not answer is told in the notes. Faults:
// not_found.
func (s *Service) GetProposal(ctx context.Context, who access.Caller, in GetProposalInput) (*Proposal, error) {
	r, err := s.readable(ctx, who, in.ID)
	if err != nil {
		return nil, err
	}
	if r.State == Open && s.cfg.Now().Sub(r.CheckedAt) > freshFor {
		fresh, err := s.refreshed(ctx, r)
		if err != nil {
			r.Course.Trouble = fresh.Course.Trouble
			r.Notes = append(r.Notes, "the forge could not be asked, so this is how it was: "+fault.From(err).Message)
			return r.View(), nil
		}
		r = fresh
	}
	return r.View(), nil
}

// refreshed asks the forge about an open pull request and writes down what it
// says, unless a call is at work on it.
func (s *Service) refreshed(ctx context.Context, r Record) (Record, error) {
	p, err := s.askForge(ctx, &r)
	if err != nil {
		return r, err
	}
	holder, now := record.NewID("refresh", 40), s.now()
	held, ok, err := s.cfg.Records.ClaimProposal(ctx, r.ID, holder, now, now.Add(10*time.Second))
	if err != nil || !ok {
		r.take(p, now)
		return r, err
	}
	held.take(p, now)
	return held, s.save(ctx, &held, holder, true)
}

// Tell notes that a forge has news of a branch: of a proposal, or of one that
// proposals are merged into.
func (s *Service) Tell(ctx context.Context, forge, name, branch string) error {
	if s == nil {
		return nil
	}
	return s.cfg.Reads.TellProposals(ctx, forge, name, branch)
}

// ListProposalsInput selects proposals; a field left out selects all.
type ListProposalsInput struct {
	Service string `json:"service,omitempty"`
	Person  string `json:"person,omitempty"`
	Agent   string `json:"agent,omitempty"`
	State   string `json:"state,omitempty" jsonschema:"preparing, pushed, open, merged, closed"`
	Kind    string `json:"kind,omitempty" jsonschema:"answer, skill, change, rollback"`
	Limit   int    `json:"limit,omitempty" jsonschema:"1 to 100, default 20"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// ProposalPage is a page of proposals, newest first, without their diffs and
// as the forges were last asked.
type ProposalPage struct {
	Items      []Proposal `json:"items"`
	NextCursor string     `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent on the last"`
}

const defaultPage, maxPage = 20, 100

// pages are those of the list of proposals, fleetPages of fleets.
func pages() record.List { return record.List{Name: "proposals", Usual: defaultPage, Most: maxPage} }

func fleetPages() record.List { return record.List{Name: "fleets", Usual: defaultPage, Most: maxPage} }

// ListProposals lists proposals, newest first. Faults: invalid (a field).
func (s *Service) ListProposals(ctx context.Context, who access.Caller, in ListProposalsInput) (*ProposalPage, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	q, err := listQuery(in)
	if err != nil {
		return nil, err
	}
	out, last := &ProposalPage{Items: []Proposal{}}, (*Record)(nil)
	scope := s.cfg.Policy.Scope(who, access.ReadProposals)
	if scope.None() {
		return out, nil
	}
	for r, err := range each(ctx, s.cfg.Reads, q) {
		switch {
		case err != nil:
			return nil, err
		case !scope.Allows(s.about(r)):
			continue
		case len(out.Items) == q.Limit:
			out.NextCursor = pages().Cursor(last.CreatedAt, last.ID)
			return out, nil
		}
		out.Items, last = append(out.Items, r.listed()), r
	}
	return out, nil
}

// each yields the proposals that are meant, newest first, as many as there are.
func each(ctx context.Context, reads Reads, q Query) iter.Seq2[*Record, error] {
	return record.All(record.Page{Limit: maxPage, Before: q.Before, BeforeID: q.BeforeID}, func(p record.Page) ([]Record, error) {
		q.Limit, q.Before, q.BeforeID = p.Limit, p.Before, p.BeforeID
		return reads.Proposals(ctx, q)
	}, func(r *Record) (time.Time, string) { return r.CreatedAt, r.ID })
}

// listed is a proposal as it is in lists, without its diff.
func (r *Record) listed() Proposal {
	p := r.View()
	p.Plan.Omitted, p.Plan.Diff = p.Plan.Omitted+len(p.Plan.Diff), ""
	p.Rendered = p.Rendered.Summary()
	return *p
}

// listQuery checks the input.
func listQuery(in ListProposalsInput) (q Query, err error) {
	for field, text := range map[string]string{"service": in.Service, "person": in.Person, "agent": in.Agent, "state": in.State, "kind": in.Kind, "cursor": in.Cursor} {
		if len(text) > 300 || line(text, 300) != strings.TrimSpace(text) {
			return q, fault.New(fault.Invalid, "%s is longer than 300 bytes or holds control characters", field).WithFix("Correct %s.", field)
		}
	}
	q = Query{Service: entity.CompleteRef(in.Service, "component"), Person: entity.CompleteRef(in.Person, "user"), Agent: in.Agent, State: in.State, Kind: in.Kind, Limit: in.Limit}
	switch q.State {
	case "", Preparing, Pushed, Open, Merged, Closed:
	default:
		return q, fault.New(fault.Invalid, "state: there is no state %q", clip(in.State, 80)).WithFix("There are preparing, pushed, open, merged and closed.")
	}
	page, err := pages().Page(in.Limit, in.Cursor)
	q.Limit, q.Before, q.BeforeID = page.Limit, page.Before, page.BeforeID
	return q, err
}
