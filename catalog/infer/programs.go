package infer

import (
	"path"
	"slices"
	"strings"
)

// judges tell what a program is for by its arguments.
type judges map[string]func(args []string) verdict

// programs are the programs whose purpose is known.
func programs() judges {
	all := judges{}
	for _, group := range []judges{runners(), goPrograms(), jsPrograms(), pythonPrograms(), jvmPrograms(), otherPrograms()} {
		for name, f := range group {
			all[name] = f
		}
	}
	return all
}

// always is a program that is for one thing whatever its arguments.
func always(r Role) func([]string) verdict {
	return func([]string) verdict { return is(r) }
}

// sub judges by the first word.
func sub(roles map[string]Role) func([]string) verdict {
	return func(args []string) verdict {
		w := words(args)
		if len(w) == 0 || roles[w[0]] == "" {
			return verdict{}
		}
		return is(roles[w[0]])
	}
}

// anyOf judges by whichever word is known; two that differ are neither.
func anyOf(roles map[string]Role) func([]string) verdict {
	return func(args []string) verdict {
		var found Role
		for _, w := range words(args) {
			name := w[strings.LastIndexByte(w, ':')+1:]
			r := roles[w]
			if r == "" {
				r = roles[name]
			}
			switch {
			case r == "":
			case found != "" && found != r && found != Setup && r != Setup:
				return verdict{}
			default:
				found = r
			}
		}
		if found == "" {
			return verdict{}
		}
		return is(found)
	}
}

// within narrows a judgement where f finds that a part is meant.
func within(judge func([]string) verdict, f func(args []string) bool) func([]string) verdict {
	return func(args []string) verdict {
		v := judge(args)
		if v.role != "" && f(args) {
			v.narrow, v.one = true, true
		}
		return v
	}
}

// runners run the targets of a task file.
func runners() judges {
	return judges{
		"make": targets("make"), "gmake": targets("make"), "just": targets("just"), "task": targets("task"), "go-task": targets("task"),
		"mage": targets(""), "rake": targets(""), "invoke": targets(""), "inv": targets(""), "poe": targets(""), "ant": targets(""),
		"hatch": scripted, "pdm": scripted, "rye": scripted, "mise": scripted, "pixi": scripted, "devbox": scripted, "moon": scripted, "tox": toxed, "nox": toxed,
	}
}

// targets judges by the names of the targets.
func targets(runner string) func([]string) verdict {
	return func(args []string) verdict {
		var out verdict
		for _, name := range targetNames(args) {
			v := named(name)
			if runner != "" {
				v.needs = []Need{{Runner: runner, Name: name}}
			}
			switch {
			case v.role == "" && out.role == "":
				out.needs = append(out.needs, v.needs...)
			case v.role == "" || v.role == Setup && out.role != "":
				out.needs = append(out.needs, v.needs...)
			case out.role == "" || out.role == Setup:
				v.needs = append(out.needs, v.needs...)
				out = v
			case out.role != v.role:
				return verdict{}
			default:
				out.needs, out.narrow = append(out.needs, v.needs...), out.narrow && v.narrow
			}
		}
		for _, a := range args {
			if out.role != "" && isSetting(a) {
				out.score--
				out.one = out.one || selects(a)
				out.narrow = out.narrow || out.role == Build || out.one
			}
		}
		return out
	}
}

func isSetting(a string) bool { return strings.Contains(a, "=") }

// selects tells whether a setting chooses some of the tests.
func selects(setting string) bool {
	key, value, _ := strings.Cut(setting, "=")
	for _, word := range []string{"PREFIX", "RUN", "FILTER", "PKG", "PACKAGE", "FOCUS", "NAME", "TEST", "FILE"} {
		if key == word || strings.HasSuffix(key, "_"+word) {
			return true
		}
	}
	return strings.Contains(value, "-run") || strings.Contains(value, "Test")
}

// targetNames are the words that name targets: no flags, what flags take, or
// settings.
func targetNames(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C" || a == "-f" || a == "-j" || a == "--directory" || a == "--file" || a == "-d" || a == "-t":
			i++
		case strings.HasPrefix(a, "-") || isSetting(a) || a == "":
		default:
			out = append(out, a)
		}
	}
	return out
}

// scripted is `tool run NAME`.
func scripted(args []string) verdict {
	w := words(args)
	switch {
	case len(w) > 1 && w[0] == "run":
		v := named(w[1])
		v.one = v.role == Test && selectsTests(args)
		return v
	case len(w) > 0 && (w[0] == "install" || w[0] == "sync"):
		return is(Setup)
	case len(w) > 0 && (w[0] == "build" || w[0] == "test"):
		return is(Role(w[0]))
	}
	return verdict{}
}

