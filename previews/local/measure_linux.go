package local

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/previews"
)

// tick is the unit of processor times in /proc.
const tick = 10 * time.Millisecond

// consumption is what the processes below a supervisor take.
func consumption(p plan, s state) previews.Resources {
	var r previews.Resources
	var ticks, pages int64
	for _, it := range descendants(s.PID) {
		ticks += it.ticks
		pages += it.pages
		r.Processes++
	}
	r.Processes = max(0, r.Processes-shell(p.Isolation))
	r.CPU, r.MemoryBytes = time.Duration(ticks)*tick, pages*int64(os.Getpagesize())
	for _, dir := range s.Cages {
		if used, ok := keyed(dir, "cpu.stat", "usage_usec"); ok {
			r.CPU = time.Duration(used) * time.Microsecond
		}
		if used, ok := single(dir, "memory.current", "memory.usage_in_bytes"); ok {
			// What could be let go of at once is not counted, as by Kubernetes.
			idle, ok := keyed(dir, "memory.stat", "total_inactive_file")
			if !ok {
				idle, _ = keyed(dir, "memory.stat", "inactive_file")
			}
			r.MemoryBytes = max(0, used-idle)
		}
	}
	return r
}

// keyed is the number beside a key in a file of a control group.
func keyed(dir, file, key string) (int64, bool) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			return number(f[1]), true
		}
	}
	return 0, false
}

// single is the number in the first of some files of a control group that is
// there.
func single(dir string, files ...string) (int64, bool) {
	for _, file := range files {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
			return number(string(data)), true
		}
	}
	return 0, false
}
