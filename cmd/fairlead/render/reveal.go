package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// hidden tells whether a character acts on a terminal instead of being shown:
// controls, those beyond ASCII too, and what changes the direction of text.
func hidden(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// reveal writes hidden characters in data, save for line breaks, as escapes.
// Data is of a notation in which they stand only where escapes are understood.
func reveal(data []byte, escape func(rune) string) []byte {
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, escape(r)...)
		case r != '\n' && hidden(r):
			out = append(out, escape(r)...)
		default:
			out = append(out, data[:size]...)
		}
		data = data[size:]
	}
	return out
}

func escapeJSON(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func escapeYAML(r rune) string { return fmt.Sprintf(`\U%08X`, r) }

// mustQuote tells whether a text can only be written with escapes.
func mustQuote(v any) bool {
	s, ok := v.(string)
	return ok && (!utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && hidden(r) }))
}
