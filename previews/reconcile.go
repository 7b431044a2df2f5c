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

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// lookTimeout bounds one look of a deployer, moveTimeout one move, TurnTimeout
// both, and holdFor is how long a preview is held for them: a turn ends before
// somebody else may take its preview.
const (
	lookTimeout = 15 * time.Second
	moveTimeout = 60 * time.Second
	TurnTimeout = 80 * time.Second
	holdFor     = 90 * time.Second
)

// ReconcilerConfig is what a Reconciler is made of.
type ReconcilerConfig struct {
	// Claims is where previews are taken and put down. Required.
	Claims Claims
	// Deployers are those there are, by the name that templates use.
	Deployers map[string]Deployer
	// Data are the servers where previews' data is made.
	Data []DataServer
	// Limits are those that the queue is admitted under.
	Limits Limits
	// Deadlines bound each phase.
	Deadlines Deadlines
	// Observe is told of each turn; nil is nobody.
	Observe func(from, to Phase, took time.Duration)
	// Logger is told of what deployers did not do; nil is slog.Default.
	Logger *slog.Logger
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// Reconciler looks after previews, one turn at a time: it takes one, looks at
// it, makes one move, and puts down what became of it. It may be ended between
// any two steps; whoever takes the preview next goes on.
type Reconciler struct{ ReconcilerConfig }

// NewReconciler makes a Reconciler.
func NewReconciler(cfg ReconcilerConfig) *Reconciler {
	cfg.Limits, cfg.Deadlines = cfg.Limits.WithDefaults(), cfg.Deadlines.withDefaults()
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Phase, Phase, time.Duration) {}
	}
	return &Reconciler{cfg}
}

// Forever is what Turn gives for a preview that needs no more turns.
const Forever = time.Duration(-1)

// nap is the longest pause in which a turn goes on. For longer ones it ends,
// and Sweep begins another; grace is how long a turn that goes on may be late.
const nap, grace = 4 * time.Second, 6 * time.Second

// Turn looks after one preview once and tells after how long to do so again,
// Forever where this turn is over.
func (c *Reconciler) Turn(ctx context.Context, t Turn) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, TurnTimeout)
	defer cancel()
	holder, began := uuid.NewString(), time.Now()
	r, hold, err := c.claim(ctx, t, holder)
	if err == nil && hold == Taken && r.Phase == Pending && r.AdmittedAt.IsZero() {
		if err = c.Claims.AdmitPreviews(ctx, c.Limits, c.Now()); err == nil {
			r, hold, err = c.claim(ctx, t, holder)
		}
	}
	switch {
	case err != nil:
		return 0, err
	case hold == Held:
		return fastLook, nil
	case hold == Over:
		return Forever, nil
	}
	from := r.Phase
	again, err = c.step(ctx, &r, holder)
	c.Observe(from, r.Phase, time.Since(began))
	if r.Phase == Gone && from != Gone {
		if e := c.Claims.AdmitPreviews(ctx, c.Limits, c.Now()); e != nil { // else those that wait find it themselves
			c.Logger.WarnContext(ctx, "those that wait for room are let in later than they could be", "error", e)
		}
	}
	if again > nap {
		again = Forever
	}
	return again, err
}

// Sweep begins new turns for previews that nobody looks after: those whose
// time has come, and those whose reconciler died.
func (c *Reconciler) Sweep(ctx context.Context) ([]Turn, error) {
	return c.Claims.OverduePreviews(ctx, c.Now())
}

func (c *Reconciler) claim(ctx context.Context, t Turn, holder string) (Record, Hold, error) {
	now := c.Now()
	return c.Claims.ClaimPreview(ctx, t, holder, now, now.Add(holdFor))
}

// step looks, decides, puts the decision down, makes the move, and puts down
// what came of it. The decision is put down first, so that a crash in the move
// leaves a preview that is known to be on its way.
func (c *Reconciler) step(ctx context.Context, r *Record, holder string) (time.Duration, error) {
	before := *r
	s := c.look(ctx, r)
	if ctx.Err() != nil { // what was seen in haste counts for nothing
		return 0, c.letGo(ctx, before, holder)
	}
	d := next(r, s, c.Now(), c.Deadlines)
	event := c.decide(r, s, d)
	overdue := time.Time{}
	if d.Move == rest {
		overdue = c.overdue(d)
	}
	ok, err := c.Claims.ReportPreview(ctx, *r, holder, event, overdue)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return fastLook, nil
	case d.Move == rest:
		return d.After, nil
	}
	failure := c.move(ctx, r, d.Move)
	if ctx.Err() != nil {
		return 0, c.letGo(ctx, *r, holder)
	}
	if ok, err = c.moved(ctx, r, holder, d, failure); err == nil && !ok {
		return fastLook, nil
	}
	return d.After, err
}

// overdue is when somebody else should look after a preview.
func (c *Reconciler) overdue(d decision) time.Time {
	in := d.After
	if in <= nap {
		in += grace
	}
	return c.Now().Add(in)
}

// letGo puts a preview down as it was, in a program that is about to end.
func (c *Reconciler) letGo(ctx context.Context, r Record, holder string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_, err := c.Claims.ReportPreview(ctx, r, holder, nil, c.Now())
	return err
}

// look asks what there is, the deployer and those who make data at a time.
func (c *Reconciler) look(ctx context.Context, r *Record) sight {
	if r.Phase == Pending || r.Phase == Gone {
		return sight{}
	}
	var data dataSight
	var beneath beside.All
	beneath.Go(func() { data = c.lookAtData(ctx, r) })
	s := c.lookAt(ctx, r)
	beneath.Wait()
	s.Data = data
	return s
}

