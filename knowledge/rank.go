package knowledge

import (
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// official is how much a kind of document counts.
func official(k document.Kind) float64 {
	switch k {
	case document.Runbook, document.Answer:
		return 1.4
	case document.Skill:
		return 1.25
	case document.Decision, document.Rules:
		return 1.1
	case document.Readme:
		return 0.85
	default:
		return 1
	}
}

// score orders hits: by text, then weighed by official status, by how near the
// document is to the service asked about, and by whether it still holds. The
// runbook of the very alert that was asked for is first.
func (r *reading) score(c *Card, m Match, key string, now time.Time) float64 {
	s := (1 + m.Text) * official(c.Kind) * r.nearTo(c) * freshness(c, now)
	if m.Part {
		s *= 0.4
	}
	if key != "" && slices.Contains(c.Alerts, key) {
		s *= 5
	}
	return s
}

// freshness is how far a document's age speaks for it.
func freshness(c *Card, now time.Time) float64 {
	switch {
	case stale(c, now) != "":
		return 0.35
	case !c.LastVerified.IsZero() && now.Sub(c.LastVerified) < 180*24*time.Hour:
		return 1.2
	case !c.LastVerified.IsZero() && now.Sub(c.LastVerified) > 730*24*time.Hour:
		return 0.8
	case !c.Seen.Time.IsZero() && now.Sub(c.Seen.Time) < 90*24*time.Hour:
		return 1.05
	default:
		return 1
	}
}

// stale says why a document may no longer hold, "" where nothing speaks
// against it.
func stale(c *Card, now time.Time) string {
	switch {
	case c.SupersededBy != "":
		return "superseded by " + c.SupersededBy
	case !c.Expires.IsZero() && now.After(c.Expires.Add(24*time.Hour)):
		return "expired on " + c.Expires.Format(time.DateOnly)
	}
	switch strings.ToLower(c.Status) {
	case "deprecated", "superseded", "rejected", "obsolete", "archived", "draft", "proposed", "retired":
		return "its status is " + strings.ToLower(c.Status)
	}
	return ""
}

// standing tells what is known of a document; line is where its part begins.
func (r *reading) standing(c *Card, line int) Standing {
	st := Standing{Kind: c.Kind, Title: c.Title, Services: r.services(c), Owner: c.Owner, Status: c.Status, Environments: c.Environments, Versions: c.Versions,
		LastVerified: c.LastVerified, ChangedAt: c.Seen.Time.UTC(), Expires: c.Expires, Stale: stale(c, time.Now()), SupersededBy: c.SupersededBy,
		Source: TextSource{Name: c.Source, Path: c.Path, Line: line}}
	if c.Seen.Time.IsZero() {
		st.ChangedAt = time.Time{}
	}
	if st.Owner == "" && len(st.Services) > 0 {
		st.Owner = r.Entity(st.Services[0]).Owner()
	}
	if s := r.library.shelf(c.Source); s != nil {
		st.Source.Repo, st.Source.Commit = s.state.URL, s.state.Info.Commit
	}
	return st
}
