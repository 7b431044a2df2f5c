package infer

import (
	"slices"
	"strings"
)

func otherPrograms() judges {
	return judges{
		"cargo":  cargo,
		"dotnet": dotnet,
		"swift":  tested(sub(map[string]Role{"test": Test, "build": Build, "run": Run}), 1), "swiftlint": always(Lint), "swiftformat": ifFlag(Lint, "--lint"), "xcodebuild": tested(xcodebuild, 99), "fastlane": sub(map[string]Role{"test": Test, "tests": Test, "lint": Lint, "build": Build}),
		"mix": tested(mix, 1), "gleam": sub(map[string]Role{"test": Test, "build": Build, "run": Run}), "rebar3": sub(map[string]Role{"eunit": Test, "ct": Test, "compile": Build, "dialyzer": Lint}),
		"rspec": partly(Test), "rubocop": always(Lint), "bundle": sub(map[string]Role{"install": Setup}), "rails": tested(rails, 1), "brakeman": always(Lint), "standardrb": always(Lint),
		"composer": composer, "phpunit": partly(Test), "pest": partly(Test), "phpstan": always(Lint), "php": php, "pint": ifFlag(Lint, "--test"), "psalm": always(Lint), "phpcs": always(Lint), "php-cs-fixer": ifFlag(Lint, "--dry-run"), "artisan": tested(sub(map[string]Role{"test": Test, "serve": Run, "migrate": Setup}), 1),
		"flutter": tested(sub(map[string]Role{"test": Test, "analyze": Lint, "run": Run, "build": Build, "pub": Setup}), 1), "dart": tested(sub(map[string]Role{"test": Test, "analyze": Lint, "compile": Build}), 1), "melos": scripted,
		"ctest": tested(always(Test), 99), "cmake": cmake, "ninja": ninja, "meson": sub(map[string]Role{"test": Test, "compile": Build, "setup": Setup}), "zig": zig, "dune": sub(map[string]Role{"build": Build, "test": Test, "runtest": Test}),
		"forge": tested(sub(map[string]Role{"build": Build, "test": Test}), 1), "anchor": sub(map[string]Role{"build": Build, "test": Test}), "pants": bazel, "buck2": bazel, "bazelisk": bazel,
		"bazel": bazel,
		"helm":  sub(map[string]Role{"lint": Lint}), "terraform": sub(map[string]Role{"validate": Lint}), "tflint": always(Lint),
		"shellcheck": always(Lint), "hadolint": always(Lint), "yamllint": always(Lint), "actionlint": always(Lint), "markdownlint": always(Lint), "buf": sub(map[string]Role{"lint": Lint, "build": Build}),
		"docker": docker, "podman": docker, "docker-compose": sub(map[string]Role{"up": Run}), "tilt": sub(map[string]Role{"up": Run}), "skaffold": sub(map[string]Role{"dev": Run, "build": Build}),
		"goreman": sub(map[string]Role{"start": Run}), "foreman": sub(map[string]Role{"start": Run}), "overmind": sub(map[string]Role{"start": Run}),
		"elm-test": always(Test), "lein": sub(map[string]Role{"test": Test, "run": Run, "uberjar": Build}), "stack": sub(map[string]Role{"test": Test, "build": Build}), "cabal": sub(map[string]Role{"test": Test, "build": Build}),
	}
}

func cargo(args []string) verdict {
	w := words(args)
	if len(w) > 0 && strings.HasPrefix(w[0], "+") { // a toolchain
		w = w[1:]
	}
	if len(w) > 0 && w[0] == "fmt" {
		return ifFlag(Lint, "--check")(args)
	}
	v := sub(map[string]Role{"test": Test, "t": Test, "nextest": Test, "build": Build, "b": Build, "check": Build, "clippy": Lint, "run": Run, "fetch": Setup, "deny": Lint})(w)
	if anyArg(beforeDash(args), "-p", "--package") && v.role != Run && v.role != "" {
		v.project, v.narrow, v.one = v.role == Test, true, v.role == Test
	}
	if v.role == Run && anyArg(beforeDash(args), "-p", "--package") {
		v.score -= 2 // a tool of the repository rather than what it makes
	}
	if v.role == Test && (anyArg(args, "--test", "-E") || len(cargoNames(args)) > 0 || len(words(afterDash(args))) > 0) {
		v.project, v.narrow, v.one = false, true, true
	}
	return v
}

