package infer

import (
	"fmt"
	"strings"
	"testing"
)

// texts gives the commands that are chosen for a folder, by role.
func texts(t *testing.T, files map[string]string, dir string) map[Role]Choice {
	t.Helper()
	readings, paths := map[string]Reading{}, make([]string, 0, len(files))
	for at, data := range files {
		paths = append(paths, at)
		if Wanted(at) {
			readings[at] = Read(at, []byte(data))
		}
	}
	for range ScriptDepth {
		for _, at := range Scripts(readings, func(at string) bool { _, ok := files[at]; return ok }) {
			readings[at] = ReadScript(at, []byte(files[at]))
		}
	}
	out := map[Role]Choice{}
	for _, c := range NewRepository(readings, paths).Commands(dir) {
		out[c.Role] = c
	}
	return out
}

const goWorkflow = `name: ci
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: go test -race ./...
      - name: lint
        uses: golangci/golangci-lint-action@v6
        with: {args: --timeout=5m}
      - run: |
          # what makes the binary
          cd cmd && go build -o ../bin/app .
          echo "${{ secrets.TOKEN }}" | docker login
`

func TestWorkflowIsWhatCounts(t *testing.T) {
	got := texts(t, map[string]string{
		".github/workflows/ci.yml": goWorkflow,
		"AGENTS.md":                "# Rules\n\n- Test: `make test`\n- Run `make lint` first.\n",
		"Makefile":                 "test: ## all tests\n\tgo test ./...\nlint:\n\tgolangci-lint run\n",
		"go.mod":                   "module example.com/app\n",
		"cmd/main.go":              "package main\n",
	}, "")
	for role, want := range map[Role]string{Test: "go test -race ./...", Lint: "golangci-lint run --timeout=5m", Build: "go build ./..."} {
		if got[role].Text != want {
			t.Errorf("%s: got %q, want %q", role, got[role].Text, want)
		}
	}
	if c := got[Test]; c.Path != ".github/workflows/ci.yml" || c.Line != 8 || len(c.Disagrees) > 0 {
		t.Errorf("the test command: %+v", c)
	}
}

func TestDisagreementIsShown(t *testing.T) {
	got := texts(t, map[string]string{
		".gitea/workflows/ci.yaml": "on: {push: {branches: [main]}}\njobs:\n  t:\n    steps:\n      - run: pnpm test:ci\n",
		"AGENTS.md":                "## Testing\n\n```sh\nnpm test\n```\n",
		"package.json":             `{"packageManager": "pnpm@9.1.0", "scripts": {"test": "vitest", "test:ci": "vitest run", "build": "tsc -b"}}`,
	}, "")
	c := got[Test]
	if c.Text != "pnpm test:ci" || len(c.Disagrees) != 1 || c.Disagrees[0] != "AGENTS.md:4 says `npm test`" {
		t.Errorf("got %q, disagrees %q", c.Text, c.Disagrees)
	}
	if b := got[Build]; b.Text != "pnpm build" || b.Path != "package.json" || b.Line != 1 {
		t.Errorf("build: %+v", b)
	}
}

func TestCommandThatNamesNothingIsStale(t *testing.T) {
	files := map[string]string{"CLAUDE.md": "Run `make check` before you push.\n", "Makefile": "verify:\n\tgo test ./...\n"}
	c := texts(t, files, "")[Test]
	if c.Text != "make check" || c.Stale != "Makefile has no target check" {
		t.Errorf("got %q, stale %q", c.Text, c.Stale)
	}
	files["Makefile"] = "include more.mk\n" + files["Makefile"]
	if c := texts(t, files, "")[Test]; c.Stale != "" {
		t.Errorf("a Makefile that includes another may have it: %q", c.Stale)
	}
	delete(files, "Makefile")
	if c := texts(t, files, "")[Test]; c.Stale != "there is no Makefile in the root folder" {
		t.Errorf("stale %q", c.Stale)
	}
}

func TestNearestFolderFirst(t *testing.T) {
	files := map[string]string{
		"AGENTS.md":                    "- Test: `make test`\n- Lint: `make lint`\n",
		"Makefile":                     "test:\n\t./all.sh\nlint:\n\t./lint.sh\n",
		"services/pay/AGENTS.md":       "- **Test**: `go test ./...`\n",
		"services/pay/go.mod":          "module pay\n",
		"services/pay/main.go":         "package main\n",
		".github/workflows/pay.yml":    "on: push\ndefaults: {run: {working-directory: services/pay}}\njobs: {a: {steps: [{run: go test -count=1 ./...}]}}\n",
		"services/ship/catalog.yaml":   "",
		"docs/guide/AGENTS.md":         "Check with `make lint`.\n",
		"tests/AGENTS.md":              "```\nmake test\n```\n",
		"services/pay/testdata/a.make": "",
	}
	got := texts(t, files, "services/pay")
	if got[Test].Text != "go test -count=1 ./..." || got[Test].Dir != "services/pay" {
		t.Errorf("pay: %+v", got[Test])
	}
	if got[Lint].Text != "go vet ./..." {
		t.Errorf("pay lint: %+v", got[Lint])
	}
	if got := texts(t, files, "services/ship"); got[Test].Text != "make test" || got[Test].Dir != "" {
		t.Errorf("ship: %+v", got[Test])
	}
}

