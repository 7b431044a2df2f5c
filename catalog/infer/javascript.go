package infer

import (
	"slices"
	"strings"
)

func jsPrograms() judges {
	return judges{
		"npm": packageManager, "pnpm": packageManager, "yarn": packageManager, "bun": bun,
		"jest": partly(Test), "vitest": tested(partly(Test), 0), "mocha": partly(Test), "ava": partly(Test), "cypress": tested(sub(map[string]Role{"run": Test}), 1), "karma": sub(map[string]Role{"start": Test}),
		"playwright": tested(sub(map[string]Role{"test": Test, "install": Setup}), 1), "wtr": always(Test), "bats": always(Test),
		"eslint": always(Lint), "stylelint": always(Lint), "oxlint": always(Lint), "tslint": always(Lint), "knip": always(Lint), "vue-tsc": always(Lint), "svelte-check": always(Lint), "commitlint": always(Lint),
		"prettier": ifFlag(Lint, "--check", "-c", "--list-different", "-l"), "biome": sub(map[string]Role{"check": Lint, "lint": Lint, "ci": Lint}),
		"dprint": sub(map[string]Role{"check": Lint}), "lefthook": sub(map[string]Role{"run": Lint, "install": Setup}),
		"tsc": typeScript, "tsup": always(Build), "rollup": always(Build), "esbuild": always(Build), "parcel": sub(map[string]Role{"build": Build}),
		"vite": orSub(Run, map[string]Role{"build": Build, "preview": Run, "dev": Run}), "astro": sub(map[string]Role{"build": Build, "dev": Run, "check": Lint}), "nuxt": sub(map[string]Role{"build": Build, "dev": Run}),
		"next": sub(map[string]Role{"build": Build, "dev": Run, "start": Run, "lint": Lint}), "webpack": always(Build), "expo": sub(map[string]Role{"start": Run, "lint": Lint}),
		"turbo": monorepo, "nx": monorepo, "lerna": monorepo, "rush": monorepo, "nodemon": always(Run), "backstage-cli": backstageCLI, "wrangler": sub(map[string]Role{"dev": Run}),
		"deno": deno, "node": nodeProgram, "hardhat": sub(map[string]Role{"test": Test, "compile": Build}),
		"ng": sub(map[string]Role{"build": Build, "test": Test, "lint": Lint, "serve": Run}),
	}
}

func typeScript(args []string) verdict {
	if slices.Contains(args, "--noEmit") {
		return is(Lint)
	}
	return is(Build)
}

func nodeProgram(args []string) verdict {
	if slices.Contains(args, "--test") {
		return tested(always(Test), 0)(args)
	}
	return verdict{}
}

func deno(args []string) verdict {
	if w := words(args); len(w) > 1 && w[0] == "task" {
		return named(w[1])
	}
	return tested(sub(map[string]Role{"test": Test, "lint": Lint, "check": Lint, "run": Run, "install": Setup}), 1)(args)
}

// backstageCLI judges the tool of Backstage's repositories.
func backstageCLI(args []string) verdict {
	for _, w := range words(args) {
		if r, ok := map[string]Role{"build": Build, "test": Test, "lint": Lint, "start": Run}[w]; ok {
			return is(r)
		}
	}
	return verdict{}
}

// partly is for r, and for a part where words name files or folders.
func partly(r Role) func([]string) verdict {
	return within(always(r), func(args []string) bool {
		return selectsTests(args) || slices.ContainsFunc(words(args), func(w string) bool { return w != "run" && w != "watch" })
	})
}

// ifFlag is for r only with one of the flags.
func ifFlag(r Role, flags ...string) func([]string) verdict {
	return func(args []string) verdict {
		if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(flags, a) }) {
			return is(r)
		}
		return verdict{}
	}
}

// orSub judges by the first word, and is for r without one.
func orSub(r Role, roles map[string]Role) func([]string) verdict {
	return func(args []string) verdict {
		if len(words(args)) == 0 {
			return is(r)
		}
		return sub(roles)(args)
	}
}

func beforeDash(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}

