package infer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// task adds a target, and the command that runs it where its name says what
// it is for.
func (r *Reading) task(at string, line int, runner, name, typed, recipe string) {
	r.Targets = append(r.Targets, Target{Need: Need{Runner: runner, Name: name, Dir: folder(at)}, Place: Place{Path: at, Line: line}, Recipe: clip(recipe), Scripts: scriptsIn(recipe)})
	v := named(name)
	if v.role == "" || len(typed) > maxText {
		return
	}
	if v.narrow {
		v.score -= plainScore
	}
	r.Commands = append(r.Commands, Command{Role: v.role, Text: typed, Dir: folder(at), Origin: Tasks, Place: Place{Path: at, Line: line}, Score: v.score,
		Needs: []Need{{Runner: runner, Name: name, Dir: folder(at)}}})
}

func clip(s string) string {
	s = squeeze(s)
	if len(s) > maxText {
		return ""
	}
	return s
}

// dedupe joins several rules for one target, and keeps one command for each.
func (r *Reading) dedupe() {
	first := map[string]int{}
	var targets []Target
	for _, t := range r.Targets {
		if i, again := first[t.Name]; again {
			targets[i].Recipe = cmp.Or(targets[i].Recipe, t.Recipe)
			targets[i].Deps = append(targets[i].Deps, t.Deps...)
			targets[i].Scripts = append(targets[i].Scripts, t.Scripts...)
			continue
		}
		first[t.Name] = len(targets)
		targets = append(targets, t)
	}
	r.Targets = targets
	seen := map[string]bool{}
	r.Commands = slices.DeleteFunc(r.Commands, func(c Command) bool {
		again := seen[c.Text]
		seen[c.Text] = true
		return again
	})
}

var (
	justRecipe = regexp.MustCompile(`^@?([A-Za-z_][\w-]*)((?:\s+[+*$]?[\w-]+(?:\s*=\s*(?:'[^']*'|"[^"]*"|\S+))?)*)\s*:(?:[^=]|$)`)
	justImport = regexp.MustCompile(`^(?:import|mod)\??\s`)
	justAlias  = regexp.MustCompile(`^alias\s+([\w-]+)\s*:=`)
)

// readJustfile lists the recipes of a justfile.
func readJustfile(at string, data []byte) Reading {
	var r Reading
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		switch {
		case justImport.MatchString(line):
			r.Open = true
		case justAlias.MatchString(line):
			name := justAlias.FindStringSubmatch(line)[1]
			r.Targets = append(r.Targets, Target{Need: Need{Runner: "just", Name: name, Dir: folder(at)}, Place: Place{Path: at, Line: i + 1}})
		default:
			if m := justRecipe.FindStringSubmatch(line); m != nil && m[1] != "set" && m[1] != "export" {
				r.task(at, i+1, "just", m[1], "just "+m[1], indented(lines[i+1:]))
			}
		}
		if len(r.Targets) >= maxFindings {
			break
		}
	}
	r.dedupe()
	return r
}

// indented is the body of a recipe.
func indented(lines []string) string {
	var parts []string
	for _, l := range lines {
		if l == "" || l[0] != ' ' && l[0] != '\t' {
			break
		}
		l = strings.TrimLeft(strings.TrimSpace(l), "@-")
		if l != "" && !strings.HasPrefix(l, "#") {
			parts = append(parts, l)
		}
	}
	return strings.Join(parts, "\n")
}

// readTaskfile lists the tasks of a Taskfile.
func readTaskfile(at string, data []byte) Reading {
	root, why := mapping(data)
	if root == nil {
		return Reading{Unreadable: why}
	}
	var r Reading
	r.Open = child(root, "includes") != nil
	tasks := child(root, "tasks")
	for key, value := range pairs(tasks) {
		if internal := child(value, "internal"); internal != nil && internal.Value == "true" {
			continue
		}
		if strings.ContainsAny(key.Value, "*{") {
			r.Open = true
			continue
		}
		r.task(at, key.Line, "task", key.Value, "task "+key.Value, strings.Join(scripts(orChild(value, "cmds", "cmd")), "\n"))
		for _, alias := range scripts(child(value, "aliases")) {
			r.Targets = append(r.Targets, Target{Need: Need{Runner: "task", Name: alias, Dir: folder(at)}, Place: Place{Path: at, Line: key.Line}})
		}
	}
	return r
}

