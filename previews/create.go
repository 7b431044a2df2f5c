package previews

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// CreateInput asks for a preview.
type CreateInput struct {
	Service  string `json:"service" jsonschema:"the component: a bare name or a reference"`
	Revision string `json:"revision,omitempty" jsonschema:"branch, tag or commit; what the catalog reads by default"`
	TTL      string `json:"ttl,omitempty" jsonschema:"how long it lives from now on, for example 30m; at least 30s"`
	Key      string `json:"key,omitempty" jsonschema:"idempotency key: with it, asking again gives the same"`
	Wait     string `json:"wait,omitempty" jsonschema:"wait so long for it to be ready, for example 30s"`
}

// Create has a service run at a revision, until its time is up. It answers
// once the preview is accepted, or after Wait; access.Report tells of its
// phases meanwhile. Faults: not_found (service, revision), invalid (a field),
// failed_precondition (the service is not previewed, or by no deployer that is
// here), conflict (the key was used for something else), quota_exceeded.
func (s *Service) Create(ctx context.Context, who access.Caller, in CreateInput) (*Preview, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	e, err := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	r, wait, err := s.wish(who, e, in)
	if err != nil {
		return nil, err
	}
	op := access.Op{Action: access.CreatePreview, Operation: "create_preview_environment", Resource: r.About, Input: in,
		Plan: plan{r.Service, in.Revision, r.ExpiresAt.Sub(r.CreatedAt).String(), r.Template.Deployer, texts(r.Template.Data), r.Template.Environment}, Summary: summary(&r)}
	made, err := access.Do(ctx, s.cfg.Guard, who, op, func(ctx context.Context) (*Record, error) {
		return s.accept(ctx, e, r)
	})
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, made, wait)
}

// plan is what an approval of a preview is bound to.
type plan struct {
	Service  string `json:"service"`
	Revision string `json:"revision,omitempty"`
	TTL      string `json:"ttl"`
	Deployer string `json:"deployer"`
	// Data is what it asks for of its own.
	Data []string `json:"data,omitempty"`
	// Environment is the one that it uses.
	Environment string `json:"environment,omitempty"`
}

// summary says what would be done.
func summary(r *Record) string {
	return fmt.Sprintf("Run %s at %s for %s by %s", r.Service, cmp.Or(r.Revision, "what the catalog reads"), r.ExpiresAt.Sub(r.CreatedAt), r.Template.Deployer)
}

// wish checks what is asked for, without asking anybody else.
func (s *Service) wish(who access.Caller, e *catalog.Entity, in CreateInput) (r Record, wait time.Duration, err error) {
	if !strings.EqualFold(e.Ref.Kind, "component") {
		return r, 0, fault.New(fault.Invalid, "%s is no component, and only components are previewed", e.Ref).WithFix("Name a component.")
	}
	if r.Template, err = templateOf(e); err != nil {
		return r, 0, err
	}
	d, err := s.deployer(r.Template.Deployer)
	if err != nil {
		return r, 0, err
	}
	if err = s.prepare(e, &r.Template, d); err != nil {
		return r, 0, err
	}
	if err = s.settleData(e, &r.Template); err != nil {
		return r, 0, err
	}
	if err = s.checkReferences(who, e, &r.Template); err != nil {
		return r, 0, err
	}
	touch(&r, e)
	if err = checkText("revision", in.Revision, 250); err != nil {
		return r, 0, err
	}
	if err = checkText("key", in.Key, 200); err != nil {
		return r, 0, err
	}
	ttl, err := s.ttl(in.TTL, r.Template.TTL)
	if err != nil {
		return r, 0, err
	}
	if in.Wait != "" {
		if wait, err = duration("wait", in.Wait, 0, 5*time.Minute); err != nil {
			return r, 0, err
		}
	}
	r.ID, r.Service, r.Revision, r.Owner = record.NewID(e.Ref.Name, 30), e.Ref.String(), in.Revision, ownerOf(e)
	r.Person, r.Agent, r.Key = who.Subject(), who.Agent(), in.Key
	r.CreatedAt = s.cfg.Now().UTC().Truncate(time.Microsecond)
	r.ExpiresAt = r.CreatedAt.Add(ttl)
	r.InputHash = hash(r.Service, in.Revision, ttl.String())
	r.Phase, r.Since = Pending, r.CreatedAt
	return r, wait, nil
}

