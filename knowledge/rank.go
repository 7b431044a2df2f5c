package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
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

// score orders hits: by text, then weighed by how much of the question the
// document holds, where rare words make out more than common ones and all words
// most of all, by official status, by how near the document is to the service
// asked about, and by whether it still holds. The runbook of the very alert that
// was asked for is first.
func (r *reading) score(c *Card, m Match, key string, now time.Time) float64 {
	s := (1 + m.Text) * official(c.Kind) * r.nearTo(c) * r.freshness(c, now) * m.Share * m.Share
	if m.Share < 1 {
		s *= 0.5
	}
	if key != "" && slices.Contains(c.Alerts, key) {
		s *= 5
	}
	return s
}

// freshness is how far a document's age speaks for it.
func (r *reading) freshness(c *Card, now time.Time) float64 {
	changed := r.changed(c)
	switch {
	case outdated(c, now) != "":
		return 0.35
	case !c.LastVerified.IsZero() && now.Sub(c.LastVerified) < 180*24*time.Hour:
		return 1.2
	case !c.LastVerified.IsZero() && now.Sub(c.LastVerified) > catalog.FactLife, aged(c, changed, now) != "":
		return 0.8
	case !changed.IsZero() && now.Sub(changed) < 90*24*time.Hour:
		return 1.05
	default:
		return 1
	}
}

// changed is when a document's file was changed last, zero while that is not
// known for certain.
func (r *reading) changed(c *Card) time.Time { return r.catalog.ChangedAt(c.Source, c.Path, c.Content) }

// stale says why a document may no longer hold, "" where nothing speaks
// against it.
func stale(c *Card, changed, now time.Time) string {
	return cmp.Or(outdated(c, now), aged(c, changed, now))
}

// outdated says why a document does not hold by what it says itself.
func outdated(c *Card, now time.Time) string {
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

// aged says that nobody has looked after a document for long. A decision is
// not meant to change, and who says when a text expires knows better.
func aged(c *Card, changed, now time.Time) string {
	if changed.IsZero() || c.Kind == document.Decision || !c.Expires.IsZero() {
		return ""
	}
	switch {
	case now.Sub(changed) <= catalog.FactLife || now.Sub(c.LastVerified) <= catalog.FactLife:
		return ""
	case c.LastVerified.After(changed):
		return "it was not verified since " + c.LastVerified.Format(time.DateOnly)
	default:
		return "its file was not changed since " + changed.Format(time.DateOnly)
	}
}

// standing tells what is known of a document; line is where its part begins.
func (r *reading) standing(c *Card, line int) Standing {
	changed := r.changed(c)
	st := Standing{Kind: c.Kind, Title: c.Title, Services: r.services(c), Owner: c.Owner, Status: c.Status, Environments: c.Environments, Versions: c.Versions,
		LastVerified: c.LastVerified, ChangedAt: changed, Expires: c.Expires, Stale: stale(c, changed, time.Now()), SupersededBy: c.SupersededBy,
		Source: TextSource{Name: c.Source, Path: c.Path, Line: line}}
	if st.Owner == "" && len(st.Services) > 0 {
		st.Owner = r.Entity(st.Services[0]).Owner()
	}
	if s := r.library.shelf(c.Source); s != nil {
		st.Source.Repo, st.Source.Commit = s.state.URL, s.state.Info.Commit
	}
	return st
}
