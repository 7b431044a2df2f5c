package previews

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// PullPoll is how often repositories are to be asked for pull requests that no
// webhook told of.
const PullPoll = 5 * time.Minute

// How often pull requests are looked at: while a person is asked to approve,
// with previews, and without. What happens to their previews has them looked
// at, too.
const (
	pullSoon  = 5 * time.Second
	pullCalm  = PullPoll
	pullIdle  = 24 * time.Hour
	pullRetry = 10 * time.Minute // the longest pause after failures
)

// PullTimeout bounds one turn of a PullKeeper.
const PullTimeout = 80 * time.Second

// PullKeeper has previews follow pull requests, for the services whose
// template says so: one is made when a pull request that touches the service
// is opened, goes on to its newest commit, and is removed when it is merged or
// closed. One comment at the pull request says how they are. A fork's commits
// are run once a person has agreed, each anew.
type PullKeeper struct {
	service *Service
	forges  PullForges
	notes   PullNotes
	claims  PullClaims
	logger  *slog.Logger
}

// NewPullKeeper makes one for the previews of a service. A nil logger is
// slog.Default.
func NewPullKeeper(s *Service, forges PullForges, notes PullNotes, claims PullClaims, logger *slog.Logger) *PullKeeper {
	if logger == nil {
		logger = slog.Default()
	}
	return &PullKeeper{s, forges, notes, claims, logger}
}

// Turn looks after one pull request once. What cannot be done now is put down
// and tried again.
func (k *PullKeeper) Turn(ctx context.Context, at PullRef) error {
	ctx, cancel := context.WithTimeout(ctx, PullTimeout)
	defer cancel()
	holder, now := uuid.NewString(), k.service.cfg.Now()
	r, ok, err := k.claims.ClaimPull(ctx, at, holder, now, now.Add(PullTimeout+5*time.Second))
	if err != nil || !ok {
		return err
	}
	again, over, failure := k.tend(ctx, &r)
	r.State.Failures++
	if failure == nil {
		r.State.Failures = 0
	} else {
		k.logger.WarnContext(ctx, "a pull request cannot be looked after now", "pull", at.String(), "failures", r.State.Failures, "error", failure)
		again = min(pullSoon<<min(r.State.Failures-1, 10), pullRetry)
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	now = k.service.cfg.Now()
	return k.claims.ReportPull(ctx, r, holder, now.Add(again), now, over && failure == nil)
}

// tend does what is to be done for a pull request now.
func (k *PullKeeper) tend(ctx context.Context, r *PullRecord) (again time.Duration, over bool, err error) {
	if err := k.read(ctx, r); err != nil {
		return 0, false, err
	}
	have, err := k.claims.PreviewsOfPull(ctx, r.PullRef)
	if err != nil {
		return 0, false, err
	}
	waits, pause := map[string]string{}, pullIdle
	var errs []error
	if r.State.Open {
		for _, service := range r.State.Services {
			why, err := k.follow(ctx, r, service, have)
			if why != nil {
				waits[service], pause = told(why), min(pause, pullCalm)
			}
			if fault.CodeOf(why) == fault.ApprovalRequired {
				pause = pullSoon
			}
			errs = append(errs, err)
		}
	}
	errs = append(errs, k.end(ctx, r, have))
	if have, err = k.claims.PreviewsOfPull(ctx, r.PullRef); err != nil {
		return 0, false, errors.Join(append(errs, err)...)
	}
	errs = append(errs, k.comment(ctx, r, have, waits))
	if slices.ContainsFunc(have, living) {
		pause = min(pause, pullCalm)
	}
	settled := len(waits) == 0 && !slices.ContainsFunc(have, func(p Record) bool { return p.Phase != Ready && p.Phase != Gone && p.Phase != Failed })
	return pause, settled && !r.State.Open && !slices.ContainsFunc(have, living), errors.Join(errs...)
}

func living(p Record) bool { return p.Phase != Gone }

// told says in a comment why there is no preview.
func told(why error) string {
	f := fault.From(why)
	if f.Code != fault.ApprovalRequired {
		return explain(why)
	}
	by, _ := f.Details["approvers"].([]string)
	return fmt.Sprintf("it waits until one of %s runs fairlead approvals grant %v", strings.Join(by, ", "), f.Details["approval"])
}

// read asks the forge how a pull request is, if there is news of it or nobody
// has looked for long. One that the forge does not know any more counts as
// closed.
func (k *PullKeeper) read(ctx context.Context, r *PullRecord) error {
	now := k.service.cfg.Now()
	if r.State.Told == r.Told && now.Sub(r.State.ReadAt) < pullCalm {
		return nil
	}
	pr, err := k.forges.PullRequest(ctx, r.PullRef)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		pr = r.State.PullRequest
		pr.Open = false
	case err != nil:
		return err
	}
	if pr.Open && !r.State.Open {
		r.State.OpenedAt, r.State.Of = now, ""
	}
	r.State.PullRequest, r.State.ReadAt, r.State.Told = pr, now, r.Told
	if !pr.Open || r.State.Of == pr.Head {
		return nil
	}
	services, err := k.services(ctx, r)
	if err != nil {
		r.State.Told-- // to be read again
		return err
	}
	r.State.Services, r.State.Of = services, pr.Head
	return nil
}

// pullWork names what a PullKeeper does in the audit.
const pullWork = "pull-requests"

