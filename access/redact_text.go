package access

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// secretSetting finds settings of a secret written out: in a shell, in YAML
// and JSON, and as flags. What is a variable, a placeholder or empty is none.
var secretSetting = regexp.MustCompile(`(?i)((?:[\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*)["']?\s*(?::\s+|:?=\s*|\s+(?:is|=)\s+)["'\x60]?)([^\s"'\x60$<{(\[,;]{6,})`)

// settingSigns are what no text that secretSetting matches is without, in lower
// case.
var settingSigns = [...]string{"token", "secret", "passw", "passphrase", "credential", "apikey", "api-key", "api_key", "privatekey", "private-key", "private_key",
	"accesskey", "access-key", "access_key", "\u017f"} // the last is an s to the expression

// names tells whether a text may name a secret; where it does not, the
// expression need not look, which takes twenty times as long.
func names(s string) bool {
	s = strings.ToLower(s)
	for _, sign := range settingSigns {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}

// Redact masks the secrets in a text that people wrote: what has the form of
// one, and what is set under the name of one. Fairlead never indexes or shows
// a file without it.
func Redact(text string) string {
	text = redact(text)
	if !names(text) {
		return text
	}
	return secretSetting.ReplaceAllString(text, "${1}"+mask)
}

// secretLiteral finds texts in quotes that are set under the name of a secret.
var secretLiteral = regexp.MustCompile(`(?i)([\w-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key)[\w-]*["'\])]*\s*(?::\s*[\w.]+\s*)?(?::|:?=|=>)\s*["'\x60])([^\s"'\x60$<{%]{6,})(["'\x60])`)

// codeSigns are what no line is without in which secretText or secretLiteral
// begins to match, in lower case; the last two are letters that the expressions
// take for s and k.
var codeSigns = append(secretSigns[:len(secretSigns):len(secretSigns)], "token", "secret", "passw", "passphrase", "credential", "key", "\u017f", "\u212a")

// RedactCode is Redact for source code. Where literals is true texts stand in
// quotes in its language, and the names of variables and functions that a
// secret is taken from are left as they are.
func RedactCode(text string, literals bool) string {
	if !literals {
		return Redact(text)
	}
	if strings.Contains(text, "-----BEGIN") { // a key has many lines
		text = redact(text)
	}
	// Expressions are slow, and few lines have what they begin with. What they
	// match may end on the line after it.
	var out strings.Builder
	done := 0
	places := signed(text)
	for len(places) > 0 {
		begin, end := strings.LastIndexByte(text[:places[0]], '\n')+1, places[0]+1
		for len(places) > 0 && places[0] < end {
			end = lineEnd(text, lineEnd(text, places[0]))
			places = places[1:]
		}
		out.WriteString(text[done:begin])
		out.WriteString(secretLiteral.ReplaceAllString(redact(text[begin:end]), "${1}"+mask+"${3}"))
		done = end
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// lineEnd is where the line that holds a place ends, its newline included.
func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// signed are the places of signs in a text, sorted.
func signed(text string) []int {
	lower := []byte(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	var out []int
	for _, sign := range codeSigns {
		for from := 0; ; {
			i := bytes.Index(lower[from:], []byte(sign))
			if i < 0 {
				break
			}
			out = append(out, from+i)
			from += i + len(sign)
		}
	}
	slices.Sort(out)
	return out
}
