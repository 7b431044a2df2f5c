package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Judge is policy as code: it is shown what an act would do, once the rules let
// the caller do it, and says what stands against it.
type Judge interface {
	// Judge gives the objections to an act, none where it may go on. An error
	// means that nobody knows: the act does not begin.
	Judge(ctx context.Context, q Question) ([]Objection, error)
}

// Question is an act as a Judge sees it, the same in every door.
type Question struct {
	Action    Action         `json:"action"`
	Operation string         `json:"operation"`
	Target    string         `json:"target,omitempty"`
	Caller    QuestionCaller `json:"caller"`
	Resource  QuestionTarget `json:"resource"`
	// Plan is what would be done: what an approval would be bound to.
	Plan any `json:"plan"`
	// Entity is the resource as the catalog has it, where the act says so.
	Entity any `json:"entity,omitempty"`
	// State is how the resource does now, where that is known.
	State any `json:"state,omitempty"`
	// Now is the time, RFC 3339 in UTC.
	Now string `json:"now"`
	// DryRun tells that the act is only tried.
	DryRun bool `json:"dryRun"`
}

// QuestionCaller is who asks, in a Question.
type QuestionCaller struct {
	Subject string   `json:"subject"`
	Agent   string   `json:"agent"`
	Groups  []string `json:"groups"`
	Roles   []string `json:"roles"`
	System  bool     `json:"system"`
}

// QuestionTarget is what an act is done to, in a Question.
type QuestionTarget struct {
	Ref         string   `json:"ref"`
	Kind        string   `json:"kind"`
	Namespace   string   `json:"namespace"`
	Type        string   `json:"type"`
	Owners      []string `json:"owners"`
	Tags        []string `json:"tags"`
	Environment string   `json:"environment"`
	Protected   bool     `json:"protected"`
	// Credential and Purpose are of acts about a credential on loan.
	Credential string `json:"credential,omitempty"`
	Purpose    string `json:"purpose,omitempty"`
}

// Objection is one thing that stands against an act.
type Objection struct {
	// Wanting tells that something has to be added and the act may then go on;
	// else it may not go on as it is.
	Wanting bool `json:"wanting"`
	// Message says what stands against it, Fix what would help.
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// question is an act as a Judge is asked about it.
func (op *Op) question(who Caller, dry bool) Question {
	r := &op.Resource
	list := func(in []string) []string { return append([]string{}, in...) }
	q := Question{Action: op.Action, Operation: op.Operation, Target: op.Target, Plan: op.Plan, Entity: op.Entity, State: op.State, DryRun: dry, Now: time.Now().UTC().Format(time.RFC3339),
		Caller:   QuestionCaller{who.Subject(), who.Agent(), list(who.Groups()), list(who.Roles()), who.System()},
		Resource: QuestionTarget{r.Ref, r.Kind, r.Namespace, r.Type, list(r.Owners), list(r.Tags), r.Environment, r.Protected, r.Credential, r.Purpose}}
	if q.Target == "" {
		q.Target = r.Ref
	}
	if q.Plan == nil {
		q.Plan = op.Input
	}
	return q
}

// judged asks the Judge, if there is one, and gives its objections as a fault.
func (g *Guard) judged(ctx context.Context, who Caller, op *Op) *fault.Error {
	objections, f := g.objections(ctx, who, op, false)
	switch {
	case f != nil:
		g.logger.ErrorContext(ctx, "policy as code gave no answer", "action", op.Action, "operation", op.Operation, "error", f.Unwrap())
		if op.Action == RevokeCredentials {
			return nil // a policy that is broken is no reason to leave credentials with whoever has them
		}
		return f
	case len(objections) > 0:
		return objectionsFault(objections)
	}
	return nil
}

// objections are what the Judge has against an act.
func (g *Guard) objections(ctx context.Context, who Caller, op *Op, dry bool) ([]Objection, *fault.Error) {
	if g.judge == nil {
		return nil, nil
	}
	objections, err := g.judge.Judge(ctx, op.question(who, dry))
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the policy as code gave no answer, so nothing was done").
			WithFix("Have the operators look at the server's log: a policy fails, or takes too long.").Because(err)
	}
	return objections, nil
}

// objectionsFault says what stands against an act: forbidden where something
// does for good, failed_precondition where the caller can add what is wanting.
func objectionsFault(all []Objection) *fault.Error {
	code := fault.FailedPrecondition
	messages, fixes := make([]string, 0, len(all)), make([]string, 0, len(all))
	for _, o := range all {
		if !o.Wanting {
			code = fault.Forbidden
		}
		messages = append(messages, strings.TrimRight(o.Message, "."))
		if o.Fix != "" {
			fixes = append(fixes, o.Fix)
		}
	}
	fix := strings.Join(fixes, " ")
	if fix == "" {
		fix = "Ask those who keep the policy."
	}
	return fault.New(code, "policy: %s", strings.Join(messages, "; ")).WithFix("%s", fix).WithDetail("objections", all)
}

// Trial is what would stand against an act.
type Trial struct {
	// Objections are the Judge's.
	Objections []Objection
	// Approvers are who would have to agree first; nil where nobody has to.
	Approvers []string
}

// Notes words a trial, a sentence each.
func (t *Trial) Notes() []string {
	var out []string
	for _, o := range t.Objections {
		out = append(out, strings.TrimSpace(fmt.Sprintf("policy would refuse it: %s. %s", strings.TrimRight(o.Message, "."), o.Fix)))
	}
	if t.Approvers != nil {
		out = append(out, "it needs the approval of "+strings.Join(t.Approvers, ", "))
	}
	return out
}

// Try tells what would come of an act, without doing or recording anything.
// Faults: unauthenticated and forbidden where the rules refuse it, unavailable.
func Try(ctx context.Context, g *Guard, who Caller, op Op) (*Trial, error) {
	if g == nil {
		return nil, fault.From(fmt.Errorf("no guard is configured for %s", op.Operation))
	}
	d := g.decision(who, op)
	if !d.Allowed {
		return nil, refusal(who, d)
	}
	objections, f := g.objections(ctx, who, &op, true)
	if f != nil {
		return nil, f
	}
	t := &Trial{Objections: objections}
	if need := g.policy.requires(who, op.Action, &op.Resource); need != nil {
		t.Approvers = append([]string{}, need.by.List()...)
	}
	return t, nil
}
