package infer

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs another: what goes before that one in a call.
type wrapper struct {
	// sub are the sub-commands of which one must follow; none are needed
	// where it is empty.
	sub []string
	// takes is how many words after its flags belong to it.
	takes int
	// valued are the flags whose value is a word of its own.
	valued []string
}

func wrappers() map[string]wrapper {
	none := wrapper{}
	return map[string]wrapper{
		"sudo": none, "time": none, "nice": {valued: []string{"-n"}}, "command": none, "exec": none, "env": {valued: []string{"-u", "-C"}}, "xvfb-run": none, "npx": {valued: []string{"-p", "--package"}}, "bunx": none,
		"uvx": {valued: []string{"--from", "--with", "--python"}}, "dotenv": {valued: []string{"-e", "-f"}}, "cross-env": none, "nohup": none, "xcrun": none, "timeout": {takes: 1},
		"uv":     {sub: []string{"run"}, valued: []string{"--project", "--directory", "--package", "--with", "--extra", "--group", "--only-group", "--python", "-p", "--env-file", "--with-requirements", "--with-editable"}},
		"poetry": {sub: []string{"run"}, valued: []string{"-C", "--directory", "-P", "--project"}}, "pipenv": {sub: []string{"run"}}, "conda": {sub: []string{"run"}, valued: []string{"-n", "--name", "-p"}},
		"bundle": {sub: []string{"exec"}}, "pnpm": {sub: []string{"exec", "dlx"}}, "yarn": {sub: []string{"exec", "dlx"}}, "npm": {sub: []string{"exec"}}, "mise": {sub: []string{"exec", "x"}}, "doppler": {sub: []string{"run"}}, "op": {sub: []string{"run"}}, "direnv": {sub: []string{"exec"}, takes: 1},
	}
}

// unwrap takes away what only prepares the ground for another program.
func unwrap(call []string) []string {
	for len(call) > 0 {
		inner, more := unwrapOnce(call)
		if !more {
			return inner
		}
		call = inner
	}
	return call
}

// unwrapOnce takes one layer away; more tells that there was one.
func unwrapOnce(call []string) (inner []string, more bool) {
	if strings.Contains(call[0], "=") && !strings.HasPrefix(call[0], "-") {
		return call[1:], true
	}
	program := path.Base(call[0])
	switch {
	case program == "command" && len(call) > 1 && strings.EqualFold(call[1], "-v"):
		return nil, false // it only asks whether there is such a program
	case isPython(program) && len(call) > 2 && call[1] == "-m":
		if call[2] == "build" {
			return []string{"python-build"}, false
		}
		return call[2:], true
	case program == "go" && len(call) > 2 && call[1] == "tool":
		return call[2:], true
	case program == "go" && len(call) > 2 && call[1] == "run" && strings.Contains(call[2], "@"):
		name, _, _ := strings.Cut(call[2], "@")
		return append([]string{path.Base(name)}, call[3:]...), true
	case program == "coverage" && len(call) > 3 && call[1] == "run":
		i := slices.Index(call, "-m")
		if i < 0 || i+1 >= len(call) {
			return nil, false
		}
		return call[i+1:], true
	case isShellProgram(program):
		return inShell(call)
	case program == "docker" || program == "podman" || program == "docker-compose":
		return inContainer(call)
	case program == "nix":
		if i := slices.IndexFunc(call, func(a string) bool { return a == "-c" || a == "--command" }); i > 0 && slices.Contains(call[:i], "develop") {
			return call[i+1:], true
		}
		return call, false
	}
	w, ok := knownWrappers()[program]
	if !ok || len(w.sub) > 0 && (len(call) < 2 || !slices.Contains(w.sub, call[1])) {
		return call, false
	}
	rest := call[1:]
	if len(w.sub) > 0 {
		rest = rest[1:]
	}
	rest = afterFlags(rest, w.valued)
	return rest[min(w.takes, len(rest)):], true
}

func isShellProgram(p string) bool { return p == "bash" || p == "sh" || p == "zsh" || p == "dash" }

// inShell is the script that a shell is told to run; what it is told to run by
// -c is left alone.
func inShell(call []string) ([]string, bool) {
	i := 1
	for ; i < len(call) && strings.HasPrefix(call[i], "-"); i++ {
		switch short := !strings.HasPrefix(call[i], "--"); {
		case short && strings.Contains(call[i], "c"):
			return call, false
		case short && strings.HasSuffix(call[i], "o"): // -euo pipefail
			i++
		}
	}
	if i >= len(call) {
		return call, false
	}
	script := call[i]
	if !strings.Contains(script, "/") {
		script = "./" + script
	}
	return append([]string{script}, call[i+1:]...), true
}

// afterFlags is what follows the flags at the beginning of args.
func afterFlags(args, valued []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "--" {
			return args[1:]
		}
		n := 1
		if slices.Contains(valued, args[0]) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// inContainer is what `docker compose run SERVICE` and its like run. The
// service is one of the repository's own, and so is what runs in it.
func inContainer(call []string) ([]string, bool) {
	rest := call[1:]
	if path.Base(call[0]) != "docker-compose" {
		switch {
		case len(rest) > 0 && rest[0] == "compose":
			rest = rest[1:]
		case len(rest) == 0 || rest[0] != "exec":
			return call, false
		}
	}
	rest = afterFlags(rest, []string{"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory"})
	if len(rest) < 3 || rest[0] != "run" && rest[0] != "exec" {
		return call, false
	}
	rest = afterFlags(rest[1:], []string{"-e", "--env", "-u", "--user", "--name", "-w", "--workdir", "--entrypoint", "-v", "--volume", "-p", "--publish"})
	if len(rest) < 2 {
		return call, false
	}
	return rest[1:], true
}

func isPython(p string) bool { return p == "python" || p == "python3" || p == "py" }

// ranBy is the program that a package manager or an environment's tool is told
// to run, nil where it is the name of a task.
func ranBy(call []string) []string {
	args := call[1:]
	switch path.Base(call[0]) {
	case "npm", "pnpm", "yarn":
		args = manage(args).rest
	case "hatch", "pdm", "rye", "pixi", "devbox", "bun":
		w := words(args)
		if len(w) < 2 || w[0] != "run" {
			return nil
		}
		args = args[slices.Index(args, "run")+1:]
	default:
		return nil
	}
	args = afterFlags(args, []string{"-e", "--environment"})
	if len(args) == 0 || named(args[0]).role != "" && !isLinter(args[0]) {
		return nil
	}
	return args
}

// isLinter tells whether a word that is the name of a common task too is
// first of all that of a program.
func isLinter(word string) bool {
	switch word {
	case "pytest", "jest", "vitest", "rspec", "ruff", "pylint", "flake8", "mypy", "eslint", "pre-commit":
		return true
	}
	return false
}