// toxed judges by the environment's name; without one it is the tests.
func toxed(args []string) verdict {
	for i, a := range args {
		name := ""
		switch {
		case (a == "-e" || a == "-s" || a == "--session") && i+1 < len(args):
			name = args[i+1]
		case strings.HasPrefix(a, "-e="), strings.HasPrefix(a, "-s="):
			name = a[3:]
		default:
			continue
		}
		v := named(name)
		if v.role == "" && strings.HasPrefix(name, "py") {
			return is(Test)
		}
		return v
	}
	return is(Test)
}

func goPrograms() judges {
	return judges{
		"go":        goTool,
		"richgo":    goTool,
		"gotestsum": within(always(Test), func(a []string) bool { return partOfGo(afterDash(a)) }),
		"ginkgo": within(always(Test), func(a []string) bool {
			return slices.ContainsFunc(a, func(s string) bool { return strings.HasPrefix(s, "--focus") })
		}),
		"golangci-lint": sub(map[string]Role{"run": Lint}),
		"staticcheck":   always(Lint), "revive": always(Lint), "govulncheck": always(Lint), "gosec": always(Lint),
		"goreleaser": sub(map[string]Role{"build": Build}),
		"ko":         sub(map[string]Role{"build": Build}), "air": always(Run),
	}
}

func goTool(args []string) verdict {
	if len(args) == 0 {
		return verdict{}
	}
	rest := args[1:]
	switch args[0] {
	case "test":
		if anyArg(rest, "-bench", "-fuzz", "--bench", "--fuzz", "-c") {
			return verdict{}
		}
		v := is(Test)
		v.one = partOfGo(rest)
		v.narrow = v.one
		v.project = v.one && !anyArg(rest, "-run", "--run", "-skip") && slices.ContainsFunc(rest, func(a string) bool { return strings.HasSuffix(a, "/...") })
		return v
	case "build":
		v := is(Build)
		v.narrow = buildsPart(rest)
		return v
	case "install":
		if slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, "@") }) {
			return verdict{role: Setup, score: vagueScore - 2}
		}
		if slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, "$") }) {
			return verdict{}
		}
		return verdict{role: Build, score: plainScore - 3}
	case "vet":
		return is(Lint)
	case "run":
		if len(words(rest)) == 0 || slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, "@") }) {
			return verdict{}
		}
		return runsFile(words(rest)[0])
	case "mod":
		if len(rest) > 0 && rest[0] == "download" {
			return is(Setup)
		}
	}
	return verdict{}
}

// runsFile judges `go run` by what it runs: a file is a tool of the repository
// unless it is the program itself.
func runsFile(what string) verdict {
	name, isFile := strings.CutSuffix(path.Base(what), ".go")
	if !isFile || name == "main" {
		return is(Run)
	}
	if v := named(name); v.role != Run {
		return v
	}
	return verdict{role: Run, score: vagueScore}
}

// buildsPart tells whether `go build` makes something else than everything or
// a program: a file, or a package of another folder than those of programs.
func buildsPart(args []string) bool {
	if slices.Contains(args, "-gcflags") {
		return !slices.Contains(args, "./...")
	}
	w := words(args)
	if len(w) > 0 && strings.Contains(strings.SplitN(w[0], "/", 2)[0], ".") && !strings.HasPrefix(w[0], ".") && strings.Contains(w[0], "/") {
		return true // a package of another module
	}
	return len(w) > 0 && !slices.Contains(args, "-o") && !slices.ContainsFunc(w, func(a string) bool {
		return a == "." || strings.Contains(a, "...") || strings.Contains(a, "cmd") || strings.Contains(a, "$") || !strings.Contains(a, "/") && !strings.HasSuffix(a, ".go")
	})
}

// partOfGo tells whether `go test` runs less than every package. A word after
// a flag that is not known may be the flag's value.
func partOfGo(args []string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, joined := strings.Cut(a, "=")
		switch {
		case name == "-run" || name == "--run" || name == "-skip":
			return true
		case strings.HasPrefix(a, "-") && !joined && !goSwitch(a) && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], "."):
			i++
		case strings.HasPrefix(a, "-"):
		case strings.HasSuffix(a, "./...") || a == "..." || a == "all" || a == "." || strings.HasPrefix(a, "$"):
		default:
			return true
		}
	}
	return false
}

// goSwitch tells whether a flag of `go test` takes no value.
func goSwitch(flag string) bool {
	switch strings.TrimLeft(flag, "-") {
	case "v", "race", "short", "cover", "failfast", "json", "msan", "asan", "x", "n", "a", "i", "work", "trimpath", "benchmem", "fullpath", "modcacherw":
		return true
	}
	return false
}

func afterDash(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[i+1:]
	}
	return nil
}
