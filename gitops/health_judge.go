package gitops

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// judgement is a verdict and what speaks for it. An empty verdict is a ground
// alone.
type judgement struct{ verdict, ground string }

func says(verdict, format string, args ...any) []judgement {
	return []judgement{{verdict, fmt.Sprintf(format, args...)}}
}

// judge comes to a verdict about an application: the first of its rules that
// comes to one decides, and all that were said are the grounds. It looks at
// nothing but what it is given.
func judge(e *evidence, m *measures, alerts []FiringAlert, asked string, now time.Time) (verdict string, grounds []string) {
	if e.err != nil {
		return UnknownVerdict, []string{line(fault.From(e.err).Message, maxGround)}
	}
	live, _ := e.live()
	var notes []string
	for _, rule := range []func() []judgement{
		func() []judgement { return e.away(asked) },
		e.moving, func() []judgement { return e.unobserved(now) }, e.failed, e.unwell, func() []judgement { return m.unwell(alerts) }, e.blind, e.settling, e.differing,
	} {
		for _, j := range rule() {
			switch {
			case j.verdict == "":
				notes = append(notes, line(j.ground, maxGround))
				continue
			case verdict == "":
				verdict = j.verdict
			}
			grounds = append(grounds, line(j.ground, maxGround))
		}
	}
	for _, part := range []struct {
		what string
		err  error
	}{{"what is wanted is not known", e.wantedErr}, {"what runs is not known", e.runningErr}} {
		if part.err != nil {
			notes = append(notes, line(part.what+": "+fault.From(part.err).Message, maxGround))
		}
	}
	if verdict != "" {
		return verdict, append(grounds, notes...)
	}
	ground := fmt.Sprintf("revision %s is live, synced and healthy", short(live))
	if op := e.app.Operation; op != nil {
		ground += fmt.Sprintf("; looked at %s after its sync ended", span(e.app.ComparedAt.Sub(op.FinishedAt)))
	}
	return HealthyVerdict, append([]string{ground}, notes...)
}

// maxGround is how many characters a ground or message has.
const maxGround = 240

// away is where another revision than the one asked about is live, and that one
// is not wanted either.
func (e *evidence) away(asked string) []judgement {
	if asked == "" || e.isLive(asked) || e.isDesired(asked) {
		return nil
	}
	live, _ := e.live()
	ground := fmt.Sprintf("revision %s is neither live nor wanted; live is %s", short(asked), cmp.Or(short(live), "not known"))
	for i := len(e.app.History) - 1; i >= 0; i-- {
		if past := e.app.History[i]; names(asked, past.Revision) {
			return says(UnknownVerdict, "%s; it was synced at %s and has been replaced", ground, stamp(past.At))
		}
	}
	return says(UnknownVerdict, "%s; whether that contains it is not known here", ground)
}

// moving is where something is being done.
func (e *evidence) moving() []judgement {
	a := e.app
	switch {
	case a.Deleting:
		return says(UnknownVerdict, "the application is being deleted")
	case a.Pending:
		return says(ProgressingVerdict, "a sync is asked for and has not begun")
	case a.Operation != nil && a.Operation.FinishedAt.IsZero():
		return says(ProgressingVerdict, "a sync to %s runs since %s: %s", short(a.Operation.Revision), stamp(a.Operation.StartedAt), cmp.Or(a.Operation.Message, a.Operation.Phase))
	}
	return nil
}

// unobserved is where what Argo CD says is from before the last sync ended, or
// from long ago.
func (e *evidence) unobserved(now time.Time) []judgement {
	a, why := e.app, ""
	if e.compareErr != nil {
		why = ": " + fault.From(e.compareErr).Message
	}
	switch {
	case a.ComparedAt.IsZero():
		return says(UnknownVerdict, "Argo CD has never compared it%s", why)
	case a.Operation != nil && (a.ComparedAt.Before(a.Operation.FinishedAt) || !e.compared && a.ComparedAt.Equal(a.Operation.FinishedAt)):
		return says(UnknownVerdict, "Argo CD has not looked at it since its last sync ended at %s%s", stamp(a.Operation.FinishedAt), why)
	case now.Sub(a.ComparedAt) > staleAfter:
		return says(UnknownVerdict, "Argo CD has not looked at it for %s%s", span(now.Sub(a.ComparedAt)), why)
	}
	return nil
}

