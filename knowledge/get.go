package knowledge

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge/document"
)

// The bounds of one document's answer, in tokens of four bytes.
const (
	minTokens     = 200
	maxTokens     = 4000
	defaultTokens = 1500
)

// GetDocument gives one section of a document within a budget; without a
// section, the outline and the first one. What does not fit is left out from
// the end, whole paragraphs at a time, and Next is the handle of the rest.
func (s *Service) GetDocument(ctx context.Context, who access.Caller, in GetDocumentInput) (*KnowledgeDocument, error) {
	if s == nil {
		return nil, notThere()
	}
	budget := in.MaxTokens
	switch {
	case budget == 0:
		budget = defaultTokens
	case budget < minTokens || budget > maxTokens:
		return nil, fault.New(fault.Invalid, "max_tokens: %d is not between %d and %d", budget, minTokens, maxTokens).WithFix("Give a number in that range, or leave it out.")
	}
	r := s.reading(who)
	h, err := r.parse(in.Handle)
	if err != nil {
		return nil, err
	}
	e, err := s.index.Text(ctx, h.card.ID)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, fault.New(fault.NotFound, "the document %.200s has just changed", in.Handle).WithFix("Try again.")
	}
	e.Card = h.card
	i, err := section(e, in, h.anchor)
	if err != nil {
		return nil, err
	}
	return r.document(e, i, h, in.Section == "" && h.anchor == "" && h.from == 0, budget*4)
}

// section finds the section that is asked for; the first one with text where
// none is.
func section(e *Entry, in GetDocumentInput, anchor string) (int, error) {
	want := in.Section
	if want == "" {
		want = anchor
	}
	if want == "" {
		return firstText(e), nil
	}
	for _, same := range []func(s document.Section) bool{
		func(s document.Section) bool { return s.Anchor == want },
		func(s document.Section) bool { return strings.EqualFold(s.Heading, want) },
		func(s document.Section) bool { return s.Role != "" && strings.EqualFold(string(s.Role), want) },
		func(s document.Section) bool { return document.AlertKey(s.Heading) == document.AlertKey(want) },
	} {
		for i, s := range e.Sections {
			if s.Level > 0 && same(s) {
				return i, nil
			}
		}
	}
	return 0, fault.New(fault.NotFound, "the document %s has no section %.100q", handleOf(e.Card, ""), want).WithFix("It has: %s.", shortHeadings(e.Sections))
}

func firstText(e *Entry) int {
	for i := range e.Sections {
		if strings.TrimSpace(body(e, i)) != "" {
			return i
		}
	}
	return 0
}

func shortHeadings(sections []document.Section) string {
	var out []string
	for _, s := range sections {
		if s.Level == 0 {
			continue
		}
		if len(out) == 20 {
			out = append(out, "…")
			break
		}
		out = append(out, s.Heading)
	}
	if len(out) == 0 {
		return "no headings"
	}
	return strings.Join(out, ", ")
}

// document makes the answer, of at most so many bytes.
func (r *reading) document(e *Entry, i int, h handle, whole bool, budget int) (*KnowledgeDocument, error) {
	c := e.Card
	out := &KnowledgeDocument{Handle: handleOf(c, ""), Standing: r.standing(c, c.Line), Question: c.Question, Description: c.Description,
		VerifyCommand: c.VerifyCommand, AllowedTools: c.AllowedTools, Problems: c.Problems}
	if len(e.Sections) == 0 {
		return out, nil
	}
	s := e.Sections[i]
	out.Handle, out.Heading, out.Role, out.Source.Line = handleOf(c, s.Anchor), headingPath(e.Sections, i, c.Title), s.Role, s.Line
	frame, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	budget = max(budget-len(frame)-len(out.Handle)-40, 300)
	end := endOf(e.Sections, i)
	if whole {
		out.outline(e, budget/3)
		end = s.End
		for _, o := range out.Outline {
			budget -= len(o.Handle) + len(o.Heading) + 20
		}
		budget = max(budget, 300)
	}
	from := s.Start + h.from
	if from > end || from < s.Start {
		return nil, fault.New(fault.Invalid, "handle: the section ends before %d", h.from).WithFix("Use the handle as it was given, or start with that of the section.")
	}
	text, rest := fit(e.Text[from:end], budget)
	out.Text = strings.TrimRight(text, "\n")
	if rest > 0 {
		out.Next = handleOf(c, s.Anchor)
		if s.Anchor == "" {
			out.Next += "#"
		}
		out.Next += "@" + strconv.Itoa(h.from+rest)
	}
	return out, nil
}

// endOf is where a section ends with all that is below it.
func endOf(sections []document.Section, i int) int {
	level := sections[i].Level
	end := sections[i].End
	for _, s := range sections[i+1:] {
		if s.Level <= level {
			break
		}
		end = s.End
	}
	return end
}

// outline lists the sections, as many as fit.
func (d *KnowledgeDocument) outline(e *Entry, budget int) {
	for _, s := range e.Sections {
		if s.Level == 0 {
			continue
		}
		o := OutlineItem{Handle: handleOf(e.Card, s.Anchor), Heading: s.Heading, Level: s.Level, Role: s.Role, Tokens: (s.End - s.Start + 3) / 4}
		if budget -= len(o.Handle) + len(o.Heading) + 20; budget < 0 {
			d.OutlineOmitted++
			continue
		}
		d.Outline = append(d.Outline, o)
	}
}

// fit cuts a text at the border of a paragraph, else of a line, else of a
// character, and tells where the rest begins, 0 if there is none.
func fit(text string, budget int) (string, int) {
	if len(text) <= budget {
		return text, 0
	}
	cut := strings.LastIndex(text[:budget], "\n\n") + 2
	if cut < 2 {
		cut = strings.LastIndexByte(text[:budget], '\n') + 1
	}
	if cut < 1 {
		cut = len(strings.ToValidUTF8(text[:budget], ""))
	}
	if strings.TrimSpace(text[cut:]) == "" {
		return text[:cut], 0
	}
	return text[:cut], cut
}
