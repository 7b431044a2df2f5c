package infer

import (
	"slices"
	"strings"
)

func pythonPrograms() judges {
	return judges{
		"pytest": pytest, "py.test": pytest, "unittest": partly(Test), "nosetests": partly(Test),
		"python": pythonScript, "python3": pythonScript,
		"pip": pip, "pip3": pip, "uv": uv, "poetry": sub(map[string]Role{"install": Setup, "build": Build}),
		"pipenv": sub(map[string]Role{"install": Setup, "sync": Setup}), "conda": sub(map[string]Role{"env": Setup}),
		"ruff": ruff, "flake8": always(Lint), "pylint": always(Lint), "mypy": always(Lint), "pyright": always(Lint), "bandit": always(Lint),
		"black": ifFlag(Lint, "--check"), "isort": ifFlag(Lint, "--check", "--check-only", "-c"), "pre-commit": sub(map[string]Role{"run": Lint, "install": Setup}),
		"build": always(Build), "uvicorn": always(Run), "gunicorn": always(Run), "flask": sub(map[string]Role{"run": Run}), "streamlit": sub(map[string]Role{"run": Run}),
		"mkdocs": sub(map[string]Role{}),
	}
}

func pytest(args []string) verdict {
	v := is(Test)
	v.one = slices.ContainsFunc(args, func(a string) bool {
		return a == "-k" || a == "-m" || strings.Contains(a, "::") || strings.HasSuffix(a, ".py")
	})
	v.narrow = v.one
	if deep := slices.ContainsFunc(words(args), func(a string) bool { return strings.Contains(strings.Trim(a, "./"), "/") }); deep {
		v.score -= 2
	}
	return v
}

func pythonScript(args []string) verdict {
	w := words(args)
	if len(w) > 1 && strings.HasSuffix(w[0], "manage.py") {
		return sub(map[string]Role{"test": Test, "runserver": Run, "migrate": Setup})(w[1:])
	}
	return verdict{}
}

// pip sets up where it installs the project or a list, not one package.
func pip(args []string) verdict {
	if len(args) == 0 || args[0] != "install" {
		return verdict{}
	}
	if slices.ContainsFunc(args, func(a string) bool {
		return a == "-r" || a == "-e" || a == "--requirement" || a == "--editable" || strings.HasPrefix(a, ".")
	}) {
		return is(Setup)
	}
	return verdict{}
}

func uv(args []string) verdict {
	w := words(args)
	switch {
	case len(w) > 0 && w[0] == "sync":
		return is(Setup)
	case len(w) > 0 && w[0] == "build":
		return is(Build)
	case len(w) > 1 && w[0] == "pip":
		i := slices.Index(args, "pip")
		return pip(args[i+1:])
	}
	return verdict{}
}

func ruff(args []string) verdict {
	w := words(args)
	if len(w) > 0 && w[0] == "check" || slices.Contains(args, "--check") {
		return is(Lint)
	}
	return verdict{}
}

func jvmPrograms() judges {
	maven := anyOf(map[string]Role{"test": Test, "verify": Test, "integration-test": Test, "package": Build, "install": Build, "compile": Build,
		"spring-boot:run": Run, "quarkus:dev": Run, "checkstyle:check": Lint, "spotless:check": Lint})
	gradle := anyOf(map[string]Role{"test": Test, "check": Test, "integrationTest": Test, "build": Build, "assemble": Build, "jar": Build, "bootJar": Build,
		"bootRun": Run, "run": Run, "quarkusDev": Run, "lint": Lint, "spotlessCheck": Lint, "ktlintCheck": Lint, "detekt": Lint, "checkstyleMain": Lint})
	part := func(args []string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return a == "--tests" || strings.HasPrefix(a, "-Dtest=") || a == "-pl" || strings.HasPrefix(a, ":")
		})
	}
	return judges{"mvn": within(maven, part), "mvnw": within(maven, part), "gradle": within(gradle, part), "gradlew": within(gradle, part),
		"sbt": anyOf(map[string]Role{"test": Test, "compile": Build, "run": Run})}
}

func otherPrograms() judges {
	return judges{
		"cargo": within(cargo, func(args []string) bool {
			return slices.Contains(args, "-p") || slices.Contains(args, "--package") || slices.Contains(args, "--test") || len(words(beforeDash(args))) > 1 && words(args)[0] == "test"
		}),
		"dotnet": sub(map[string]Role{"test": Test, "build": Build, "run": Run, "restore": Setup}),
		"swift":  sub(map[string]Role{"test": Test, "build": Build, "run": Run}),
		"mix":    sub(map[string]Role{"test": Test, "compile": Build, "deps.get": Setup, "credo": Lint, "phx.server": Run}),
		"rspec":  partly(Test), "rubocop": always(Lint), "bundle": sub(map[string]Role{"install": Setup}), "rails": rails, "bin/rails": rails,
		"composer": composer, "phpunit": partly(Test), "pest": partly(Test), "phpstan": always(Lint), "php": php,
		"flutter": sub(map[string]Role{"test": Test, "analyze": Lint, "run": Run, "build": Build}), "dart": sub(map[string]Role{"test": Test, "analyze": Lint, "compile": Build}),
		"ctest": always(Test), "cmake": ifFlag(Build, "--build"), "ninja": always(Build), "zig": sub(map[string]Role{"build": Build, "test": Test}),
		"bazel": within(sub(map[string]Role{"test": Test, "build": Build, "run": Run}), func(a []string) bool { return !slices.Contains(a, "//...") }),
		"helm":  sub(map[string]Role{"lint": Lint}), "terraform": sub(map[string]Role{"validate": Lint}), "tflint": always(Lint),
		"shellcheck": always(Lint), "hadolint": always(Lint), "yamllint": always(Lint), "actionlint": always(Lint), "markdownlint": always(Lint), "buf": sub(map[string]Role{"lint": Lint, "build": Build}),
		"docker": docker, "podman": docker, "docker-compose": sub(map[string]Role{"up": Run}), "tilt": sub(map[string]Role{"up": Run}), "skaffold": sub(map[string]Role{"dev": Run, "build": Build}),
		"goreman": sub(map[string]Role{"start": Run}), "foreman": sub(map[string]Role{"start": Run}), "overmind": sub(map[string]Role{"start": Run}),
		"elm-test": always(Test), "lein": sub(map[string]Role{"test": Test, "run": Run, "uberjar": Build}), "stack": sub(map[string]Role{"test": Test, "build": Build}), "cabal": sub(map[string]Role{"test": Test, "build": Build}),
	}
}

func cargo(args []string) verdict {
	w := words(args)
	if len(w) > 0 && w[0] == "fmt" {
		return ifFlag(Lint, "--check")(args)
	}
	return sub(map[string]Role{"test": Test, "nextest": Test, "build": Build, "check": Build, "clippy": Lint, "run": Run, "fetch": Setup})(args)
}

func rails(args []string) verdict {
	return sub(map[string]Role{"test": Test, "spec": Test, "server": Run, "s": Run, "db:setup": Setup})(args)
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
		return sub(map[string]Role{"test": Test, "serve": Run, "migrate": Setup})(w[1:])
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
