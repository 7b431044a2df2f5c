package infer

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Role is what a command is for.
type Role string

// The roles. TestOne is how to run the tests of one package, file or name.
const (
	Setup   Role = "setup"
	Build   Role = "build"
	Test    Role = "test"
	TestOne Role = "test_one"
	Lint    Role = "lint"
	Run     Role = "run"
)

// Roles are all roles, in the order in which one works.
func Roles() []Role { return []Role{Setup, Build, Test, TestOne, Lint, Run} }

// verdict is what one call is for.
type verdict struct {
	role Role
	// narrow tells that it covers a part of the repository only, one that
	// somebody chooses that part by an argument, project that this part is a
	// package or project as a whole.
	narrow, one, project bool
	// score is how plainly it says so: 10 is usual.
	score int
	needs []Need
}

// The scores of a verdict.
const (
	plainScore = 10
	namedScore = 14 // a target whose whole name is the role
	vagueScore = 6  // a target whose name only contains it
)

func is(r Role) verdict { return verdict{role: r, score: plainScore} }

// judge tells what a statement is for. Setting up first and then doing
// something is doing that; doing two different things is neither.
func judge(st statement, taskDir string) (verdict, bool) {
	var out verdict
	for _, call := range st.calls {
		v := classify(call)
		for i := range v.needs {
			v.needs[i].Dir = join(taskDir, v.needs[i].Dir)
		}
		switch {
		case v.role == "":
			continue
		case out.role == "" || out.role == Setup && v.role != Setup:
			v.needs = append(out.needs, v.needs...)
			out = v
		case v.role == Setup:
			out.needs = append(out.needs, v.needs...)
		case v.role != out.role:
			return verdict{}, false
		default:
			out.narrow, out.one, out.project = out.narrow && v.narrow, out.one && v.one, out.project && v.project
			out.needs = append(out.needs, v.needs...)
		}
	}
	return out, out.role != ""
}

