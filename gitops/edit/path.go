package edit

import (
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// step is one part of a path: a key, an index, or the item whose key has a
// value.
type step struct {
	key   string
	index int // of an item, where key and field are ""
	field string
	value string
}

const (
	byKey   = -1
	byField = -2
)

// String is the step as it is written in a path.
func (s step) String() string {
	switch s.index {
	case byKey:
		return join("", s.key)
	case byField:
		return "[" + s.field + "=" + s.value + "]"
	default:
		return "[" + strconv.Itoa(s.index) + "]"
	}
}

// behind writes the path one step longer.
func (s step) behind(path string) string {
	if s.index == byKey && path != "" {
		return path + "." + s.String()
	}
	return path + s.String()
}

// parsePath reads a path: keys with dots between them, [0] for an item, or
// [name=checkout] for the item whose name that is. A key with dots is written
// in quotes, or with backslashes before them.
func parsePath(s string) ([]step, error) {
	var steps []step
	rest := strings.TrimPrefix(s, ".")
	for first := true; rest != "" || first; first = false {
		var st step
		var ok bool
		switch {
		case strings.HasPrefix(rest, "["):
			st, rest, ok = bracketed(rest)
		case first:
			st, rest, ok = keyed(rest)
		case strings.HasPrefix(rest, "."):
			st, rest, ok = keyed(rest[1:])
		}
		if !ok {
			return nil, fault.New(fault.Invalid, "%q is no path", s).
				WithFix("Write keys with dots between them, and items as [0] or [name=checkout]: spec.template.spec.containers[name=app].image.")
		}
		steps = append(steps, st)
	}
	return steps, nil
}

// keyed reads a key.
func keyed(s string) (st step, rest string, ok bool) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		end := strings.IndexByte(s[1:], s[0])
		if end < 0 {
			return st, "", false
		}
		return step{key: s[1 : end+1], index: byKey}, s[end+2:], true
	}
	var key strings.Builder
	i := 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		key.WriteByte(s[i])
	}
	return step{key: key.String(), index: byKey}, s[i:], key.Len() > 0
}

// bracketed reads an index, a key in quotes, or a field and its value.
func bracketed(s string) (st step, rest string, ok bool) {
	end := strings.IndexByte(s, ']')
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		if q := strings.IndexByte(s[2:], s[1]); q >= 0 && strings.HasPrefix(s[q+3:], "]") {
			return step{key: s[2 : q+2], index: byKey}, s[q+4:], true
		}
	}
	if end < 0 {
		return st, "", false
	}
	inside, rest := s[1:end], s[end+1:]
	if field, value, found := strings.Cut(inside, "="); found {
		return step{field: field, value: unquoted(value), index: byField}, rest, field != "" && value != ""
	}
	n, err := strconv.Atoi(inside)
	return step{index: n}, rest, err == nil && n >= 0
}

func unquoted(s string) string {
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// SplitAssignment parts PATH=VALUE at the first = that is in no brackets and no
// quotes.
func SplitAssignment(s string) (path, value string, ok bool) {
	var quote byte
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '\\':
			i++
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '=' && depth == 0:
			return s[:i], s[i+1:], i > 0
		}
	}
	return "", "", false
}
