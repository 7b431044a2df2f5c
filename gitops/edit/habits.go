package edit

import "strings"

// habits are how a file is written, for what is added to it.
type habits struct {
	// quotes is the style that most quoted scalars have.
	quotes style
	// unit is how far mappings stand further in than their key, dash how far
	// sequences do.
	unit, dash int
}

// habits finds out how the file is written.
func (f *file) habits() habits {
	if f.habit == nil {
		s := &survey{file: f, units: map[int]int{}, dashes: map[int]int{}}
		for _, d := range f.docs {
			s.look(d.root)
		}
		f.habit = s.sum()
	}
	return *f.habit
}

// survey counts.
type survey struct {
	file          *file
	singles       int
	doubles       int
	seen          int
	units, dashes map[int]int
}

// enough is how many nodes are looked at.
const enough = 2000

func (s *survey) look(n *node) {
	if s.seen++; s.seen > enough {
		return
	}
	switch {
	case n.kind == scalar && n.style == single:
		s.singles++
	case n.kind == scalar && n.style == double:
		s.doubles++
	}
	for i, c := range n.items {
		if n.kind == mapping && i%2 == 1 && n.style == plain && c.style == plain && len(c.items) > 0 {
			s.step(n.items[i-1], c)
		}
		s.look(c)
	}
}

// step notes how far a collection stands further in than its key.
func (s *survey) step(key, c *node) {
	if key.start < 0 || c.start < 0 {
		return
	}
	d := len(s.file.indent(c.start)) - len(s.file.indent(key.start))
	if c.kind == sequence && d >= 0 {
		s.dashes[d]++
	}
	if c.kind == mapping && d > 0 {
		s.units[d]++
	}
}

func (s *survey) sum() *habits {
	h := &habits{quotes: double, unit: most(s.units, 2), dash: most(s.dashes, -1)}
	if s.singles > s.doubles {
		h.quotes = single
	}
	if h.dash < 0 {
		h.dash = h.unit
		if len(s.file.docs) > 0 && s.file.kustomization(s.file.docs[0]) {
			h.dash = 0 // as Kustomize itself writes
		}
	}
	return h
}

// most is the number that was counted most often, the smallest of several.
func most(counts map[int]int, without int) int {
	best, n := without, 0
	for d, c := range counts {
		if c > n || c == n && d < best {
			best, n = d, c
		}
	}
	return best
}

// block writes a value that is added in block style, as lines without the
// indentation of the first.
func (h habits) block(n *node) []string {
	switch {
	case n.kind == scalar:
		return []string{n.written()}
	case len(n.items) == 0 || n.style == flow:
		inBrackets(n)
		return []string{brackets(n)}
	}
	var out []string
	if n.kind == sequence {
		for _, it := range n.items {
			out = append(out, behind("- ", h.block(it))...)
		}
		return out
	}
	for i := 0; i+1 < len(n.items); i += 2 {
		key, v := n.items[i].written()+":", n.items[i+1]
		lines := h.block(v)
		if v.kind == scalar || v.style == flow || len(v.items) == 0 {
			out = append(out, key+" "+lines[0])
			continue
		}
		in := h.unit
		if v.kind == sequence {
			in = h.dash
		}
		out = append(out, key)
		for _, l := range lines {
			out = append(out, strings.Repeat(" ", in)+l)
		}
	}
	return out
}

// behind puts a prefix before the first line and blanks before the others.
func behind(prefix string, lines []string) []string {
	blanks := strings.Repeat(" ", len(prefix))
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = blanks + l
	}
	out[0] = prefix + lines[0]
	return out
}

// inBrackets makes flow style of a value that is to be added.
func inBrackets(n *node) {
	if n.kind != scalar {
		n.style = flow
	}
	for _, c := range n.items {
		inBrackets(c)
	}
}

// brackets is a value in flow style.
func brackets(n *node) string {
	if n.kind == scalar {
		return n.written()
	}
	var parts []string
	for i := 0; i < len(n.items); i++ {
		it := brackets(n.items[i])
		if n.kind == mapping {
			i++
			it += ": " + brackets(n.items[i])
		}
		parts = append(parts, it)
	}
	if n.kind == sequence {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
