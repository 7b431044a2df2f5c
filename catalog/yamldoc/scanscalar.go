package yamldoc

import "bytes"

// goesOn is where the content of a scalar goes on in the line at i: false where
// the line does not belong to the scalar.
func (s *scanner) goesOn(i int) (int, bool) {
	if s.deeper == 0 {
		return i, true
	}
	start := i
	for i < len(s.text) && s.text[i] == ' ' {
		i++
	}
	if n := s.breakAt(i); n > 0 {
		return i + n - 1, true
	}
	return i, i-start >= s.deeper
}

// plain reads an unquoted scalar.
func (s *scanner) plain() {
	start := s.pos
	end := s.plainEnd()
	s.checkPlain(start)
	if text := s.text[start:end]; bytes.IndexByte(text, '\n') >= 0 {
		s.emitScalar(start, unfold(text), ' ')
	} else {
		s.emitScalar(start, shared(text), ' ')
	}
	s.pass(max(end, start+1)) // it is never empty, but must not stand still
}

// plainEnd is where the unquoted scalar at the position ends.
func (s *scanner) plainEnd() int {
	inFlow := len(s.flow) > 0
	end := s.pos
	for i := s.pos; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == ':':
			if s.blankAt(i+1) || inFlow && isFlowMark(s.text[i+1]) {
				return end
			}
			end = i + 1
		case !isBlank(c):
			if inFlow && isFlowMark(c) {
				return end
			}
			end = i + 1
		default:
			next, more := s.plainBlank(i, inFlow, &end)
			if !more {
				return end
			}
			i = next
		}
	}
	return end
}

// plainBlank goes on behind a blank or line break within an unquoted scalar.
func (s *scanner) plainBlank(i int, inFlow bool, end *int) (int, bool) {
	newline := s.text[i] == '\n'
	if s.text[i] == '\r' {
		if s.breakAt(i) == 2 {
			i, newline = i+1, true
		} else {
			*end = i + 1
		}
	}
	if i+1 < len(s.text) && (s.text[i+1] == '#' || inFlow && isFlowMark(s.text[i+1])) {
		return i, false
	}
	if !newline {
		return i, true
	}
	next, more := s.goesOn(i + 1)
	// One short of the content, so that " #" is seen.
	return max(i, next-2), more
}

// checkPlain refuses what an unquoted scalar cannot start with.
func (s *scanner) checkPlain(at int) {
	switch c := s.text[at]; c {
	case '@', '`':
		s.report(at, "Quote the value.", "a value cannot start with %q, which YAML keeps for itself", c)
	case '%':
		if at > 0 && s.text[at-1] == '{' {
			s.report(at-1, "Render the template first, or quote the value.", `"{%%" starts a template directive, which is no YAML`)
			return
		}
		s.report(at, "Quote the value.", `a value cannot start with "%%", which starts a directive`)
	case ',':
		s.report(at, "Quote the value.", `a value cannot start with ","`)
	case '|', '>':
		s.report(at, "Quote the value, or write the collection without brackets.", "%q starts a block of text, which cannot stand within brackets", c)
	}
}

// quoted reads a scalar in quotes.
func (s *scanner) quoted(quote byte) {
	start := s.pos
	end, closed, lines := s.quotedEnd(quote)
	if !closed {
		s.unclosedQuote(quote, end)
		return
	}
	inner := s.text[start+1 : end-1]
	text := ""
	if quote == '\'' {
		text = single(inner, lines)
	} else {
		text = s.double(start+1, inner, lines)
	}
	s.emitScalar(start, text, quote)
	s.pass(end)
}

// quotedEnd is where the quoted scalar at the position ends, or the line at
// which it stops without being closed.
func (s *scanner) quotedEnd(quote byte) (end int, closed, lines bool) {
	for i := s.pos + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n':
			next, more := s.goesOn(i + 1)
			if !more {
				return i + 1, false, true
			}
			lines = true
			i = next - 1
		case c == '\\' && quote == '"':
			// An escaped line break still ends a line.
			if i+1 < len(s.text) && s.text[i+1] != '\n' {
				i++
			}
		case c == quote:
			if quote != '\'' || i+1 >= len(s.text) || s.text[i+1] != '\'' {
				return i + 1, true, lines
			}
			i++
		}
	}
	return len(s.text), false, lines
}

func (s *scanner) unclosedQuote(quote byte, at int) {
	s.stopped = true
	line := s.line
	if at >= len(s.text) {
		s.report(s.pos, "Close it.", "the quote is not closed")
		return
	}
	s.pass(at)
	s.spaces()
	s.report(s.pos, "Indent the line by more, or close the quote before it.",
		"the line is indented too little to belong to the quoted text that starts on line %d", line)
}
