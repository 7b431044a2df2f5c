package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// recordFor bounds the recording of an outcome, which does not end when the
// caller hangs up.
const recordFor = 5 * time.Second

// refusals bounds how many refusals of one caller are in the audit; beyond it
// they are in the log alone, so that an agent in a loop cannot fill the store.
var refusals = Rate{Burst: 300, Per: 10 * time.Minute}

// Op is an act, as the lock sees it.
type Op struct {
	// Action is what policy, quota and audit call it.
	Action Action
	// Operation is its name in snake_case, for example refresh_entity.
	Operation string
	// Resource is the entity it is done to, as policy looks at it; zero
	// where it is done to no entity.
	Resource Attributes
	// Target names what it is done to in the audit; "" means Resource.Ref.
	Target string
	// Holder tells that the caller holds what it is done to: then it needs no
	// rule that allows it, and none may deny it.
	Holder bool
	// Input is summarised in the audit as JSON, with secrets masked.
	Input any
	// Plan is what would be done, in whole: what an approval is bound to, as
	// JSON, and what who decides is shown, with secrets masked. Equal wishes
	// have equal plans: it holds no times, and nothing random. nil is Input.
	Plan any
	// Entity is the resource as the catalog has it, for policy as code; no
	// approval is bound to it.
	Entity any
	// State is how what it is done to does at this moment, for policy as code; no
	// approval is bound to it.
	State any
	// Approvers must agree to it where policy asks for no approval by others;
	// nil leaves it to policy.
	Approvers *Approvers
	// Summary says in a sentence what would be done, for who decides; "" makes
	// one of Operation and Target.
	Summary string

	// Part has the act be part of another one that began before; nil for an act
	// of its own.
	Part *Part

	// What the lock itself sets: who may decide on a request for approval is
	// not a matter of rules that allow.
	decided  *Decision
	approval string
}

// GuardConfig is what a Guard works with.
type GuardConfig struct {
	// Policy decides; nil is DefaultPolicy.
	Policy *Policy
	// Log records; it must be there.
	Log Log
	// Quota meters; it must be there.
	Quota Quota
	// Limits add to DefaultLimits.
	Limits Limits
	// Judge is asked about every act that the rules allow; nil objects to none.
	Judge Judge
	// Approvals keeps requests for approval; without it what needs approval is
	// refused.
	Approvals Approvals
	// Logger is told when an outcome could not be recorded; nil is
	// slog.Default.
	Logger *slog.Logger
}

// Guard is the gate that every act passes. Make one with NewGuard; nothing
// passes a nil one.
type Guard struct {
	policy *Policy
	log    Log
	quota  Quota
	limits Limits
	logger *slog.Logger
	judge  Judge

	approvals Approvals
}

// NewGuard makes a Guard; the error is a Problems where limits are wrong.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	if cfg.Log == nil || cfg.Quota == nil {
		return nil, errors.New("a guard needs a log and a quota")
	}
	var ps Problems
	cfg.Limits.validate(&ps, "policy.limits")
	if cfg.Policy == nil {
		cfg.Policy = DefaultPolicy()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Guard{policy: cfg.Policy, log: cfg.Log, quota: cfg.Quota, limits: DefaultLimits().with(cfg.Limits), logger: cfg.Logger, judge: cfg.Judge, approvals: cfg.Approvals}, ps.err()
}

// Do runs an act inside the lock: may the caller do it by the rules and by
// policy as code, have they done it too often, has a person agreed where policy wants that, then "begun" is recorded, act runs, and its outcome is recorded even
// if the caller has hung up. Refusals are recorded too: 300 of one
// caller in ten minutes, and those beyond in the server's log. Where the record
// cannot be written nothing happens. An approval counts for one act, however
// that ends. Faults: unauthenticated, forbidden (also where a person or policy
// as code denied it), failed_precondition (policy as code wants more),
// approval_required, quota_exceeded, unavailable (no record, no quota, no answer
// of policy as code), internal (a panic in act), and those of act.
func Do[T any](ctx context.Context, g *Guard, who Caller, op Op, act func(context.Context) (T, error)) (out T, err error) {
	id, granted, err := g.begin(ctx, who, op)
	if err != nil {
		return out, err
	}
	began, returned := time.Now(), false
	defer func() {
		p := recover()
		if !returned { // act panicked, or ended its goroutine
			var none T
			out, err = none, fault.From(panicked(op.Action, p))
		}
		g.end(ctx, id, outcomeOf(err, time.Since(began)))
	}()
	out, err = act(context.WithValue(context.WithValue(ctx, auditKey{}, id), grantKey{}, granted))
	returned = true
	if err != nil {
		var none T
		return none, fault.From(err)
	}
	return out, nil
}

type auditKey struct{}

// AuditID is the id of the audit's entry of the act that runs under ctx; ""
// outside of one.
func AuditID(ctx context.Context) string {
	id, _ := ctx.Value(auditKey{}).(string)
	return id
}

// panicked is the cause that the log is given of a panic.
func panicked(where any, p any) error {
	return fmt.Errorf("panic in %v: %s\n%s", where, redact(fmt.Sprint(p)), debug.Stack())
}

