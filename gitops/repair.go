package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxRepairs is how often a proposal is made anew by itself, and repairFor how
// long that may take.
const maxRepairs, repairFor = 2, 90 * time.Second

// repair makes a proposal anew on the newest base, where its pull request is in
// conflict with that or behind it: the same values are changed in the same way,
// policy is asked again, and what people have pushed is left alone. Where that
// is not so it stops, and says why.
func (s *Service) repair(ctx context.Context, r *Record, holder string) error {
	if r.Asked == "" || r.Course.Repairs >= maxRepairs || r.Course.Stopped != "" || r.Pull.Draft || !s.inTheWay(r) {
		return nil
	}
	// It takes longer than a look does.
	now := s.now()
	if _, ok, err := s.cfg.Records.ClaimProposal(ctx, r.ID, holder, now, now.Add(holdFor)); err != nil || !ok {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, repairFor)
	defer cancel()
	err := s.remake(ctx, r, holder)
	if errors.Is(err, errNotNeeded) {
		return nil
	}
	if err != nil && unavailable(err) {
		return err
	}
	if err != nil {
		f := fault.From(err)
		r.Course.Stopped, r.Course.StoppedBy = line(f.Message, maxGround), BlockedByConflict
		if f.Code == fault.Forbidden || f.Code == fault.ApprovalRequired {
			r.Course.StoppedBy = BlockedByApproval
		}
		r.note("it is not made anew by itself: " + r.Course.Stopped)
	}
	return nil
}

// lookAgain is how soon a pull request is looked at again of which the forge may
// tell more then, and unsureFor how long it may not tell before its base is
// looked at instead.
const lookAgain, unsureFor = 15 * time.Second, 30 * time.Second

// inTheWay tells whether the base may be in the way of a pull request. Some
// forges do not tell a conflict from not having looked yet.
func (s *Service) inTheWay(r *Record) bool {
	if r.Pull.Mergeable != MergeUnknown {
		return r.Pull.Mergeable == MergeConflict || r.behind()
	}
	now := s.now()
	r.FollowAt = now.Add(lookAgain)
	return now.Sub(r.Course.Unsure) >= unsureFor
}

// errNotNeeded says that there is nothing to make anew.
var errNotNeeded = errors.New("it is on the newest base, or as that has it")

// note keeps what was done or could not be, once.
func (r *Record) note(text string) {
	const most = 10
	if !slices.Contains(r.Notes, text) && len(r.Notes) < most {
		r.Notes = append(r.Notes, text)
	}
}

// remake makes a proposal anew, as Fairlead itself and on behalf of the person.
func (s *Service) remake(ctx context.Context, r *Record, holder string) error {
	who := access.System(followWork)
	at, err := s.locate(ctx, who, r.Service, r.Environment)
	if err != nil {
		return err
	}
	if at.at.Repository != r.Place.Repository || at.at.Base != "" && at.at.Base != r.Place.Base || at.at.Dir != r.Place.Dir {
		return fault.New(fault.FailedPrecondition, "%s of %s is described elsewhere by now", r.Environment, r.Service)
	}
	c, err := r.again()
	if err != nil {
		return err
	}
	in := ProposeFilesInput{Kind: r.Kind, Operation: "propose_change", Service: r.Service, Environment: r.Environment, Protected: at.protected, Place: r.Place, Key: r.Key,
		Reason: r.Reason, Evidence: r.Evidence, Labels: []string{"fairlead"}, Edit: c.edit, Describe: c.describe, Render: at.render, Input: repairInput{r.ID, access.Acting(r.Person, r.Agent), c.in}}
	p, err := s.plan(ctx, r.Place, in.Edit)
	if err != nil {
		return err
	}
	in.describe()
	switch {
	case p.commit == r.BaseCommit, len(p.files) == 0, r.Pull.Mergeable == MergeUnknown && p.hash == r.PlanHash:
		return errNotNeeded
	case !sameChange(r.Touched, in.said.Touched):
		return fault.New(fault.Conflict, "the base has other values by now, so that it would be another change: %s", told(in.said.Touched))
	}
	if err = s.render(ctx, &in, p); err != nil {
		return err
	}
	about := s.about(r)
	about.Environment, about.Protected = r.Environment, in.Protected
	anew := *r
	anew.About, anew.PlanHash, anew.Title = about, p.hash, in.Title
	op := in.op(&anew, at.entity, p)
	op.Summary = "Make proposal " + r.ID + " anew on the newest base"
	if err := s.mayRemake(ctx, who, op); err != nil {
		return s.cfg.Guard.Refuse(ctx, who, op, err)
	}
	_, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		return r, s.pushAnew(ctx, who, r, &in, p, holder)
	})
	return err
}

// repairInput is what the audit has of a proposal that is made anew.
type repairInput struct {
	Proposal string             `json:"proposal"`
	OnBehalf string             `json:"onBehalfOf"`
	Change   ProposeChangeInput `json:"change"`
}

// mayRemake tells what policy has against it by now. Where somebody has to
// approve, the one who proposed it has to ask.
func (s *Service) mayRemake(ctx context.Context, who access.Caller, op access.Op) error {
	trial, err := access.Try(ctx, s.cfg.Guard, who, op)
	switch {
	case err != nil:
		return err
	case len(trial.Objections) > 0:
		return fault.New(fault.Forbidden, "policy is against it by now: %s", trial.Objections[0].Message)
	case trial.Approvers != nil:
		return fault.New(fault.ApprovalRequired, "it needs the approval of %s again", strings.Join(trial.Approvers, ", "))
	}
	return nil
}

// pushAnew pushes the change on the newest base and brings the pull request up
// to date.
func (s *Service) pushAnew(ctx context.Context, who access.Caller, r *Record, in *ProposeFilesInput, p *planned, holder string) error {
	before, why := r.Commit, r.Pull.Mergeable
	w := &work{Service: s, who: who, in: in, holder: holder, judged: p.hash, r: *r}
	w.r.Course.Repairs++
	err := w.run(ctx)
	*r = w.r
	if err == nil && r.Commit != before {
		word := map[string]string{MergeConflict: "it was in conflict with the base"}[why]
		if word == "" {
			word = "the base had moved"
		}
		r.note(fmt.Sprintf("%s made it anew at %s on behalf of %s: %s", who.Subject(), stamp(s.now()), access.Acting(r.Person, r.Agent), word))
	}
	return err
}

// sameChange tells whether the same values would be changed in the same way,
// wherever in their files they are.
func sameChange(a, b []Touched) bool {
	key := func(t Touched) string { return strings.Join([]string{t.File, t.From, t.To}, "\x00") }
	var all [2][]string
	for i, list := range [][]Touched{a, b} {
		for _, t := range list {
			all[i] = append(all[i], key(t))
		}
		slices.Sort(all[i])
	}
	return slices.Equal(all[0], all[1])
}

// told names changes of values.
func told(all []Touched) string {
	var out []string
	for _, t := range all[:min(len(all), 3)] {
		out = append(out, line(t.Path, 80)+" is "+line(t.From, 80)+" there")
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}
