package infer

import (
	"slices"
	"strings"
	"testing"
)

func chosen(t *testing.T, files map[string]string, dir string) string {
	t.Helper()
	var out []string
	found := texts(t, files, dir)
	for _, r := range Roles() {
		c, ok := found[r]
		if !ok {
			continue
		}
		s := string(r) + "=" + c.Text
		if c.Dir != "" {
			s += " in " + c.Dir
		}
		if c.Stale != "" {
			s += " but " + c.Stale
		}
		out = append(out, append([]string{s}, c.Disagrees...)...)
	}
	return strings.Join(out, "\n")
}

// Each case shows one rule of what CI really runs.
func TestWhatWorkflowsRun(t *testing.T) {
	for name, c := range map[string]struct{ on, jobs, want string }{
		"a step that never runs on a change":            {"push", "a: {steps: [{if: \"github.event_name == 'schedule'\", run: make slow-test}, {if: 'false', run: make build}, {run: pytest}]}", "test=pytest"},
		"a job that is for tags":                        {"push", "a: {if: \"startsWith(github.ref, 'refs/tags/')\", steps: [{run: go build ./...}]}\n  b: {steps: [{run: go test ./...}]}", "test=go test ./..."},
		"a schedule is no change":                       {"{schedule: [{cron: '0 1 * * *'}]}", "a: {steps: [{run: go test ./...}]}", ""},
		"tags alone are releases":                       {"{push: {tags: ['v*']}}", "a: {steps: [{run: go test ./...}]}", ""},
		"a job that releases does not say how to build": {"push", "release: {steps: [{run: npm ci && npm run build}, {run: cargo test}]}", "test=cargo test"},
		"the first value of a matrix":                   {"push", "a: {strategy: {matrix: {flags: ['-race', '-short']}}, steps: [{run: 'go test ${{ matrix.flags }} ./...'}]}", "test=go test -race ./..."},
		"a value of the environment":                    {"push", "a: {env: {PKG: ./...}, steps: [{run: 'go test ${{ env.PKG }}'}]}", "test=go test ./..."},
		"what only a run tells":                         {"push", "a: {steps: [{run: 'go test ${{ inputs.flags }}'}]}", ""},
		"another shell":                                 {"push", "a: {defaults: {run: {shell: pwsh}}, steps: [{run: go test ./...}, {shell: python, run: import make}]}", ""},
		"loops and functions are programs":              {"push", "a: {steps: [{run: 'for d in a b; do (cd $d; go test ./...); done'}]}", ""},
		"a fixed choice of tests is no advice":          {"push", "a: {steps: [{run: go test -run TestSlow ./slow}]}", ""},
		"a build for another machine":                   {"push", "a: {steps: [{run: GOARCH=arm go build}, {run: go build github.com/acme/other/cmd/x}, {run: go build ./cmd/app}]}", "build=go build ./cmd/app"},
		"a tool run by its version":                     {"push", "a: {steps: [{run: 'go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.1 run'}]}", "lint=go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.1 run"},
	} {
		t.Run(name, func(t *testing.T) {
			got := chosen(t, map[string]string{".github/workflows/ci.yml": "on: " + c.on + "\njobs:\n  " + c.jobs + "\n"}, "")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A workflow that a folder's changes start is about that folder, wherever its
// commands run.
func TestWorkflowOfAFolder(t *testing.T) {
	files := map[string]string{
		".github/workflows/pay.yml": "on: {push: {paths: ['services/pay/**', '.github/workflows/pay.yml']}}\njobs: {a: {steps: [{run: make -C services/pay test}]}}\n",
		".github/workflows/all.yml": "on: push\njobs: {a: {strategy: {matrix: {svc: [ship, bill]}}, defaults: {run: {working-directory: 'services/${{ matrix.svc }}'}}, steps: [{run: go test ./...}]}}\n",
		"services/pay/Makefile":     "test:\n\tgo test ./...\n", "services/ship/go.mod": "module ship\n", "services/bill/main.go": "package main\n",
	}
	for dir, want := range map[string]string{"services/pay": "test=make test in services/pay", "services/bill": "test=go test ./... in services/bill", "": ""} {
		if got := chosen(t, files, dir); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: got %q, want %q", dir, got, want)
		}
	}
}

func TestCalledWorkflowsAndActions(t *testing.T) {
	files := map[string]string{
		".github/workflows/ci.yml":          "on: push\njobs:\n  a: {uses: ./.github/workflows/go.yml}\n  b: {steps: [{uses: ./.github/actions/lint}]}\n",
		".github/workflows/go.yml":          "on: workflow_call\njobs: {a: {steps: [{run: go test -race ./...}]}}\n",
		".github/workflows/unused.yml":      "on: {workflow_call: {}}\njobs: {a: {steps: [{run: go build ./...}]}}\n",
		".github/actions/lint/action.yml":   "runs: {using: composite, steps: [{run: golangci-lint run, shell: bash}]}\n",
		".github/actions/unused/action.yml": "runs: {using: composite, steps: [{run: npm ci, shell: bash}]}\n",
	}
	if got := chosen(t, files, ""); got != "test=go test -race ./...\nlint=golangci-lint run" {
		t.Error(got)
	}
}

func TestGitLabPipelines(t *testing.T) {
	files := map[string]string{
		".gitlab-ci.yml":     "include:\n  - local: /.gitlab/lint.yml\n.go: {before_script: [go mod download], script: [go test ./...]}\nunit: {extends: .go}\nnightly: {script: [make slow], rules: [{if: '$CI_PIPELINE_SOURCE == \"schedule\"'}]}\nship: {stage: release, script: [go build ./...]}\ntags: {only: [tags], script: [npm ci]}\n",
		".gitlab/lint.yml":   "lint: {script: [golangci-lint run]}\n",
		".gitlab/unused.yml": "x: {script: [cargo build]}\n",
	}
	if got := chosen(t, files, ""); got != "setup=go mod download\ntest=go test ./...\nlint=golangci-lint run" {
		t.Error(got)
	}
}

func TestMakefiles(t *testing.T) {
	files := map[string]string{
		"Makefile":                 "BIN := app\nLATER = $(shell date)\ninclude mk/go.mk\n-include $(LOCAL)\ndefine note\nbuild: nothing\nendef\nifeq ($(CI),)\ncheck: lint \\\n  unit\nendif\n$(BIN):\n\tgo build -o $@ .\n",
		"mk/go.mk":                 "lint:\n\tgolangci-lint run\nunit:\n\tgo test ./...\n",
		"mk/other.mk":              "build:\n\tgo build ./...\n",
		"AGENTS.md":                "- Lint: `make lint`\n- Test: `make check`\n",
		".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: go test -race ./...}]}}\n",
	}
	if got := chosen(t, files, ""); got != "test=go test -race ./...\nlint=make lint" {
		t.Error(got)
	}
	delete(files, ".github/workflows/ci.yml")
	files["Makefile"] = strings.Replace(files["Makefile"], "-include $(LOCAL)\n", "", 1)
	files["AGENTS.md"] = "- Lint: `make lint`\n- Test: `make check`\n- Build: `make build`\n"
	if got := chosen(t, files, ""); got != "build=make build but Makefile has no target build\ntest=make check\nlint=make lint" {
		t.Error(got)
	}
}

// Two ways to say the same do not disagree, nor does what nobody can tell.
func TestAgreement(t *testing.T) {
	for name, c := range map[string]struct{ text, ci, want string }{
		"npm test and npm run test":       {"npm run test", "npm test", ""},
		"yarn and yarn install":           {"yarn", "yarn install --immutable", ""},
		"a wrapper and its tool":          {"./gradlew test", "gradle test --no-daemon", ""},
		"a target and its recipe":         {"make test", "go test -race ./...", ""},
		"a target and a target before it": {"make check", "go test ./...", ""},
		"a script that is not read":       {"./scripts/test.sh", "go test ./...", ""},
		"a task that is not read":         {"mise run test", "go test ./...", ""},
		"another package manager":         {"npm test", "pnpm test", "AGENTS.md:1 says `npm test`"},
		"another tool":                    {"pytest", "python -m unittest", "AGENTS.md:1 says `pytest`"},
		"another target":                  {"make unit", "cargo test", "AGENTS.md:1 says `make unit`"},
	} {
		t.Run(name, func(t *testing.T) {
			got := texts(t, map[string]string{
				"AGENTS.md": "- Do it: `" + c.text + "`\n", "Makefile": "check: test\ntest:\n\tgo test ./...\nunit:\n\tpytest\n", "scripts/test.sh": "",
				"package.json":             `{"scripts": {"test": "vitest run"}}`,
				".github/workflows/ci.yml": "on: push\njobs: {a: {steps: [{run: '" + c.ci + "'}]}}\n",
			}, "")
			for _, role := range []Role{Test, Setup} {
				told := slices.DeleteFunc(got[role].Disagrees, func(s string) bool { return !strings.HasPrefix(s, "AGENTS.md") })
				if all := strings.Join(told, "; "); all != c.want && (role == Test || all != "") {
					t.Errorf("%s: %q, want %q", role, all, c.want)
				}
			}
		})
	}
}
