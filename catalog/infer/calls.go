package infer

import (
	"path"
	"strings"
)

const (
	// maxCalls bounds the files that one file calls.
	maxCalls = 100
	// maxDeep bounds how deep they are followed.
	maxDeep = 5
)

// follow gives the commands of the files that workflows call, and takes over
// the targets of those that Makefiles include.
func (r *Repository) follow() []Command {
	var out []Command
	seen := map[string]bool{}
	for _, at := range r.sorted {
		if reading := r.readings[at]; !reading.OnlyCalled {
			if runnerOf(at) == "make" {
				r.includes(folder(at), reading, map[string]bool{at: true}, &out)
			} else {
				r.called(reading, seen, maxDeep, &out)
			}
		}
	}
	return out
}

// called gathers what workflows and actions say that a workflow calls.
func (r *Repository) called(from Reading, seen map[string]bool, depth int, out *[]Command) {
	for _, name := range from.Calls {
		for _, at := range []string{name, path.Join(name, "action.yml"), path.Join(name, "action.yaml")} {
			reading, ok := r.readings[at]
			if !ok || seen[at] || depth == 0 || !reading.OnlyCalled {
				continue
			}
			seen[at] = true
			*out = append(*out, reading.Commands...)
			r.called(reading, seen, depth-1, out)
		}
	}
}

// includes takes the targets of included files over into the folder of the
// Makefile that includes them. One that is not there may be made, or hold
// anything.
func (r *Repository) includes(dir string, from Reading, seen map[string]bool, out *[]Command) {
	for _, at := range from.Calls {
		if seen[at] {
			continue
		}
		seen[at] = true
		reading, ok := r.readings[at]
		if !ok || strings.HasPrefix(at, "..") {
			r.open[Need{Runner: "make", Dir: dir}] = true
			continue
		}
		if reading.Open || reading.Unreadable != "" {
			r.open[Need{Runner: "make", Dir: dir}] = true
		}
		for _, target := range reading.Targets {
			target.Dir = dir
			if _, defined := r.targets[target.Need]; !defined && len(r.targets) < maxTargets {
				r.targets[target.Need] = target
			}
		}
		for _, c := range reading.Commands {
			*out = append(*out, move(c, dir))
		}
		r.includes(dir, reading, seen, out)
	}
}

// maxTargets bounds the targets of a repository that included files add to.
const maxTargets = 100_000
