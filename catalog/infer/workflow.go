package infer

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// onChange are the events at which a workflow says whether a change is good.
func onChange() map[string]bool {
	return map[string]bool{"push": true, "pull_request": true, "pull_request_target": true, "merge_group": true}
}

// isAction tells whether a file describes an action of the repository's own.
func isAction(dir, base string) bool {
	if base != "action.yml" && base != "action.yaml" {
		return false
	}
	return strings.HasPrefix(dir, ".github/") || strings.HasPrefix(dir, ".gitea/") || strings.HasPrefix(dir, ".forgejo/")
}

// readAction finds what the steps of a composite action run.
func readAction(file string, data []byte) Reading {
	root, why := mapping(data)
	if root == nil {
		return Reading{Unreadable: why}
	}
	w := workflowReader{at: file, out: Reading{OnlyCalled: true}}
	j := job{reader: &w}
	for _, step := range items(child(child(root, "runs"), "steps")) {
		j.step(step)
	}
	return w.out
}

// readWorkflow finds what a workflow of GitHub or Gitea runs on a change.
func readWorkflow(file string, data []byte) Reading {
	root, why := mapping(data)
	if root == nil {
		return Reading{Unreadable: why}
	}
	on := child(root, "on")
	w := workflowReader{at: file, releases: releases(path.Base(file)) || releases(scalar(root, "name")), about: aboutFolder(on)}
	switch {
	case triggered(on):
	case names(on, "workflow_call"):
		w.out.OnlyCalled = true
	default:
		return Reading{}
	}
	for name, node := range pairs(child(root, "jobs")) {
		if w.steps > maxSteps {
			break
		}
		if w.steps++; never(child(node, "if")) {
			continue
		}
		w.call(child(node, "uses"))
		all := rows(node)
		if len(data) > largeWorkflow {
			all = all[:1]
		}
		for _, matrix := range all {
			j := job{reader: &w, releases: w.releases || releases(name.Value), matrix: matrix, env: []*yaml.Node{child(root, "env"), child(node, "env")}}
			j.dir = firstNode(at(node, "defaults", "run", "working-directory"), at(root, "defaults", "run", "working-directory"))
			j.shell = firstNode(at(node, "defaults", "run", "shell"), at(root, "defaults", "run", "shell"))
			for _, step := range items(child(node, "steps")) {
				j.step(step)
			}
		}
	}
	if w.steps > maxSteps {
		w.out.Unreadable = "only the first 10,000 of its steps were read"
	}
	return w.out
}

// What bounds the work on one file.
const (
	// largeWorkflow is the size in bytes from which one row of a matrix is
	// enough.
	largeWorkflow = 100 << 10
	maxSteps      = 10_000
)

func firstNode(all ...*yaml.Node) *yaml.Node {
	for _, n := range all {
		if n != nil {
			return n
		}
	}
	return nil
}

// names tells whether a workflow's events name one.
func names(on *yaml.Node, event string) bool {
	for _, it := range items(on) {
		if it != nil && it.Value == event {
			return true
		}
	}
	return child(on, event) != nil || hasKey(on, event)
}

func hasKey(n *yaml.Node, key string) bool {
	for k := range pairs(n) {
		if k.Value == key {
			return true
		}
	}
	return false
}

// triggered tells whether a workflow runs when the code changes. One that runs
// for tags alone makes releases.
func triggered(on *yaml.Node) bool {
	for _, it := range items(on) {
		if it != nil && onChange()[it.Value] {
			return true
		}
	}
	for k, v := range pairs(on) {
		if onChange()[k.Value] && (!hasKey(v, "tags") || hasKey(v, "branches") || hasKey(v, "branches-ignore") || hasKey(v, "paths")) {
			return true
		}
	}
	return false
}

