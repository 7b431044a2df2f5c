package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// ProposeFilesInput is a change to propose, as other rooms ask for it.
type ProposeFilesInput struct {
	// Kind is a word for what it is, Operation the name of the caller's act.
	Kind, Operation string
	// Service is the entity that it is about: policy looks at that, and where
	// Place is zero its own repository is changed.
	Service string
	Place   Place
	// Environment is the one that it touches, "" for none, and Protected tells
	// whether that is protected.
	Environment string
	Protected   bool
	// Key makes asking again the same proposal; default one of the kind, the
	// place and Subject.
	Key string
	// Subject is what it is about, for the branch's name and the default key.
	Subject string
	// Title, Reason and Evidence are for the commit and the pull request, Body
	// is what else the pull request says, in Markdown.
	Title, Reason, Body string
	Evidence            []string
	// Observed is evidence that was read just now. It is kept and shown, and is
	// no part of what policy and people look at, as it is another each time.
	Observed []string
	Labels   []string
	// Reviewed has the owners asked to review, as far as their accounts at the
	// forge are known.
	Reviewed bool
	// Exclusive lets nobody else propose something of the same kind and Subject
	// to the same place meanwhile.
	Exclusive bool
	// Edit makes the files.
	Edit Edit
	// Describe gives the words for what Edit made last, in the place of Subject,
	// Title and Body; nil leaves those.
	Describe func() Words
	// Render has the manifests rendered before and after; nil does not.
	Render *Render
	// Input is what the audit shows of what was asked.
	Input any
	// Usage is what making it took; nil leaves what was reported before.
	Usage *Usage
	// PlanHash is the hash of the plan that is meant, as a dry run has told it;
	// "" for whatever it is by now.
	PlanHash string
	// DryRun works the plan out and does nothing.
	DryRun bool
	// Part has the act be part of another one; nil for one of its own.
	Part *access.Part

	// rendered is what was rendered last, at a commit of the base and a plan.
	rendered   *Rendered
	renderedAt string
	// said are the words for what Edit made last.
	said Words
}

// Words are what is said of a change once its files are made.
type Words struct {
	Subject, Title, Body string
	// Key is the default key; "" is one of the kind, the place and Subject.
	Key string
	// Notes are told beside the proposal.
	Notes []string
	// Plan is what policy and who approves look at, beside where it goes.
	Plan map[string]any
	// Touched are the values that it changes.
	Touched []Touched
}

const (
	// holdFor is how long one call may take with a proposal.
	holdFor = 2 * time.Minute
	// waitFor is how long another call with the same key waits for it.
	waitFor = 30 * time.Second
	// maxTries is how often a change is made anew on a base that moves.
	maxTries = 5
)

// ProposeFiles proposes a change: a commit on a branch of its own by the person
// who asks, with the agent as co-author, and a pull request. One key is one
// branch and one pull request; asking again brings that up to date. What is so
// already is Unchanged. Faults: not_found (service), forbidden,
// approval_required, conflict (the branch was changed by others, or another
// call has it), failed_precondition (the repository or the forge refuse, or the
// proposal of the key was closed).
func (s *Service) ProposeFiles(ctx context.Context, who access.Caller, in ProposeFilesInput) (*Proposal, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	e, err := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	if in.Place.Repository == "" {
		if in.Place, err = s.cfg.Repositories.Locate(e); err != nil {
			return nil, err
		}
	}
	about := index.AttributesOf(e)
	about.Environment, about.Protected = in.Environment, in.Protected
	if d := s.cfg.Policy.Allow(who, access.ProposeChange, about); in.DryRun && !d.Allowed {
		return nil, fault.New(fault.Forbidden, "%s", d.Reason).WithFix("%s", d.Fix)
	}
	then := s.asking(ctx, who, &in)
	p, err := s.plan(ctx, in.Place, in.Edit)
	if err == nil {
		err = s.render(ctx, &in, p)
	}
	state := then()
	if err != nil {
		return nil, err
	}
	r := s.record(who, e, about, &in, p)
	r.StateThen = state
	if len(p.files) == 0 {
		return s.nothingDone(ctx, r)
	}
	if err := in.meant(p); err != nil {
		return nil, err
	}
	op := in.op(&r, e, p)
	if in.DryRun {
		return s.tried(ctx, who, r, op)
	}
	made, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		return s.carryOut(ctx, who, r, &in, p)
	})
	if err != nil {
		return nil, err
	}
	return made.View(), nil
}

// meant refuses another plan than the one that whoever asks has looked at.
func (in *ProposeFilesInput) meant(p *planned) error {
	if in.PlanHash == "" || in.PlanHash == p.hash {
		return nil
	}
	return fault.New(fault.Conflict, "the plan is %s by now, not %s: what it changes was changed meanwhile", p.hash, clip(in.PlanHash, 80)).
		WithFix("Look at the plan anew, and confirm that one.").WithDetail("planHash", p.hash)
}

