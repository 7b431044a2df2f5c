package yamldoc

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// shared is a string of b; those that stand in every catalog file are not made
// anew.
func shared(b []byte) string {
	if len(b) <= maxCommon {
		if s, ok := common[string(b)]; ok {
			return s
		}
	}
	return string(b)
}

// maxCommon is the length of the longest common word.
const maxCommon = 22

var common = func() map[string]string {
	m := map[string]string{}
	for _, s := range strings.Fields(`apiVersion kind metadata name namespace title description labels annotations
		tags links url icon type spec owner lifecycle system domain subcomponentOf subdomainOf providesApis consumesApis
		dependsOn dependencyOf definition memberOf members parent children profile displayName email picture target
		targets presence backstage.io/v1alpha1 Component API Resource System Domain Group User Location Template
		service website library production experimental deprecated openapi asyncapi grpc graphql team department guest
		true false null 1 0`) {
		m[s] = s
	}
	return m
}()

// unfold joins the lines of an unquoted or single-quoted scalar: one line break
// is a space, more are one fewer.
func unfold(b []byte) string {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b))
	out.Write(trimRight(line(b, n)))
	b = b[n+1:]
	sep := " "
	for {
		n = bytes.IndexByte(b, '\n')
		if n < 0 {
			break
		}
		if text := bytes.TrimLeft(trimRight(line(b, n)), " \t"); len(text) > 0 {
			out.WriteString(sep)
			out.Write(text)
			sep = " "
		} else if sep == "\n" {
			out.WriteByte('\n')
		} else {
			sep = "\n"
		}
		b = b[n+1:]
	}
	out.WriteString(sep)
	out.Write(bytes.TrimLeft(b, " \t"))
	return out.String()
}

// line is the line of b that ends at the line feed at n.
func line(b []byte, n int) []byte { return bytes.TrimSuffix(b[:n], []byte{'\r'}) }

func trimRight(b []byte) []byte { return bytes.TrimRight(b, " \t") }

// single decodes what stands between single quotes.
func single(b []byte, lines bool) string {
	var s string
	if lines {
		s = unfold(b)
	} else {
		s = shared(b)
	}
	return strings.ReplaceAll(s, "''", "'")
}

// double decodes what stands between double quotes at offset at of the text.
func (s *scanner) double(at int, b []byte, lines bool) string {
	if !lines && bytes.IndexByte(b, '\\') < 0 {
		return shared(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
			i++
		case c == '\n':
			out, i = fold(out, b, i)
		case c == '\\':
			out, i = s.escape(out, b, i, at)
		case c == ' ' || c == '\t':
			n := i
			for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
				n++
			}
			if !startsBreak(b[n:]) {
				out = append(out, b[i:n]...)
			}
			i = n
		default:
			out = append(out, c)
			i++
		}
	}
	return string(out)
}

func startsBreak(b []byte) bool {
	return len(b) > 0 && b[0] == '\n' || len(b) > 1 && b[0] == '\r' && b[1] == '\n'
}

// fold passes the line break at i and the blanks and breaks behind it.
func fold(out, b []byte, i int) ([]byte, int) {
	empty := 0
	for i++; i < len(b) && isBlank(b[i]); i++ {
		if b[i] == '\r' && (i+1 >= len(b) || b[i+1] != '\n') {
			break
		}
		if b[i] == '\n' {
			empty++
		}
	}
	if empty == 0 {
		return append(out, ' '), i
	}
	return append(out, strings.Repeat("\n", empty)...), i
}

// escape decodes the escape at i; at is where b stands in the text.
func (s *scanner) escape(out, b []byte, i, at int) ([]byte, int) {
	i++
	c := b[i] // a backslash is never last: it would have escaped the quote
	if text, ok := escapes(c); ok {
		return append(out, text...), i + 1
	}
	if startsBreak(b[i:]) {
		i += bytes.IndexByte(b[i:], '\n') + 1
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		return out, i
	}
	width := 0
	switch c {
	case 'x':
		width = 2
	case 'u':
		width = 4
	case 'U':
		width = 8
	}
	if r, ok := code(b[i+1:], width); ok {
		return appendCode(out, b, i+1+width, r)
	}
	_, size := utf8.DecodeRune(b[i:])
	s.reportEscape(at+i-1, b[i-1:min(len(b), i+max(size, 1+width))])
	return out, i + size
}

func (s *scanner) reportEscape(at int, raw []byte) {
	if len(s.problems) >= maxProblems {
		return
	}
	// The escape may stand on a later line than the scanner does.
	line := s.text[s.pos:at]
	p := s.place(s.pos)
	if n := bytes.LastIndexByte(line, '\n'); n >= 0 {
		p.Line += uint32(bytes.Count(line, []byte{'\n'}))
		p.Column = uint32(utf8.RuneCount(line[n+1:])) + 1
	} else {
		p.Column += uint32(utf8.RuneCount(line))
	}
	s.problems = append(s.problems, problemAt(p, `Write "\\" for a backslash, or use single quotes.`, "%s is no escape", strings.ToValidUTF8(string(raw), "")))
}

func code(b []byte, width int) (rune, bool) {
	if width == 0 || len(b) < width {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:width]), 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}

// appendCode appends an escaped character whose escape ends at i; two
// surrogates make one character, one alone becomes U+FFFD.
func appendCode(out, b []byte, i int, r rune) ([]byte, int) {
	const high, low, end = 0xd800, 0xdc00, 0xe000
	if r >= high && r < low && len(b) > i+1 && b[i] == '\\' && b[i+1] == 'u' {
		if second, ok := code(b[i+2:], 4); ok && second >= low && second < end {
			r = (r-high)<<10 + (second - low) + 0x10000
			i += 6
		}
	}
	return utf8.AppendRune(out, r), i
}

// escapes are the escapes of one character.
func escapes(c byte) (string, bool) {
	switch c {
	case '0':
		return "\x00", true
	case 'a':
		return "\a", true
	case 'b':
		return "\b", true
	case 'e':
		return "\x1b", true
	case 'f':
		return "\f", true
	case 'n':
		return "\n", true
	case 'r':
		return "\r", true
	case 't', '\t':
		return "\t", true
	case 'v':
		return "\v", true
	case 'N':
		return "\u0085", true
	case '_':
		return "\u00a0", true
	case 'L':
		return "\u2028", true
	case 'P':
		return "\u2029", true
	case ' ', '"', '/', '\\':
		return string(rune(c)), true
	}
	return "", false
}
