package gitops

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// EnvironmentState is how a service did in an environment at a time.
type EnvironmentState struct {
	// At is when Argo CD was asked.
	At time.Time `json:"at,omitzero"`
	// Verdict and Grounds are those of DeploymentHealth, Revision is what was
	// live.
	Verdict  string   `json:"verdict" jsonschema:"healthy, progressing, degraded or unknown"`
	Grounds  []string `json:"grounds,omitempty"`
	Revision string   `json:"revision,omitempty"`
	// SLO are the objectives, Alerts the names of those that fired.
	SLO    []ObjectiveState `json:"slo,omitempty"`
	Alerts []string         `json:"alerts,omitempty"`
}

// The most of each that is kept, and how long a proposal waits for it: what is
// not known by then is left out.
const (
	maxThenGrounds, maxThenSLO, maxThenAlerts = 2, 10, 10

	stateWithin = 3 * time.Second
)

// asking looks how the environment of a change does, beside what else there is
// to do; the function that it gives waits for that. It is nil where nobody
// knows, or the caller may not.
func (s *Service) asking(ctx context.Context, who access.Caller, in *ProposeFilesInput) (then func() *EnvironmentState) {
	if s.cfg.Follow.Health == nil || in.Environment == "" {
		return func() *EnvironmentState { return nil }
	}
	ctx, cancel := context.WithTimeout(ctx, stateWithin)
	got := make(chan *EnvironmentState, 1)
	question := GetDeploymentHealthInput{Service: in.Service, Environment: in.Environment}
	beside.Go(ctx, slog.Default(), "asking how "+in.Environment+" does", func() {
		defer cancel()
		defer close(got) // which gives nil where there is nothing else
		if h, err := s.cfg.Follow.Health.GetDeploymentHealth(ctx, who, question); err == nil {
			got <- h.then()
		}
	})
	return func() *EnvironmentState { return <-got }
}

// stateOf is a state as policy sees it, nil where there is none.
func stateOf(e *EnvironmentState) any {
	if e == nil {
		return nil
	}
	return e
}

// then is what a proposal keeps of it.
func (h *DeploymentHealth) then() *EnvironmentState {
	if h == nil {
		return nil
	}
	out := &EnvironmentState{At: h.ObservedAt, Verdict: h.Verdict, Grounds: h.Grounds[:min(len(h.Grounds), maxThenGrounds)], SLO: h.SLO[:min(len(h.SLO), maxThenSLO)]}
	if h.Live != nil {
		out.Revision = h.Live.Revision
	}
	for _, a := range h.Alerts[:min(len(h.Alerts), maxThenAlerts)] {
		out.Alerts = append(out.Alerts, line(a.Name, 100))
	}
	return out
}

// body is what a pull request says of it.
func (e *EnvironmentState) body(environment string) string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "When it was proposed, %s was **%s**", quoted(environment), e.Verdict)
	if e.Revision != "" {
		fmt.Fprintf(&b, " at revision `%s`", quoted(short(e.Revision)))
	}
	if !e.At.IsZero() {
		fmt.Fprintf(&b, " (%s)", stamp(e.At))
	}
	b.WriteString(":\n\n")
	for _, g := range e.Grounds {
		fmt.Fprintf(&b, "- %s\n", quoted(g))
	}
	for _, o := range e.SLO {
		fmt.Fprintf(&b, "- %s\n", quoted(o.text()))
	}
	if len(e.Alerts) > 0 {
		fmt.Fprintf(&b, "- alerts firing: %s\n", quoted(strings.Join(e.Alerts, ", ")))
	}
	return b.String() + "\n"
}

// text is an objective for a reader.
func (o *ObjectiveState) text() string {
	text := fmt.Sprintf("slo %s: %v%% over %s %s", o.Name, o.Objective, o.Window, o.State)
	if o.BudgetLeft != nil {
		text += fmt.Sprintf(", budget left %v%%", *o.BudgetLeft)
	}
	if o.Burn != nil {
		text += fmt.Sprintf(", burn %v", *o.Burn)
	}
	return spaced(text, o.Why)
}
