package catalog

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// Text is the brief as a model reads it best: a line for each fact with the
// place that it was read from, nothing said twice.
func (b *Brief) Text() string {
	w := &briefWriter{stale: b.CommonStale()}
	w.repo, w.changed = b.origin()
	w.head(b)
	w.one("owner", b.Owner)
	w.one("oncall", b.Oncall)
	w.one("repository", b.Repository)
	if c := b.Commands; c != nil {
		w.one("setup", c.Setup)
		w.one("build", c.Build)
		w.one("test", c.Test)
		w.one("test one", c.TestOne)
		w.one("lint", c.Lint)
		w.one("run", c.Run)
	}
	w.many("rules for agents", b.Rules)
	w.one("deploy repository", b.DeployRepo)
	w.many("environments", b.Environments)
	w.many("depends on", b.DependsOn)
	w.many("depended on by", b.DependencyOf)
	w.many("SLOs", b.SLOs)
	w.many("runbooks", b.Runbooks)
	w.many("dashboards", b.Dashboards)
	w.lines("problems", b.Problems)
	if len(b.Unknown) > 0 {
		w.line("not known: " + strings.Join(b.Unknown, ", "))
	}
	if len(b.Omitted) > 0 {
		w.line("left out to fit max_tokens: " + strings.Join(b.Omitted, ", "))
	}
	return w.String()
}

// origin is the repository and commit that most facts come from, and when
// their file was changed last.
func (b *Brief) origin() (FactSource, time.Time) {
	for f := range b.facts {
		return FactSource{Repo: f.Source.Repo, Commit: f.Source.Commit}, f.ChangedAt
	}
	return FactSource{}, time.Time{}
}

// facts visits those that the service's own sources tell.
func (b *Brief) facts(visit func(f *Fact) bool) {
	one := []*Fact{b.Owner, b.Oncall, b.Repository, b.DeployRepo}
	if c := b.Commands; c != nil {
		one = append(one, c.Setup, c.Build, c.Test, c.TestOne, c.Lint, c.Run)
	}
	for _, f := range one {
		if f != nil && !visit(f) {
			return
		}
	}
	for _, l := range [][]Fact{b.Environments, b.DependsOn, b.SLOs, b.Runbooks, b.Dashboards, b.Rules} {
		for i := range l {
			if !visit(&l[i]) {
				return
			}
		}
	}
}

type briefWriter struct {
	strings.Builder
	repo    FactSource
	changed time.Time
	// stale is said once, of most facts.
	stale string
}

func (w *briefWriter) line(s string) {
	_, _ = w.WriteString(s + "\n") // a strings.Builder never fails
}

func (w *briefWriter) head(b *Brief) {
	head := b.Ref
	if b.Title != "" {
		head += " (" + b.Title + ")"
	}
	w.line(head)
	if b.Description != "" {
		w.line(b.Description)
	}
	if w.repo.Repo != "" {
		changed := ""
		if !w.changed.IsZero() {
			changed = ", changed " + w.changed.Format(time.RFC3339)
		}
		w.line("facts from " + w.repo.Repo + " at " + w.repo.Commit[:min(12, len(w.repo.Commit))] + changed)
	}
	if w.stale != "" {
		w.line("stale, most of this: " + w.stale)
	}
}

func (w *briefWriter) one(label string, f *Fact) {
	if f != nil {
		w.line(label + ": " + w.fact(f))
	}
}

func (w *briefWriter) many(label string, facts []Fact) {
	if len(facts) == 0 {
		return
	}
	w.line(label + ":")
	for i := range facts {
		w.line("- " + w.fact(&facts[i]))
	}
}

func (w *briefWriter) lines(label string, items []string) {
	if len(items) == 0 {
		return
	}
	w.line(label + ":")
	for _, s := range items {
		w.line("- " + s)
	}
}

// fact writes a fact on one line: value, what belongs to it, and its place.
func (w *briefWriter) fact(f *Fact) string {
	var parts []string
	if f.Name != "" {
		parts = append(parts, f.Name)
	}
	if value := cmp.Or(f.Handle, f.Value); value != "" {
		parts = append(parts, oneLine(value))
	}
	if f.Path != "" {
		parts = append(parts, "in "+f.Path)
	}
	if f.App != "" {
		parts = append(parts, "argocd "+f.App)
	}
	if f.Protected {
		parts = append(parts, "protected")
	}
	if f.Owner != "" {
		parts = append(parts, "owner "+f.Owner)
	}
	place := f.Source.Path
	if f.Source.Line > 0 {
		place += ":" + strconv.Itoa(f.Source.Line)
	}
	if f.Source.Repo != w.repo.Repo && f.Source.Repo != "" {
		place = f.Source.Repo + " " + place
	}
	if f.Kind == Inferred {
		place = "inferred, " + place
	}
	s := strings.Join(parts, " · ") + " [" + place + "]"
	if f.Stale != "" && f.Stale != w.stale {
		s += " stale: " + f.Stale
	}
	if len(f.Disagrees) > 0 {
		s += " but " + strings.Join(f.Disagrees, "; ")
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