// failed is where the last sync was not done.
func (e *evidence) failed() []judgement {
	op := e.app.Operation
	if op == nil || op.Phase == OperationSucceeded || op.FinishedAt.IsZero() || e.app.Sync == "Synced" {
		return nil
	}
	return says(DegradedVerdict, "the sync to %s failed at %s: %s", short(op.Revision), stamp(op.FinishedAt), cmp.Or(op.Message, op.Phase))
}

// unwell is where Argo CD finds it so.
func (e *evidence) unwell() []judgement {
	a := e.app
	if a.Health != "Degraded" && a.Health != "Missing" {
		return nil
	}
	return says(DegradedVerdict, "%s is %s%s", e.culprit(), a.Health, e.because())
}

// culprit is the resource that tells most of why it is not well.
func (e *evidence) culprit() string {
	if e.running == nil || len(e.running.Unwell) == 0 {
		return "the application"
	}
	return e.running.Unwell[0].Resource
}

func (e *evidence) because() string {
	text := e.app.HealthMessage
	if e.running != nil && len(e.running.Unwell) > 0 {
		text = cmp.Or(e.running.Unwell[0].Message, text)
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

// blind is where Argo CD cannot compare.
func (e *evidence) blind() []judgement {
	var out []judgement
	for _, t := range e.app.Troubles {
		verdict := ""
		if t.Blind || e.app.Sync == "Unknown" {
			verdict = UnknownVerdict
		}
		out = append(out, judgement{verdict, t.Kind + ": " + t.Message})
	}
	if e.app.Sync != "Synced" && e.app.Sync != "OutOfSync" && len(out) == 0 {
		out = says(UnknownVerdict, "Argo CD does not know whether it is synced")
	}
	return out
}

// settling is where it is neither well nor not.
func (e *evidence) settling() []judgement {
	switch e.app.Health {
	case "Healthy", "Degraded", "Missing":
		return nil
	case "Progressing":
		return says(ProgressingVerdict, "%s is Progressing%s", e.culprit(), e.because())
	case "Suspended":
		return says(ProgressingVerdict, "%s is Suspended and waits for somebody%s", e.culprit(), e.because())
	default:
		return says(UnknownVerdict, "Argo CD does not know its health%s", e.because())
	}
}

// differing is where what is there is not what is wanted.
func (e *evidence) differing() []judgement {
	if e.app.Sync != "OutOfSync" {
		return nil
	}
	live, _ := e.live()
	what := fmt.Sprintf("differing resources: %d", len(e.app.Differing))
	switch {
	case len(e.drift()) > 0:
		return says(UnknownVerdict, "what runs has drifted from revision %s (%s), so that nobody knows whether that revision is well", short(live), what)
	case e.app.Automated:
		return says(ProgressingVerdict, "revision %s is to be synced, and %s is live: %s", short(e.desired()), cmp.Or(short(live), "none"), what)
	default:
		return says(UnknownVerdict, "revision %s waits for somebody to sync it, and %s is live: %s", short(e.desired()), cmp.Or(short(live), "none"), what)
	}
}

// short is a revision as people name it.
func short(revision string) string {
	var out []string
	for r := range strings.SplitSeq(revision, ", ") {
		if len(r) == 40 && !strings.ContainsFunc(r, func(c rune) bool { return !strings.ContainsRune("0123456789abcdef", c) }) {
			r = r[:10]
		}
		out = append(out, line(r, 60))
	}
	return strings.Join(out, ", ")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// span is a duration as people say it.
func span(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	if d > 10*time.Minute {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}
