package gitops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// maxHealthTokens bounds an answer's text, in tokens of four bytes; its
// structured form may take twice as many.
const maxHealthTokens = 600

// The most of a kind that an answer begins with, before it is made to fit.
const maxUnwell, maxHistory = 8, 3

// tell makes the answer of what was found.
func (q *question) tell(e *evidence, m *measures) *DeploymentHealth {
	now := q.now()
	h := &DeploymentHealth{Service: q.d.Entity.Ref.String(), Environment: q.d.Environment.Name, Application: q.instance + "/" + q.at.Name,
		ObservedAt: e.at.UTC().Truncate(time.Millisecond), Age: max(now.Sub(e.at), 0).Round(time.Millisecond).String()}
	namespace := ""
	if e.app != nil {
		namespace = e.app.Namespace
	}
	h.Alerts, h.SLO = m.alerts(q.d, namespace), slices.Clone(m.objectives)
	h.Verdict, h.Grounds = judge(e, m, h.Alerts, q.asked, now)
	if m.none && (len(q.d.Objectives) > 0 || len(q.d.Alerts) > 0) {
		h.Grounds = append(h.Grounds, "no Prometheus is configured: objectives and alerts are not known")
	}
	slices.SortStableFunc(h.SLO, func(a, b ObjectiveState) int {
		order := []string{ObjectiveBurning, ObjectiveMissed, ObjectiveUnknown, ObjectiveMet}
		return slices.Index(order, a.State) - slices.Index(order, b.State)
	})
	h.leave(m.omitted, "slo")
	if e.err == nil {
		h.state(e)
	}
	h.redact()
	return h
}

// state tells what Argo CD knows.
func (h *DeploymentHealth) state(e *evidence) {
	a := e.app
	h.Since = a.HealthSince
	h.Desired = &DeployedState{Revision: e.desired(), Images: slices.Clone(e.wanted)}
	h.Live = &DeployedState{}
	h.Live.Revision, h.Live.At = e.live()
	if e.running != nil {
		h.Live.Images = slices.Clone(e.running.Images)
		h.Resources = slices.Clone(e.running.Unwell)
	}
	h.Sync = &SyncState{Status: a.Sync, ComparedAt: a.ComparedAt, Automated: a.Automated}
	for _, r := range a.Differing {
		if i := slices.IndexFunc(h.Resources, func(u UnwellResource) bool { return u.Resource == r.Resource }); i >= 0 {
			h.Resources[i].Sync = r.Sync
		} else {
			h.Resources = append(h.Resources, r)
		}
	}
	h.Drift = e.drift()
	if a.Operation != nil {
		op := *a.Operation
		h.Operation = &op
	}
	past := slices.Clone(a.History)
	slices.Reverse(past)
	h.History = past
	h.Resources, h.Drift, h.History = first(h, "resources", h.Resources, maxUnwell), first(h, "drift", h.Drift, maxUnwell), past[:min(len(past), maxHistory)]
}

// first is the beginning of a list; that there is more is noted.
func first[T any](h *DeploymentHealth, name string, all []T, most int) []T {
	h.leave(len(all)-most, name)
	return all[:min(len(all), most)]
}

// leave notes what is left out, where that is some.
func (h *DeploymentHealth) leave(n int, name string) {
	if n > 0 {
		h.Omitted = append(h.Omitted, fmt.Sprintf("%d %s", n, name))
	}
}

// redact masks what has the form of a secret in texts that others wrote, and
// puts them on one line.
func (h *DeploymentHealth) redact() {
	clean := func(s *string, n int) { *s = line(access.Redact(*s), n) }
	for i := range h.Grounds {
		clean(&h.Grounds[i], maxGround)
	}
	for i := range h.Resources {
		clean(&h.Resources[i].Message, maxGround)
		clean(&h.Resources[i].Resource, 160)
	}
	if h.Operation != nil {
		clean(&h.Operation.Message, maxGround)
	}
	for i := range h.Alerts {
		clean(&h.Alerts[i].Summary, 160)
	}
}