// readPackageJSON lists the scripts of a package.json, called by the package
// manager that it names.
func readPackageJSON(at string, data []byte) Reading {
	var doc struct {
		Scripts        map[string]string `json:"scripts"`
		PackageManager string            `json:"packageManager"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return Reading{Unreadable: "the file is not JSON"}
	}
	manager, _, _ := strings.Cut(doc.PackageManager, "@")
	switch manager {
	case "pnpm", "yarn", "bun":
	default:
		manager = "npm"
	}
	var r Reading
	names := make([]string, 0, len(doc.Scripts))
	for name := range doc.Scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	starts := lineStarts(data)
	for _, name := range names {
		r.task(at, keyLine(data, starts, name), "npm", name, script(manager, name), doc.Scripts[name])
	}
	return r
}

func script(manager, name string) string {
	if manager != "npm" || name == "test" || name == "start" {
		return manager + " " + name
	}
	return "npm run " + name
}

// keyLine is the line of a script's name: below "scripts", since a name like
// test may stand elsewhere too.
func keyLine(data []byte, starts []int, name string) int {
	quoted, err := json.Marshal(name)
	if err != nil {
		return 0
	}
	from := max(bytes.Index(data, []byte(`"scripts"`)), 0)
	for at := from; ; {
		i := bytes.Index(data[at:], quoted)
		if i < 0 {
			return lineAt(starts, from)
		}
		at += i + len(quoted)
		if rest := bytes.TrimLeft(data[at:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			return lineAt(starts, at-1)
		}
	}
}

// mapping parses one YAML document that must be a mapping.
func mapping(data []byte) (root *yaml.Node, why string) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, "the file is not YAML"
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, "the file is not a mapping"
	}
	return doc.Content[0], ""
}

// pairs are the keys and values of a mapping.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n = follow(n); n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], follow(n.Content[i+1])) {
				return
			}
		}
	}
}

// follow gives what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func child(n *yaml.Node, key string) *yaml.Node {
	for k, v := range pairs(n) {
		if k.Value == key {
			return v
		}
	}
	return nil
}

func orChild(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		if c := child(n, k); c != nil {
			return c
		}
	}
	return n
}

// items are the entries of a list; a single value is a list of one.
func items(n *yaml.Node) []*yaml.Node {
	switch n = follow(n); {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		out := make([]*yaml.Node, 0, len(n.Content))
		for _, c := range n.Content {
			out = append(out, follow(c))
		}
		return out
	case n.Kind == yaml.ScalarNode:
		return []*yaml.Node{n}
	}
	return nil
}

// scripts are the texts of a list, or of the key cmd of its mappings.
func scripts(n *yaml.Node) []string {
	var out []string
	for _, it := range items(n) {
		if it != nil && it.Kind == yaml.MappingNode {
			it = child(it, "cmd")
		}
		if it != nil && it.Kind == yaml.ScalarNode {
			out = append(out, it.Value)
		}
	}
	return out
}

// textLine is the line at which the text of a scalar begins.
func textLine(n *yaml.Node) int {
	if n.Style == yaml.LiteralStyle || n.Style == yaml.FoldedStyle {
		return n.Line + 1
	}
	return n.Line
}

func cleanDir(s string) (string, bool) {
	if strings.ContainsAny(s, "$") || path.IsAbs(s) {
		return "", false
	}
	d := join("", s)
	return d, !strings.HasPrefix(d, "..")
}