// follow brings a service's preview to the pull request's newest commit. waits
// says why there is none of that yet.
func (k *PullKeeper) follow(ctx context.Context, r *PullRecord, service string, have []Record) (waits, err error) {
	var live *Record
	for i := range have {
		p := &have[i]
		switch {
		case p.Service != service || p.CreatedAt.Before(r.State.OpenedAt):
		case p.Commit == r.State.Head:
			return nil, nil // it runs, or has had its time
		case !p.ending(k.service.cfg.Now()) && p.Phase != Gone:
			live = p
		}
	}
	who := access.System(pullWork)
	e, err := k.service.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: service})
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	err = k.bring(ctx, who, r, e, live)
	var f *fault.Error
	if errors.As(err, &f) && f.Code != fault.Unavailable && f.Code != fault.Internal {
		return err, nil // told in the comment, and tried again
	}
	return nil, err
}

// bring makes a preview, or has the one there is go on.
func (k *PullKeeper) bring(ctx context.Context, who access.Caller, r *PullRecord, e *catalog.Entity, live *Record) error {
	s, pr := k.service, &r.State.PullRequest
	in := CreateInput{Service: e.Ref.String(), Revision: pr.Ref, Key: fmt.Sprintf("%s %s %d", e.Ref, pr.Head, r.State.OpenedAt.UnixMicro())}
	wish, _, err := s.wish(who, e, in)
	if err != nil {
		return err
	}
	wish.Pull, wish.PullURL, wish.Commit = r.String(), pr.URL, pr.Head
	op := access.Op{Action: access.CreatePreview, Operation: "preview_pull_request", Resource: wish.About, Input: pullInput{pr.URL, pr.Author, pr.Head, pr.Fork},
		Plan: pullPlan{e.Ref.String(), pr.URL, pr.Head, wish.Template.Deployer}, Summary: fmt.Sprintf("Run %s at commit %.12s of %s", e.Ref, pr.Head, pr.URL)}
	if pr.Fork {
		by := (&access.Approvers{Roles: []string{"sre", "admin"}}).WithOwners(wish.About.Owners)
		op.Approvers = &by
	}
	_, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		if live == nil {
			return s.accept(ctx, e, wish)
		}
		return k.advance(ctx, e, wish, live)
	})
	return err
}

// pullInput is what the audit has of the previews of pull requests, and
// pullPlan what an approval of one is bound to.
type pullInput struct {
	PullRequest string `json:"pullRequest"`
	Author      string `json:"author"`
	Commit      string `json:"commit"`
	Fork        bool   `json:"fork"`
}

type pullPlan struct {
	Service     string `json:"service"`
	PullRequest string `json:"pullRequest"`
	Commit      string `json:"commit"`
	Deployer    string `json:"deployer"`
}

// advance has a preview go on to the commit that a wish names, and live as
// long as a new one would, within the hard cap of its age.
func (k *PullKeeper) advance(ctx context.Context, e *catalog.Entity, wish Record, live *Record) (*Record, error) {
	s := k.service
	at, err := s.cfg.Repositories.Resolve(ctx, e, wish.Revision)
	if err != nil {
		return nil, err
	}
	if at.Commit != wish.Commit {
		return nil, movedOn(at, wish.Commit)
	}
	until := wish.ExpiresAt
	if last := live.CreatedAt.Add(s.cfg.TTL.HardCap); until.After(last) {
		until = last
	}
	out, err := k.claims.AdvancePreview(ctx, live.ID, at, until, s.cfg.Now(), access.System(pullWork).Subject())
	if err != nil {
		return nil, err
	}
	s.cfg.Wake(ctx, Turn{out.ID, out.Turn})
	return &out, nil
}

// end has the previews removed that nothing asks for any more.
func (k *PullKeeper) end(ctx context.Context, r *PullRecord, have []Record) error {
	s, who := k.service, access.System(pullWork)
	var errs []error
	for i := range have {
		p := &have[i]
		if p.Phase == Gone || p.ending(s.cfg.Now()) || r.State.Open && slices.Contains(r.State.Services, p.Service) {
			continue
		}
		op := access.Op{Action: access.DeletePreview, Operation: "delete_preview_environment", Resource: s.about(p), Target: p.ID, Input: pullInput{r.State.URL, r.State.Author, p.Commit, r.State.Fork}}
		_, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
			out, err := s.cfg.Wishes.EndPreview(ctx, p.ID, s.cfg.Now(), who.Subject())
			if err == nil {
				s.cfg.Wake(ctx, Turn{out.ID, out.Turn})
			}
			return &out, err
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// comment writes how the previews are, if that is not what the comment says.
// Where there never were any it writes nothing.
func (k *PullKeeper) comment(ctx context.Context, r *PullRecord, have []Record, waits map[string]string) error {
	if len(have) == 0 && len(waits) == 0 && r.State.Comment == "" {
		return nil
	}
	text := pullComment(&r.State, have, waits)
	now := hash(text)
	if now == r.State.Comment {
		return nil
	}
	err := k.forges.Comment(ctx, r.PullRef, pullMarker, text)
	if fault.CodeOf(err) == fault.NotFound && !r.State.Open {
		err = nil // the repository is gone, and who would read it with it
	}
	if err == nil {
		r.State.Comment = now
	}
	return err
}
