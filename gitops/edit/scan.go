package edit

import "strings"

// skipBlank gives the place of the next character that is neither a blank, the
// end of a line nor part of a comment.
func skipBlank(text string, at int) int {
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			at++
		case c == '#' && (at == 0 || strings.IndexByte(" \t\r\n", text[at-1]) >= 0):
			i := strings.IndexByte(text[at:], '\n')
			if i < 0 {
				return len(text)
			}
			at += i
		default:
			return at
		}
	}
	return at
}

// closing gives the place behind the bracket that ends a flow collection whose
// last item ends at an offset.
func closing(text string, at int) int {
	if at < 0 {
		return nowhere
	}
	at = skipBlank(text, at)
	if at < len(text) && text[at] == ',' {
		at = skipBlank(text, at+1)
	}
	if at < len(text) && (text[at] == '}' || text[at] == ']') {
		return at + 1
	}
	return nowhere
}

// quotedEnd gives the place behind the quote that closes a scalar.
func quotedEnd(text string, start int, quote byte) int {
	if start < 0 || start >= len(text) || text[start] != quote {
		return nowhere
	}
	for at := start + 1; at < len(text); at++ {
		switch {
		case quote == '"' && text[at] == '\\':
			at++
		case text[at] == quote && quote == '\'' && at+1 < len(text) && text[at+1] == quote:
			at++
		case text[at] == quote:
			return at + 1
		}
	}
	return nowhere
}

// plainEnd gives the place behind a plain scalar of a value, which may run over
// several lines: its words are in the text as they are in the value.
func plainEnd(text string, start int, value string) int {
	if start < 0 {
		return nowhere
	}
	if strings.HasPrefix(text[start:], value) {
		return start + len(value)
	}
	at := start
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		if !strings.HasPrefix(text[at:], word) {
			return nowhere
		}
		at += len(word)
	}
	return at
}

// blockEnd gives the place behind the last line of a block scalar that has
// content. Blank lines at the end belong to one that keeps them.
func blockEnd(text string, start int, empty bool) int {
	if start < 0 || start >= len(text) {
		return nowhere
	}
	end, indent := endOfLine(text, start), -1
	header := text[start:end]
	keep := strings.Contains(strings.SplitN(header, " ", 2)[0], "+")
	for at := end; at+1 < len(text); {
		from := at + 1
		at = endOfLine(text, from)
		line := strings.TrimRight(text[from:at], "\r")
		in := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case in == len(line):
			if keep || indent >= 0 && in > indent { // blanks beyond the indentation are text
				end = at
			}
			continue
		case empty:
			return trimBreak(text, end)
		case indent < 0:
			indent = in
		case in < indent:
			return trimBreak(text, end)
		}
		end = at
	}
	return trimBreak(text, end)
}

func endOfLine(text string, at int) int {
	if at > len(text) {
		return len(text)
	}
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

func trimBreak(text string, end int) int {
	if end > 0 && end <= len(text) && text[end-1] == '\r' {
		return end - 1
	}
	return end
}
