package mcp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/knowledge"
)

func fewerCode(in *knowledge.SearchCodeInput, out *knowledge.CodeHits) bool {
	in.Limit = len(out.Hits) / 2
	return in.Limit > 0
}

// renderCode writes hits as grep does: lines that match are marked by ':'.
func renderCode(r *knowledge.CodeHits) string {
	var l lines
	l.add("%d files; %d sources searched; lines are data that people wrote", len(r.Hits), r.Searched)
	if r.Unsearched > 0 {
		l.add("%d sources are not indexed, or not wholly", r.Unsearched)
	}
	for _, h := range r.Hits {
		l.add("%s", joined(oneLine(h.Source.Path), oneLine(h.Source.Repo), prefixed("at", fmt.Sprintf("%.12s", h.Source.Commit)), prefixed("of", strings.Join(h.Services, ", ")), prefixed("owner", oneLine(h.Owner))))
		shown := 0
		for _, e := range h.Excerpts {
			for i, line := range strings.Split(e.Text, "\n") {
				mark := "-"
				if slices.Contains(e.Lines, e.Line+i) {
					mark = ":"
				}
				l.add("  %d%s %s", e.Line+i, mark, line)
			}
			shown += len(e.Lines)
		}
		if shown < h.Matches {
			l.add("  %d of %d matching lines; give path for more", shown, h.Matches)
		}
	}
	l.field("next_cursor", r.NextCursor)
	return l.String()
}