func TestTaskFiles(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       map[Role]string
		targets    string
	}{
		"make": {"Makefile", "GO ?= go\nX := a: b\n.PHONY: all test\n\nall: build\n\nbuild test-e2e: deps\n\t$(GO) build ./...\n\ntest:: \\\n  deps\n\t@go test ./...\n%.pb.go: %.proto\n\tprotoc $<\ndeps:\n",
			map[Role]string{Build: "make build", Test: "make test", Setup: "make deps"}, "all build test-e2e test deps"},
		"just": {"justfile", "set shell := ['bash']\nversion := \"1\"\n\n# everything\ntest *ARGS:\n    cargo test {{ARGS}}\n\nalias t := test\n@lint:\n  cargo clippy\n",
			map[Role]string{Test: "just test", Lint: "just lint"}, "test t lint"},
		"task": {"Taskfile.yml", "version: '3'\ntasks:\n  build:\n    cmds: [go build ./...]\n  test: {cmd: go test ./...}\n  default: echo\n  hidden: {internal: true, cmds: [x]}\n",
			map[Role]string{Build: "task build", Test: "task test"}, "build test default"},
		"package.json": {"package.json", "{\n\t\"scripts\": {\n\t\t\"dev\": \"vite\",\n\t\t\"test\": \"vitest\",\n\t\t\"lint:fix\": \"eslint --fix\"\n\t}\n}\n",
			map[Role]string{Run: "npm run dev", Test: "npm test"}, "dev lint:fix test"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Read(c.file, []byte(c.text))
			var targets []string
			for _, x := range r.Targets {
				targets = append(targets, x.Name)
			}
			if got := strings.Join(targets, " "); got != c.targets {
				t.Errorf("targets %q, want %q", got, c.targets)
			}
			got := texts(t, map[string]string{c.file: c.text}, "")
			for role, want := range c.want {
				if got[role].Text != want {
					t.Errorf("%s: %q, want %q", role, got[role].Text, want)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestManifests(t *testing.T) {
	for file, c := range map[string]struct{ text, test string }{
		"go.mod":         {"module x\n\ngo 1.26\n", "go test ./..."},
		"Cargo.toml":     {"[package]\nname = \"x\"\n", "cargo test"},
		"pom.xml":        {"<?xml version=\"1.0\"?>\n<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><artifactId>x</artifactId></project>", "mvn test"},
		"build.gradle":   {"plugins { }", "gradle test"},
		"pyproject.toml": {"[tool.poetry]\nname = \"x\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", "poetry run pytest"},
	} {
		if got := texts(t, map[string]string{file: c.text}, "")[Test].Text; got != c.test {
			t.Errorf("%s: %q, want %q", file, got, c.test)
		}
	}
}

func TestGitLab(t *testing.T) {
	got := texts(t, map[string]string{".gitlab-ci.yml": "stages: [test]\ndefault:\n  before_script: [npm ci]\n.base: &base\n  script: [npm run lint]\nunit:\n  <<: *base\n  script:\n    - cd web\n    - npm test\n    - !reference [.base, script]\n", "web/package.json": "{\"scripts\":{\"test\":\"jest\"}}", "package.json": "{\"scripts\":{\"lint\":\"eslint\"}}"}, "web")
	if got[Test].Text != "npm test" || got[Test].Dir != "web" || got[Test].Line != 10 {
		t.Errorf("test: %+v", got[Test])
	}
	if got[Lint].Text != "npm run lint" || got[Setup].Text != "npm ci" {
		t.Errorf("got %+v", got)
	}
}

// What tells one not to run something, or only speaks of it, is no command.
func TestNothingIsMadeUp(t *testing.T) {
	for _, text := range []string{
		"Never run `npm test` here.\n", "Do not use `go test ./...`, it is slow.\n", "The flag goes to `go test` in the end.\n",
		"See the `tests/` folder.\n", "We moved from `make test` long ago; that was `make test`.\n",
		"```go\nexec.Command(\"go\", \"test\")\n```\n", "```yaml\nrun: make test\n```\n", "```\nok  \tpkg\t0.1s\nFAIL\n```\n",
		"`Makefile` and `package.json` are at the root.\n", "- `cmd/build.sh.tmpl`: a template\n", "- `make clean`: removes the build\n",
		"Commit with `git commit -m 'run make test'`.\n",
	} {
		if got := texts(t, map[string]string{"AGENTS.md": text, "Makefile": "include x\n"}, ""); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSecretsAreMasked(t *testing.T) {
	got := texts(t, map[string]string{"CLAUDE.md": "```sh\nAPI_TOKEN=s3cr3tvalue123 go test ./...\n```\n"}, "")
	if c := got[Test]; strings.Contains(c.Text, "s3cr3t") || !strings.Contains(c.Text, "go test ./...") {
		t.Errorf("got %q", c.Text)
	}
}

func FuzzRead(f *testing.F) {
	for _, at := range []string{"AGENTS.md", "Makefile", "justfile", "Taskfile.yml", "package.json", ".github/workflows/a.yml", ".gitlab-ci.yml", "go.mod", "Cargo.toml", "pom.xml"} {
		f.Add(at, goWorkflow)
		f.Add(at, "# Test\n- `make test` && `npm t`\n```\n$ cd a && go test ./... \\\n -run X\n```\n|a|\n|-|\n|`make test`|\n")
	}
	f.Fuzz(func(t *testing.T, at, text string) {
		r := Read(at, []byte(text))
		for _, c := range r.Commands {
			if c.Line < 1 || c.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%s: line %d of a text of %d lines", c.Text, c.Line, strings.Count(text, "\n")+1)
			}
			if c.Text == "" || strings.Contains(c.Text, "\n") {
				t.Errorf("command %q", c.Text)
			}
		}
		NewRepository(map[string]Reading{at: r}, []string{at}).Commands("")
	})
}

func manyJobs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  j%d: {steps: *s}\n", i)
	}
	return b.String()
}

// laughs is a pipeline whose lists hold each other ten times over.
func laughs() string {
	var b strings.Builder
	b.WriteString("l0: &l0 [make test]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", i-1), 10), ","))
	}
	b.WriteString("job: {script: *l8}\n")
	return b.String()
}

