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
		"black": ifFlag(Lint, "--check"), "isort": ifFlag(Lint, "--check", "--check-only", "-c"), "pre-commit": orSub(Lint, map[string]Role{"run": Lint, "install": Setup}), "prek": orSub(Lint, map[string]Role{"run": Lint, "install": Setup}),
		"ty": sub(map[string]Role{"check": Lint}), "basedpyright": always(Lint), "pyrefly": sub(map[string]Role{"check": Lint}), "pydocstyle": always(Lint), "codespell": always(Lint), "fastapi": sub(map[string]Role{"dev": Run, "run": Run}), "maturin": sub(map[string]Role{"develop": Build, "build": Build}),
		"python-build": always(Build), "uvicorn": always(Run), "gunicorn": always(Run), "flask": sub(map[string]Role{"run": Run}), "streamlit": sub(map[string]Role{"run": Run}),
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
	one := func(judge func([]string) verdict) func([]string) verdict { return tested(judge, 99) }
	modules := func(args []string) bool { return anyArg(args, "-pl", "--projects") }
	mvn := ofProject(one(maven), modules)
	gradle := ofProject(one(gradleTasks), func(args []string) bool {
		return slices.ContainsFunc(words(args), func(a string) bool { return strings.Contains(strings.TrimPrefix(a, ":"), ":") })
	})
	return judges{"mvn": mvn, "mvnw": mvn, "mvnd": mvn, "gradle": gradle, "gradlew": gradle,
		"sbt": anyOf(map[string]Role{"test": Test, "compile": Build, "run": Run}), "mill": anyOf(map[string]Role{"test": Test, "compile": Build, "run": Run}), "ktlint": always(Lint), "detekt": always(Lint)}
}

// gradleTasks judges the tasks of Gradle by their names, which plugins make of
// a verb and what it is done to. Two tasks for different things are neither.
func gradleTasks(args []string) verdict {
	var out verdict
	for i, w := range words(args) {
		if i > 0 && slices.Index(args, w) > 0 && args[slices.Index(args, w)-1] == "--tests" {
			continue
		}
		r, whole := gradleTask(w[strings.LastIndexByte(w, ':')+1:])
		switch {
		case r == "":
		case out.role != "" && out.role != r:
			return verdict{}
		default:
			out = is(r)
			out.narrow = !whole
		}
	}
	return out
}

// gradleTask is what one task is for; whole tells that it covers everything.
func gradleTask(task string) (r Role, whole bool) {
	lower := strings.ToLower(task)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(lower, w) })
	}
	switch {
	case lower == "test" || lower == "check" || lower == "alltests" || has("test") && strings.HasSuffix(lower, "unittest"):
		return Test, true
	case strings.HasSuffix(lower, "test") && !has("compile", "assemble"):
		return Test, lower == "jvmtest" || lower == "integrationtest"
	case lower == "build" || lower == "jar" || lower == "bootjar" || lower == "shadowjar" || has("assemble", "compile"):
		return Build, true
	case lower == "run" || lower == "bootrun" || lower == "quarkusdev" || lower == "runide":
		return Run, true
	case has("lint", "detekt", "checkstyle", "ktlintcheck", "spotlesscheck", "pmd", "spotbugs", "apicheck"):
		return Lint, true
	}
	return "", false
}