// op is the act, as the lock sees it.
func (in *ProposeFilesInput) op(r *Record, e *catalog.Entity, p *planned) access.Op {
	plan := map[string]any{"kind": in.Kind, "service": r.Service, "title": r.Title, "plan": r.PlanHash, "repository": p.at.Repository, "base": p.at.Base, "diff": clip(p.diff, maxDiff)}
	if in.Describe != nil {
		maps.Copy(plan, in.Describe().Plan)
		plan["reason"], plan["evidence"], plan["paths"] = in.Reason, append([]string{}, in.Evidence...), p.paths
	}
	if p.rendered != nil {
		plan["rendered"] = p.rendered.judged()
	}
	return access.Op{Action: access.ProposeChange, Operation: in.Operation, Resource: r.About, Entity: e, State: stateOf(r.StateThen), Input: in.Input, Part: in.Part,
		Summary: "Propose to " + p.at.Repository + ": " + r.Title, Plan: plan}
}

// tried answers a dry run: the plan, and what would stand against it.
func (s *Service) tried(ctx context.Context, who access.Caller, r Record, op access.Op) (*Proposal, error) {
	trial, err := access.Try(ctx, s.cfg.Guard, who, op)
	if err != nil {
		return nil, err
	}
	r.ID, r.Branch, r.State = "", "", Planned
	r.Notes = append(r.Notes, trial.Notes()...)
	out := r.View()
	if len(trial.Objections) > 0 {
		out.Next = "Give what the notes ask for: as it is it would be refused."
	}
	return out, nil
}

// nothingDone answers where nothing is to be done.
func (s *Service) nothingDone(ctx context.Context, r Record) (*Proposal, error) {
	r.ID, r.Branch, r.State = "", "", Unchanged
	if old, err := s.cfg.Records.ProposalOfKey(ctx, r.Person, r.Agent, r.Key); err == nil && old.State == Merged {
		return old.View(), nil
	}
	return r.View(), nil
}

// record is a proposal that has not begun.
func (s *Service) record(who access.Caller, e *catalog.Entity, about access.Attributes, in *ProposeFilesInput, p *planned) Record {
	in.describe()
	now := s.cfg.Now().UTC().Truncate(time.Second)
	r := Record{Kind: in.Kind, Title: in.Title, Service: e.Ref.String(), About: about, Place: p.at, Person: who.Subject(), Agent: who.Agent(), Key: in.Key,
		Reason: in.Reason, Evidence: slices.Concat(in.Evidence, in.Observed), Notes: in.said.Notes, Paths: p.paths, PlanHash: p.hash, Diff: p.diff, Rendered: p.rendered, State: Preparing, CreatedAt: now, UpdatedAt: now,
		Environment: in.Environment, Touched: in.said.Touched, ChangedAt: now}
	if asked, err := json.Marshal(in.Input); err == nil && in.Kind == changeKind {
		r.Asked = string(asked)
	}
	if r.Key == "" {
		r.Key = in.said.Key
	}
	if r.Key == "" {
		r.Key = strings.Join([]string{in.Kind, p.at.Repository, in.Subject}, " ")
	}
	if in.Exclusive {
		r.Slot = slotOf(in.Kind, p.at.Repository, in.Subject)
	}
	r.ID = record.NewID(in.Kind+"-"+in.Subject, 40)
	r.Branch = BranchPrefix + r.ID
	return r
}

// describe takes over the words for what was made last.
func (in *ProposeFilesInput) describe() {
	if in.Describe != nil {
		in.said = in.Describe()
		in.Subject, in.Title, in.Body = in.said.Subject, in.said.Title, in.said.Body
	}
}

// carryOut begins the proposal, or goes on with that of the key.
func (s *Service) carryOut(ctx context.Context, who access.Caller, r Record, in *ProposeFilesInput, p *planned) (*Record, error) {
	kept, mine, err := s.enter(ctx, who, r, in.Key == "", p)
	if err != nil || !mine {
		return kept, err
	}
	holder := record.NewID("call", 40)
	work := &work{Service: s, who: who, in: in, holder: holder, judged: p.hash}
	if work.r, err = s.claim(ctx, kept.ID, holder); err != nil {
		return nil, err
	}
	work.r.StateThen = r.StateThen
	work.r.Title, work.r.Reason, work.r.Evidence, work.r.Asked, work.r.Environment = r.Title, r.Reason, r.Evidence, r.Asked, r.Environment
	work.r.Notes = r.Notes
	if in.Usage != nil {
		work.r.Usage = *in.Usage
	}
	work.r.Course.Stopped = "" // somebody has looked at it
	err = work.run(ctx)
	// What was done is written down even if the caller has gone.
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if saveErr := s.save(saving, &work.r, holder, true); err == nil {
		err = saveErr
	}
	return &work.r, err
}