// begin takes an act up to its record.
func (g *Guard) begin(ctx context.Context, who Caller, op Op) (id string, used Grant, err error) {
	if g == nil {
		return "", used, fault.From(errors.New("no guard is configured"))
	}
	if err := ctx.Err(); err != nil {
		return "", used, fault.From(err)
	}
	d := g.decision(who, op)
	b := g.begun(who, op, d.Rule)
	if !d.Allowed {
		return "", used, g.refuse(ctx, b, refusal(who, d))
	}
	if why := g.judged(ctx, who, &op); why != nil {
		return "", used, g.refuse(ctx, b, why)
	}
	if op.Part == nil { // what it is part of was counted
		if err := g.take(ctx, who, op.Action); err != nil {
			return "", used, g.refuse(ctx, b, err)
		}
	}
	if used, err = g.approved(ctx, who, op, b); err != nil {
		return "", used, err
	}
	if b.Approval = op.approval; used.ID != "" {
		b.Approval = used.ID
	}
	id, cause := g.log.Begin(ctx, b)
	if cause != nil {
		return "", used, fault.New(fault.Unavailable, "the audit record could not be written, so nothing was done").
			WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(cause)
	}
	return id, used, nil
}

func (g *Guard) decision(who Caller, op Op) Decision {
	if op.decided != nil {
		return *op.decided
	}
	if op.Holder {
		return g.policy.AllowHolder(who, op.Action, op.Resource)
	}
	return g.policy.Allow(who, op.Action, op.Resource)
}

func (g *Guard) begun(who Caller, op Op, rule string) Begun {
	if op.Target == "" {
		op.Target = op.Resource.Ref
	}
	return Begun{
		Time: time.Now(), Action: op.Action, Operation: op.Operation, Target: plain(op.Target),
		Who: who, Input: summarise(op.Input), Rule: rule, Approval: op.approval,
	}
}

// refusal is the fault for an act that policy does not let begin.
func refusal(who Caller, d Decision) *fault.Error {
	code := fault.Forbidden
	if who.IsZero() || who.Anonymous() {
		code = fault.Unauthenticated
	}
	return fault.New(code, "%s", d.Reason).WithFix("%s", d.Fix)
}

// take uses up one of what the caller has left of the action.
func (g *Guard) take(ctx context.Context, who Caller, action Action) *fault.Error {
	limit, found := g.limits.of(action)
	if !found || who.System() {
		return nil
	}
	wait, err := g.quota.Take(ctx, quotaKey(who, action), limit)
	switch {
	case err != nil:
		return fault.New(fault.Unavailable, "the quota could not be asked, so nothing was done").
			WithFix("Try again in a moment; the operators find the cause in the server's log.").Because(err)
	case wait > 0:
		return fault.New(fault.QuotaExceeded, "%s has used up its %s of %s", describe(who), limit, action).
			WithFix("Try again in %s.", wait.Round(time.Millisecond)).After(wait)
	default:
		return nil
	}
}

// refuse records a refusal and gives it back. A refusal that cannot be
// recorded is still one. A caller that keeps on asking fills the log, which is
// made for that, and not the audit.
func (g *Guard) refuse(ctx context.Context, b Begun, why *fault.Error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	if wait, err := g.quota.Take(ctx, quotaKey(b.Who, "refused"), refusals); err == nil && wait > 0 {
		g.logger.WarnContext(ctx, "refused too often to be in the audit each time", "action", b.Action, "target", b.Target, "subject", b.Who.Subject(), "agent", b.Who.Agent(), "code", why.Code)
		return why
	}
	b.Outcome = &Outcome{Status: StatusRefused, Code: why.Code, Message: plain(why.Message)}
	if _, err := g.log.Begin(ctx, b); err != nil {
		g.logger.ErrorContext(ctx, "refusal not recorded", "action", b.Action, "target", b.Target, "subject", b.Who.Subject(), "agent", b.Who.Agent(), "error", err)
	}
	return why
}

// end records the outcome. An act that is done cannot be undone for want of
// its record: its entry then stays unknown, and the log says what happened.
func (g *Guard) end(ctx context.Context, id string, o Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	if err := g.log.End(ctx, id, o); err != nil {
		g.logger.ErrorContext(ctx, "outcome not recorded", "audit", id, "status", o.Status, "code", o.Code, "error", err)
	}
}

func outcomeOf(err error, took time.Duration) Outcome {
	if err == nil {
		return Outcome{Status: StatusOK, Took: took}
	}
	f := fault.From(err)
	return Outcome{Status: StatusFailed, Code: f.Code, Message: plain(f.Message), Took: took}
}

// Note records what Fairlead did by itself that no rule may keep it from, such
// as taking back what is over; work names it as System does, and err is how it
// ended. An act that cannot be recorded is in the log.
func (g *Guard) Note(ctx context.Context, work string, op Op, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	b := g.begun(System(work), op, "(Fairlead itself)")
	o := outcomeOf(err, 0)
	b.Outcome = &o
	if _, err := g.log.Begin(ctx, b); err != nil {
		g.logger.ErrorContext(ctx, "an act of Fairlead's own is not recorded", "action", b.Action, "target", b.Target, "subject", b.Who.Subject(), "error", err)
	}
}

// Refuse records that an act was refused for what was asked, before policy
// could look at it, and gives err back: for acts of which somebody wants to see
// who tried what. It records no more than Do does of refusals.
func (g *Guard) Refuse(ctx context.Context, who Caller, op Op, err error) error {
	return g.refuse(ctx, g.begun(who, op, ""), fault.From(err))
}
