package secrets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
	"github.com/fairlead-dev/fairlead/secrets/offer"
)

// RequestInput asks for a credential. Who it is for is the caller.
type RequestInput struct {
	Service     string `json:"service" jsonschema:"what lends it: a bare name or a reference"`
	Name        string `json:"name" jsonschema:"the credential's name in the service's catalog file"`
	TTL         string `json:"ttl,omitempty" jsonschema:"how long it is wanted, for example 15m; at least 30s; expiresAt says what it got"`
	Environment string `json:"environment,omitempty" jsonschema:"environment that it is for"`
	Purpose     string `json:"purpose,omitempty" jsonschema:"what it is for, in a word: policy may ask for one"`
	Task        string `json:"task,omitempty" jsonschema:"the task that it is for"`
	BoundTo     string `json:"boundTo,omitempty" jsonschema:"what it ends with: preview:ID, proposal:ID, session, or job: the job of CI that asks"`
	New         bool   `json:"new,omitempty" jsonschema:"another, though you have one"`
	Key         string `json:"key,omitempty" jsonschema:"idempotency key: with it, asking again gives the same"`
}

// BorrowInput asks for a credential to be used.
type BorrowInput = RequestInput

// Request has a credential issued and gives the lease, which gives access to
// nothing: the person whom the caller acts for collects it. Asking again for
// the same gives the same lease until it ends, one that is bound to a session
// excepted. Faults: not_found (service), invalid (a field),
// failed_precondition (the service does not lend it; the issuer knows no such
// role or path; what it would be bound to is over), forbidden,
// approval_required, conflict (the key was used for something else),
// quota_exceeded, unavailable (the issuer).
func (s *Service) Request(ctx context.Context, who access.Caller, in RequestInput) (*Lease, error) {
	out, _, err := s.request(ctx, who, in, false)
	if err != nil {
		return nil, err
	}
	return out.View(s.cfg.Now()), nil
}

// handed is the input of a request whose answer holds what opens the wrapping.
type handed struct {
	RequestInput
	Wrapped bool `json:"wrapped"`
}

// Borrow is Request for callers that use the credential themselves: who may
// collect it gets what opens its wrapping in the answer; asking again makes
// another wrapping, and the one before is worthless. Who may not, or has opened
// it already, gets the lease alone. Faults: those of Request.
func (s *Service) Borrow(ctx context.Context, who access.Caller, in BorrowInput) (*Loan, error) {
	out, may, err := s.request(ctx, who, in, true)
	if err != nil {
		return nil, err
	}
	if again := out.State == Live && out.Wrapping != WrappingOpened; may && again && out.wrapped == nil {
		return s.Collect(ctx, who, CollectInput{Lease: out.ID})
	}
	return s.loan(&out.Record, out.wrapped), nil
}

// request has a credential issued; may tells whether the caller is handed what
// opens its wrapping, if wanted.
func (s *Service) request(ctx context.Context, who access.Caller, in RequestInput, want bool) (out *issued, may bool, err error) {
	if err := s.there(); err != nil {
		return nil, false, err
	}
	e, err := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, false, err
	}
	op := access.Op{Action: access.RequestCredentials, Operation: "request_credentials", Resource: index.AttributesOf(e), Entity: e, Input: in}
	asked := in.BoundTo
	if job := who.Job(); job.Valid() && (asked == "" || asked == Job) {
		in.BoundTo = Job + ":" + job.String()
	}
	r, err := s.wish(who, e, in)
	if err == nil {
		err = s.binds(ctx, who, asked)
	}
	if err != nil {
		return nil, false, s.cfg.Guard.Refuse(ctx, who, op, err)
	}
	if may = want && s.hands(ctx, who, &r); may {
		op.Input = handed{in, true}
	}
	op.Resource, op.Summary = r.About, summary(&r)
	op.Plan = plan{r.Service, r.Offer.Name, r.Environment, r.ExpiresAt.Sub(r.CreatedAt).String(), r.Purpose, r.Task}
	out, err = access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*issued, error) {
		return s.lend(ctx, who, r, !in.New && in.BoundTo != Session, may)
	})
	return out, may, err
}

// hands tells whether a caller may be handed what opens the wrapping without
// asking anybody: whether they could collect it right away.
func (s *Service) hands(ctx context.Context, who access.Caller, r *Record) bool {
	trial, err := access.Try(ctx, s.cfg.Guard, who, access.Op{Action: access.CollectCredentials, Operation: "collect_credentials", Resource: s.about(r), Target: r.ID, Input: CollectInput{Lease: r.ID}})
	return err == nil && len(trial.Objections) == 0 && trial.Approvers == nil
}

// issued is a lease, and the wrapping of one that was issued just now.
type issued struct {
	Record
	wrapped *Wrapped
}

// plan is what an approval of a loan is bound to.
type plan struct {
	Service     string `json:"service"`
	Name        string `json:"name"`
	Environment string `json:"environment,omitempty"`
	TTL         string `json:"ttl"`
	Purpose     string `json:"purpose,omitempty"`
	Task        string `json:"task,omitempty"`
}

// summary says what would be done.
func summary(r *Record) string {
	text := fmt.Sprintf("Lend %s of %s", r.Offer.Name, r.Service)
	if r.Environment != "" {
		text += " for " + r.Environment
	}
	text += " for " + r.ExpiresAt.Sub(r.CreatedAt).String()
	if r.Purpose != "" {
		text += " to " + r.Purpose
	}
	return text
}

