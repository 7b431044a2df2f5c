package gitops

import (
	"context"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// ProposeRollbackInput names what is to be taken back.
type ProposeRollbackInput struct {
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// Reason is for who reviews it.
	Reason   string   `json:"reason"`
	Evidence []string `json:"evidence,omitempty"`
	// Key has another proposal made than that of the same way back.
	Key    string `json:"key,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"`
	// PlanHash is the hash of the plan that is meant, as a dry run has told it:
	// another one is refused. Agents give it in _meta.
	PlanHash string `json:"planHash,omitempty" mcp:"meta"`
	// Usage is that of ProposeChangeInput.
	Usage *Usage `json:"usage,omitempty" mcp:"meta"`
}

// maxCandidates is how many earlier revisions are looked at for one that is
// another than what is deployed.
const maxCandidates = 5

// ProposeRollback proposes to take an environment back to the newest earlier
// revision that was healthy, by what was written down of deployments and by
// Argo CD's own history: a pull request on the newest base that restores the
// files below the environment's folder to exactly the bytes of that revision.
// Where nobody observed the health of any earlier one, the newest is taken and
// the notes say so. What was taken back itself, or was left degraded, is passed
// over. An open change to the same files does not stand against it; who proposed
// that is told. Faults: those of GetDeploymentHealth and of ProposeFiles, and
// failed_precondition where there is nothing to go back to, the revision is not
// in the repository any more, it is fixed in the Application itself, or what has
// changed cannot be restored by bytes.
func (s *Service) ProposeRollback(ctx context.Context, who access.Caller, in ProposeRollbackInput) (*Proposal, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if s.cfg.Health == nil {
		return nil, fault.New(fault.FailedPrecondition, "this server knows of no deployments, so it cannot tell what to go back to").WithFix("Have the operators add the section argocd to the configuration, or propose the earlier values with propose_change.")
	}
	at, err := s.locate(ctx, who, in.Service, in.Environment)
	if err != nil {
		return nil, err
	}
	now, err := s.cfg.Health.standing(ctx, who, GetDeploymentHealthInput{Service: at.ref, Environment: at.env})
	if err != nil {
		return nil, err
	}
	b := &restoring{Service: s, site: at, in: in, standing: now, scope: s.cfg.Policy.Scope(who, access.ReadProposals)}
	if err := b.choose(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = b.past.Close() }() // it was only read
	if b.in.Key == "" {
		b.key = s.ownKey(ctx, who, b)
	}
	p, err := s.ProposeFiles(ctx, who, ProposeFilesInput{Kind: RollbackKind, Operation: "propose_rollback", Service: b.ref, Environment: b.env, Protected: at.protected,
		Place: b.at, Key: in.Key, Exclusive: true, Reason: in.Reason, Evidence: in.Evidence, Observed: b.observed(), Labels: []string{"fairlead", "rollback"}, Reviewed: true,
		Edit: b.edit, Describe: b.describe, Render: at.render, Usage: in.Usage, Input: in, PlanHash: in.PlanHash, DryRun: in.DryRun})
	if err == nil && (p.State == Open || p.State == Pushed) {
		b.tellOthers(ctx, p)
	}
	return p, err
}

// RollbackKind is the kind of proposals that take something back.
const RollbackKind = "rollback"

// check tells what is wrong with a wish, whatever is deployed.
func (in *ProposeRollbackInput) check() error {
	if err := in.Usage.check(); err != nil {
		return err
	}
	return checkWords(in.Service, in.Environment, in.Key, in.Reason, in.Evidence)
}

// ownKey is the key of the caller's own proposal to take the same back, which
// is brought up to date; "" where there is none.
func (s *Service) ownKey(ctx context.Context, who access.Caller, b *restoring) string {
	mine, err := s.cfg.Reads.Proposals(ctx, Query{Service: b.ref, Kind: RollbackKind, Person: who.Subject(), Agent: who.Agent(), Limit: maxOthers})
	if err != nil {
		return "" // then the lock finds out
	}
	for i := range mine {
		r := &mine[i]
		if r.EndedAt.IsZero() && r.About.Environment == b.env && r.Place.Repository == b.at.Repository && r.Agent == who.Agent() {
			return r.Key
		}
	}
	return ""
}

// standing is how a deployment is doing, and what was deployed before it.
type standing struct {
	health *DeploymentHealth
	// sources are those of the application, none where it cannot be asked.
	sources []AppSource
	past    []Deployed // newest first
}

// standing finds out. What Argo CD tells is written down on the way; where that
// cannot be asked, it is what was written down before.
func (s *HealthService) standing(ctx context.Context, who access.Caller, in GetDeploymentHealthInput) (*standing, error) {
	q, err := s.ask(ctx, who, in)
	if err != nil {
		return nil, err
	}
	h, e, err := s.answer(ctx, who, q)
	if err != nil {
		return nil, err
	}
	out := &standing{health: h}
	if r := s.cfg.Recorder; r != nil {
		if out.past, err = r.records.Deployed(ctx, h.Service, h.Environment, KeptDeployed); err != nil {
			return nil, err
		}
	}
	if e.app == nil { // it does not answer
		return out, nil
	}
	out.sources = e.app.Sources
	seen := &sighting{service: h.Service, environment: h.Environment, application: h.Application, app: e.app, at: e.at, compared: e.compared}
	out.past = joined(out.past, seen.next(out.past)) // nothing, unless it could not be written down
	return out, nil
}

// joined are deployments on record with what is known besides, newest first.
func joined(past, more []Deployed) []Deployed {
	for _, d := range more {
		if len(past) > 0 && past[0].ID == d.ID {
			past[0] = d
			continue
		}
		past = append([]Deployed{d}, past...)
	}
	return past
}

// left tells how a deployment was when it was replaced.
func (d *Deployed) left() string {
	switch {
	case d.Undone:
		return "was taken back"
	case !d.DegradedAt.IsZero() && d.RecoveredAt.IsZero():
		return "was degraded"
	case !d.HealthyAt.IsZero():
		return "was healthy"
	}
	return "was observed by nobody"
}

// toldOf names deployments for people, a few.
func toldOf(past []Deployed) string {
	var out []string
	for i := range past[:min(len(past), 4)] {
		out = append(out, short(past[i].Revision)+" of "+stamp(past[i].At)+" "+past[i].left())
	}
	return strings.Join(out, ", ")
}
