package code

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The bounds of what is looked for.
const (
	maxQuery = 500 // bytes
	// maxProgram is how many steps a regular expression may have, so that a
	// line is matched within milliseconds.
	maxProgram = 2000
)

// Pattern is what a search is looking for.
type Pattern struct {
	plain  string // folded where case does not matter
	folded bool
	re     *regexp.Regexp
	has    []string // what every text has that the expression matches
	need   string
}

// Parse reads a query: a text on one line, which matches either case unless it
// has a capital, or a regular expression, which matches within a line.
func Parse(query string, expression bool) (*Pattern, error) {
	switch {
	case len(query) > maxQuery:
		return nil, fault.New(fault.Invalid, "query: it is longer than %d bytes", maxQuery).WithFix("Look for a part of it that is on one line.")
	case strings.TrimSpace(query) == "":
		return nil, fault.New(fault.Invalid, "query: it is empty").WithFix("Write what to find, for example a function's name.")
	case strings.ContainsAny(query, "\n\r\x00"):
		return nil, fault.New(fault.Invalid, "query: it has several lines").WithFix("Look for a part of it that is on one line.")
	}
	if expression {
		return parseExpression(query)
	}
	p := &Pattern{plain: query, folded: !strings.ContainsFunc(query, unicode.IsUpper)}
	if p.folded {
		p.plain = Fold(query)
	}
	p.need = all(gramsOf(query))
	return p, nil
}

func parseExpression(query string) (*Pattern, error) {
	tree, err := syntax.Parse(query, syntax.Perl)
	if err != nil {
		return nil, fault.New(fault.Invalid, "query: %v", err).WithFix("Write a regular expression in the syntax of RE2, or look for the text as it is, without regexp.")
	}
	tree = tree.Simplify()
	prog, err := syntax.Compile(tree)
	if err != nil || len(prog.Inst) > maxProgram {
		return nil, fault.New(fault.Invalid, "query: the expression is too large").WithFix("Use smaller repetitions and fewer alternatives.")
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return nil, fault.New(fault.Invalid, "query: %v", err)
	}
	if re.MatchString("") {
		return nil, fault.New(fault.Invalid, "query: the expression matches every line").WithFix("Write one that matches no empty text.")
	}
	return &Pattern{re: re, has: literals(tree), need: needed(tree)}, nil
}

// Need is an expression of the words of Grams without which no text has a
// match; "" where any may have one.
func (p *Pattern) Need() string { return p.need }

// literals are texts that are in every text that an expression matches, as they
// are written.
func literals(re *syntax.Regexp) []string {
	switch {
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return []string{string(re.Rune)}
	case re.Op == syntax.OpCapture, re.Op == syntax.OpPlus:
		return literals(re.Sub[0])
	case re.Op == syntax.OpConcat:
		var out []string
		for _, sub := range re.Sub {
			out = append(out, literals(sub)...)
		}
		return out
	}
	return nil
}

func all(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "(" + strings.Join(words, " AND ") + ")"
}

// needed is what every text that an expression matches has.
func needed(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return all(gramsOf(string(re.Rune)))
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		return neededOfAll(re.Sub)
	case syntax.OpAlternate:
		var parts []string
		for _, sub := range re.Sub {
			part := needed(sub)
			if part == "" {
				return ""
			}
			parts = append(parts, part)
		}
		return "(" + strings.Join(parts, " OR ") + ")"
	}
	return ""
}

// neededOfAll is what is needed of pieces that follow one another; literal
// neighbours count as one text.
func neededOfAll(subs []*syntax.Regexp) string {
	var parts []string
	var text strings.Builder
	flush := func() {
		if part := all(gramsOf(text.String())); part != "" {
			parts = append(parts, part)
		}
		text.Reset()
	}
	for _, sub := range subs {
		if sub.Op == syntax.OpLiteral {
			text.WriteString(string(sub.Rune))
			continue
		}
		flush()
		if part := needed(sub); part != "" {
			parts = append(parts, part)
		}
	}
	flush()
	return all(parts)
}
