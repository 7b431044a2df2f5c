package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// strayCages are the control groups of the previews of a place, by preview.
func strayCages(place string) map[string][]string {
	out := map[string][]string{}
	for _, h := range hierarchies() {
		for _, parent := range h.parents() {
			entries, err := os.ReadDir(parent)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if id, ok := strings.CutPrefix(e.Name(), cagePrefix+place+"-"); ok && e.IsDir() && label.MatchString(id) {
					out[id] = append(out[id], filepath.Join(parent, e.Name()))
				}
			}
		}
	}
	return out
}

// strayProcesses are the processes that carry a mark of a place, and those in
// its control groups, by preview.
func strayProcesses(place string) map[string][]process {
	out := map[string][]process{}
	seen := map[int]bool{os.Getpid(): true}
	add := func(id string, pid int) {
		if p, ok := look(pid); ok && !p.dead && !seen[pid] {
			seen[pid] = true
			out[id] = append(out[id], p)
		}
	}
	for id, dirs := range strayCages(place) {
		for _, pid := range inCages(dirs) {
			add(id, pid)
		}
	}
	for _, pid := range processes() {
		if id, ok := markOf(pid, place); ok {
			add(id, pid)
		}
	}
	return out
}

// markOf is the preview of whose mark a process carries.
func markOf(pid int, place string) (id string, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "environ"))
	if err != nil {
		return "", false
	}
	for v := range bytes.SplitSeq(data, []byte{0}) {
		if mark, ok := bytes.CutPrefix(v, []byte(markName+"=")); ok {
			id, rest, _ := strings.Cut(string(mark), ".")
			return id, strings.HasPrefix(rest, place+".") && label.MatchString(id)
		}
	}
	return "", false
}
