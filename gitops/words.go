package gitops

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// message is the commit's: what and why, and by whom as Git's trailers say it.
func (w *work) message(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(line(w.r.Title, 100) + "\n")
	if w.r.Reason != "" {
		b.WriteString("\n" + plain(w.r.Reason) + "\n")
	}
	b.WriteByte('\n')
	if agent := w.r.Agent; agent != "" {
		p := w.person(agent)
		fmt.Fprintf(&b, "Co-authored-by: %s <%s>\n", p.Name, p.Email)
	}
	fmt.Fprintf(&b, "Fairlead-Proposal: %s\n", w.r.ID)
	if audit := access.AuditID(ctx); audit != "" {
		fmt.Fprintf(&b, "Fairlead-Audit: %s\n", audit)
	}
	return b.String()
}

// body is the pull request's text.
func (w *work) body() string {
	var b strings.Builder
	if w.r.Reason != "" {
		b.WriteString(plain(w.r.Reason) + "\n\n")
	}
	if w.in.Body != "" {
		b.WriteString(strings.TrimSpace(w.in.Body) + "\n\n")
	}
	b.WriteString(w.r.Rendered.body() + w.r.StateThen.body(w.r.Environment))
	if len(w.r.Evidence) > 0 {
		b.WriteString("Evidence:\n\n")
		for _, e := range w.r.Evidence {
			b.WriteString("- " + line(e, 500) + "\n")
		}
		b.WriteByte('\n')
	}
	who := "`" + w.r.Person + "`"
	if w.r.Agent != "" {
		who = "the agent `" + line(w.r.Agent, 100) + "` for " + who
	}
	fmt.Fprintf(&b, "Proposed by %s about `%s`. Files: `%s`. Plan %s; proposal `%s`. To undo it after it is merged, revert its one commit.\n",
		who, w.r.Service, strings.Join(w.r.Paths, "`, `"), w.r.PlanHash, w.r.ID)
	return b.String()
}

// person is whom Git is told: the name and address that the catalog has of a
// user, else what the reference says.
func (w *work) person(subject string) Person {
	p := Person{Name: line(subject, 100)}
	if ref, err := entity.ParseRef(subject, "user", "default"); err == nil && strings.Contains(subject, ":") {
		p.Name = ref.Name
		if e := w.cfg.Catalog.Snapshot().Get(w.cfg.Policy.Scope(w.who, access.ReadCatalog), ref.String()); e != nil {
			profile := e.Spec().Object("profile")
			if name := line(profile.String("displayName"), 100); name != "" {
				p.Name = name
			}
			p.Email = line(profile.String("email"), 200)
		}
		subject = ref.Name
	}
	if !strings.Contains(p.Email, "@") {
		p.Email = w.cfg.Mail(subject)
	}
	return p
}

// line puts a text on one line of at most so many characters.
func line(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))), " ")
	return clip(s, n)
}

// plain leaves out of a text what could pass for a trailer or end a comment.
func plain(s string) string {
	var out []string
	for l := range strings.Lines(s) {
		l = strings.TrimRight(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(l, "")), " ")
		lower := strings.ToLower(strings.TrimSpace(l))
		if strings.HasPrefix(lower, "co-authored-by:") || strings.HasPrefix(lower, "signed-off-by:") || strings.HasPrefix(lower, "fairlead-") {
			l = "> " + l
		}
		out = append(out, l)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
