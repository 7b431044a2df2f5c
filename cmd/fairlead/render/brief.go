package render

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"github.com/fairlead-dev/fairlead/catalog"
)

// maxValue is the width in columns up to which values push sources to the
// right for the whole page.
const maxValue = 56

// briefLine is one fact on the page.
type briefLine struct {
	label string
	fact  *catalog.Fact
	// value is what to show of the fact, more what goes on a line below.
	value, more string
}

// briefBlock is a section of the page.
type briefBlock struct {
	title string
	lines []briefLine
}

// Brief writes what one needs to know before touching a service, each fact
// with the place where it is written.
func (p *Page) Brief(b *catalog.Brief) {
	blocks := briefBlocks(b)
	origin := originOf(blocks)
	p.stale = b.CommonStale()
	p.briefHead(b)
	label := labelWidth(blocks)
	value := 0
	for _, block := range blocks {
		for _, l := range block.lines {
			if lipgloss.Width(l.value) <= maxValue {
				value = max(value, lipgloss.Width(briefLeft(l, block, label)))
			}
		}
	}
	for _, block := range blocks {
		p.Line()
		if block.title != "" {
			p.Line(p.Bold(block.title))
		}
		for _, l := range block.lines {
			p.Line(pad(briefLeft(l, block, label), value), gap, p.Dim(place(l.fact, origin)))
			p.below(l, max(label, lipgloss.Width(l.label)+indentOf(block)))
		}
	}
	p.briefFoot(b, origin)
}

func indentOf(b briefBlock) int {
	if b.title == "" {
		return 0
	}
	return 2
}

func (p *Page) briefHead(b *catalog.Brief) {
	head := p.Bold(Clean(b.Ref))
	if b.Title != "" {
		head += "  " + Clean(b.Title)
	}
	p.Line(head)
	if b.Description != "" {
		p.Line(Clean(b.Description))
	}
}

// below writes what goes under a fact.
func (p *Page) below(l briefLine, label int) {
	left := strings.Repeat(" ", label) + gap
	if l.more != "" {
		p.Line(left, l.more)
	}
	if l.fact.Stale != "" && l.fact.Stale != p.stale {
		p.Line(left, p.Warn("stale: "+Clean(l.fact.Stale)))
	}
	for _, d := range l.fact.Disagrees {
		p.Line(left, p.Warn("but "+Clean(d)))
	}
}

// maxLabel is the width in columns up to which labels push values to the right
// for the whole page; a section with longer ones has a column of its own.
const maxLabel = 14

// labelWidth is how wide labels are on the page.
func labelWidth(blocks []briefBlock) int {
	width := 0
	for _, block := range blocks {
		for _, l := range block.lines {
			if w := lipgloss.Width(l.label) + indentOf(block); w <= maxLabel {
				width = max(width, w)
			}
		}
	}
	return width
}

// briefLeft is what stands left of a fact's source: its label and value.
func briefLeft(l briefLine, block briefBlock, width int) string {
	indent := strings.Repeat(" ", indentOf(block))
	if l.label == "" {
		return indent + l.value
	}
	for _, other := range block.lines {
		width = max(width, lipgloss.Width(other.label)+indentOf(block))
	}
	return pad(indent+l.label, width) + gap + l.value
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-lipgloss.Width(s)))
}

// place is where a fact is written: the file and line, after the repository
// where that is not the one that most facts come from.
func place(f *catalog.Fact, origin catalog.FactSource) string {
	s := Clean(f.Source.Path)
	if f.Source.Line > 0 {
		s += ":" + strconv.Itoa(f.Source.Line)
	}
	if f.Source.Repo != origin.Repo && f.Source.Repo != "" {
		s = Clean(f.Source.Repo) + " " + s
	}
	if f.Kind == catalog.Inferred {
		s = strings.TrimSpace("inferred " + s)
	}
	return s
}

