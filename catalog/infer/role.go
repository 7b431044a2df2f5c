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
	// somebody chooses that part by an argument.
	narrow, one bool
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
			v.needs[i].Dir = taskDir
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
			out.narrow, out.one = out.narrow && v.narrow, out.one && v.one
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
	program, args := path.Base(call[0]), call[1:]
	if f := knownPrograms()[program]; f != nil {
		return f(args)
	}
	if strings.Contains(call[0], "/") && isScript(call[0]) {
		v := named(strings.TrimSuffix(program, path.Ext(program)))
		v.needs = []Need{{Runner: "script", Name: path.Clean(call[0])}}
		if v.role != "" {
			v.narrow = v.narrow || len(words(args)) > 0
		}
		return v
	}
	return verdict{}
}

func isScript(p string) bool {
	if strings.HasPrefix(p, "/") || strings.ContainsAny(p, "$~:") || strings.HasSuffix(p, "/") {
		return false
	}
	switch path.Ext(p) {
	case ".sh", ".bash", ".py", ".ps1", ".rb", ".js", ".mjs":
		return true
	case "":
		first, _, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
		return strings.HasPrefix(p, "./") || first == "bin" || first == "scripts" || first == "script" || first == "hack"
	}
	return false
}

// The tables by which commands are judged, made once; they never change.
var (
	knownPrograms = sync.OnceValue(programs)
	knownNames    = sync.OnceValue(roleNames)
	knownWrappers = sync.OnceValue(wrappers)
)

// wrapper says how many words of a call go before the program that it runs:
// the wrapper itself, its flags, and takes further words.
type wrapper struct {
	sub   []string // a sub-command that must follow, "" for none
	takes int      // words after it that belong to it
}

func wrappers() map[string]wrapper {
	none := wrapper{}
	return map[string]wrapper{
		"sudo": none, "time": none, "nice": none, "command": none, "exec": none, "env": none, "xvfb-run": none, "npx": none, "bunx": none,
		"uvx": none, "dotenv": none, "cross-env": none, "nohup": none, "timeout": {takes: 1},
		"uv": {sub: []string{"run"}}, "poetry": {sub: []string{"run"}}, "pipenv": {sub: []string{"run"}},
		"bundle": {sub: []string{"exec"}}, "pnpm": {sub: []string{"exec", "dlx"}}, "mise": {sub: []string{"exec"}}, "doppler": {sub: []string{"run"}},
	}
}

// unwrap takes away what only prepares the ground for another program.
func unwrap(call []string) []string {
	for len(call) > 0 {
		if strings.Contains(call[0], "=") && !strings.HasPrefix(call[0], "-") {
			call = call[1:]
			continue
		}
		program := path.Base(call[0])
		switch {
		case isPython(program) && len(call) > 2 && call[1] == "-m":
			call = call[2:]
			continue
		case program == "go" && len(call) > 2 && call[1] == "tool":
			call = call[2:]
			continue
		case program == "coverage" && len(call) > 3 && call[1] == "run":
			call = call[slices.Index(call, "-m")+1:]
			if path.Base(call[0]) == "coverage" {
				return nil
			}
			continue
		}
		w, ok := knownWrappers()[program]
		if !ok || len(w.sub) > 0 && (len(call) < 2 || !slices.Contains(w.sub, call[1])) {
			return call
		}
		rest := call[1:]
		if len(w.sub) > 0 {
			rest = rest[1:]
		}
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			if rest[0] == "--" {
				rest = rest[1:]
				break
			}
			rest = rest[1:]
		}
		call = rest[min(w.takes, len(rest)):]
	}
	return call
}

func isPython(p string) bool { return p == "python" || p == "python3" || p == "py" }

// named tells what a target or script of this name is for.
func named(name string) verdict {
	lower := strings.ToLower(name)
	if r, ok := knownNames()[lower]; ok {
		return verdict{role: r, score: namedScore}
	}
	parts := parted(lower)
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
			return verdict{role: r, score: vagueScore, narrow: r != Setup && !widens(parts)}
		}
	}
	return verdict{}
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
		"test": Test, "tests": Test, "check": Test, "spec": Test, "unittest": Test, "unittests": Test, "unit": Test,
		"build": Build, "compile": Build, "lint": Lint, "linter": Lint, "vet": Lint, "typecheck": Lint,
		"run": Run, "start": Run, "dev": Run, "serve": Run,
		"setup": Setup, "deps": Setup, "bootstrap": Setup, "dependencies": Setup, "init": Setup, "tools": Setup,
		"pytest": Test, "jest": Test, "vitest": Test, "rspec": Test,
		"ruff": Lint, "pylint": Lint, "flake8": Lint, "mypy": Lint, "eslint": Lint, "clippy": Lint, "golangci-lint": Lint, "pre-commit": Lint, "shellcheck": Lint,
	}
}

// misleads are parts of names that make a target something else.
func misleads(part string) bool {
	switch part {
	case "clean", "push", "release", "deploy", "publish", "uninstall", "fuzz", "bench", "benchmark", "docs", "doc", "fix", "update", "upgrade",
		"login", "logs", "stop", "down", "delete", "remove", "report", "list", "help", "generate", "gen", "data", "env", "only", "watch", "debug":
		return true
	}
	return false
}

// widens tells whether the parts of a name say that everything is meant.
func widens(parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return p == "all" || p == "ci" || p == "full" })
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
