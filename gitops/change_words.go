package gitops

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
)

// maxShown bounds the lines of a pull request's text that tell what changes.
const maxShown = 50

// describe gives the words for what the last edit came to.
func (c *changing) describe() Words {
	touched := make([]Touched, len(c.touched))
	for i, t := range c.touched {
		touched[i] = Touched{t.File, t.Path, t.From, t.To}
	}
	return Words{Touched: touched, Subject: c.ref + " " + c.env + " " + c.thing(), Title: c.title(), Body: c.body(), Plan: map[string]any{
		"environment": c.env, "change": c.in.Change, "images": append([]PlannedImage{}, c.images...), "touched": append([]touchedPlace{}, c.touched...)}}
}

// thing names what is changed, whatever to.
func (c *changing) thing() string {
	change := &c.in.Change
	switch {
	case change.Image != nil:
		return "image " + c.named
	case change.Replicas != nil:
		return "replicas " + change.File
	}
	paths := make([]string, 0, len(change.Set))
	for _, s := range change.Set {
		paths = append(paths, s.File+":"+s.Path)
	}
	slices.Sort(paths)
	return "set " + strings.Join(paths, " ")
}

// title says in a line what is changed.
func (c *changing) title() string {
	change, where := &c.in.Change, " in "+c.env
	switch {
	case change.Image != nil:
		return line(c.name+": "+c.named+" "+version(change.Image)+where, 100)
	case change.Replicas != nil:
		return line(c.name+": "+strconv.Itoa(*change.Replicas)+" replicas"+where, 100)
	case len(change.Set) == 1:
		return line(c.name+": "+change.Set[0].Path+" = "+string(change.Set[0].Value)+where, 100)
	}
	return line(fmt.Sprintf("%s: %d values%s", c.name, len(change.Set), where), 100)
}

// version is a version in few characters.
func version(im *ImageChange) string {
	digest := im.Digest
	if len(digest) > 19 {
		digest = digest[:19]
	}
	return strings.TrimSuffix(im.Tag+"@"+digest, "@")
}

// body tells reviewers what is changed where.
func (c *changing) body() string {
	var b strings.Builder
	if c.part != nil {
		fmt.Fprintf(&b, "Part of a change of many services, fleet `%s`, wave %d.\n\n", c.part.id, c.part.wave)
	}
	if c.site != nil {
		for _, n := range c.site.notes {
			fmt.Fprintf(&b, "Note: %s.\n\n", quoted(n))
		}
	}
	if len(c.touched) == 0 {
		return b.String()
	}
	b.WriteString("What changes:\n\n")
	for _, t := range c.touched[:min(len(c.touched), maxShown)] {
		fmt.Fprintf(&b, "- `%s` line %d, `%s`: %s → %s\n", line(t.File, 200), t.Line, line(t.Path, 200), shown(t.From), shown(t.To))
	}
	if more := len(c.touched) - maxShown; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// shown is a value for a reviewer.
func shown(s string) string {
	if s == "" {
		return "nothing"
	}
	return "`" + strings.ReplaceAll(line(s, 120), "`", "'") + "`"
}

// asked are who is asked to review.
type asked struct{ Reviewers, Teams []string }

// maxReviewers bounds how many are asked.
const maxReviewers = 5

// reviewers are the accounts of the service's owners at the forge, as the
// catalog says by annotations: HOST/team-slug of groups, and where none has one
// HOST/user-login of their members; github.com stands for any GitHub. Who
// proposes is not asked.
func (w *work) reviewers() (out asked) {
	if !w.in.Reviewed {
		return out
	}
	snap, scope := w.cfg.Catalog.Snapshot(), w.cfg.Policy.Scope(w.who, access.ReadCatalog)
	for _, owner := range w.r.About.Owners {
		if e := snap.Get(scope, owner); e != nil {
			out.add(e, w.r.Place)
			for _, m := range e.Targets("hasMember") {
				if u := snap.Get(scope, m); u != nil && m != w.r.Person {
					out.add(u, w.r.Place)
				}
			}
		}
	}
	if len(out.Teams) > 0 {
		out.Reviewers = nil
	}
	out.Reviewers = out.Reviewers[:min(len(out.Reviewers), maxReviewers)]
	return out
}

// add notes the account of a user or group.
func (a *asked) add(e *catalog.Entity, at Place) {
	if login := account(e, at, "user-login"); login != "" {
		a.Reviewers = append(a.Reviewers, login)
	}
	if team := account(e, at, "team-slug"); team != "" {
		a.Teams = append(a.Teams, team[strings.LastIndexByte(team, '/')+1:])
	}
}

// account is what an entity is called at a forge, "" where nobody says.
func account(e *catalog.Entity, at Place, kind string) string {
	hosts := []string{"github.com"}
	if u, err := url.Parse(at.Repository); err == nil && u.Host != "" {
		hosts = []string{u.Host, u.Hostname(), "github.com"}
	}
	for _, h := range hosts {
		if v := line(e.Annotation(h+"/"+kind), 100); v != "" {
			return v
		}
	}
	return ""
}
