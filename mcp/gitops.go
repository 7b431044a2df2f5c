package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// gitopsTools are the tools of proposed changes; none where there is no room.
func (d *door) gitopsTools() []entry {
	g := d.Gitops
	if g == nil {
		return nil
	}
	const set = "gitops"
	var rollback []entry
	if d.Health != nil { // which tells what to go back to
		rollback = []entry{tool(d, "propose_rollback", "Propose a rollback", "Proposes to restore an environment's files to the newest earlier healthy revision.",
			access.ProposeChange, g.ProposeRollback, renderProposal, traits[gitops.ProposeRollbackInput, gitops.Proposal]{toolset: set})}
	}
	return slices.Concat(rollback, []entry{
		tool(d, "propose_change", "Propose a change", "Proposes a change to what is deployed by pull request; people merge it. Asking again updates it.",
			access.ProposeChange, summarized(g.ProposeChange), renderProposal, traits[gitops.ProposeChangeInput, gitops.Proposal]{toolset: set}),
		tool(d, "get_proposal", "Get a proposal", "Gives one proposed change: its pull request, checks, reviews, whether it is merged, and what to do next.",
			access.ReadProposals, summarized(g.GetProposal), renderProposal, traits[gitops.GetProposalInput, gitops.Proposal]{toolset: set}),
		tool(d, "list_proposals", "List proposals", "Lists changes proposed by pull request, newest first.",
			access.ReadProposals, g.ListProposals, renderProposals, traits[gitops.ListProposalsInput, gitops.ProposalPage]{toolset: set, less: fewerProposals}),
	})
}

// summarized leaves what is rendered to its summary: the diff of that is for
// people, in the pull request.
func summarized[I any](do func(context.Context, access.Caller, I) (*gitops.Proposal, error)) func(context.Context, access.Caller, I) (*gitops.Proposal, error) {
	return func(ctx context.Context, who access.Caller, in I) (*gitops.Proposal, error) {
		p, err := do(ctx, who, in)
		if err != nil || p.Rendered == nil {
			return p, err
		}
		out := *p
		out.Rendered = p.Rendered.Summary()
		return &out, nil
	}
}

func fewerProposals(in *gitops.ListProposalsInput, out *gitops.ProposalPage) bool {
	in.Limit = len(out.Items) / 2
	return in.Limit > 0
}

func addProposal(l *lines, p *gitops.Proposal) {
	l.add("%s", joined(p.ID, p.State, oneLine(p.Title), prefixed("about", p.Service), p.URL, prefixed("by", p.Person), p.Agent))
	l.field("  next", oneLine(p.Next))
}

func renderProposals(page *gitops.ProposalPage) string {
	var l lines
	if len(page.Items) == 0 {
		l.add("no proposals")
	}
	for i := range page.Items {
		addProposal(&l, &page.Items[i])
	}
	l.field("next_cursor", page.NextCursor)
	return l.String()
}

func renderProposal(p *gitops.Proposal) string {
	var l lines
	addProposal(&l, p)
	l.field("repository", joined(p.Repository, prefixed("branch", p.Branch), prefixed("onto", p.Base)))
	l.field("files", strings.Join(p.Paths, ", "))
	l.field("merging", joined(p.Mergeable, p.Blocked))
	for _, c := range p.Checks {
		l.field("check", joined(oneLine(c.Name), c.State, c.URL))
	}
	l.field("approved by", strings.Join(p.Approved, ", "))
	l.field("changes asked for by", strings.Join(p.Rejected, ", "))
	for _, b := range p.Blocking {
		l.field("blocked by", joined(b.What, oneLine(b.Detail), "next: "+oneLine(b.Next)))
	}
	addFollow(&l, &p.Follow)
	for _, n := range p.Notes {
		l.field("note", oneLine(n))
	}
	if r := p.Rendered; r != nil && r.OK {
		l.field("rendered by "+r.Tool, joined(prefixed("changed", strings.Join(r.Changed, ", ")), prefixed("added", strings.Join(r.Added, ", ")), prefixed("removed", strings.Join(r.Removed, ", "))))
	}
	addPlan(&l, p.Plan.Hash, p.Plan.Diff, p.Plan.Omitted)
	return l.String()
}

// addFollow writes how far a proposal has come after it was opened.
func addFollow(l *lines, f *gitops.Follow) {
	at := func(name, what string, t time.Time) {
		if !t.IsZero() {
			l.field(name, joined(what, t.UTC().Format(time.RFC3339)))
		}
	}
	at("merged", f.Merged, f.MergedAt)
	at("synced", f.Synced, f.SyncedAt)
	at("healthy", f.Healthy, f.HealthyAt)
	at("degraded", "", f.DegradedAt)
	for _, g := range f.Grounds {
		l.field("ground", oneLine(g))
	}
	if b := f.RolledBack; b != nil {
		at("rolled back", joined(b.Commit, b.Proposal), b.At)
	}
	if w := f.Window; w != nil {
		l.field("window", joined(w.Outcome, oneLine(strings.Join(w.Grounds, "; "))))
	}
	l.field("waits", oneLine(f.Waits))
	at("ended", f.Outcome, f.EndedAt)
}

func renderProposed(p *knowledge.ProposedDocument) string {
	var l lines
	l.add("%s", joined(p.ID, p.State, p.URL))
	l.field("path", joined(p.Path, prefixed("in", p.Repository), prefixed("branch", p.Branch)))
	for _, n := range p.Notes {
		l.field("note", oneLine(n))
	}
	l.field("next", oneLine(p.Next))
	addPlan(&l, p.Plan.Hash, p.Plan.Diff, p.Plan.Omitted)
	return l.String()
}

// addPlan writes the diff, which is data.
func addPlan(l *lines, hash, diff string, omitted int) {
	l.field("plan", hash)
	if diff != "" {
		l.add("<diff>\n%s\n</diff>", fenced(strings.TrimRight(diff, "\n"), "diff"))
	}
	if omitted > 0 {
		l.add("%d bytes of the diff are left out", omitted)
	}
}