// Text made to be slow is read in time that follows its size.
func TestHostileText(t *testing.T) {
	for name, text := range map[string]string{
		"spans":    strings.Repeat("run `x` ", 100_000),
		"blanks":   "```\n" + strings.Repeat("\n", 500_000) + strings.Repeat("make test\n", 5_000) + "```\n",
		"quotes":   "```\n" + strings.Repeat("\"`$((", 100_000) + "\n```\n",
		"nested":   strings.Repeat("- ", 5_000) + "`make test`\n",
		"targets":  strings.Repeat("a:\n", 200_000),
		"angles":   strings.Repeat("<a ", 300_000),
		"includes": strings.Repeat("include a.mk b.mk\n", 50_000),
		"goes on":  strings.Repeat("a \\\n", 200_000),
		"defines":  strings.Repeat("define a\n", 100_000),
		"aliases":  "on: push\nx: &s [" + strings.Repeat("{run: make test},", 20_000) + "]\njobs:\n" + strings.Repeat("  a: {steps: *s}\n", 1) + strings.Repeat("  b1: {steps: *s}\n", 1) + manyJobs(5_000),
		"laughs":   laughs(),
		"matrix":   "on: push\njobs:\n  a:\n    strategy: {matrix: {d: [" + strings.Repeat("a,", 20_000) + "]}}\n    steps:\n" + strings.Repeat("    - {run: go test, working-directory: '${{ matrix.d }}'}\n", 5_000),
		"heredocs": "```\n" + strings.Repeat("cat <<A\n", 50_000) + "```\n",
		"cells":    "|a|\n|-|\n" + strings.Repeat("|`make test`|", 20_000) + "\n",
	} {
		for _, at := range []string{"AGENTS.md", "Makefile", "justfile", ".github/workflows/a.yml", ".gitlab-ci.yml", "slo/a.yaml"} {
			t.Run(name+" "+at, func(*testing.T) {
				r := Read(at, []byte(text))
				NewRepository(map[string]Reading{at: r, "a.mk": {OnlyCalled: true, Calls: []string{"a.mk", "b.mk"}}, "b.mk": {OnlyCalled: true, Calls: []string{"a.mk"}}}, []string{at}).Commands("")
			})
		}
	}
}

// TestPlausibleEndings holds that no file is passed over by its ending that
// inference reads.
func TestPlausibleEndings(t *testing.T) {
	for _, at := range []string{"AGENTS.md", "x/CLAUDE.MD", "CONTRIBUTING.md", "Makefile", "GNUmakefile", "make/a.mk", "justfile", ".justfile", "Taskfile.yml", "taskfile.dist.yaml", "package.json", "go.mod",
		"pyproject.toml", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".github/actions/x/action.yaml", "CODEOWNERS", ".github/CODEOWNERS",
		"slo/a.yaml", "apps/pay/overlays/prod/Kustomization", "charts/pay/values-prod.yaml", "docs/runbooks/a.md"} {
		if !Tells(at) {
			t.Errorf("%s is passed over", at)
		}
	}
	for _, at := range []string{"main.go", "node_modules/x/package.json", "docs/a.png", "README"} {
		if Tells(at) {
			t.Errorf("%s is looked at", at)
		}
	}
}
