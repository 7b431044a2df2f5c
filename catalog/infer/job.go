package infer

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// job reads the steps of one job of a workflow, for one row of its matrix.
type job struct {
	reader     *workflowReader
	releases   bool
	dir, shell *yaml.Node
	matrix     map[string]string
	env        []*yaml.Node
}

// maxRows bounds the folders that a matrix is followed for.
const maxRows = 50

var expression = regexp.MustCompile(`\$\{\{\s*(matrix|env)\.([\w-]+)\s*\}\}`)

// rows are the values that a job's matrix gives, as far as they are written
// out: the first of each, and one row for each folder where a folder is what
// differs.
func rows(node *yaml.Node) []map[string]string {
	matrix := at(node, "strategy", "matrix")
	first := map[string]string{}
	for k, v := range pairs(matrix) {
		if all := items(v); len(all) > 0 && all[0] != nil && all[0].Kind == yaml.ScalarNode && k.Value != "include" && k.Value != "exclude" {
			first[k.Value] = all[0].Value
		}
	}
	key := folderKey(node)
	if key == "" {
		return []map[string]string{first}
	}
	var out []map[string]string
	for _, v := range items(child(matrix, key)) {
		if v == nil || v.Kind != yaml.ScalarNode || len(out) >= maxRows {
			continue
		}
		row := map[string]string{}
		for k, val := range first {
			row[k] = val
		}
		row[key] = v.Value
		out = append(out, row)
	}
	if out == nil {
		return []map[string]string{first}
	}
	return out
}

// folderKey is the part of the matrix that the folder of a job is made of.
func folderKey(node *yaml.Node) string {
	dirs := []*yaml.Node{at(node, "defaults", "run", "working-directory")}
	steps := items(child(node, "steps"))
	for _, step := range steps[:min(len(steps), maxRows)] {
		dirs = append(dirs, child(step, "working-directory"))
	}
	for _, d := range dirs {
		if d == nil {
			continue
		}
		if m := expression.FindStringSubmatch(d.Value); m != nil && m[1] == "matrix" {
			return m[2]
		}
	}
	return ""
}

// fill puts the values in that are written out.
func (j *job) fill(text string) string {
	if !strings.Contains(text, "${{") {
		return text
	}
	return expression.ReplaceAllStringFunc(text, func(s string) string {
		m := expression.FindStringSubmatch(s)
		value, ok := j.matrix[m[2]]
		if m[1] == "env" {
			value, ok = "", false
			for _, env := range j.env {
				if v := child(env, m[2]); v != nil && v.Kind == yaml.ScalarNode {
					value, ok = v.Value, true
				}
			}
		}
		if !ok || strings.ContainsAny(value, "\n$`") {
			return s
		}
		return value
	})
}

// step adds what one step runs.
func (j *job) step(step *yaml.Node) {
	cond := child(step, "if")
	if j.reader.steps++; j.reader.steps > maxSteps || never(cond) {
		return
	}
	from, ok := j.folder(child(step, "working-directory"))
	if !ok {
		return
	}
	before := len(j.reader.out.Commands)
	if run := child(step, "run"); run != nil && run.Kind == yaml.ScalarNode && isBourne(firstNode(child(step, "shell"), j.shell)) {
		j.script(run, from)
	}
	if uses := child(step, "uses"); uses != nil {
		j.reader.call(uses)
		j.action(uses, child(step, "with"), from)
	}
	j.settle(before, cond != nil && onWindows.MatchString(cond.Value))
}

// settle completes the commands from one on.
func (j *job) settle(from int, windows bool) {
	all := j.reader.out.Commands
	kept := all[:from]
	for _, c := range all[from:] {
		if j.releases && c.Role == Build {
			continue
		}
		if j.releases {
			c.Score -= 2
		}
		if windows {
			c.Score -= 2
		}
		c.About = j.reader.about
		kept = append(kept, c)
	}
	j.reader.out.Commands = kept
}

// folder is where a step runs; false where only a run tells.
func (j *job) folder(own *yaml.Node) (string, bool) {
	if own = firstNode(own, j.dir); own == nil {
		return "", true
	}
	return cleanDir(j.fill(own.Value))
}

// isBourne tells whether a step's shell is one of the Bourne family.
func isBourne(shell *yaml.Node) bool {
	return shell == nil || strings.Contains(shell.Value, "sh") && !strings.Contains(shell.Value, "pwsh") && !strings.Contains(shell.Value, "powershell")
}

// script adds the commands of one script.
func (j *job) script(run *yaml.Node, from string) {
	// An expression is only known when it runs; what it is part of is left out.
	text := strings.ReplaceAll(j.fill(run.Value), "${{", "$XPR{{")
	for _, st := range statements(text, textLine(run)) {
		if run.Style == yaml.FoldedStyle || !strings.Contains(run.Value, "\n") {
			st.line = textLine(run)
		}
		if !strings.Contains(st.text, "$XPR") {
			j.reader.out.ran(j.reader.at, st, join(from, st.dir))
		}
	}
}

// action adds what well-known actions run.
func (j *job) action(uses, with *yaml.Node, dir string) {
	name, _, _ := strings.Cut(uses.Value, "@")
	if d := child(with, "working-directory"); d != nil {
		own, ok := cleanDir(j.fill(d.Value))
		if !ok {
			return
		}
		dir = own
	}
	text := ""
	switch name {
	case "golangci/golangci-lint-action":
		text = "golangci-lint run"
		if a := child(with, "args"); a != nil && !strings.Contains(a.Value, "${{") {
			text += " " + squeeze(a.Value)
		}
	case "pre-commit/action":
		text = "pre-commit run --all-files"
	default:
		return
	}
	for _, st := range statements(text, uses.Line) {
		j.reader.out.ran(j.reader.at, st, dir)
	}
}
