package infer

import (
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// isGitLab tells whether a file is a pipeline of GitLab, or a part of one,
// which counts where the pipeline includes it.
func isGitLab(dir, base string) bool {
	if !isYAML(base) {
		return false
	}
	return dir == "" && strings.HasPrefix(base, ".gitlab-ci") || dir == ".gitlab" || strings.HasPrefix(dir, ".gitlab/") || dir == ".gitlab-ci" || strings.HasSuffix(base, ".gitlab-ci.yml")
}

// reserved are the keys of a GitLab pipeline that are no jobs.
func reserved() map[string]bool {
	return map[string]bool{"stages": true, "variables": true, "include": true, "workflow": true, "image": true, "services": true, "cache": true, "spec": true, "pages": true, "default": true}
}

// gitlabReader reads one pipeline of GitLab.
type gitlabReader struct {
	at   string
	root *yaml.Node
	out  Reading
	// looked counts the entries of scripts that were looked at.
	looked int
}

// readGitLab finds what the jobs of a GitLab pipeline run on a change.
func readGitLab(at string, data []byte) Reading {
	roots, why := documents(data)
	if len(roots) == 0 {
		return Reading{Unreadable: orText(why, "the file is not a mapping")}
	}
	g := gitlabReader{at: at, root: roots[len(roots)-1]} // inputs stand in one before it
	g.out.OnlyCalled = at != ".gitlab-ci.yml" && at != ".gitlab-ci.yaml"
	g.includes(child(g.root, "include"))
	for name, node := range pairs(g.root) {
		if !reserved()[name.Value] && !strings.HasPrefix(name.Value, ".") && node != nil && node.Kind == yaml.MappingNode && !g.idle(node) {
			g.job(name.Value, node)
		}
	}
	return g.out
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (g *gitlabReader) job(name string, node *yaml.Node) {
	from := len(g.out.Commands)
	defaults := firstNode(at(g.root, "default", "before_script"), child(g.root, "before_script"))
	dir := g.steps(firstNode(g.of(node, "before_script", maxDeep), defaults), "", maxDeep)
	g.steps(g.of(node, "script", maxDeep), dir, maxDeep)
	if !releases(name) && !releases(scalar(node, "stage")) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(g.out.Commands[from:]), func(c Command) bool { return c.Role == Build })
	g.out.Commands = append(g.out.Commands[:from], kept...)
}

// of is what a job says, else what those that it extends say, the last first.
func (g *gitlabReader) of(node *yaml.Node, key string, depth int) *yaml.Node {
	if own := child(node, key); own != nil {
		return own
	}
	if merged := child(node, "<<"); merged != nil && depth > 0 {
		for _, m := range append(items(merged), merged) {
			if own := g.of(m, key, depth-1); own != nil {
				return own
			}
		}
	}
	bases := items(child(node, "extends"))
	for i := min(len(bases), maxCalls) - 1; i >= 0 && depth > 0; i-- {
		if base := child(g.root, bases[i].Value); base != nil {
			if own := g.of(base, key, depth-1); own != nil {
				return own
			}
		}
	}
	return nil
}

// idle tells whether a job does not run by itself when the code changes.
func (g *gitlabReader) idle(node *yaml.Node) bool {
	if scalar(node, "when") == "manual" {
		return true
	}
	if only := items(child(node, "only")); len(only) > 0 {
		return !slices.ContainsFunc(only, func(n *yaml.Node) bool {
			return n == nil || n.Value != "tags" && n.Value != "schedules" && n.Value != "triggers" && n.Value != "web"
		})
	}
	rules := items(g.of(node, "rules", maxDeep))
	for _, r := range rules {
		cond := scalar(r, "if")
		if scalar(r, "when") != "never" && scalar(r, "when") != "manual" && !strings.Contains(cond, `"schedule"`) && !strings.Contains(cond, "$CI_COMMIT_TAG") {
			return false
		}
	}
	return len(rules) > 0
}

// includes notes the files of the repository that a pipeline is made of.
func (g *gitlabReader) includes(list *yaml.Node) {
	all := items(list)
	if list != nil && list.Kind == yaml.MappingNode {
		all = []*yaml.Node{list}
	}
	for _, it := range all {
		name := scalar(it, "local")
		if it != nil && it.Kind == yaml.ScalarNode {
			name = it.Value
		}
		if name == "" || strings.Contains(name, "://") || strings.ContainsAny(name, "$*") || len(g.out.Calls) >= maxCalls {
			continue
		}
		g.out.Calls = append(g.out.Calls, join("", strings.TrimPrefix(name, "/")))
	}
}

// steps adds a list of scripts that share a shell, and gives the folder that
// they leave it in.
func (g *gitlabReader) steps(list *yaml.Node, dir string, depth int) string {
	for _, it := range items(list) {
		if g.looked++; g.looked > maxSteps {
			g.out.Unreadable = "only the first 10,000 lines of its scripts were read"
			return dir
		}
		switch {
		case it == nil || depth == 0 || len(g.out.Commands) >= maxFindings:
		case it.Tag == "!reference" && len(it.Content) == 2:
			dir = g.steps(at(g.root, it.Content[0].Value, it.Content[1].Value), dir, depth-1)
		case it.Kind == yaml.SequenceNode:
			dir = g.steps(it, dir, depth-1)
		case it.Kind == yaml.ScalarNode:
			dir = g.script(it, dir)
		}
	}
	return dir
}

// script adds the commands of one script, and gives the folder that it leaves
// the shell in.
func (g *gitlabReader) script(run *yaml.Node, dir string) string {
	if to, ok := strings.CutPrefix(strings.TrimSpace(run.Value), "cd "); ok && !strings.ContainsAny(to, " $&;\n") {
		return path.Join(dir, to)
	}
	for _, st := range statements(run.Value, textLine(run)) {
		if run.Style == yaml.FoldedStyle || !strings.Contains(run.Value, "\n") {
			st.line = textLine(run)
		}
		g.out.ran(g.at, st, join(dir, st.dir))
	}
	return dir
}
