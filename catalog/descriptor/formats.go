package descriptor

import (
	"strings"

	"github.com/nlnwa/whatwg-url/url"
)

// The longest names, in characters; what is longer is refused.
const (
	maxName      = 63
	maxSubdomain = 253
)

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlnum(c byte) bool { return isDigit(c) || isLower(c) || isUpper(c) }

func all(s string, ok func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// isObjectName: letters and digits with - _ . between them.
func isObjectName(s string) bool {
	n := len(s)
	if n == 0 || n > maxName || !isAlnum(s[0]) || !isAlnum(s[n-1]) {
		return false
	}
	return all(s, func(c byte) bool { return isAlnum(c) || c == '-' || c == '_' || c == '.' })
}

// isDNSLabel: lower-case letters and digits with - between them.
func isDNSLabel(s string) bool {
	n := len(s)
	if n == 0 || n > maxName || s[0] == '-' || s[n-1] == '-' {
		return false
	}
	return all(s, func(c byte) bool { return isDigit(c) || isLower(c) || c == '-' })
}

// isSubdomain: DNS labels with . between them.
func isSubdomain(s string) bool {
	if s == "" || len(s) > maxSubdomain {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isDNSLabel(label) {
			return false
		}
	}
	return true
}

// isTag: lower-case letters, digits and : + # with single - between them.
func isTag(s string) bool {
	n := len(s)
	if n == 0 || n > maxName || s[0] == '-' || s[n-1] == '-' || strings.Contains(s, "--") {
		return false
	}
	return all(s, func(c byte) bool {
		return isDigit(c) || isLower(c) || c == ':' || c == '+' || c == '#' || c == '-'
	})
}

// isKind: a letter, then letters and digits.
func isKind(s string) bool {
	n := len(s)
	return n > 0 && n <= maxName && !isDigit(s[0]) && all(s, isAlnum)
}

// isPrefixed: a name, or a DNS name, one "/" and a name.
func isPrefixed(s string, isName func(string) bool) bool {
	prefix, name, found := strings.Cut(s, "/")
	if !found {
		return isName(s)
	}
	return isSubdomain(prefix) && isName(name)
}

func isAPIVersion(s string) bool {
	return isPrefixed(s, func(n string) bool { return n != "" && len(n) <= maxName && all(n, isAlnum) })
}

func isKey(s string) bool { return isPrefixed(s, isObjectName) }

func isLabelValue(s string) bool { return s == "" || isObjectName(s) }

// isURL tells whether s is an absolute URL by the WHATWG standard, the way
// browsers read it.
func isURL(s string) bool {
	if isPlainURL(s) {
		return true
	}
	s = withoutUser(s)
	if _, err := url.Parse(s); err == nil {
		return true
	}
	_, err := url.Parse(plainHost(s))
	return err == nil
}

// longURL is the length from which on a URL's user is cut short before it is
// parsed, which would take time by the square of it.
const longURL = 1024

// withoutUser cuts a long user and password down to a letter, which changes
// nothing about whether a URL is valid.
func withoutUser(s string) string {
	if len(s) < longURL {
		return s
	}
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return s
	}
	start, end := authority(rest)
	if i := strings.LastIndexByte(rest[start:end], '@'); i > 0 {
		return scheme + ":" + rest[:start] + "u" + rest[start+i:]
	}
	return s
}

// authority is where host, port and user stand in what follows a scheme.
func authority(rest string) (start, end int) {
	start = len(rest) - len(strings.TrimLeft(rest, "/\\"))
	if i := strings.IndexAny(rest[start:], "/\\?#"); i >= 0 {
		return start, start + i
	}
	return start, len(rest)
}

// plainHost puts letters in the place of what browsers let stand in a host
// and the parser's check of internationalized names does not: labels in ASCII
// that start with xn-- are never decoded, and signs may stand beside letters
// of other scripts.
func plainHost(s string) string {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return s
	}
	start, end := authority(rest)
	if i := strings.LastIndexByte(rest[start:end], '@'); i >= 0 {
		start += i + 1
	}
	host := strings.ToLower(rest[start:end])
	if all(host, func(c byte) bool { return c < 0x80 }) {
		host = strings.ReplaceAll(host, "xn--", "xn-")
	} else if !strings.Contains(host, "xn--") {
		host = strings.NewReplacer("--", "-a", "~", "a", `"`, "a", "!", "a", "$", "a", "&", "a", "'", "a", "(", "a", ")", "a", "*", "a",
			"+", "a", ",", "a", ";", "a", "=", "a", "_", "a", "`", "a", "{", "a", "}", "a").Replace(host)
	}
	return scheme + ":" + rest[:start] + host + rest[end:]
}

// isPlainURL knows the common case at sight: https, a host of lower-case
// labels that cannot be an IPv4 address or an internationalized name, and a
// path of harmless characters.
func isPlainURL(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		return false
	}
	host, _, _ := strings.Cut(rest, "/")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || !isLower(last[0]) || strings.Contains(host, "xn--") || strings.Contains(host, "..") || host[0] == '.' {
		return false
	}
	if !all(host, func(c byte) bool { return isLower(c) || isDigit(c) || c == '.' || c == '-' }) {
		return false
	}
	return all(rest[len(host):], func(c byte) bool { return c > ' ' && c < 0x7f })
}

// isBlank tells whether nothing is left of s after JavaScript's trim.
func isBlank(s string) bool { return trimJS(s) == "" }

// trimJS is JavaScript's String.prototype.trim.
func trimJS(s string) string { return strings.TrimFunc(s, isSpaceJS) }

func isSpaceJS(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ', r == 0xa0, r == 0x1680, r == 0x2028, r == 0x2029,
		r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}
