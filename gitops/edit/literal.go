package edit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// written is a scalar as it stands in the text.
func (n *node) written() string {
	switch n.style {
	case single:
		return "'" + strings.ReplaceAll(n.value, "'", "''") + "'"
	case double:
		return quote(n.value)
	default:
		return n.value
	}
}

// quote writes a value in double quotes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x10000 && !printable(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable tells characters that stand for themselves in quotes.
func printable(r rune) bool {
	return r >= ' ' && r < 0x7F || r >= 0xA0 && r != 0x2028 && r != 0x2029 && r != 0xFEFF && r != 0xFFFE && r != 0xFFFF
}

// text makes a string scalar in the style of another, or the nearest that can
// hold it; quotes is what to quote with where plain will not do.
func text(value string, like, quotes style, inFlow bool) *node {
	s := like
	if s != single && s != double && s != plain {
		s = plain
	}
	if s == plain && !plainString(value, inFlow) {
		s = quotes
	}
	if s == single && strings.ContainsFunc(value, func(r rune) bool { return !printable(r) }) {
		s = double
	}
	return newScalar(value, s)
}

// plainString tells whether a value can be written without quotes and is a
// string then for every reader: those of YAML 1.1, which Kubernetes uses, take
// yes, 0123, 1e3 and 1:20 for something else.
func plainString(s string, inFlow bool) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(r rune) bool { return !printable(r) }) {
		return false
	}
	first, size := utf8.DecodeRuneInString(s)
	if strings.ContainsRune(",[]{}#&*!|>'\"%@`", first) || strings.ContainsRune("-?:", first) && (len(s) == size || s[size] == ' ') {
		return false
	}
	if strings.Contains(s, ": ") || strings.HasSuffix(s, ":") || strings.Contains(s, " #") || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	if inFlow && (strings.ContainsAny(s, ",[]{}") || strings.ContainsRune("-?:", first)) {
		return false
	}
	return !otherType.MatchString(s) && shortTag(s) == "!!str"
}

// shortTag is the type that yaml.v3 sees in a plain scalar.
func shortTag(s string) string {
	return (&yaml.Node{Kind: yaml.ScalarNode, Value: s}).ShortTag()
}

// otherType matches what is no string in YAML 1.1 or 1.2, or looks so.
var otherType = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|~|<<|=` +
	`|[-+]?[0-9][0-9_,]*|[-+]?0o?[0-7_]+|[-+]?0x[0-9a-f_]+|[-+]?0b[01_]+` +
	`|[-+]?(\.[0-9_]+|[0-9][0-9_]*\.?[0-9_]*)(e[-+]?[0-9]+)?|[-+]?\.inf|\.nan` +
	`|[-+]?[0-9][0-9_]*(:[0-9]{1,2})+(\.[0-9_]*)?` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([tT ].*)?)$`)

var wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)

// number tells whether a text is a number that is written as it is printed.
func number(s string) bool {
	if wholeNumber.MatchString(s) {
		return true
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Contains(s, ".") && strconv.FormatFloat(f, 'f', -1, 64) == s
}

func truth(s string) bool { return s == "true" || s == "false" }

// truth11 matches the booleans of YAML 1.1.
var truth11 = regexp.MustCompile(`^(?i:yes|no|on|off|true|false)$`)

// instead makes the scalar that takes another's place: numbers stay numbers,
// strings strings, in the same quotes. What does not fit the old type becomes a
// string.
func (f *file) instead(old *node, value string, asString bool) *node {
	n := text(value, old.style, f.habits().quotes, inFlow(old))
	if !asString && old.style == plain && old.tag == "" && keepsType(old, value) {
		n = newScalar(value, plain)
	}
	n.tag, n.anchor = old.tag, old.anchor
	return n
}

// keepsType tells whether a value written plain is of the type of a plain
// scalar that is no string.
func keepsType(old *node, value string) bool {
	switch old.shortTag() {
	case "!!int":
		return wholeNumber.MatchString(value) || !wholeNumber.MatchString(old.value) && shortTag(value) == "!!int"
	case "!!float":
		return number(value)
	case "!!bool":
		return truth(value) || truth11.MatchString(value) && !truth(old.value)
	case "!!null":
		return !stringly(old) && (number(value) || truth(value) || value == "null")
	default:
		return truth11.MatchString(old.value) && truth11.MatchString(value)
	}
}

// fresh makes the value of a key that was not there.
func (f *file) fresh(m *node, key, value string, asString bool) *node {
	if !asString && (m == nil || !stringKey(m, key)) && (number(value) || truth(value) || value == "null") {
		return newScalar(value, plain)
	}
	return text(value, plain, f.habits().quotes, m != nil && (m.style == flow || inFlow(m)))
}

// stringly tells whether a node is the value of a key whose values are strings.
func stringly(n *node) bool {
	return n.parent != nil && n.parent.kind == mapping && stringKey(n.parent, keyOf(n))
}

var (
	// stringNames are keys, and ends of keys, whose values are strings to
	// Kustomize, Helm charts and Argo CD.
	stringNames = regexp.MustCompile(`(?i)(tag|version|revision|digest|image|name|repository|registry)$`)
	// stringMaps are keys of maps all whose values are strings to Kubernetes.
	stringMaps = regexp.MustCompile(`^(labels|annotations|matchLabels|nodeSelector|commonLabels|commonAnnotations|stringData|data)$`)
)

func stringKey(m *node, key string) bool {
	return stringNames.MatchString(key) || key == "value" && m.get("name") != nil || stringMaps.MatchString(keyOf(m))
}

// keyOf is the key that a node is the value of, "" without.
func keyOf(n *node) string {
	if m := n.parent; m != nil && m.kind == mapping {
		if i := slices.Index(m.items, n); i > 0 {
			return m.items[i-1].value
		}
	}
	return ""
}

// inFlow tells whether a node is within brackets.
func inFlow(n *node) bool {
	for m := n.parent; m != nil; m = m.parent {
		if m.style == flow {
			return true
		}
	}
	return false
}
