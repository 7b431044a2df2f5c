package descriptor

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of patterns: their length in bytes, how many others braces may stand
// for, and how deep braces may stand in braces or groups in groups.
const (
	maxGlob    = 1024
	maxBraces  = 256
	maxNesting = 3
)

// Glob is a pattern of paths.
type Glob struct{ alternatives [][]string }

// ParseGlob reads a pattern as Backstage does: * and ? within a segment, **
// for any number of segments, [a-c], {a,b}, and !(a|b), @(a), +(a), *(a),
// ?(a). Segments that start with a dot are matched only by patterns that do.
// Case counts. Patterns that are too long or stand for too many are refused.
func ParseGlob(pattern string) (*Glob, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxGlob)
	}
	all, ok := expand(pattern, 0)
	if !ok {
		return nil, fmt.Errorf("the pattern %s stands for more than %d others", quote(pattern), maxBraces)
	}
	g := &Glob{}
	for _, p := range all {
		g.alternatives = append(g.alternatives, strings.Split(p, "/"))
	}
	return g, nil
}

// Match tells whether a relative path with forward slashes matches; one that
// ends in a slash is a folder.
func (g *Glob) Match(name string) bool {
	name, folder := strings.CutSuffix(name, "/")
	segments := strings.Split(name, "/")
	return slices.ContainsFunc(g.alternatives, func(p []string) bool { return matchPath(p, segments, folder) })
}

// matchPath matches segments; a ** takes any number of them, at the end at
// least one or a folder.
func matchPath(pattern, name []string, folder bool) bool {
	star, from := -1, 0
	i, j := 0, 0
	for j < len(name) {
		switch {
		case i < len(pattern) && pattern[i] == "**":
			star, from = i, j
			i++
		case i < len(pattern) && matchSegment(pattern[i], name[j]):
			i++
			j++
		case star >= 0 && !strings.HasPrefix(name[from], "."):
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	if i < len(pattern) && !folder {
		return false
	}
	for i < len(pattern) && pattern[i] == "**" {
		i++
	}
	return i == len(pattern)
}

// matchSegment matches one segment.
func matchSegment(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[(") {
		return pattern == name
	}
	nodes, rest, ok := parseGlob(pattern, 0)
	if !ok || rest != "" {
		return pattern == name
	}
	s := segment{runes: []rune(name), hidden: strings.HasPrefix(name, ".")}
	ends := s.advance(nodes, s.at(0))
	return ends[len(s.runes)]
}
