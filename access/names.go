package access

import (
	"fmt"
	"strings"
	"unicode"
)

const maxName = 253 // bytes in any name that configuration or a rule may give

// fullRef completes [kind:][namespace/]name to a lower-case kind:namespace/name.
func fullRef(s, kind string) (string, error) {
	rest, namespace := s, "default"
	if k, r, ok := strings.Cut(rest, ":"); ok {
		kind, rest = k, r
	}
	if n, r, ok := strings.Cut(rest, "/"); ok {
		namespace, rest = n, r
	}
	if kind == "" || namespace == "" || rest == "" || strings.ContainsAny(rest, ":/") || checkName(s) != nil {
		return "", fmt.Errorf("%q is not an entity reference of the form kind:namespace/name", clip(s, 80))
	}
	return strings.ToLower(kind + ":" + namespace + "/" + rest), nil
}

// checkName refuses what no name may hold: nothing at all, white space,
// control characters, and more than 253 bytes.
func checkName(s string) error {
	switch {
	case s == "":
		return fmt.Errorf("is empty")
	case len(s) > maxName:
		return fmt.Errorf("has %d bytes, more than %d", len(s), maxName)
	case strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("%q holds white space or characters that cannot be printed", clip(s, 80))
	default:
		return nil
	}
}

// clip shortens s to about max bytes, at a character's boundary, and says so.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// glob matches s against a pattern in which * stands for any run of
// characters. Nothing but the empty pattern matches the empty string, so that
// "*" means "has one". Time is bounded by the product of the lengths.
func glob(pattern, s string) bool {
	if s == "" {
		return pattern == ""
	}
	p, i, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func anyGlob(patterns []string, s string) bool {
	for _, p := range patterns {
		if glob(p, s) {
			return true
		}
	}
	return false
}