// lookAt asks the deployer what there is.
func (c *Reconciler) lookAt(ctx context.Context, r *Record) (s sight) {
	s.Trouble = "it cannot be seen what there is of it: "
	err := c.with(ctx, r, lookTimeout, func(ctx context.Context, dep Deployer) (err error) {
		s.Observed, err = dep.Observe(ctx, r.Wish)
		return err
	})
	if err != nil {
		s.Trouble += explain(err)
		c.Logger.WarnContext(ctx, "a preview cannot be observed", "preview", r.ID, "deployer", r.Template.Deployer, "error", err)
		return s
	}
	s.Trouble = ""
	s.Reason = clip(s.Reason, maxReason)
	s.Remains = s.Remains[:min(len(s.Remains), 20)]
	for i, what := range s.Remains {
		s.Remains[i] = clip(what, 200)
	}
	if s.Ready && s.Commit != "" && s.Commit != r.Commit {
		s.Ready, s.Reason = false, fmt.Sprintf("it runs commit %.12s and not %.12s", s.Commit, r.Commit)
	}
	return s
}

// with calls a preview's deployer in bounded time; a panic is an error.
func (c *Reconciler) with(ctx context.Context, r *Record, within time.Duration, do func(context.Context, Deployer) error) (err error) {
	dep := c.Deployers[r.Template.Deployer]
	if dep == nil {
		return fault.New(fault.Unavailable, "the deployer %q is not configured here any more", r.Template.Deployer).
			WithFix("Configure previews.deployers.%s again until its previews are gone.", r.Template.Deployer)
	}
	return bounded(ctx, "the deployer "+r.Template.Deployer, within, func(ctx context.Context) error { return do(ctx, dep) })
}

// bounded calls something in bounded time; a panic is an error.
func bounded(ctx context.Context, what string, within time.Duration, do func(context.Context) error) (err error) {
	defer fault.Catch(&err, "asking %s", what)
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err = do(limited); err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fault.New(fault.Unavailable, "%s did not answer within %s", what, within).Because(err)
	}
	return err
}

// explain is what callers are told of a deployer's error.
func explain(err error) string {
	f := fault.From(err)
	text := strings.TrimSuffix(f.Message, ".")
	if f.Fix != "" {
		text += ". " + f.Fix
	}
	return clip(text, maxReason)
}

// decide makes a decision part of the record and gives the event that it is,
// nil for none.
func (c *Reconciler) decide(r *Record, s sight, d decision) *Event {
	now := c.Now()
	if s.Trouble == "" {
		r.URL, r.Running, r.Remains = clip(s.URL, 2048), s.Commit, s.Remains
		if d.Phase == Deleting {
			r.Remains = slices.Concat(r.Remains, s.Data.There)
		}
	}
	stuck := d.Stuck && r.StuckAt.IsZero()
	if stuck {
		r.StuckAt = now
	}
	var e *Event
	if d.Phase != r.Phase || stuck {
		e = &Event{At: now, Phase: d.Phase, Text: d.Reason}
	}
	if d.Warn {
		r.WarnedOf = r.ExpiresAt
		if e == nil {
			e = &Event{At: now, Phase: d.Phase, Text: "ends at " + stamp(r.ExpiresAt) + " unless somebody extends it"}
		}
	}
	if d.Phase != r.Phase {
		r.Since, r.Tries = now, 0
	}
	if d.Move != rest {
		r.Tries++
	}
	r.Phase, r.Reason = d.Phase, clip(d.Reason, 2*maxReason)
	if r.Phase == Ready && r.ReadyAt.IsZero() {
		r.ReadyAt = now
	}
	return e
}

// move makes a move.
func (c *Reconciler) move(ctx context.Context, r *Record, m move) error {
	err := c.carryOut(ctx, r, m)
	if err != nil && ctx.Err() == nil {
		c.Logger.WarnContext(ctx, "a move of a preview did not work", "preview", r.ID, "deployer", r.Template.Deployer, "move", m, "try", r.Tries, "error", err)
	}
	return err
}

func (c *Reconciler) carryOut(ctx context.Context, r *Record, m move) error {
	switch m {
	case provide:
		return bounded(ctx, "the making of data", moveTimeout, func(ctx context.Context) error {
			_, err := c.provide(ctx, r)
			return err
		})
	case withdraw:
		return bounded(ctx, "the removal of data", moveTimeout, func(ctx context.Context) error { return c.withdraw(ctx, r) })
	}
	return c.with(ctx, r, moveTimeout, func(ctx context.Context, dep Deployer) (err error) {
		if m == remove {
			return dep.Remove(ctx, r.Wish)
		}
		w := r.Wish
		if w.Given, err = c.provide(ctx, r); err != nil {
			return err
		}
		return dep.Apply(ctx, w)
	})
}

// moved puts down what came of a move.
func (c *Reconciler) moved(ctx context.Context, r *Record, holder string, d decision, failure error) (ok bool, err error) {
	var e *Event
	over := hopeless(failure) && (d.Move == apply || d.Move == provide)
	if d.Move == apply && failure == nil || over {
		r.Applied = r.Commit
	}
	if failure != nil {
		r.Reason = clip(fmt.Sprintf("%s failed at try %d: %s", d.Move, r.Tries, explain(failure)), 2*maxReason)
		if d.Stuck {
			r.Reason = clip("stuck: since "+stamp(r.StuckAt)+"; "+r.Reason, 2*maxReason)
		}
		if over {
			r.Phase, r.Since = Failed, c.Now()
			e = &Event{At: r.Since, Phase: Failed, Text: r.Reason}
		}
	}
	return c.Claims.ReportPreview(ctx, *r, holder, e, c.overdue(d))
}

// hopeless tells whether trying again cannot help.
func hopeless(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && (f.Code == fault.Invalid || f.Code == fault.FailedPrecondition)
}
