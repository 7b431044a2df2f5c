package infer

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-dev/fairlead/access"
)

// The bounds of what is read of scripts.
const (
	// maxScript is the largest script that is read, in bytes.
	maxScript = 64 << 10
	// MaxScripts is how many scripts of one repository are read.
	MaxScripts = 200
	// ScriptDepth is how deep scripts that scripts call are followed.
	ScriptDepth = 3
	// maxScriptCalls bounds what is kept of one script, in calls, and maxWords each
	// of them, in words.
	maxScriptCalls = 40
	maxWords       = 12
)

// Scripts are the shell scripts that what was read calls, less those that were
// read already, sorted: those of which there says that they are there, from
// the folder that the call may be made in.
func Scripts(readings map[string]Reading, there func(path string) bool) []string {
	out := map[string]bool{}
	add := func(n Need, from string) {
		for _, dir := range append(ancestors(from), n.Dir, join(from, n.Dir)) {
			at := join(dir, n.Name)
			if _, known := readings[at]; n.Runner == "script" && mayBeShell(at) && !known && !elsewhere(at) && there(at) {
				out[at] = true
			}
		}
	}
	for at, r := range readings {
		for _, c := range r.Commands {
			for _, n := range c.Needs {
				add(n, folder(at))
			}
		}
		for _, t := range r.Targets {
			for _, n := range t.Scripts {
				add(n, folder(at))
			}
		}
	}
	all := slices.Sorted(maps.Keys(out))
	return all[:min(len(all), MaxScripts)]
}

// ancestors are a folder and those above it, the root last.
func ancestors(dir string) []string {
	out := []string{dir}
	for ; dir != ""; dir = folder(dir) {
		out = append(out, folder(dir))
	}
	return out
}

// mayBeShell tells whether a file may be a shell script by its name.
func mayBeShell(at string) bool {
	switch path.Ext(at) {
	case ".sh", ".bash", "":
		return true
	}
	return false
}

// ReadScript finds what a shell script runs. It becomes a target that nobody
// calls by another name than its path.
func ReadScript(at string, data []byte) Reading {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	switch {
	case len(data) > maxScript:
		return Reading{Unreadable: "the script is larger than 64 KiB"}
	case path.Ext(at) == "" && (!bytes.HasPrefix(first, []byte("#!")) || !bytes.Contains(first, []byte("sh"))):
		return Reading{Unreadable: "the file is no shell script"}
	}
	file, err := parse(string(data))
	if err != nil {
		return Reading{Unreadable: "the file is no shell script"}
	}
	s := scriptReader{target: Target{Need: scriptNeed(at), Place: Place{Path: at, Line: 1}}}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			s.call(c)
		}
		return true
	})
	s.target.Recipe = strings.Join(s.steps, "\n")
	return Reading{Targets: []Target{s.target}}
}

// scriptNeed is what a script is known by.
func scriptNeed(at string) Need { return Need{Runner: "script", Name: at} }

type scriptReader struct {
	target Target
	steps  []string
}

// call notes a call whose purpose is known, wherever in the script it stands.
// Which branches run nobody knows, so all count.
func (s *scriptReader) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		return
	}
	var st statement
	if call(c, &st); st.open {
		s.target.Open = true // a program whose name only a run tells
		return
	}
	words := unwrap(sourced(st.calls[0]))
	if len(words) == 0 {
		return
	}
	if words[0] == "eval" || strings.Contains(words[0], "$") {
		s.target.Open = true
		return
	}
	v := classify(words)
	if v.role == "" && len(v.needs) == 0 {
		return
	}
	step := quoted(words[:min(len(words), maxWords)])
	switch {
	case slices.Contains(s.steps, step):
	case step == "" || len(s.steps) == maxScriptCalls:
		s.target.Open = true
	default:
		s.steps = append(s.steps, step)
		for _, n := range v.needs {
			if n.Runner == "script" {
				s.target.Scripts = append(s.target.Scripts, n)
			}
		}
	}
}

// sourced makes a call of reading a script in.
func sourced(call []string) []string {
	if (call[0] == "." || call[0] == "source") && len(call) > 1 {
		return append([]string{"bash"}, call[1:]...)
	}
	return call
}

// quoted writes a call as a shell would read it, without secrets; "" where it
// cannot be written.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(access.Redact(w), syntax.LangBash)
		if err != nil || len(w) > maxText {
			return ""
		}
		out[i] = q
	}
	return access.Redact(strings.Join(out, " "))
}

// scriptsIn are the scripts that a recipe calls, from its own folder.
func scriptsIn(recipe string) []Need {
	var out []Need
	for _, st := range statements(recipe, 1) {
		for _, call := range st.calls {
			for _, n := range classify(call).needs {
				if n.Dir = join(st.dir, n.Dir); n.Runner == "script" && len(out) < maxSame && access.Redact(n.Name) == n.Name {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// missing says which script that a target runs is not there, "" if all are or
// nobody can tell.
func (r *Repository) missing(t Target, there func(path string) bool, depth int) string {
	for _, n := range t.Scripts {
		if at := join(join(t.Dir, n.Dir), n.Name); !r.couldBe(n, t, there) {
			return "there is no file " + at + ", which " + t.Path + ":" + strconv.Itoa(t.Line) + " runs"
		}
	}
	for _, name := range t.Deps[:min(len(t.Deps), maxSame)] {
		dep, ok := r.targets[Need{Runner: t.Runner, Name: name, Dir: t.Dir}]
		if !ok || depth == 0 {
			continue
		}
		if why := r.missing(dep, there, depth-1); why != "" {
			return why
		}
	}
	return ""
}

// couldBe tells whether a script that a recipe calls is there, or may be where
// the recipe is run: a recipe may make it first, or change the folder in a way
// that is not followed, and what a submodule holds nobody sees.
func (r *Repository) couldBe(n Need, t Target, there func(path string) bool) bool {
	switch path.Ext(n.Name) {
	case ".sh", ".bash", ".py", ".rb", ".ps1":
	default:
		return true
	}
	name := path.Base(n.Name)
	for _, made := range []string{n.Name, join(n.Dir, n.Name), name} {
		if _, is := r.targets[Need{Runner: t.Runner, Name: made, Dir: t.Dir}]; is {
			return true
		}
	}
	for _, dir := range []string{join(t.Dir, n.Dir), t.Dir, ""} {
		at := join(dir, n.Name)
		if strings.HasPrefix(at, "..") || there(at) {
			return true
		}
	}
	return there(".gitmodules")
}
