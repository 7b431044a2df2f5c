package gitops

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
)

// maxCITokens bounds an answer's text, in tokens of four bytes; its structured
// form may take twice as many.
const maxCITokens = 600

// CIStatus is how the checks of a commit went.
type CIStatus struct {
	Service    string `json:"service"`
	Repository string `json:"repository" jsonschema:"full name at its forge"`
	Revision   string `json:"revision,omitempty" jsonschema:"branch, tag or short id that the commit was found by"`
	Commit     string `json:"commit,omitempty"`
	State      string `json:"state" jsonschema:"passed, failed, pending, none or unknown"`
	// Grounds say why.
	Grounds []string `json:"grounds"`
	// URL is the run that decided.
	URL    string     `json:"url,omitempty" jsonschema:"run that decided"`
	Checks []CheckRun `json:"checks"`
	// ObservedAt is when the forge was asked, Age how long ago that is.
	ObservedAt time.Time `json:"observedAt,omitzero"`
	Age        string    `json:"age,omitempty"`
	Omitted    []string  `json:"omitted,omitempty"`
}

// tell makes the answer of what was found.
func (l *checksLook) tell(service, repository string, now time.Time) *CIStatus {
	out := &CIStatus{Service: service, Repository: repository, Commit: l.commit, Checks: l.ordered(),
		ObservedAt: l.at.UTC().Truncate(time.Millisecond), Age: max(now.Sub(l.at), 0).Round(time.Millisecond).String()}
	if l.revision != l.commit {
		out.Revision = l.revision
	}
	out.State, out.Grounds = l.judge()
	for i := range out.Checks {
		out.Checks[i].tidy(now)
	}
	if len(out.Checks) > 0 {
		out.URL = cmp.Or(out.Checks[0].Run, out.Checks[0].URL)
	}
	for i := range out.Grounds {
		out.Grounds[i] = access.Redact(out.Grounds[i])
	}
	return out
}

// The most of what others wrote of a check that is shown.
const maxFailed, maxDetail, maxDetailLine = 4, 8, 160

// tidy bounds and masks what others wrote, and says how long it took.
func (c *CheckRun) tidy(now time.Time) {
	clean := func(s string, n int) string { return line(access.Redact(s), n) }
	c.Name, c.Result = clean(c.Name, 100), clean(c.Result, 40)
	c.URL, c.Run = address(c.URL), address(c.Run)
	c.Failed, c.Detail = append([]string{}, c.Failed[:min(len(c.Failed), maxFailed)]...), Lines(strings.Join(c.Detail, "\n"), maxDetail)
	for i := range c.Failed {
		c.Failed[i] = clean(c.Failed[i], 100)
	}
	c.StartedAt, c.FinishedAt = c.StartedAt.UTC().Truncate(time.Second), c.FinishedAt.UTC().Truncate(time.Second)
	switch {
	case c.State == CheckPending:
		c.FinishedAt = time.Time{}
		if !c.StartedAt.IsZero() {
			c.Duration = max(now.Sub(c.StartedAt), 0).Round(time.Second).String()
		}
	case !c.StartedAt.IsZero() && c.FinishedAt.After(c.StartedAt):
		c.Duration = c.FinishedAt.Sub(c.StartedAt).String()
	}
}

// address is an address without credentials; "" where it is too long to be
// shown.
func address(s string) string {
	if len(s) > 300 {
		return ""
	}
	return line(access.Redact(s), 300)
}

// Lines are the last lines of a text that hold something, each bounded, without
// the marks that color it and with what looks like a secret masked.
func Lines(text string, most int) []string {
	var out []string
	for l := range strings.Lines(access.Redact(uncolored(text))) {
		if l = line(l, maxDetailLine); l != "" {
			out = append(out, l)
		}
	}
	return out[max(len(out)-most, 0):]
}

// uncolored is a text without the sequences that terminals take for colors and
// moves.
func uncolored(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return b.String()
		}
		text = after[end+1:]
	}
}

// Text is the answer for a reader.
func (s *CIStatus) Text() string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	add("%s", spaced(s.State+": "+s.Service, labelled("commit", s.Commit), labelled("of", s.Revision), labelled("in", s.Repository)))
	for _, g := range s.Grounds {
		add("- %s", g)
	}
	if s.URL != "" {
		add("run %s", s.URL)
	}
	for i := range s.Checks {
		s.Checks[i].text(add)
	}
	if len(s.Omitted) > 0 {
		add("left out: %s", strings.Join(s.Omitted, ", "))
	}
	return b.String()
}

func (c *CheckRun) text(add func(string, ...any)) {
	flag := map[bool]string{true: "required"}[c.Required] + map[bool]string{true: "may fail"}[c.Optional]
	add("%s", spaced("check "+c.Name, c.State, c.Result, flag, labelled("took", c.Duration), timed("ended", c.FinishedAt), c.URL))
	if len(c.Failed) > 0 {
		add("  failed: %s", strings.Join(c.Failed, "; "))
	}
	for _, d := range c.Detail {
		add("  | %s", d)
	}
}

// fit leaves detail out, least needed first, until the answer is within so many
// tokens: checks that passed, half of the words of those that failed, those that
// have not ended, and the later ones that failed.
func (s *CIStatus) fit(tokens int) {
	gone, bad := map[string]int{}, 0
	for _, c := range s.Checks {
		if c.State != CheckPassed && !c.Optional {
			bad++
		}
	}
	drop := func(least int) func() bool {
		return func() bool {
			n := len(s.Checks)
			if n <= max(least, 1) {
				return false
			}
			gone[s.Checks[n-1].State]++
			s.Checks = s.Checks[:n-1]
			return true
		}
	}
	for _, shed := range []func() bool{drop(bad), s.shorten(3), drop(min(bad, 4)), s.shorten(0), drop(1)} {
		for !s.fits(tokens) && shed() {
			s.Omitted = leftOut(gone)
		}
	}
}

// shorten drops half of the words of those that failed, down to so many lines.
func (s *CIStatus) shorten(least int) func() bool {
	return func() (some bool) {
		for i := range s.Checks {
			if d := s.Checks[i].Detail; len(d) > least {
				s.Checks[i].Detail, some = d[min((len(d)+1)/2, len(d)-least):], true
			}
		}
		return some
	}
}

// leftOut says how many checks of which state are left out.
func leftOut(gone map[string]int) (out []string) {
	for _, state := range []string{CheckFailed, CheckPending, CheckPassed} {
		if gone[state] > 0 {
			out = append(out, fmt.Sprintf("%d %s", gone[state], state))
		}
	}
	return out
}

func (s *CIStatus) fits(tokens int) bool {
	if len(s.Text()) > tokens*4 {
		return false
	}
	enc, err := json.Marshal(s)
	return err == nil && len(enc) <= 2*tokens*4
}
