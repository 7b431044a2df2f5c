package render

import (
	"cmp"
	"strings"
)

// Standing is what is shown of a document, as a server tells it.
type Standing struct {
	Handle, Heading, Kind, Title, Owner string
	Services                            []string
	Stale, SupersededBy                 string
}

// DocumentHit is a document that a search found.
type DocumentHit struct {
	Standing
	Passage string
}

// DocumentHits are the documents that a search found, best first, and how many
// there are.
type DocumentHits struct {
	Hits  []DocumentHit
	Total int
}

// DocumentText is a section of a document; Next is the handle of its rest.
type DocumentText struct {
	Standing
	Problems []string
	Outline  []struct {
		Handle, Heading string
		Level           int
	}
	OutlineOmitted int
	Text, Next     string
}

// Documents writes the documents that a search found, best first.
func (p *Page) Documents(hits []DocumentHit) {
	for i, h := range hits {
		if i > 0 {
			p.Line()
		}
		p.Line(p.Bold(Clean(h.Handle)))
		p.Indented(func() {
			p.standing(&h.Standing)
			if h.Passage != "" {
				p.Line(Clean(strings.Join(strings.Fields(h.Passage), " ")))
			}
		})
	}
}

// Document writes a section of a document, its outline first where that was
// asked for.
func (p *Page) Document(d *DocumentText) {
	p.Line(p.Bold(Clean(d.Handle)))
	p.standing(&d.Standing)
	for _, problem := range d.Problems {
		p.Line(p.Warn(Clean(problem)))
	}
	for _, o := range d.Outline {
		_, anchor, _ := strings.Cut(o.Handle, "#")
		p.Line(strings.Repeat("  ", max(o.Level-1, 0)), Clean(o.Heading), "  ", p.Dim("#"+Clean(anchor)))
	}
	if d.OutlineOmitted > 0 {
		p.Line(p.Dim("and " + plural(d.OutlineOmitted, "section") + " more"))
	}
	p.Line()
	for line := range strings.Lines(d.Text) {
		text := strings.TrimLeft(line, " \t")
		p.Line(strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    "), Clean(strings.TrimRight(text, "\r\n")))
	}
}

// standing says on two lines what a document is and what speaks against it.
func (p *Page) standing(s *Standing) {
	parts := []string{Clean(s.Kind), Clean(s.Title)}
	for _, part := range []string{s.Heading, strings.Join(s.Services, ", "), s.Owner} {
		if part != "" {
			parts = append(parts, Clean(part))
		}
	}
	p.Line(p.Dim(strings.Join(parts, " · ")))
	if against := cmp.Or(s.Stale, s.SupersededBy); against != "" {
		p.Line(p.Warn("stale: " + Clean(against)))
	}
}

// ExternalHits are what a provider outside found.
type ExternalHits struct {
	Provider, FetchedAt string
	Cached              bool
	Hits                []ExternalHit
}

// ExternalHit is a hit as strangers wrote it.
type ExternalHit struct{ Title, URL, Text string }

// External writes hits of a provider outside.
func (p *Page) External(hits []ExternalHit) {
	for i, h := range hits {
		if i > 0 {
			p.Line()
		}
		p.Line(p.Bold(Clean(h.Title)))
		p.Indented(func() {
			for _, text := range []string{h.URL, h.Text} {
				if text != "" {
					p.Line(Clean(text))
				}
			}
		})
	}
}