// ttl is how long a preview lives.
func (s *Service) ttl(asked string, template time.Duration) (time.Duration, error) {
	t := s.cfg.TTL
	switch {
	case asked != "":
		return duration("ttl", asked, MinTTL, t.Max)
	case template > 0:
		return min(max(template, MinTTL), t.Max), nil
	default:
		return t.Default, nil
	}
}

// duration reads a duration between two others.
func duration(field, text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s: %q is no duration", field, clip(text, 80)).WithFix("Write for example 45s, 30m or 2h.")
	}
	if d < least || d > most {
		return 0, fault.New(fault.Invalid, "%s: %s is not between %s and %s", field, d, least, most).WithFix("Ask for a time in that range.")
	}
	return d, nil
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

// accept finds the commit and keeps the wish.
func (s *Service) accept(ctx context.Context, e *catalog.Entity, r Record) (*Record, error) {
	if r.Key != "" {
		switch old, err := s.cfg.Wishes.PreviewOfKey(ctx, r.Person, r.Agent, r.Key); {
		case err == nil:
			return sameInput(old, r)
		case fault.CodeOf(err) != fault.NotFound:
			return nil, err
		}
	}
	access.Report(ctx, access.Progress{Done: 0.1, Total: steps, Message: "finding the commit"})
	at, err := s.cfg.Repositories.Resolve(ctx, e, r.Revision)
	if err != nil {
		return nil, err
	}
	if r.Commit != "" && at.Commit != r.Commit {
		return nil, movedOn(at, r.Commit)
	}
	r.Repository, r.Dir, r.Revision, r.Commit = at.Repository, at.Dir, at.Revision, at.Commit
	made, err := s.cfg.Wishes.AddPreview(ctx, r, s.cfg.Limits)
	if err != nil {
		return nil, err
	}
	if made.ID != r.ID { // somebody else was first with the key
		return sameInput(made, r)
	}
	s.cfg.Wake(ctx, Turn{made.ID, made.Turn})
	return &made, nil
}

// movedOn is the fault of a revision that names another commit than the one
// that was meant.
func movedOn(at Checkout, meant string) error {
	return fault.New(fault.Unavailable, "%s has moved on from commit %.12s to %.12s", at.Revision, meant, at.Commit).WithFix("Try again in a moment.")
}

// sameInput gives what a key was used for before, if that was the same.
func sameInput(old, r Record) (*Record, error) {
	if old.InputHash != r.InputHash {
		return nil, fault.New(fault.Conflict, "the key %q was used for preview %s, with another service, revision or ttl", r.Key, old.ID).
			WithFix("Use another key, or ask for the same as then.")
	}
	return &old, nil
}

// steps is what the progress of a creation grows to.
const steps = 3

// progressOf tells how far a preview has come.
func progressOf(p Phase) float64 {
	switch p {
	case Pending:
		return 1
	case Creating:
		return 2
	default:
		return steps
	}
}

// follow waits until a preview is ready or will not be, or for so long, and
// tells of what happens meanwhile. Who has hung up finds it under its id.
func (s *Service) follow(ctx context.Context, r *Record, wait time.Duration) (*Preview, error) {
	ctx, cancel := context.WithTimeout(ctx, max(wait, time.Second))
	defer cancel()
	until := time.Now().Add(wait)
	told := ""
	for n := 0; ; n++ {
		p, err := s.view(ctx, r)
		if err != nil {
			return r.View(0), nil // it is accepted; its place in the queue can be asked for again
		}
		if text := string(p.Phase) + ": " + p.Reason; text != told {
			told = text
			access.Report(ctx, access.Progress{Done: progressOf(p.Phase) + min(float64(n), 99)/100*wholeOnly(p.Phase), Total: steps, Message: p.ID + " is " + strings.TrimSuffix(text, ": ")})
		}
		if p.Phase != Pending && p.Phase != Creating || !time.Now().Before(until) {
			return p, nil
		}
		select {
		case <-ctx.Done():
			return p, nil
		case <-time.After(min(fastLook/2, time.Until(until))):
		}
		if now, err := s.cfg.Reads.Preview(ctx, r.ID); err == nil {
			r = &now
		}
	}
}

// wholeOnly is 0 for phases after which nothing comes, so that progress ends
// at its total.
func wholeOnly(p Phase) float64 {
	if p == Pending || p == Creating {
		return 1
	}
	return 0
}
