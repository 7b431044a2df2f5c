package infer

import (
	"encoding/xml"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"
)

// convention is a command that everybody who knows the tool would type.
func convention(at string, line int, role Role, text string) Command {
	return Command{Role: role, Text: text, Dir: folder(at), Origin: Manifest, Place: Place{Path: at, Line: line}, Score: plainScore}
}

func readGoMod(at string, data []byte) Reading {
	f, err := modfile.ParseLax(at, data, nil)
	if err != nil || f.Module == nil {
		return Reading{Unreadable: "the file is no go.mod"}
	}
	line := f.Module.Syntax.Start.Line
	return Reading{Commands: []Command{
		convention(at, line, Build, "go build ./..."), convention(at, line, Test, "go test ./..."),
		convention(at, line, TestOne, "go test ./PACKAGE -run NAME"), convention(at, line, Lint, "go vet ./..."),
	}}
}

// readPyproject finds what a Python project's tools imply.
func readPyproject(at string, data []byte) Reading {
	var doc struct {
		Tool map[string]any `toml:"tool"`
	}
	if err := toml.Unmarshal(data, &doc); err != nil {
		return Reading{Unreadable: "the file is not TOML"}
	}
	prefix := ""
	var r Reading
	add := func(table string, role Role, text string) {
		r.Commands = append(r.Commands, convention(at, tableLine(data, table), role, text))
	}
	for _, m := range []struct{ table, prefix, setup string }{{"poetry", "poetry run ", "poetry install"}, {"uv", "uv run ", "uv sync"}, {"pdm", "pdm run ", "pdm install"}} {
		if doc.Tool[m.table] != nil {
			prefix = m.prefix
			add("tool."+m.table, Setup, m.setup)
			break
		}
	}
	for _, t := range []struct {
		table string
		role  Role
		text  string
	}{{"pytest", Test, "pytest"}, {"ruff", Lint, "ruff check"}, {"mypy", Lint, "mypy ."}} {
		if doc.Tool[t.table] != nil {
			add("tool."+t.table, t.role, prefix+t.text)
		}
	}
	return r
}

// tableLine is the line at which a table of a TOML file begins.
func tableLine(data []byte, table string) int {
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t["), table) && strings.HasPrefix(strings.TrimSpace(line), "[") {
			return i + 1
		}
	}
	return 1
}

func readCargo(at string, data []byte) Reading {
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		return Reading{Unreadable: "the file is not TOML"}
	}
	table := "package"
	if doc["package"] == nil {
		if table = "workspace"; doc["workspace"] == nil {
			return Reading{}
		}
	}
	line := tableLine(data, table)
	return Reading{Commands: []Command{
		convention(at, line, Build, "cargo build"), convention(at, line, Test, "cargo test"),
		convention(at, line, TestOne, "cargo test NAME"), convention(at, line, Lint, "cargo clippy"),
	}}
}

func readMaven(at string, data []byte) Reading {
	var doc struct {
		XMLName xml.Name `xml:"project"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		return Reading{Unreadable: "the file is no Maven project"}
	}
	return Reading{Commands: []Command{
		convention(at, 1, Build, "mvn package"), convention(at, 1, Test, "mvn test"), convention(at, 1, TestOne, "mvn test -Dtest=NAME"),
	}}
}

func readGradle(at string, _ []byte) Reading {
	return Reading{Commands: []Command{
		convention(at, 1, Build, "gradle build"), convention(at, 1, Test, "gradle test"), convention(at, 1, TestOne, "gradle test --tests NAME"),
	}}
}
