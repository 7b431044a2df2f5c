package infer

import (
	"strings"
	"testing"
)

// inText gives the commands that a text alone leads to, with task files that
// may define anything.
func inText(t *testing.T, text string) map[Role]Choice {
	t.Helper()
	files := map[string]string{"AGENTS.md": text, "Makefile": "include x\n", "justfile": "import 'x'\n", "Taskfile.yml": "includes: {a: b}\n"}
	readings, paths := map[string]Reading{"package.json": {Open: true}}, []string{"package.json"}
	for at, data := range files {
		readings[at] = Read(at, []byte(data))
		paths = append(paths, at)
	}
	out := map[Role]Choice{}
	for _, c := range NewRepository(readings, paths).Commands("") {
		out[c.Role] = c
	}
	return out
}

// Each text shows one rule; want are the commands by role, "role=command"
// each on a line, and nothing else is to be found.
func TestWhatTextsSay(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a way to run one test may have a name to fill in":       {"- Run one: `yarn test <path to the file>`\n- All: `yarn test`\n", "test=yarn test\ntest_one=yarn test <path to the file>"},
		"a package's tests are the tests where nothing runs all": {"To test the library:\n```\n./gradlew core:test\n```\n", "test=./gradlew core:test\ntest_one=./gradlew core:test"},
		"unit tests are the tests":                               {"- `make test-unit` - no services\n- `make test-integration` - with services\n", "test=make test-unit"},
		"linters are for parts":                                  {"Format with `make fmt`, and run `make lint-go` to lint them\n", "lint=make lint-go"},
		"a label may be followed by a verb":                      {"- Type checking: Use `yarn tsc` in the root.\n", "lint=yarn tsc"},
		"labels in any script":                                   {"- 测试：`npm test`\n", "test=npm test"},
		"a heading about one thing tells what one line does":     {"## Lint and type check\n```sh\nnpm run flint\n```\n", "lint=npm run flint"},
		"but not what many lines do":                             {"## Testing\n```sh\nmake db\nmake seed\n```\n", ""},
		"the other cells of a row say what it does":              {"| Command | What |\n|---|---|\n| `npm run everything` | Test all packages |\n| `npm run db:push` | Push the schema |\n", "test=npm run everything"},
		"a benchmark is no test":                                 {"Run `go test -bench=. ./...` to compare.\n", ""},
		"the value of a flag is no package":                      {"- `go test -v -timeout 9m ./...`\n", "test=go test -v -timeout 9m ./..."},
		"a negation ends with its sentence":                      {"- Do NOT run `npm test`; use `pnpm test` instead.\n", "test=pnpm test"},
		"what stands for a command is bare":                      {"`build` is the output folder. The custom linters use `go run`.\n", ""},
		"what a verb lists":                                      {"the scripts to run first (`script/fmt.sh`, `script/lint.sh`)\n", "lint=script/lint.sh"},
		"PowerShell":                                             {"```powershell\ndotnet build All.sln\n.\\test.ps1\n```\n", "build=dotnet build All.sln\ntest=.\\test.ps1"},
		"in a container":                                         {"1. Tests: `docker compose run --rm -e CI=1 web pytest`\n2. Style: `docker exec php composer stan`\n", "test=docker compose run --rm -e CI=1 web pytest\nlint=docker exec php composer stan"},
		"tools that run others":                                  {"- `uv run --project api pytest`\n- `pixi run lint`\n- `bunx turbo run build`\n- `pnpm nx run-many -t test`\n", "build=bunx turbo run build\ntest=uv run --project api pytest\nlint=pixi run lint"},
		"one project of many":                                    {"```\npnpm nx run-many -t test\npnpm nx test my-lib\n```\n", "test=pnpm nx run-many -t test\ntest_one=pnpm nx test my-lib"},
		"other languages' tools":                                 {"- `mix test`\n- `mix test test/a_test.exs:7`\n- `cmake --build build`\n- `swiftlint --strict`\n", "build=cmake --build build\ntest=mix test\ntest_one=mix test test/a_test.exs:7\nlint=swiftlint --strict"},
		"Gradle's task names":                                    {"- `./gradlew assembleDebug`\n- `./gradlew testDebugUnitTest`\n- `./gradlew detekt ktlintCheck`\n- `./gradlew installDebug`\n", "build=./gradlew assembleDebug\ntest=./gradlew testDebugUnitTest\nlint=./gradlew detekt ktlintCheck"},
		"what installs the product is no setup":                  {"- `make install`: installs the CRDs\n", ""},
		"what installs what is needed is":                        {"- **Install dependencies**: `make install`\n", "setup=make install"},
		"one without a secret is better":                         {"```\n# all tests\nAPI_TOKEN=s3cr3tvalue123 go test -race ./...\n# all tests\ngo test ./...\n```\n", "test=go test ./..."},
		"a command of the program that is documented":            {"```\ndockertool test --fast\ndockertool lint x\n```\n", ""},
		"what writes the expected anew is no way to test":        {"```\nyarn test -u   # Update the tests' snapshots\nmake test-go-unit   # All unit tests\n```\n", "test=make test-go-unit"},
		"a tool of the repository is no program to run":          {"```\ngo run script/build.go   # Build on Windows\n```\n", "build=go run script/build.go"},
		"the first target, where the text says what it is":       {"```\nmake   # Build it\n```\n", "build=make"},
		"a check may be that of linters":                         {"- `make check` runs lint and type-check.\n- `make test` runs all.\n", "test=make test\nlint=make check"},
		"a paragraph that ends in a colon is about the block":    {"Build (without the pages):\n\n```sh\nPAGES=0 make server\n```\n\nThen look at it:\n\n```sh\nmake other\n```\n", "build=PAGES=0 make server"},
		"formatting is no linting, but a check of it is":         {"Lint/format shortcuts: `make format`, `make lint`\n", "lint=make lint"},
		"one test rather than a part":                            {"- Unit: `go test ./pkg/...`\n- Single: `go test ./pkg/a -run TestA`\n- All: `make test`\n", "test=make test\ntest_one=go test ./pkg/a -run TestA"},
		"an example of a commit":                                 {"```bash\ngit commit -m \"$(cat <<'EOF'\nfix: make test\nEOF\n)\"\n```\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			found := inText(t, c.text)
			for _, r := range Roles() {
				if f, ok := found[r]; ok {
					got = append(got, string(r)+"="+f.Text)
				}
			}
			if s := strings.Join(got, "\n"); s != c.want {
				t.Errorf("got\n%s\nwant\n%s", s, c.want)
			}
		})
	}
}
