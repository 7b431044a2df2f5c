package previews

import (
	"fmt"
	"slices"
	"strings"
)

// pullMarker tells the comment from others; forges do not show it.
const pullMarker = "fairlead-previews"

// pullComment says how the previews of a pull request are, as Markdown. It
// holds no times but those of their ends, so that it changes only with them.
// waits says why a service has no preview of the newest commit yet, by service.
func pullComment(s *PullState, have []Record, waits map[string]string) string {
	var b strings.Builder
	b.WriteString("### Previews\n\n")
	latest := latestPreviews(have)
	if len(latest) > 0 {
		b.WriteString("| service | phase | address | commit | ends |\n| --- | --- | --- | --- | --- |\n")
	}
	for i := range latest {
		p := &latest[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%.12s` | %s |\n", inCode(p.Service), phaseText(p), address(p), inCode(p.Commit), ends(p))
	}
	for _, service := range s.Services {
		if why := waits[service]; why != "" {
			fmt.Fprintf(&b, "\nNo preview of `%s` at `%.12s` yet: %s\n", inCode(service), inCode(s.Head), plainText(why))
		}
	}
	switch {
	case s.Merged:
		b.WriteString("\nThe pull request is merged, so its previews are removed.\n")
	case !s.Open:
		b.WriteString("\nThe pull request is closed, so its previews are removed.\n")
	default:
		b.WriteString("\nEach push brings them to its commit; they are removed when the pull request is merged or closed, or when their time is up.\n")
	}
	return b.String()
}

// latestPreviews is the last preview of each service, by service.
func latestPreviews(have []Record) []Record {
	var out []Record
	for _, p := range have {
		if i := slices.IndexFunc(out, func(o Record) bool { return o.Service == p.Service }); i >= 0 {
			out[i] = p
		} else {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Service, b.Service) })
	return out
}

// phaseText is the phase, and why, where that is no good one.
func phaseText(p *Record) string {
	switch p.Phase {
	case Degraded, Failed, Pending:
		return string(p.Phase) + ": " + plainText(p.Reason)
	case Deleting:
		if !p.StuckAt.IsZero() {
			return string(p.Phase) + ": stuck"
		}
	}
	return string(p.Phase)
}

func address(p *Record) string {
	if p.URL == "" || p.Phase == Gone || p.Phase == Deleting || strings.ContainsAny(p.URL, " <>()\n") {
		return ""
	}
	return "<" + p.URL + ">"
}

func ends(p *Record) string {
	if p.Phase == Gone {
		return ""
	}
	return p.ExpiresAt.UTC().Format("2006-01-02 15:04") + " UTC"
}

// maxCommented bounds what a comment quotes of a reason, in bytes.
const maxCommented = 300

// plainText has a text of elsewhere stand in Markdown as it is: it makes no
// markup, no mention of people and no reference to other pull requests.
func plainText(s string) string {
	return "`" + inCode(clip(strings.Join(strings.Fields(s), " "), maxCommented)) + "`"
}

// inCode is what may stand in a code span of a table.
func inCode(s string) string { return strings.NewReplacer("`", "'", "|", "/", "\n", " ").Replace(s) }
