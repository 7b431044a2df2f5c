package render

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// gap is what stands between columns.
const gap = "  "

func count(n int) string { return strconv.Itoa(n) }

// Cell is one field of a table, styled after it has been measured.
type Cell struct {
	Text  string
	Style func(string) string // nil is plain
}

// Texts are plain cells.
func Texts(ss ...string) []Cell {
	out := make([]Cell, len(ss))
	for i, s := range ss {
		out[i] = Cell{Text: s}
	}
	return out
}

// Table writes aligned columns below headers. Columns without any content are
// left out; the last is cut to the page's width.
func (p *Page) Table(headers []string, rows [][]Cell) {
	all := make([][]Cell, 0, len(rows)+1)
	head := make([]Cell, len(headers))
	for i, h := range headers {
		head[i] = Cell{h, p.Bold}
	}
	all = append(all, head)
	used := make([]bool, len(headers))
	for _, row := range rows {
		clean := make([]Cell, len(row))
		for i, c := range row {
			clean[i] = Cell{Clean(c.Text), c.Style}
			used[i] = used[i] || clean[i].Text != ""
		}
		all = append(all, clean)
	}
	p.columns(pick(all, used))
}

// Rows writes aligned columns without headers.
func (p *Page) Rows(rows [][]Cell) {
	clean := make([][]Cell, len(rows))
	for i, row := range rows {
		clean[i] = make([]Cell, len(row))
		for j, c := range row {
			clean[i][j] = Cell{Clean(c.Text), c.Style}
		}
	}
	p.columns(clean)
}

func pick(rows [][]Cell, used []bool) [][]Cell {
	out := make([][]Cell, len(rows))
	for i, row := range rows {
		for j, c := range row {
			if used[j] {
				out[i] = append(out[i], c)
			}
		}
	}
	return out
}

// columns writes cells that have been cleaned.
func (p *Page) columns(rows [][]Cell) {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 {
				widths[i] = max(widths[i], lipgloss.Width(c.Text))
			}
		}
	}
	for _, row := range rows {
		p.row(row, widths)
	}
}

func (p *Page) row(row []Cell, widths []int) {
	var b strings.Builder
	at := len(p.indent)
	for i, c := range row {
		text, pad := c.Text, ""
		if i < len(row)-1 {
			pad = strings.Repeat(" ", widths[i]-lipgloss.Width(text)) + gap
			at += widths[i] + len(gap)
		} else if p.width > 0 {
			text = Cut(text, max(p.width-at, 20))
		}
		if c.Style != nil && text != "" {
			text = c.Style(text)
		}
		b.WriteString(text + pad)
	}
	p.Line(b.String())
}
