package infer

import (
	"path"
	"slices"
	"strings"
)

// agree tells whether two commands come to the same: one of the programs that
// they end up running, with its first word, is the same. Where nobody can tell
// what one ends up running, they are not said to differ.
func (r *Repository) agree(a, b Command) bool {
	if a.Text == b.Text {
		return true
	}
	ma, mb := manager(a.Text), manager(b.Text)
	if ma != "" && mb != "" && ma != mb {
		return false
	}
	if a.Role == Lint || mb != "" && ma == "" && b.Origin == Tasks {
		return true // several linters are the rule, as are several languages
	}
	left, right := r.outcome(a), r.outcome(b)
	if slices.ContainsFunc(right.programs, func(e string) bool { return slices.Contains(left.programs, e) }) {
		return true
	}
	return left.unknown || right.unknown
}

// maxOutcomes is for how many commands of a repository it is found out ahead
// what they end up running.
const maxOutcomes = 2000

// spot is a command where it runs.
type spot struct{ text, dir string }

// outcomesAhead finds out what commands end up running that briefs compare, so that
// no brief has to parse a shell's language for it.
func (r *Repository) outcomesAhead() map[spot]outcome {
	origins := map[Role]map[Origin]bool{}
	for _, c := range r.found {
		if origins[c.Role] == nil {
			origins[c.Role] = map[Origin]bool{}
		}
		if c.compared() {
			origins[c.Role][c.Origin] = true
		}
	}
	out := map[spot]outcome{}
	for _, c := range r.found {
		at := spot{c.Text, c.Dir}
		if _, known := out[at]; !known && c.compared() && len(origins[c.Role]) > 1 && len(out) < maxOutcomes {
			out[at] = r.ends(c.Text, c.Dir, maxFollow)
		}
	}
	return out
}

// compared tells whether a command may be held against others.
func (c Command) compared() bool {
	return c.Score >= goodScore && c.Origin != Manifest && c.Role != TestOne && c.Role != Lint
}

// outcome is what a command ends up running.
func (r *Repository) outcome(c Command) outcome {
	if known, ok := r.outcomes[spot{c.Text, c.Dir}]; ok {
		return known
	}
	return r.ends(c.Text, c.Dir, maxFollow)
}

// maxFollow is how many targets deep a command is followed.
const maxFollow = 3

// maxEnds bounds the programs that are told of one command.
const maxEnds = 200

// manager is the package manager that a command calls.
func manager(text string) string {
	first, _, _ := strings.Cut(text, " ")
	switch first {
	case "npm", "pnpm", "yarn", "bun", "poetry", "uv", "pdm":
		return first
	}
	return ""
}

// outcome is what a command ends up running, targets followed; unknown tells
// that a part of it is not written in the files that are read.
type outcome struct {
	programs []string
	unknown  bool
}

func (r *Repository) ends(text, dir string, depth int) outcome {
	var out outcome
	for _, st := range statements(text, 1) {
		for _, call := range st.calls {
			if call = unwrap(call); len(call) > 0 && len(out.programs) < maxEnds {
				r.end(call, join(dir, st.dir), depth, &out)
			}
		}
	}
	return out
}

func (r *Repository) end(call []string, dir string, depth int, out *outcome) {
	v := classify(call)
	out.programs = append(out.programs, program(call, v))
	switch path.Base(call[0]) {
	case "mise", "hatch", "pdm", "rye", "pixi", "devbox", "moon", "composer", "tox", "nox", "rake", "mage", "invoke", "inv", "poe", "ant", "turbo", "nx", "lerna", "rush":
		out.unknown = true // their tasks are in files that are not read
	}
	for _, n := range v.needs {
		n.Dir = join(dir, n.Dir)
		t, defined := r.target(n)
		if !defined || t.Recipe == "" && len(t.Deps) == 0 || depth == 0 {
			out.unknown = true
			continue
		}
		out.unknown = out.unknown || t.Open
		out.add(r.ends(t.Recipe, n.Dir, depth-1))
		out.unknown = out.unknown || strings.Contains(t.Recipe, "$(") || strings.Contains(t.Recipe, "${")
		for _, dep := range t.Deps[:min(len(t.Deps), maxSame)] {
			if next, ok := r.targets[Need{Runner: n.Runner, Name: dep, Dir: n.Dir}]; ok {
				out.add(r.ends(next.Recipe, n.Dir, depth-1))
			}
		}
	}
}

// target is what is known of a target, or of a script from the folder in which
// it is called.
func (r *Repository) target(n Need) (Target, bool) {
	if n.Runner == "script" {
		n = scriptNeed(join(n.Dir, n.Name))
	}
	t, ok := r.targets[n]
	return t, ok
}

func (o *outcome) add(more outcome) {
	o.programs = append(o.programs, more.programs[:min(len(more.programs), max(0, maxEnds-len(o.programs)))]...)
	o.unknown = o.unknown || more.unknown
}

// program names what a call runs in one way, however it is written.
func program(call []string, v verdict) string {
	end := strings.TrimSuffix(strings.TrimSuffix(path.Base(call[0]), ".bat"), ".cmd")
	switch end {
	case "gradlew", "mvnw":
		end = strings.TrimSuffix(end, "w")
	case "prek":
		end = "pre-commit"
	case "gotestsum", "richgo":
		return "go test"
	case "npm", "pnpm", "yarn", "bun":
		if v.role == Setup && len(v.needs) == 0 {
			return end + " install"
		}
		if len(v.needs) == 1 {
			return end + " " + v.needs[0].Name
		}
	}
	if w := words(call[1:]); len(w) > 0 && manifold(end) {
		end += " " + w[0]
	}
	return end
}

// manifold tells whether a program does quite different things by its first
// word.
func manifold(program string) bool {
	switch program {
	case "go", "cargo", "npm", "pnpm", "yarn", "bun", "deno", "make", "just", "task", "mvn", "gradle", "dotnet", "swift", "mix", "docker", "uv", "poetry", "ruff", "helm", "bazel":
		return true
	}
	return false
}