// claim waits until nobody else works on a proposal.
func (s *Service) claim(ctx context.Context, id, holder string) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, waitFor)
	defer cancel()
	for {
		now := s.cfg.Now()
		r, ok, err := s.cfg.Records.ClaimProposal(ctx, id, holder, now, now.Add(holdFor))
		if ok || err != nil {
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, fault.New(fault.Conflict, "another call is at work on proposal %s", id).WithFix("Ask again with the same key in a moment.").After(time.Second)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// work is one call's work on a proposal.
type work struct {
	*Service
	who    access.Caller
	in     *ProposeFilesInput
	holder string
	r      Record
	// as is the person's own account at the forge; nil where none is linked.
	as *Account
	// judged is the hash of the plan that policy and people have looked at.
	judged string
}

// run pushes the branch and has its pull request be there.
func (w *work) run(ctx context.Context) error {
	if err := w.actAs(ctx); err != nil {
		return err
	}
	if err := w.push(ctx); err != nil {
		return err
	}
	if w.r.State == Merged || w.r.State == Unchanged {
		return nil
	}
	forge := w.forge()
	if forge == nil {
		w.r.State = Pushed
		return nil
	}
	return w.pull(ctx, forge)
}

// push brings the branch to the change on the newest base.
func (w *work) push(ctx context.Context) (err error) {
	for range maxTries {
		var p *planned
		if p, err = w.plan(ctx, w.r.Place, w.in.Edit); err != nil {
			return err
		}
		if len(p.files) == 0 {
			w.r.State, w.r.EndedAt = Unchanged, w.cfg.Now().UTC()
			return nil
		}
		if err = w.asJudged(p); err != nil {
			return err
		}
		if err = w.render(ctx, w.in, p); err != nil {
			return err
		}
		head, headErr := p.repo.Head(ctx, w.r.Branch)
		if headErr != nil {
			return headErr
		}
		if w.r.Commit != "" && head != "" && head != w.r.Commit {
			return fault.New(fault.Conflict, "somebody has pushed to the branch %s since, so it is left alone", w.r.Branch).
				WithFix("Go on at %s, or give another key to propose it anew.", w.r.Pull.URL)
		}
		w.r.Paths, w.r.Diff, w.r.Rendered = p.paths, p.diff, p.rendered
		if head != "" && head == w.r.Commit && w.r.BaseCommit == p.commit && w.r.PlanHash == p.hash {
			return nil // it is there already
		}
		when := w.cfg.Now().UTC().Truncate(time.Second)
		commit, pushErr := p.repo.Push(ctx, Push{Files: p.files, Message: w.message(ctx), Author: w.person(w.r.Person), When: when, Branch: w.r.Branch, Expected: head, As: w.as})
		if err = pushErr; err == nil {
			w.r.Commit, w.r.BaseCommit, w.r.PlanHash, w.r.UpdatedAt = commit, p.commit, p.hash, when
			return w.save(ctx, &w.r, w.holder, false)
		}
		if !errors.Is(err, ErrMoved) {
			return w.notLet(err)
		}
	}
	return err
}

// asJudged refuses a plan that is another than policy and people have looked at,
// because the files were changed meanwhile.
func (w *work) asJudged(p *planned) error {
	w.in.describe()
	w.r.Title, w.r.Touched = w.in.Title, w.in.said.Touched
	if p.hash == w.judged {
		return nil
	}
	return fault.New(fault.Conflict, "%s was changed in the repository at this moment, so it is another change than the one that was looked at", strings.Join(p.paths, ", ")).
		WithFix("Ask again with the same key.").After(time.Second)
}

// pull has the branch's pull request be there, with the newest words.
func (w *work) pull(ctx context.Context, forge Forge) error {
	at, title, body := w.r.Place, w.r.Title, w.body()
	found := &w.r.Pull
	var err error
	if found.Number == 0 {
		if found, err = forge.FindPull(ctx, at.Name, at.Base, w.r.Branch); err != nil {
			return err
		}
	}
	switch {
	case found == nil:
		ask := w.reviewers()
		w.r.Course.Reviewers = slices.Concat(ask.Reviewers, ask.Teams)
		found, err = forge.OpenPull(ctx, at.Name, NewPull{Title: title, Body: body, Base: at.Base, Branch: w.r.Branch, Labels: w.in.Labels, Reviewers: ask.Reviewers, Teams: ask.Teams})
	case found.State != PullOpen:
	default:
		found, err = forge.UpdatePull(ctx, at.Name, found.Number, title, body)
	}
	if err != nil {
		return err
	}
	w.r.take(found, w.cfg.Now())
	return nil
}