// Text is the answer for a reader.
func (h *DeploymentHealth) Text() string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("%s: %s in %s", h.Verdict, h.Service, h.Environment)
	for _, g := range h.Grounds {
		add("- %s", g)
	}
	h.textOfState(add)
	for _, o := range h.SLO {
		add("%s", o.text())
	}
	for _, a := range h.Alerts {
		add("%s", spaced("alert "+a.Name, a.Severity, timed("since", a.Since), a.Summary, labelled("runbook", a.Runbook)))
	}
	if len(h.Omitted) > 0 {
		add("left out: %s", strings.Join(h.Omitted, ", "))
	}
	return b.String()
}

func (h *DeploymentHealth) textOfState(add func(string, ...any)) {
	if h.Desired != nil {
		add("%s", spaced("desired "+short(h.Desired.Revision), images(h.Desired.Images)))
	}
	if h.Live != nil {
		add("%s", spaced("live "+short(h.Live.Revision), timed("since", h.Live.At), images(h.Live.Images)))
	}
	if s := h.Sync; s != nil {
		add("%s", spaced("sync "+s.Status, timed("compared", s.ComparedAt), map[bool]string{true: "automated", false: "by hand"}[s.Automated], labelled("age", h.Age)))
	}
	for _, r := range h.Resources {
		add("%s", spaced("resource "+r.Resource, r.Health, r.Sync, r.Message))
	}
	if len(h.Drift) > 0 {
		add("drift: %s", strings.Join(h.Drift, ", "))
	}
	if op := h.Operation; op != nil {
		add("%s", spaced("operation "+op.Phase, labelled("to", short(op.Revision)), timed("ended", op.FinishedAt), labelled("by", op.By), op.Message))
	}
	for _, p := range h.History {
		add("%s", spaced("past "+short(p.Revision), timed("at", p.At), labelled("by", p.By)))
	}
}

func images(all []DeployedImage) string {
	var out []string
	for _, i := range all {
		text := i.Name
		if i.Tag != "" {
			text += ":" + i.Tag
		}
		if i.Digest != "" {
			text += "@" + i.Digest[:min(len(i.Digest), 19)]
		}
		out = append(out, strings.Join(slices.DeleteFunc([]string{text, labelled("commit", short(i.Commit)), labelled("of", i.Source), labelled("built by", i.BuiltBy)}, empty), " "))
	}
	return strings.Join(out, ", ")
}

func empty(s string) bool { return s == "" }

func spaced(parts ...string) string { return strings.Join(slices.DeleteFunc(parts, empty), " · ") }

func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + value
}

func timed(label string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return label + " " + stamp(t)
}

// fit leaves detail out, least needed first, until the answer is within so many
// tokens: history, what is wanted where it is live, images, drift, resources,
// objectives that are met, alerts, and the later grounds.
func (h *DeploymentHealth) fit(tokens int) {
	for _, s := range []struct {
		name string
		shed func() bool
	}{
		{"history", halve(&h.History, 1)}, {"desired images", func() bool { return h.Desired != nil && halve(&h.Desired.Images, 0)() }},
		{"slo", halve(&h.SLO, 3)}, {"drift", halve(&h.Drift, 1)}, {"history", halve(&h.History, 0)}, {"resources", halve(&h.Resources, 3)}, {"alerts", halve(&h.Alerts, 3)},
		{"live images", func() bool { return h.Live != nil && halve(&h.Live.Images, 1)() }}, {"grounds", halve(&h.Grounds, 3)},
		{"resources", halve(&h.Resources, 1)}, {"alerts", halve(&h.Alerts, 1)}, {"slo", halve(&h.SLO, 1)},
	} {
		for left := false; !h.fits(tokens) && s.shed(); left = true {
			if !left {
				h.Omitted = append(h.Omitted, s.name)
			}
		}
	}
	h.Omitted = slices.Compact(h.Omitted)
}

// halve drops half of a list, at least one, and leaves so many.
func halve[T any](l *[]T, least int) func() bool {
	return func() bool {
		if len(*l) <= least {
			return false
		}
		*l = (*l)[:max(len(*l)/2, least)]
		return true
	}
}

func (h *DeploymentHealth) fits(tokens int) bool {
	if len(h.Text()) > tokens*4 {
		return false
	}
	enc, err := json.Marshal(h)
	return err == nil && len(enc) <= 2*tokens*4
}
