package gitops

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// The states of a commit, beside passed, failed and pending.
const (
	// ChecksNone says that nothing ran on it, and that nothing has to.
	ChecksNone = "none"
	// ChecksUnknown says that the forge could not be asked.
	ChecksUnknown = "unknown"
)

// named are the checks that a test picks.
func (l *checksLook) named(pick func(*CheckRun) bool) (out []string) {
	for i := range l.found.Checks {
		if c := &l.found.Checks[i]; pick(c) {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return out
}

func (l *checksLook) pending() int {
	return len(l.named(func(c *CheckRun) bool { return c.State == CheckPending }))
}

// requires tells whether the default branch takes nothing without a check.
func (l *checksLook) requires(c *CheckRun) bool {
	return l.gate.All && !c.Optional || slices.ContainsFunc(l.gate.Required, func(pattern string) bool { return globs(pattern, c.Name) })
}

// missing are the checks that are required and of which nothing is known.
func (l *checksLook) missing() (out []string) {
	for _, pattern := range l.gate.Required {
		if !slices.ContainsFunc(l.found.Checks, func(c CheckRun) bool { return globs(pattern, c.Name) }) {
			out = append(out, pattern)
		}
	}
	return out
}

// globs tells whether a name is as a pattern says, where an asterisk stands for
// any letters.
func globs(pattern, name string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name = after
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// judge says how a commit stands, and on what grounds. What failed counts though
// something could not be read, and what passed does not.
func (l *checksLook) judge() (state string, grounds []string) {
	if l.err != nil {
		f := fault.From(l.err)
		return ChecksUnknown, []string{line(f.Message, maxGround), line(f.Fix, maxGround)}
	}
	failed := l.named(func(c *CheckRun) bool { return c.State == CheckFailed && !c.Optional })
	pending := l.named(func(c *CheckRun) bool { return c.State == CheckPending })
	missing, all := l.missing(), len(l.found.Checks)
	add := func(names []string, format string, args ...any) {
		if len(names) > 0 {
			grounds = append(grounds, line(fmt.Sprintf(format, args...)+few(names), maxGround))
		}
	}
	add(failed, "%d of %d checks failed: ", len(failed), all)
	add(pending, "%d of %d checks have not ended: ", len(pending), all)
	add(missing, "required, and nothing is known of: ")
	add(l.found.Blind, "not all could be read: ")
	switch {
	case len(failed) > 0:
		state = CheckFailed
		if len(l.gate.Required) > 0 && !slices.ContainsFunc(l.found.Checks, func(c CheckRun) bool { return c.State == CheckFailed && l.requires(&c) }) {
			grounds = append(grounds, "none of those that failed is required")
		}
	case len(l.found.Blind) > 0:
		state = ChecksUnknown
	case len(pending)+len(missing) > 0:
		state = CheckPending
	case all == 0:
		return ChecksNone, []string{"no check is known of this commit, and none is required"}
	default:
		state, grounds = CheckPassed, append(grounds, fmt.Sprintf("%d of %d checks passed", len(l.named(func(c *CheckRun) bool { return c.State == CheckPassed })), all))
	}
	if l.gateErr != nil {
		grounds = append(grounds, line("which are required is not known: "+fault.From(l.gateErr).Message, maxGround))
	}
	return state, grounds
}

// few names some of a list.
func few(names []string) string {
	const most = 5
	out := make([]string, 0, most)
	for _, n := range names[:min(len(names), most)] {
		out = append(out, line(n, 80))
	}
	text := strings.Join(out, ", ")
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// ordered are the checks, those first that decide.
func (l *checksLook) ordered() []CheckRun {
	out := slices.Clone(l.found.Checks)
	for i := range out {
		out[i].Required = l.requires(&out[i])
	}
	rank := func(c CheckRun) int {
		r := 2 * slices.Index([]string{CheckFailed, CheckPending, CheckPassed}, c.State)
		if c.State == CheckFailed && c.Optional {
			r = 3
		}
		return 2*r + map[bool]int{false: 1}[c.Required]
	}
	slices.SortStableFunc(out, func(a, b CheckRun) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a.Name, b.Name)) })
	return out
}
