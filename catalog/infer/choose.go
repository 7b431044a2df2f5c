package infer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The least that a command must score to be given as an answer, and to be
// given where there is no better: one that covers a part only.
const (
	goodScore = plainScore
	weakScore = 1
)

// Choice is the command of one role for one folder.
type Choice struct {
	Command
	// Stale says what the command names that is not there, "" if nothing.
	Stale string
	// Disagrees are what other files say instead, each with its place.
	Disagrees []string
}

// Commands chooses a command for each role of a service in dir, "" for the
// root: of those of the nearest folder the one that CI runs, else what is
// written for agents, else a target, else what is written for people, else
// what the language's tools are known for. A command that names what is not
// there gives way to one that works.
func (r *Repository) Commands(dir string) []Choice {
	near := r.concerning(dir)
	var out []Choice
	for _, role := range Roles() {
		if c, ok := r.choose(near[role]); ok {
			out = append(out, c)
		}
	}
	return out
}

// concerning are the good commands for a folder by role, each role's of the
// nearest folder that has any.
func (r *Repository) concerning(dir string) map[Role][]found {
	out, nearest := map[Role][]found{}, map[Role]int{}
	for _, c := range r.found {
		far, ok := distance(c.concerns(), dir)
		if !ok {
			continue
		}
		if best, seen := nearest[c.Role]; !seen || far < best {
			nearest[c.Role], out[c.Role] = far, nil
		} else if far > best {
			continue
		}
		out[c.Role] = append(out[c.Role], c)
	}
	for _, l := range out {
		slices.SortStableFunc(l, func(a, b found) int {
			return cmp.Or(cmp.Compare(rankOf(a.Command), rankOf(b.Command)), cmp.Compare(b.Score, a.Score))
		})
	}
	return out
}

// concerns is the folder that a command is for.
func (c Command) concerns() string {
	if _, within := distance(c.About, c.Dir); c.About == "" || within {
		return c.Dir
	}
	return c.About
}

// distance is how many folders above dir another one is; false if it is not
// above it.
func distance(above, dir string) (int, bool) {
	switch {
	case above == dir:
		return 0, true
	case above == "":
		return strings.Count(dir, "/") + 1, true
	case strings.HasPrefix(dir, above+"/"):
		return strings.Count(dir[len(above):], "/"), true
	}
	return 0, false
}

// rankOf orders commands by where they stand. Those that cover a part come
// last, but a linter of a part tells more than what a language is known for.
func rankOf(c Command) int {
	rank := slices.Index([]Origin{CI, Agents, Tasks, Docs, Manifest}, c.Origin)
	switch {
	case c.Score >= goodScore:
		return 2 * rank
	case c.Role == Lint:
		return 2*slices.Index([]Origin{CI, Agents, Tasks, Docs, Manifest}, Manifest) - 1
	}
	return 100 + rank
}

// choose takes the best command and notes what disagrees with it.
func (r *Repository) choose(sorted []found) (Choice, bool) {
	if len(sorted) == 0 {
		return Choice{}, false
	}
	best := sorted[0]
	for _, c := range sorted {
		if c.broken == "" {
			best = c
			break
		}
	}
	c := Choice{Command: best.Command, Stale: best.broken}
	if best.Role != TestOne {
		c.Disagrees = r.others(best.Command, sorted)
	}
	return c, true
}

// others says what the best command of each other origin is, where it is
// another one than all that the first origin has.
func (r *Repository) others(best Command, sorted []found) []string {
	var out []string
	seen := map[Origin]bool{best.Origin: true}
	same := []Command{best}
	for _, c := range sorted {
		if c.Origin == best.Origin && c.Score >= goodScore {
			same = append(same, c.Command)
		}
	}
	for _, c := range sorted {
		if seen[c.Origin] || c.Origin == Manifest || c.Score < goodScore {
			continue
		}
		seen[c.Origin] = true
		if c.broken == "" && slices.ContainsFunc(same[:min(len(same), maxSame)], func(s Command) bool { return r.agree(s, c.Command) }) {
			continue
		}
		out = append(out, saying(c.Command, c.broken))
	}
	return out
}

// maxSame is how many commands of one origin another one is compared with.
const maxSame = 20

func saying(c Command, why string) string {
	s := fmt.Sprintf("%s:%d says `%s`", c.Path, c.Line, c.Text)
	if c.Origin == CI {
		s = fmt.Sprintf("CI runs `%s` (%s:%d)", c.Text, path.Base(c.Path), c.Line)
	}
	if why != "" {
		s += ", but " + why
	}
	return s
}

// Standing says what is to be held of a command that somebody declared for a
// folder: what it names that is not there, and what other files say instead.
// there tells whether the repository has a file.
func (r *Repository) Standing(role Role, text, dir string, there func(path string) bool) (stale string, disagrees []string) {
	c := Command{Role: role, Text: text, Dir: dir}
	for _, st := range statements(text, 1) {
		for _, call := range st.calls {
			for _, n := range classify(call).needs {
				n.Dir = join(join(dir, st.dir), n.Dir)
				c.Needs = append(c.Needs, n)
			}
		}
	}
	return r.broken(c, there), r.others(c, r.concerning(dir)[role])
}

// RulesFor are the files with rules for agents that hold for a folder,
// nearest first.
func (r *Repository) RulesFor(dir string) []Rules {
	var out []Rules
	for _, rules := range r.rules {
		if _, ok := distance(rules.Dir, dir); ok {
			out = append(out, rules)
		}
	}
	slices.SortStableFunc(out, func(a, b Rules) int { return cmp.Compare(len(b.Dir), len(a.Dir)) })
	return out
}
