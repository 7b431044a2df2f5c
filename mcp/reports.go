package mcp

import (
	"strconv"

	"github.com/fairlead-dev/fairlead/catalog"
)

func renderErrors(r *catalog.IngestionErrors) string {
	var l lines
	l.add("%d of %d problems", len(r.Items), r.Total)
	for _, p := range r.Items {
		place := p.File
		if p.Line > 0 {
			place += ":" + strconv.Itoa(int(p.Line)) + ":" + strconv.Itoa(int(p.Column))
		}
		since := p.FirstSeen.Commit
		l.add("- %s", joined(p.Source, place, string(p.Severity), prefixed("owner", p.Owner), prefixed("since", since[:min(12, len(since))])))
		l.field("  problem", p.Message)
		l.field("  fix", p.Fix)
	}
	l.field("next_cursor", r.NextCursor)
	return l.String()
}

// fewerErrors asks for half as many problems.
func fewerErrors(in *catalog.ListIngestionErrorsInput, out *catalog.IngestionErrors) bool {
	in.Limit = len(out.Items) / 2
	return in.Limit > 0
}

func renderSources(s *catalog.Sources) string {
	var l lines
	for _, src := range s.Items {
		commit := src.Commit[:min(12, len(src.Commit))]
		l.add("%s", joined(src.Name, src.Type, src.State, strconv.Itoa(src.Entities)+" entities", strconv.Itoa(src.Problems)+" problems", prefixed("commit", commit), src.URL))
		l.field("  error", src.Error)
		l.field("  fix", src.Fix)
	}
	if len(s.Items) == 0 {
		l.add("no sources are configured")
	}
	return l.String()
}

// trimSources keeps the sources that are in trouble, and of the others as
// many as an answer can hold; nil if even one is too large.
func trimSources(s *catalog.Sources) *catalog.Sources {
	if len(s.Items) < 2 {
		return nil
	}
	keep := len(s.Items) / 2
	out := &catalog.Sources{}
	for _, src := range s.Items {
		if src.State == "failing" && len(out.Items) < keep {
			out.Items = append(out.Items, src)
		}
	}
	for _, src := range s.Items {
		if src.State != "failing" && len(out.Items) < keep {
			out.Items = append(out.Items, src)
		}
	}
	return out
}

func renderRefresh(r *catalog.RefreshResult) string {
	return joined("read "+r.Source, prefixed("commit", r.Commit[:min(12, len(r.Commit))]), strconv.Itoa(r.Changed)+" entities changed") + "\n"
}
