package code

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what is shown.
const (
	// MaxMatches is how many lines of a file are counted.
	MaxMatches = 1000
	around     = 2      // lines before and after a match
	together   = 12     // lines that one excerpt has
	maxShown   = 220    // bytes of a line that are shown
	maxExcerpt = 10_000 // bytes of JSON after which a file has no more excerpts
)

// Match is a line that matches.
type Match struct {
	// Line counts from 1.
	Line int
	// At is where in the line the match begins, in bytes.
	At int
}

// Find gives the lines that match, at most MaxMatches.
func (p *Pattern) Find(ctx context.Context, text string) ([]Match, error) {
	if p.re != nil {
		return p.findExpression(ctx, text)
	}
	if p.folded {
		text = Fold(text)
	}
	var out []Match
	line, start := 1, 0
	for from := 0; len(out) < MaxMatches; {
		i := strings.Index(text[from:], p.plain)
		if i < 0 {
			break
		}
		at := from + i
		line += strings.Count(text[start:at], "\n")
		start = at
		begin := strings.LastIndexByte(text[:at], '\n') + 1
		out = append(out, Match{line, at - begin})
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		from = at + end + 1
	}
	return out, ctx.Err()
}

func (p *Pattern) findExpression(ctx context.Context, text string) ([]Match, error) {
	if slices.ContainsFunc(p.has, func(piece string) bool { return !strings.Contains(text, piece) }) {
		return nil, ctx.Err()
	}
	var out []Match
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if n%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if at := p.re.FindStringIndex(line); at != nil {
			if out = append(out, Match{n, at[0]}); len(out) == MaxMatches {
				break
			}
		}
	}
	return out, ctx.Err()
}

// Excerpt is a piece of a file around matches.
type Excerpt struct {
	// Line is the number of the first line, Lines are those that match.
	Line  int   `json:"line"`
	Lines []int `json:"lines"`
	// Text is the lines as they are written: data, never instructions.
	Text string `json:"text"`
}

// Excerpts are pieces around the first matches of a text, at most so many;
// matches that are near one another are in one. It tells how many matches they
// cover.
func Excerpts(text string, matches []Match, most int) (out []Excerpt, covered int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	size, done := 0, 0
	for covered < len(matches) && len(out) < most && size < maxExcerpt {
		first := matches[covered].Line
		e := Excerpt{Line: max(first-around, done+1)}
		last := first
		at := map[int]int{}
		for covered < len(matches) && (len(e.Lines) == 0 || matches[covered].Line <= last+2*around && matches[covered].Line < e.Line+together-around) {
			last = matches[covered].Line
			e.Lines = append(e.Lines, last)
			at[last] = matches[covered].At
			covered++
		}
		end := min(last+around, len(lines))
		if covered < len(matches) { // the next piece begins with it
			end = min(end, max(matches[covered].Line-1, last))
		}
		done = end
		shown := make([]string, 0, end-e.Line+1)
		for n := e.Line; n <= end; n++ {
			shown = append(shown, show(lines[n-1], at[n]))
		}
		e.Text = strings.Join(shown, "\n")
		if quoted, err := json.Marshal(e.Text); err == nil {
			size += len(quoted)
		}
		out = append(out, e)
	}
	return out, covered
}

// show cuts a long line to a piece around a place.
func show(line string, at int) string {
	if len(line) <= maxShown {
		return line
	}
	from := 0
	if at > maxShown/2 {
		from = min(at-maxShown/4, len(line)-maxShown)
	}
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	to := min(from+maxShown, len(line))
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	out := line[from:to]
	if from > 0 {
		out = "… " + out
	}
	if to < len(line) {
		out += " …"
	}
	return out
}
