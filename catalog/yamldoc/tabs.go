package yamldoc

// tab is the first tab among the blanks before a token; at is -1 where there is
// none.
type tab struct {
	at     int
	behind byte // the indicator before the blanks; 0 at the start of a line or behind other text
	indent int  // of the line before the tab
}

// checkTab refuses a tab that stands for indentation before a token: an
// indicator, '!' for an anchor or tag, 'x' for any node.
func (s *scanner) checkTab(token byte, pos int) {
	if s.tab.at < 0 || len(s.flow) > 0 {
		return
	}
	first := s.tab.behind == 0 && s.fresh
	wrong := false
	switch {
	case token == '!':
		wrong = first || s.tab.behind == '-' || s.tab.behind == '?'
	case token != 'x':
		wrong = first || s.tab.behind != 0
	case first:
		rootFlow := s.awaited == 0 && len(s.marks) <= 1 && (s.text[pos] == '{' || s.text[pos] == '[')
		wrong = !rootFlow && s.tab.indent < max(s.awaited, 1)
		if rootFlow {
			s.tab.at = -1
		}
	}
	if wrong {
		s.reportTab(s.tab.at)
		s.tab.at = -1
	}
}

func (s *scanner) reportTab(at int) {
	s.report(at, "Use spaces.", "a tab cannot be used as indentation")
}

// checkKey refuses what may not be a key before the ":" of a block.
func (s *scanner) checkKey() {
	switch n := s.node; {
	case !n.open:
	case n.line != s.line:
		s.reportLines(n)
	case n.tab >= 0:
		s.reportTab(n.tab)
	case s.longKey(n.start):
		s.report(n.start, `Shorten the key, or put "? " before it.`, "a key is longer than %d characters", maxKey)
	}
}

// reportLines says why a ":" stands behind text of several lines: mostly because
// a line is indented too much or has no ":" of its own.
func (s *scanner) reportLines(n node) {
	first := s.lineStart
	for first < s.pos && s.text[first] == ' ' {
		first++
	}
	last := len(s.marks) - 1
	switch {
	case last < 0 || s.marks[last].kind != '"' || len(s.scalars) == 0 || s.scalars[len(s.scalars)-1].style != ' ':
		s.report(s.pos, `Put the key on one line, or quote the text if the ":" belongs to it.`,
			"a key must stand on one line; this one starts on line %d", n.line)
	case last > 0 && s.marks[last-1].kind == ':':
		s.report(first, "Indent it like the key above; or quote the whole text if it belongs to the value.",
			`a key is indented more than the one before it, which has its value on line %d already`, n.line)
	default:
		s.reportEarlier(n)
	}
}

func (s *scanner) reportEarlier(n node) {
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, problemAt(s.scalars[len(s.scalars)-1].at, `Write "key: value", with a space behind the colon.`,
			`line %d has no ":" that makes it a key`, n.line))
	}
}