// wish checks what is asked for, without asking anybody else.
func (s *Service) wish(who access.Caller, e *catalog.Entity, in RequestInput) (r Record, err error) {
	for _, f := range []struct {
		field, text string
		most        int
	}{{"environment", in.Environment, 100}, {"purpose", in.Purpose, 100}, {"task", in.Task, 300}, {"boundTo", in.BoundTo, 300}, {"key", in.Key, 200}} {
		if err := checkText(f.field, f.text, f.most); err != nil {
			return r, err
		}
	}
	if r.Offer, err = offer.Of(e, in.Name); err != nil {
		return r, err
	}
	r.About = index.AttributesOf(e)
	r.About.Credential, r.About.Purpose = r.Offer.Name, in.Purpose
	if r.Environment, r.About.Protected, err = environmentOf(e, &r.Offer, in.Environment); err != nil {
		return r, err
	}
	r.About.Environment = r.Environment
	ttl, most, err := s.ttl(who, &r, in.TTL)
	if err != nil {
		return r, err
	}
	r.ID, r.Service, r.Key = record.NewID(e.Ref.Name+"-"+r.Offer.Name, 40), e.Ref.String(), in.Key
	r.Person, r.Agent, r.Purpose, r.Task, r.BoundTo = who.Subject(), who.Agent(), in.Purpose, in.Task, in.BoundTo
	r.InputHash = hash(r.Service, r.Offer.Name, r.Environment, r.Purpose, r.Task, r.BoundTo)
	r.CreatedAt = s.now()
	r.ExpiresAt, r.Until = r.CreatedAt.Add(ttl), r.CreatedAt.Add(most)
	if r.BoundTo == Session {
		r.BeatAt = r.CreatedAt
	}
	r.State, r.Wrapping, r.DueAt = Issuing, WrappingNone, r.CreatedAt.Add(issueWithin)
	return r, nil
}

// ttl is how long a credential is lent for, and how long at most.
func (s *Service) ttl(who access.Caller, r *Record, asked string) (ttl, most time.Duration, err error) {
	if ttl = s.cfg.TTL.Default; asked != "" {
		if ttl, err = duration("ttl", asked); err != nil {
			return 0, 0, err
		}
	}
	most = s.cfg.TTL.Max
	if r.Offer.MaxTTL > 0 {
		most = min(most, r.Offer.MaxTTL)
	}
	if bound, _ := s.cfg.Policy.Bound(who, access.RequestCredentials, r.About); bound > 0 {
		most = min(most, bound)
	}
	return min(ttl, most), most, nil
}

// duration reads how long something is wanted for.
func duration(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s: %q is no duration", field, clip(text, 80)).WithFix("Write for example 45s, 15m or 1h.")
	}
	if d < MinTTL {
		return 0, fault.New(fault.Invalid, "%s: %s is less than %s", field, d, MinTTL).WithFix("Ask for %s at least.", MinTTL)
	}
	return d, nil
}

// environmentOf is the environment that is meant, and whether what is lent
// reaches a protected one: whatever is asked for, it is the same credential in
// all that it is for.
func environmentOf(e *catalog.Entity, o *Offer, asked string) (name string, protected bool, err error) {
	all, guarded := []string{}, map[string]bool{}
	for _, it := range e.Spec().Object("fairlead").List("environments") {
		if v, ok := it.Value.(*entity.Object); ok && v.String("name") != "" {
			all = append(all, v.String("name"))
			guarded[v.String("name")] = v.Get("protected") == true
		}
	}
	if len(o.Environments) > 0 {
		all = o.Environments
	}
	protected = slices.ContainsFunc(all, func(name string) bool { return guarded[name] })
	switch {
	case asked == "" && len(all) == 1:
		return all[0], protected, nil
	case asked == "" && len(o.Environments) == 0, slices.Contains(all, asked):
		return asked, protected, nil
	case asked == "":
		return "", false, fault.New(fault.Invalid, "environment: %s of %s is for several", o.Name, e.Ref).WithFix("Name one of %s.", strings.Join(all, ", "))
	case len(all) == 0:
		return "", false, fault.New(fault.Invalid, "environment: %s has none %q", e.Ref, clip(asked, 80)).WithFix("Leave it out.")
	}
	return "", false, fault.New(fault.Invalid, "environment: %s of %s is not for %q", o.Name, e.Ref, clip(asked, 80)).WithFix("It is for %s.", strings.Join(all, ", "))
}

// binds tells by its error that a lease cannot be bound to something.
func (s *Service) binds(ctx context.Context, who access.Caller, to string) error {
	switch {
	case to == "" || to == Session || to == Job && who.Job().Valid():
		return nil
	case to == Job:
		return fault.New(fault.Invalid, "boundTo: you are no job of CI that is known here").
			WithFix("Show the token that the forge's CI issues to the job; the operators name its forge with jobs under auth.oidc.")
	}
	kind, id, _ := strings.Cut(to, ":")
	if s.cfg.Bindings == nil || !record.IsID(kind) || !record.IsID(id) {
		return fault.New(fault.Invalid, "boundTo: a lease cannot be bound to %q", clip(to, 80)).WithFix("Write session, job, preview:ID or proposal:ID.")
	}
	return s.cfg.Bindings.May(ctx, who, kind, id)
}

func checkText(field, text string, most int) error {
	if len(text) > most || strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, unicode.IsControl) || strings.HasPrefix(text, "-") {
		return fault.New(fault.Invalid, "%s is longer than %d bytes, holds control characters or begins with -", field, most).WithFix("Correct %s.", field)
	}
	return nil
}

func hash(parts ...string) string {
	enc, err := json.Marshal(parts)
	if err != nil { // texts always marshal
		panic(err)
	}
	sum := sha256.Sum256(enc)
	return hex.EncodeToString(sum[:16])
}
