package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cage is the control groups of a preview: one where the machine has the
// unified hierarchy, one for each controller in the older ones, none where
// Fairlead may not make any.
type cage struct {
	dirs []string
	// pids and memory tell what is bounded.
	pids, memory bool
}

// cagePrefix begins the names of control groups; where the folder of previews
// is and the id follow.
const cagePrefix = "fairlead-preview-"

// newCage makes control groups for a preview, as far as that is allowed.
func newCage(f folder, l Limits) cage {
	var c cage
	for _, h := range hierarchies() {
		for _, parent := range h.parents() {
			dir := filepath.Join(parent, cagePrefix+placeOf(filepath.Dir(string(f)))+"-"+f.id())
			if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				continue
			}
			if !h.unified && !c.bound(dir, l) {
				_ = os.Remove(dir) // a group that bounds nothing is of no use there
				continue
			}
			if h.unified {
				c.bound(dir, l) // also without controllers it kills all at once
			}
			c.dirs = append(c.dirs, dir)
			break
		}
	}
	return c
}

// bound writes the limits that a group has controllers for.
func (c *cage) bound(dir string, l Limits) bool {
	period := 100_000
	quota := strconv.Itoa(int(l.CPUs * float64(period)))
	memory := strconv.FormatInt(l.MemoryBytes, 10)
	set := func(file, text string) bool {
		path := filepath.Join(dir, file)
		if _, err := os.Lstat(path); err != nil {
			return false
		}
		return os.WriteFile(path, []byte(text), 0o600) == nil
	}
	pids := set("pids.max", itoa(l.Processes))
	mem := set("memory.max", memory) || set("memory.limit_in_bytes", memory)
	if mem {
		set("memory.swap.max", "0")
		set("memory.oom.group", "1")
	}
	cpu := set("cpu.max", quota+" "+itoa(period)) || set("cpu.cfs_period_us", itoa(period)) && set("cpu.cfs_quota_us", quota)
	c.pids, c.memory = c.pids || pids, c.memory || mem
	return pids || mem || cpu
}

// add puts a process into the groups; what it starts later is in them too.
func (c *cage) add(pid int) error {
	var errs []error
	for _, dir := range c.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(itoa(pid)), 0o600); err != nil {
			errs = append(errs, fmt.Errorf("process %d cannot be put into the control group %s: %w", pid, dir, err))
		}
	}
	return errors.Join(errs...)
}

// hierarchy is one mounted tree of control groups.
type hierarchy struct {
	mount   string
	own     string // where this process is in it
	unified bool
}

// hierarchies are those that could bound a preview.
func hierarchies() []hierarchy {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	own := ownGroups()
	var out []hierarchy
	for line := range strings.Lines(string(data)) {
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 {
			continue
		}
		switch g[0] {
		case "cgroup2":
			out = append(out, hierarchy{f[4], own[""], true})
		case "cgroup":
			for _, o := range strings.Split(g[2], ",") {
				if slices.Contains([]string{"pids", "memory", "cpu"}, o) {
					out = append(out, hierarchy{f[4], own[o], false})
				}
			}
		}
	}
	return out
}

// ownGroups are the groups of this process by controller, that of the unified
// hierarchy under "".
func ownGroups() map[string]string {
	out := map[string]string{}
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return out
	}
	for line := range strings.Lines(strings.TrimSpace(string(data))) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			for _, c := range strings.Split(f[1], ",") {
				out[c] = f[2]
			}
		}
	}
	return out
}

// parents are where a group may be made: beside that of this process, which
// is where controllers are at hand in the unified hierarchy, else below it.
func (h hierarchy) parents() []string {
	own := filepath.Join(h.mount, h.own)
	if h.unified && h.own != "/" && h.own != "" {
		return []string{filepath.Dir(own), own}
	}
	return []string{own}
}

// inCages are the processes in groups.
func inCages(dirs []string) []int {
	var out []int
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil || !strings.HasPrefix(filepath.Base(dir), cagePrefix) {
			continue
		}
		for n := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(n); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}

// killCages kills all in groups at once, where the kernel can.
func killCages(dirs []string) {
	for _, dir := range dirs {
		if strings.HasPrefix(filepath.Base(dir), cagePrefix) {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600) // what is left is found one by one
		}
	}
}

// openCages removes groups that are empty. The kernel takes a moment to see
// that they are.
func openCages(dirs []string) {
	for _, dir := range dirs {
		if !strings.HasPrefix(filepath.Base(dir), cagePrefix) {
			continue
		}
		for range 200 {
			if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
