package render

import (
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Page writes for people. What it is given may come from anywhere: control
// characters never reach the terminal.
type Page struct {
	w      io.Writer
	err    error
	style  *lipgloss.Renderer
	now    time.Time
	width  int
	indent string
	// stale is said of the whole page, and so not again of each fact.
	stale string
}

// Options say how a Page is written.
type Options struct {
	// Color lets the page be styled.
	Color bool
	// Width is the width in columns that lines should keep to; 0 is any.
	Width int
	// Now is the time that ages are counted from; zero is the real one.
	Now time.Time
}

// NewPage makes a page on w.
func NewPage(w io.Writer, o Options) *Page {
	profile := termenv.Ascii
	if o.Color {
		profile = termenv.ANSI
	}
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(profile))
	r.SetColorProfile(profile)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	return &Page{w: w, style: r, now: o.Now, width: o.Width}
}

// Err is the first error of writing.
func (p *Page) Err() error { return p.err }

// Bold is text that stands out.
func (p *Page) Bold(s string) string { return p.style.NewStyle().Bold(true).Render(s) }

// Dim is text that stands back.
func (p *Page) Dim(s string) string {
	if s == "" {
		return ""
	}
	return p.style.NewStyle().Faint(true).Render(s)
}

// Good, Bad and Warn are text about what is well, not well, and in between.
func (p *Page) Good(s string) string { return p.color("2", s) }

// Bad is text about what is not well.
func (p *Page) Bad(s string) string { return p.color("1", s) }

// Warn is text about what might not be well.
func (p *Page) Warn(s string) string { return p.color("3", s) }

func (p *Page) color(c, s string) string {
	return p.style.NewStyle().Foreground(lipgloss.Color(c)).Render(s)
}

// Line writes a line; trailing blanks are left out.
func (p *Page) Line(parts ...string) {
	if p.err != nil {
		return
	}
	_, p.err = io.WriteString(p.w, strings.TrimRight(p.indent+strings.Join(parts, ""), " ")+"\n")
}

// Heading writes the title of what follows, after an empty line.
func (p *Page) Heading(s string) {
	p.Line()
	p.Line(p.Bold(s))
}

// Indented writes what do writes two columns further right.
func (p *Page) Indented(do func()) {
	before := p.indent
	p.indent += "  "
	do()
	p.indent = before
}

// Age is how long ago t was, in the largest unit that says enough.
func (p *Page) Age(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := p.now.Sub(t)
	switch {
	case d < 0:
		return t.UTC().Format(time.RFC3339)
	case d < time.Minute:
		return plural(int(d.Seconds()), "second") + " ago"
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute") + " ago"
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour") + " ago"
	default:
		return plural(int(d.Hours()/24), "day") + " ago"
	}
}

// Plural is "1 error" or "2 errors".
func Plural(n int, word string) string { return plural(n, word) }

// Entities is "1 entity" or "2 entities".
func Entities(n int) string {
	if n == 1 {
		return "1 entity"
	}
	return count(n) + " entities"
}

func plural(n int, word string) string {
	s := count(n) + " " + word
	if n != 1 {
		s += "s"
	}
	return s
}

// Clean is a text on one line that a terminal shows as it is: white space
// becomes a space, control and formatting characters are left out.
func Clean(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		default:
			return r
		}
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Cut shortens s to a number of columns and shows that it did.
func Cut(s string, columns int) string {
	if columns <= 0 || lipgloss.Width(s) <= columns {
		return s
	}
	out, used := strings.Builder{}, 0
	for _, r := range s {
		w := lipgloss.Width(string(r))
		if used+w > columns-1 {
			break
		}
		out.WriteRune(r)
		used += w
	}
	return strings.TrimRight(out.String(), " ") + "…"
}