// cargoNames are the words after `cargo test` that choose tests.
func cargoNames(args []string) []string {
	var out []string
	args = beforeDash(args)
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-p" || a == "--package" || a == "-F" || a == "--features" || a == "--target" || a == "--manifest-path" || a == "--profile" || a == "--exclude" || a == "-j" || a == "--jobs" || a == "--bin":
			i++
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+") || a == "test" || a == "t" || a == "nextest" || a == "run":
		default:
			out = append(out, a)
		}
	}
	return out
}

func dotnet(args []string) verdict {
	w := words(args)
	if len(w) > 0 && w[0] == "format" {
		return ifFlag(Lint, "--verify-no-changes")(args)
	}
	v := sub(map[string]Role{"test": Test, "build": Build, "run": Run, "watch": Run, "restore": Setup})(args)
	if v.role == Test && slices.ContainsFunc(w, func(s string) bool {
		return strings.HasSuffix(s, "proj") || strings.Contains(s, "/") && !strings.Contains(s, ".sln")
	}) {
		v.project, v.narrow, v.one = true, true, true
	}
	if v.role == Test && selectsTests(args) {
		v.project, v.narrow, v.one = false, true, true
	}
	return v
}

func mix(args []string) verdict {
	if w := words(args); len(w) > 0 && w[0] == "format" {
		return ifFlag(Lint, "--check-formatted")(args)
	}
	return sub(map[string]Role{"test": Test, "compile": Build, "deps.get": Setup, "setup": Setup, "ecto.setup": Setup, "credo": Lint, "dialyzer": Lint, "lint": Lint, "precommit": Lint, "check": Test, "phx.server": Run})(args)
}

// cmake builds below the repository, not what was fetched elsewhere.
func cmake(args []string) verdict {
	i := slices.Index(args, "--build")
	if i < 0 || i+1 < len(args) && strings.HasPrefix(args[i+1], "/") {
		return verdict{}
	}
	if j := slices.IndexFunc(args, func(a string) bool { return a == "--target" || a == "-t" }); j > 0 && j+1 < len(args) {
		if v := named(args[j+1]); v.role == Test {
			return is(Test)
		}
	}
	return is(Build)
}

func xcodebuild(args []string) verdict {
	switch w := words(args); {
	case slices.Contains(w, "test"):
		return is(Test)
	case slices.Contains(w, "build"):
		return is(Build)
	}
	return verdict{}
}

func zig(args []string) verdict {
	w := words(args)
	if len(w) > 1 && w[0] == "build" {
		return named(w[1])
	}
	return tested(sub(map[string]Role{"build": Build, "test": Test}), 1)(args)
}

func ninja(args []string) verdict {
	for _, w := range words(args) {
		if v := named(w); v.role != "" {
			return v
		}
	}
	return is(Build)
}

// bazel covers everything where a pattern of the root's says so.
func bazel(args []string) verdict {
	v := sub(map[string]Role{"test": Test, "build": Build, "run": Run, "lint": Lint})(args)
	whole := slices.Contains(args, "//...") || slices.Contains(args, "...") || slices.Contains(args, "::")
	if v.role == Test && !whole {
		v.one, v.narrow = true, true
		v.project = slices.ContainsFunc(args, func(a string) bool { return strings.HasSuffix(a, "/...") })
	}
	v.narrow = v.narrow || v.role == Build && !whole
	return v
}

func rails(args []string) verdict {
	return sub(map[string]Role{"test": Test, "spec": Test, "server": Run, "s": Run, "db:setup": Setup, "db:prepare": Setup})(args)
}

func composer(args []string) verdict {
	w := words(args)
	if len(w) == 1 && w[0] == "install" {
		return is(Setup)
	}
	if len(w) > 0 && w[0] != "require" {
		return scripted(append([]string{"run"}, strings.TrimPrefix(w[len(w)-1], "run")))
	}
	return verdict{}
}

func php(args []string) verdict {
	w := words(args)
	if len(w) > 1 && w[0] == "artisan" {
		i := slices.Index(args, "artisan")
		return tested(sub(map[string]Role{"test": Test, "serve": Run, "migrate": Setup}), 1)(args[i+1:])
	}
	return verdict{}
}

func docker(args []string) verdict {
	w := words(args)
	switch {
	case len(w) > 1 && w[0] == "compose" && slices.Contains(w, "up"):
		return is(Run)
	case len(w) > 0 && (w[0] == "build" || w[0] == "buildx" && slices.Contains(w, "build")):
		v := is(Build)
		v.score = vagueScore - 2 // an image is seldom what one builds to work on the code
		return v
	}
	return verdict{}
}
