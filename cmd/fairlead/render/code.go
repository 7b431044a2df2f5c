package render

import (
	"fmt"
	"slices"
	"strings"
)

// CodeHits are the files that a search of code found, as a server tells it.
type CodeHits struct {
	Hits       []CodeHit
	Unsearched int
	NextCursor string
}

// CodeHit is a file that matches.
type CodeHit struct {
	Source   struct{ Name, Repo, Path string }
	Services []string
	Owner    string
	Matches  int
	Excerpts []struct {
		Line  int
		Lines []int
		Text  string
	}
}

// Code writes the files that a search of code found, with the lines that match
// and those around them.
func (p *Page) Code(hits []CodeHit) {
	for i, h := range hits {
		if i > 0 {
			p.Line()
		}
		p.Line(p.Bold(Clean(h.Source.Name + "/" + h.Source.Path)))
		parts := []string{}
		for _, part := range []string{strings.Join(h.Services, ", "), h.Owner} {
			if part != "" {
				parts = append(parts, Clean(part))
			}
		}
		if len(parts) > 0 {
			p.Line(p.Dim(strings.Join(parts, " · ")))
		}
		shown := 0
		for n, e := range h.Excerpts {
			if n > 0 {
				p.Line(p.Dim("   …"))
			}
			shown += len(e.Lines)
			p.excerpt(e.Line, e.Lines, e.Text)
		}
		if shown < h.Matches {
			p.Line(p.Dim(fmt.Sprintf("%d of %d lines; see the others with --path", shown, h.Matches)))
		}
	}
}

// excerpt writes lines with their numbers.
func (p *Page) excerpt(first int, matching []int, text string) {
	for i, line := range strings.Split(text, "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		bare := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(bare)]
		if n := first + i; slices.Contains(matching, n) {
			p.Line(fmt.Sprintf("%5d: ", n), indent, Clean(bare))
		} else {
			p.Line(p.Dim(fmt.Sprintf("%5d  ", n)), indent, p.Dim(Clean(bare)))
		}
	}
}