// releases tells whether a name is one of what makes releases, whose builds
// are not those that one works with.
func releases(name string) bool {
	return slices.ContainsFunc(parted(name), func(p string) bool {
		switch p {
		case "release", "releases", "releaser", "goreleaser", "publish", "deploy", "deployment", "docker", "image", "images", "container", "pages", "docs", "website", "nightly", "benchmark", "bench", "codeql", "scorecard":
			return true
		}
		return false
	})
}

var (
	otherEvent = regexp.MustCompile(`github\.event_name\s*==\s*'(schedule|workflow_dispatch|repository_dispatch|release)'|startsWith\(\s*github\.ref(_name)?\s*,\s*'(refs/tags|v)|github\.ref_type\s*==\s*'tag'|\b(failure|cancelled)\(\)`)
	onWindows  = regexp.MustCompile(`(?i)==\s*'windows`)
)

// never tells whether a condition is one that does not hold on a change that
// goes well.
func never(cond *yaml.Node) bool {
	if cond == nil || cond.Kind != yaml.ScalarNode {
		return false
	}
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(cond.Value), "${{"), "}}"))
	if text == "false" {
		return true
	}
	return otherEvent.MatchString(text) && !strings.ContainsAny(text, "|!")
}

// aboutFolder is the folder that a workflow is about: that in which all lies
// whose change starts it, but for files of the workflows.
func aboutFolder(on *yaml.Node) string {
	var common []string
	first := true
	for k, v := range pairs(on) {
		if !onChange()[k.Value] {
			continue
		}
		filtered := false
		for _, p := range items(child(v, "paths")) {
			if p == nil || strings.HasPrefix(p.Value, "!") || strings.HasPrefix(p.Value, ".git") || strings.HasPrefix(p.Value, ".forgejo/") {
				continue
			}
			parts := literalFolder(p.Value)
			if filtered = true; first {
				common, first = parts, false
			}
			common = common[:shared(common, parts)]
		}
		if !filtered {
			return ""
		}
	}
	return strings.Join(common, "/")
}

// literalFolder is the folder of a pattern as far as it is written out.
func literalFolder(pattern string) []string {
	parts := strings.Split(strings.Trim(pattern, "/"), "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "*?[") || i == len(parts)-1 && path.Ext(p) != "" {
			return parts[:i]
		}
	}
	return parts
}

// shared is how many parts two paths begin with alike.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// pipedScore is what a command counts less for of which another program
// reads what it prints.
const pipedScore = 3

type workflowReader struct {
	at       string
	about    string
	releases bool
	steps    int
	out      Reading
}

// call notes a workflow or an action of the same repository.
func (w *workflowReader) call(uses *yaml.Node) {
	if uses == nil || !strings.HasPrefix(uses.Value, "./") || len(w.out.Calls) >= maxCalls {
		return
	}
	w.out.Calls = append(w.out.Calls, path.Clean(uses.Value))
}

// ran adds a command that CI runs. What it runs for one test is no advice on
// how to.
func (r *Reading) ran(at string, st statement, dir string) {
	v, ok := judge(st, dir)
	if !ok || len(st.text) > maxText || strings.HasPrefix(dir, "..") || v.role == Run || len(r.Commands) >= maxFindings {
		return
	}
	c := Command{Role: v.role, Text: st.text, Dir: dir, Origin: CI, Place: Place{Path: at, Line: st.line}, Score: v.score + inBlock, Needs: v.needs}
	if len(st.calls) > 1 {
		c.Score--
	}
	if v.role == Build && (strings.Contains(st.text, "GOOS=") || strings.Contains(st.text, "GOARCH=")) {
		v.narrow = true // for another machine than the one that works on it
	}
	if strings.Contains(st.text, "exit-code=0") {
		c.Score -= pipedScore // what it finds does not count
	}
	if st.piped {
		c.Score -= pipedScore
	}
	for _, c := range c.roles(v) {
		if c.Role != TestOne || v.project {
			r.Commands = append(r.Commands, c)
		}
	}
}
