package infer

import (
	"strings"
	"testing"
)

// What a script runs is held against what other files say.
func TestScriptsAgree(t *testing.T) {
	const head = "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")/..\"\n"
	for name, c := range map[string]struct{ ci, agents, script, says string }{
		"it runs the same":              {"./scripts/test.sh", "go test ./...", "go vet ./...\ngo test -race ./...\n", ""},
		"it runs another":               {"./scripts/test.sh", "go test ./...", "pytest -q\n", "AGENTS.md:1 says `go test ./...`"},
		"a shell is told to run it":     {"bash -euo pipefail scripts/test.sh", "go test ./...", "go test ./...\n", ""},
		"another, told to a shell":      {"sh scripts/test.sh", "npm test", "go test ./...\n", "AGENTS.md:1 says `npm test`"},
		"a branch of it":                {"./scripts/test.sh", "go test ./...", "if [ -n \"$CI\" ]; then\n  run() { go test -race ./...; }\n  run\nelse npm test; fi\n", ""},
		"a script that it calls":        {"./scripts/test.sh", "go test ./...", "./scripts/unit.sh \"$@\"\n", ""},
		"a script that it reads":        {"./scripts/test.sh", "go test ./...", ". scripts/unit.sh\n", ""},
		"a target that it calls":        {"./scripts/test.sh", "go test ./...", "make lib\n", ""},
		"a program from a variable":     {"./scripts/test.sh", "npm test", "pytest\n${RUNNER:-go} test ./...\n", ""},
		"a script that calls itself":    {"./scripts/test.sh", "go test ./...", "scripts/test.sh\n", ""},
		"one that cannot be read":       {"./scripts/test.sh", "go test ./...", "if then fi ((\n", ""},
		"one that is too large":         {"./scripts/test.sh", "go test ./...", "pytest\n" + strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 100), ""},
		"one that runs ever so much":    {"./scripts/test.sh", "go test ./...", "pytest\n" + many("pytest tests/%\n"), ""},
		"one that runs nothing known":   {"./scripts/test.sh", "go test ./...", "echo hello\n", ""},
		"the script is what is advised": {"go test ./...", "./scripts/test.sh", "pytest\n", "AGENTS.md:1 says `./scripts/test.sh`"},
	} {
		t.Run(name, func(t *testing.T) {
			got := texts(t, map[string]string{
				".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: '" + c.ci + "'}]}}\n",
				"AGENTS.md":                "Test with `" + c.agents + "`.\n", "scripts/test.sh": head + c.script, "scripts/unit.sh": "go test ./...\n",
				"Makefile": "lib:\n\tgo test ./...\n", "package.json": `{"scripts": {"test": "vitest run"}}`,
			}, "")[Test]
			if got.Text != c.ci || got.Stale != "" || strings.Join(got.Disagrees, "\n") != c.says {
				t.Errorf("%q, stale %q, disagrees %q", got.Text, got.Stale, got.Disagrees)
			}
		})
	}
}

// many writes a line several times, each time another.
func many(line string) string {
	var b strings.Builder
	for i := range 100 {
		b.WriteString(strings.ReplaceAll(line, "%", strings.Repeat("a", i+1)))
	}
	return b.String()
}

// A command is stale whose script is not there, be it called by a target.
func TestScriptThatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		stale string
	}{
		"called":                  {map[string]string{"AGENTS.md": "Test: `./scripts/test.sh`\n"}, "there is no file scripts/test.sh"},
		"by a shell":              {map[string]string{"AGENTS.md": "Test: `bash scripts/test.sh`\n"}, "there is no file scripts/test.sh"},
		"by CI":                   {map[string]string{".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: ./scripts/test.sh}]}}\n"}, "there is no file scripts/test.sh"},
		"by a target":             {map[string]string{"Makefile": "test:\n\t@./scripts/test.sh -v\n"}, "there is no file scripts/test.sh, which Makefile:1 runs"},
		"by a target of a folder": {map[string]string{"x/Makefile": "test:\n\tbash tools/test.sh\n"}, "there is no file x/tools/test.sh, which x/Makefile:1 runs"},
		"by a target's target":    {map[string]string{"AGENTS.md": "Test: `make test`\n", "Makefile": "test: unit\nunit:\n\tscripts/unit.sh\n"}, "there is no file scripts/unit.sh, which Makefile:2 runs"},
		"by a package's script":   {map[string]string{"package.json": `{"scripts": {"test": "bash ./ci/test.sh"}}`}, "there is no file ci/test.sh, which package.json:1 runs"},
		"it is there":             {map[string]string{"Makefile": "test:\n\t./scripts/test.sh\n", "scripts/test.sh": "go test ./...\n"}, ""},
		"from another folder":     {map[string]string{"Makefile": "test:\n\tcd scripts\n\t./scripts/test.sh\n", "scripts/test.sh": "go test ./...\n"}, ""},
		"it is made":              {map[string]string{"Makefile": "test: gen\n\t./build/test.sh\nbuild/test.sh:\n\ttouch $@\n"}, ""},
		"a program that is built": {map[string]string{"Makefile": "test: \n\t./bin/app test\n"}, ""},
		"a name that is open":     {map[string]string{"Makefile": "test:\n\t$(TOOLS)/test.sh\n"}, ""},
		"above the repository":    {map[string]string{"Makefile": "test:\n\t../common/test.sh\n"}, ""},
		"maybe a submodule's":     {map[string]string{"Makefile": "test:\n\t./build/test.sh\n", ".gitmodules": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := ""
			if strings.HasPrefix(name, "by a target of") {
				dir = "x"
			}
			got := texts(t, c.files, dir)[Test]
			if got.Text == "" || got.Stale != c.stale {
				t.Errorf("%q is stale: %q", got.Text, got.Stale)
			}
		})
	}
}

// What is kept of a script holds no secret, and nothing but what it runs.
func TestScriptsKeepNoSecrets(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	r := ReadScript("scripts/test.sh", []byte("#!/bin/sh\nexport TOKEN="+secret+"\ngo test ./... -token "+secret+"\ncurl -H 'Authorization: Bearer "+secret+"' https://x.test\nTOKEN="+secret+" npm test\n"))
	if len(r.Targets) != 1 || strings.Contains(r.Targets[0].Recipe, secret) || !strings.Contains(r.Targets[0].Recipe, "go test ./...") || strings.Contains(r.Targets[0].Recipe, "curl") {
		t.Errorf("kept: %+v", r)
	}
}