// classify tells what one call is for; the zero verdict if nothing is known.
func classify(call []string) verdict {
	call = unwrap(call)
	if len(call) == 0 {
		return verdict{}
	}
	if inner := ranBy(call); len(inner) > 0 && knownPrograms()[path.Base(inner[0])] != nil {
		return classify(inner)
	}
	name := strings.ReplaceAll(call[0], `\`, "/")
	program, args := path.Base(name), call[1:]
	if f := knownPrograms()[strings.TrimSuffix(strings.TrimSuffix(program, ".bat"), ".cmd")]; f != nil {
		return f(args)
	}
	if !strings.Contains(name, "/") || !isScript(name) {
		return verdict{}
	}
	v := named(strings.TrimSuffix(program, path.Ext(program)))
	v.needs = []Need{{Runner: "script", Name: path.Clean(name)}}
	if v.role == Test && selectsTests(args) {
		v.one = true
	}
	v.narrow = v.narrow || v.role != "" && len(words(args)) > 0
	return v
}

func isScript(p string) bool {
	if strings.HasPrefix(p, "/") || strings.ContainsAny(p, "$~:") || strings.HasSuffix(p, "/") {
		return false
	}
	switch path.Ext(p) {
	case ".sh", ".bash", ".py", ".ps1", ".rb", ".js", ".mjs", ".ts", ".bat", ".cmd":
		return true
	case "":
		first, _, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
		return strings.HasPrefix(p, "./") || first == "bin" || first == "scripts" || first == "script" || first == "hack" || first == "tools" || first == "ci" || first == "dev"
	}
	return false
}

// The tables by which commands are judged, made once; they never change.
var (
	knownPrograms = sync.OnceValue(programs)
	knownNames    = sync.OnceValue(roleNames)
	knownWrappers = sync.OnceValue(wrappers)
)

// named tells what a target or script of this name is for.
func named(name string) verdict {
	lower := strings.ToLower(name)
	if r, ok := knownNames()[lower]; ok {
		if lower == "check" { // which may well be more than the tests
			return verdict{role: r, score: namedScore - 1}
		}
		return verdict{role: r, score: namedScore}
	}
	parts := parted(lower)
	if checksFormat(parts) {
		return verdict{role: Lint, score: vagueScore - 2}
	}
	if slices.ContainsFunc(parts, misleads) {
		return verdict{}
	}
	if len(parts) > 1 && parts[0] == "install" {
		if slices.ContainsFunc(parts[1:], isForWork) {
			return verdict{role: Setup, score: vagueScore - 2}
		}
		return verdict{}
	}
	for i, p := range parts {
		if r, ok := knownNames()[p]; ok && (r == Test || r == Lint || i == 0) {
			if r == Lint { // several linters are the rule, each for a part
				return verdict{role: r, score: vagueScore - 2}
			}
			return verdict{role: r, score: vagueScore, narrow: r != Setup && !widens(parts, r)}
		}
	}
	return verdict{}
}

// checksFormat tells whether a name is of what looks whether code is formatted.
func checksFormat(parts []string) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) })
	}
	return has("fmt", "format", "prettier", "style") && has("check", "verify", "lint")
}

// parted are the parts of a name.
func parted(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// misleading tells whether a name is of something that is no role.
func misleading(name string) bool { return slices.ContainsFunc(parted(name), misleads) }

// isForWork are what a target installs for those who work on the code, where
// another may install the program itself.
func isForWork(part string) bool {
	switch part {
	case "dev", "deps", "dependencies", "requirements", "tools", "hooks", "all":
		return true
	}
	return false
}

// roleNames are the names of targets that say what they are for.
func roleNames() map[string]Role {
	return map[string]Role{
		"test": Test, "tests": Test, "check": Test, "spec": Test, "unittest": Test, "unittests": Test, "unit": Test, "testall": Test, "unittest-all": Test,
		"build": Build, "compile": Build, "lint": Lint, "linter": Lint, "vet": Lint, "typecheck": Lint, "precommit": Lint, "pre-commit": Lint, "presubmit": Lint, "type-check": Lint, "lints": Lint,
		"run": Run, "start": Run, "dev": Run, "serve": Run,
		"setup": Setup, "deps": Setup, "bootstrap": Setup, "dependencies": Setup, "init": Setup, "tools": Setup,
		"pytest": Test, "jest": Test, "vitest": Test, "rspec": Test,
		"ruff": Lint, "pylint": Lint, "flake8": Lint, "mypy": Lint, "eslint": Lint, "clippy": Lint, "golangci-lint": Lint, "shellcheck": Lint,
		"stan": Lint, "phpstan": Lint, "psalm": Lint, "rubocop": Lint, "credo": Lint, "dialyzer": Lint, "detekt": Lint, "ktlint": Lint, "pyright": Lint, "stylelint": Lint, "knip": Lint, "types": Lint,
	}
}

// misleads are parts of names that make a target something else.
func misleads(part string) bool {
	switch part {
	case "clean", "format", "fmt", "push", "release", "deploy", "publish", "uninstall", "fuzz", "bench", "benchmark", "docs", "doc", "fix", "update", "upgrade",
		"login", "logs", "stop", "down", "delete", "remove", "report", "list", "help", "generate", "gen", "data", "env", "only", "watch", "debug", "example", "examples", "file", "files", "image", "images", "container":
		return true
	}
	return false
}

// widens tells whether the parts of a name say that everything is meant: all
// of them do, or are the role itself. The tests of units are what most call
// the tests.
func widens(parts []string, r Role) bool {
	wide := 0
	for _, p := range parts {
		switch p {
		case "all", "ci", "full":
			wide++
		case "targets", "packages", "projects", "modules", "everything":
		case "unit", "units", "coverage", "cov", "race", "short", "fast", "quick":
			if r != Test {
				return false
			}
			wide++
		default:
			if knownNames()[p] != r {
				return false
			}
		}
	}
	return wide > 0
}

// words are the arguments that are no flags; what a flag takes is told apart
// only where it is written with =.
func words(args []string) []string {
	var out []string
	for _, a := range args {
		if a == "--" {
			continue
		}
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}
