package infer

import (
	"path"
	"strings"

	"gopkg.in/yaml.v3"
)

// onChange are the events at which a workflow says whether a change is good.
func onChange() map[string]bool {
	return map[string]bool{"push": true, "pull_request": true, "pull_request_target": true, "merge_group": true, "workflow_call": true}
}

// readWorkflow finds what a workflow of GitHub or Gitea runs on a change.
func readWorkflow(at string, data []byte) Reading {
	root, why := mapping(data)
	if root == nil {
		return Reading{Unreadable: why}
	}
	if !triggered(child(root, "on")) {
		return Reading{}
	}
	var r Reading
	shared := child(child(child(root, "defaults"), "run"), "working-directory")
	for _, job := range pairs(child(root, "jobs")) {
		dir := orNode(child(child(child(job, "defaults"), "run"), "working-directory"), shared)
		for _, step := range items(child(job, "steps")) {
			r.step(at, step, dir)
		}
	}
	return r
}

func orNode(a, b *yaml.Node) *yaml.Node {
	if a != nil {
		return a
	}
	return b
}

// triggered tells whether a workflow runs when the code changes.
func triggered(on *yaml.Node) bool {
	for _, it := range items(on) {
		if onChange()[it.Value] {
			return true
		}
	}
	for k := range pairs(on) {
		if onChange()[k.Value] {
			return true
		}
	}
	return false
}

// step adds what one step runs.
func (r *Reading) step(at string, step, dir *yaml.Node) {
	if own := child(step, "working-directory"); own != nil {
		dir = own
	}
	from := ""
	if dir != nil {
		var ok bool
		if from, ok = cleanDir(dir.Value); !ok {
			return
		}
	}
	if run := child(step, "run"); run != nil && run.Kind == yaml.ScalarNode {
		if shell := child(step, "shell"); shell != nil && !strings.Contains(shell.Value, "sh") || shell != nil && strings.HasPrefix(shell.Value, "pwsh") {
			return
		}
		r.script(at, run, from)
	}
	if uses := child(step, "uses"); uses != nil {
		r.action(at, uses, child(step, "with"), from)
	}
}

// script adds the commands of one script.
func (r *Reading) script(at string, run *yaml.Node, from string) {
	// An expression is only known when it runs; what it is part of is left out.
	text := strings.ReplaceAll(run.Value, "${{", "$XPR{{")
	for _, st := range statements(text, textLine(run)) {
		if run.Style == yaml.FoldedStyle || !strings.Contains(run.Value, "\n") {
			st.line = textLine(run)
		}
		if strings.Contains(st.text, "$XPR") || len(r.Commands) >= maxFindings {
			continue
		}
		r.ran(at, st, join(from, st.dir))
	}
}

// ran adds a command that CI runs.
func (r *Reading) ran(at string, st statement, dir string) {
	v, ok := judge(st, dir)
	if !ok || len(st.text) > maxText || strings.HasPrefix(dir, "..") || v.role == Run {
		return
	}
	c := Command{Role: v.role, Text: st.text, Dir: dir, Origin: CI, Place: Place{Path: at, Line: st.line}, Score: v.score + inBlock, Needs: v.needs}
	if len(st.calls) > 1 {
		c.Score--
	}
	r.Commands = append(r.Commands, c.roles(v)...)
}

// action adds what well-known actions run.
func (r *Reading) action(at string, uses, with *yaml.Node, dir string) {
	name, _, _ := strings.Cut(uses.Value, "@")
	if d := child(with, "working-directory"); d != nil {
		own, ok := cleanDir(d.Value)
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
		r.ran(at, st, dir)
	}
}

// reserved are the keys of a GitLab pipeline that are no jobs.
func reserved() map[string]bool {
	return map[string]bool{"stages": true, "variables": true, "include": true, "workflow": true, "image": true, "services": true, "cache": true, "spec": true, "pages": true}
}

// readGitLab finds what the jobs of a GitLab pipeline run.
func readGitLab(at string, data []byte) Reading {
	root, why := mapping(data)
	if root == nil {
		return Reading{Unreadable: why}
	}
	var r Reading
	r.steps(at, child(child(root, "default"), "before_script"), "")
	for name, job := range pairs(root) {
		if reserved()[name.Value] || name.Value == "default" || job == nil {
			continue
		}
		dir := r.steps(at, child(job, "before_script"), "")
		r.steps(at, child(job, "script"), dir)
	}
	return r
}

// steps adds a list of scripts that share a shell, and gives the folder that
// they leave it in.
func (r *Reading) steps(at string, list *yaml.Node, dir string) string {
	for _, it := range items(list) {
		switch {
		case it == nil || it.Tag == "!reference":
		case it.Kind == yaml.SequenceNode:
			dir = r.steps(at, it, dir)
		case it.Kind == yaml.ScalarNode:
			if to, ok := strings.CutPrefix(strings.TrimSpace(it.Value), "cd "); ok && !strings.ContainsAny(to, " $&;\n") {
				dir = path.Join(dir, to)
				continue
			}
			r.script(at, it, dir)
		}
	}
	return dir
}