func (p *Page) briefFoot(b *catalog.Brief, origin catalog.FactSource) {
	if len(b.Problems) > 0 {
		p.Heading("Problems")
		for _, s := range b.Problems {
			p.Line("  ", p.Warn(Clean(s)))
		}
	}
	p.Line()
	if p.stale != "" {
		p.Line(p.Warn("stale, most of this: " + Clean(p.stale)))
	}
	if len(b.Unknown) > 0 {
		p.Line(p.Dim("not known: " + Clean(strings.Join(b.Unknown, ", "))))
	}
	if len(b.Omitted) > 0 {
		p.Line(p.Warn("left out to fit --max-tokens: " + Clean(strings.Join(b.Omitted, ", "))))
	}
	if origin.Repo != "" || origin.Commit != "" {
		s := "facts from " + cmp.Or(Clean(origin.Repo), "a folder")
		if origin.Commit != "" {
			s += " at " + Short(origin.Commit)
		}
		if at := changed(b); !at.IsZero() {
			s += ", changed " + p.Age(at)
		}
		if at := newest(b); !at.IsZero() {
			s += ", verified " + p.Age(at)
		}
		p.Line(p.Dim(s))
	}
}

// Short is the part of a commit id that people use.
func Short(commit string) string { return Clean(commit[:min(12, len(commit))]) }

// newest is when the facts were last verified.
func newest(b *catalog.Brief) (at time.Time) {
	for _, block := range briefBlocks(b) {
		for _, l := range block.lines {
			if l.fact.VerifiedAt.After(at) {
				at = l.fact.VerifiedAt
			}
		}
	}
	return at
}

// changed is when the file of the first fact was changed last, zero where that
// is not known.
func changed(b *catalog.Brief) time.Time {
	for _, block := range briefBlocks(b) {
		for _, l := range block.lines {
			return l.fact.ChangedAt
		}
	}
	return time.Time{}
}

// originOf is the repository and commit of the first fact.
func originOf(blocks []briefBlock) catalog.FactSource {
	for _, block := range blocks {
		for _, l := range block.lines {
			return catalog.FactSource{Repo: l.fact.Source.Repo, Commit: l.fact.Source.Commit}
		}
	}
	return catalog.FactSource{}
}

// briefBlocks puts the facts in the order in which people ask for them.
func briefBlocks(b *catalog.Brief) []briefBlock {
	c := b.Commands
	if c == nil {
		c = &catalog.Commands{}
	}
	all := []briefBlock{
		{"", singles("Owner", b.Owner, "On call", b.Oncall, "Repository", b.Repository)},
		{"Commands", singles("setup", c.Setup, "build", c.Build, "test", c.Test, "test one", c.TestOne, "lint", c.Lint, "run", c.Run)},
		{"Rules for agents", many(b.Rules)},
		{"Deploy", append(singles("repository", b.DeployRepo), many(b.Environments)...)},
		{"Depends on", many(b.DependsOn)},
		{"Depended on by", many(b.DependencyOf)},
		{"SLOs", many(b.SLOs)},
		{"Runbooks", many(b.Runbooks)},
		{"Dashboards", many(b.Dashboards)},
	}
	out := all[:0]
	for _, block := range all {
		if len(block.lines) > 0 {
			out = append(out, block)
		}
	}
	return out
}

// singles takes labels and facts in turn; facts that are not known are left
// out.
func singles(pairs ...any) []briefLine {
	var out []briefLine
	for i := 0; i+1 < len(pairs); i += 2 {
		label, _ := pairs[i].(string)
		if f, _ := pairs[i+1].(*catalog.Fact); f != nil {
			out = append(out, lineOf(label, f))
		}
	}
	return out
}

func many(facts []catalog.Fact) []briefLine {
	out := make([]briefLine, len(facts))
	for i := range facts {
		out[i] = lineOf(Clean(facts[i].Name), &facts[i])
	}
	return out
}

// lineOf is a fact with what belongs to it.
func lineOf(label string, f *catalog.Fact) briefLine {
	l := briefLine{label: label, fact: f, value: Clean(f.Value)}
	if f.Protected {
		l.value = strings.TrimSpace(l.value + " (protected)")
	}
	var more []string
	if f.Path != "" {
		more = append(more, "in "+Clean(f.Path))
	}
	if f.Owner != "" {
		more = append(more, "owner "+Clean(f.Owner))
	}
	if f.App != "" {
		more = append(more, "Argo CD "+Clean(f.App))
	}
	if l.more = strings.Join(more, ", "); l.value == "" {
		l.value, l.more = l.more, ""
	}
	return l
}