// monorepo judges `nx run-many -t test`, `turbo run build`, `nx test NAME` and
// `nx run NAME:test`. Several tasks at once are none.
func monorepo(args []string) verdict {
	var out verdict
	others := 0
	w := words(args)
	for i, word := range w {
		if i == 0 && (word == "install" || word == "bootstrap") {
			return is(Setup)
		}
		_, task, of := strings.Cut(word, ":")
		v := named(word)
		if of && w[0] == "run" {
			v = named(task)
		}
		switch {
		case word == "run" || word == "run-many" || word == "affected":
		case v.role == "" || i > 0 && v.score != namedScore:
			others++
		case out.role != "" && out.role != v.role:
			return verdict{}
		default:
			out = v
			out.project = of && w[0] == "run"
		}
	}
	if out.role == "" {
		return verdict{}
	}
	out.score, out.project = plainScore, out.project || others > 0 || anyArg(args, "--filter", "-F", "-p", "--projects", "--scope", "--to")
	out.narrow, out.one = out.project, out.project && out.role == Test
	if out.role == Test && anyArg(args, "--testFile", "--testNamePattern", "--testPathPattern", "--grep") {
		out.narrow, out.one, out.project = true, true, false
	}
	return out
}

// bun judges bun, which runs tests without a script.
func bun(args []string) verdict {
	v := packageManager(args)
	if w := words(args); len(w) > 0 && w[0] == "test" {
		v.needs = nil
	}
	return v
}

// managed are the arguments of a package manager taken apart.
type managed struct {
	dir string
	// part tells that they choose some of the packages.
	part bool
	rest []string
}

// manage takes away what says where a package manager works.
func manage(args []string) managed {
	var m managed
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		next := func() string {
			if !joined && i+1 < len(args) {
				i++
				return args[i]
			}
			return value
		}
		switch {
		case args[i] == "--":
			m.rest = append(m.rest, args[i:]...)
			return m
		case name == "--filter" || name == "-F" || name == "--workspace" || name == "--scope":
			m.part = true
			next()
		case name == "--prefix" || name == "-C" || name == "--dir" || name == "--cwd":
			m.dir = next()
		case args[i] == "workspace" && len(words(m.rest)) == 0:
			m.part = true
			next()
		case (args[i] == "workspaces" || args[i] == "foreach") && len(words(m.rest)) == 0:
		default:
			m.rest = append(m.rest, args[i])
		}
	}
	return m
}

// packageManager judges npm, pnpm, yarn and bun.
func packageManager(args []string) verdict {
	m := manage(args)
	w := words(beforeDash(m.rest))
	if len(w) == 0 {
		if len(args) > 0 {
			return verdict{}
		}
		return is(Setup) // yarn alone installs; npm alone prints help and is not written down
	}
	name, rest := w[0], w[1:]
	if name == "run" || name == "run-script" {
		if len(rest) == 0 {
			return verdict{}
		}
		return m.script(rest[0], rest[1:])
	}
	switch name {
	case "ci", "install", "i":
		if len(rest) > 0 || anyArg(args, "-g", "--global") {
			return verdict{}
		}
		return is(Setup)
	case "t", "tst":
		name = "test"
	case "add", "init", "link", "publish", "version", "create", "remove", "why", "info", "view", "set", "config", "cache", "audit", "update", "up", "upgrade", "dedupe", "pack", "exec", "dlx":
		return verdict{}
	}
	return m.script(name, rest)
}

// script judges a script of a package.json with its arguments.
func (m managed) script(name string, rest []string) verdict {
	v := named(name)
	v.needs = []Need{{Runner: "npm", Name: name, Dir: m.dir}}
	chosen := func(a string) bool {
		return isTestFile(a) || strings.Contains(a, openMark) || strings.Contains(strings.Trim(a, "./"), "/")
	}
	v.one = v.role == Test && (len(words(afterDash(m.rest))) > 0 || selectsTests(m.rest) || slices.ContainsFunc(rest, chosen))
	if m.part {
		v.project, v.one = v.role == Test && !v.one, v.role == Test
	}
	v.narrow = v.narrow || m.part || v.one || m.dir != ""
	if m.part {
		v.needs = nil // the script is that of another package
	}
	return v
}
