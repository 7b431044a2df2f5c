package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cagelessToo is whether to do without control groups, for tests of both ways.
// Where a machine was made to try control groups, it is tried with them alone.
func cagelessToo() []bool {
	if os.Getenv("FAIRLEAD_CGROUPS") != "" {
		return []bool{false}
	}
	return []bool{false, true}
}

// TestUnifiedCage looks at what a preview's group of version 2 bounds. It needs
// a machine with those controllers; internal/realtest/cgroups.sh makes one.
func TestUnifiedCage(t *testing.T) {
	if os.Getenv("FAIRLEAD_CGROUPS") != "2" {
		t.Skip("needs control groups version 2 with all controllers: see internal/realtest/cgroups.sh")
	}
	d := newDeployer(t, Config{Limits: Limits{CPUs: 0.5, MemoryBytes: 100 << 20, Processes: 33}}, nil)
	w := wish("caged")
	apply(t, d, w)
	untilReady(t, d, w)
	f, err := d.folder(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.state()
	if err != nil || len(s.Cages) != 1 {
		t.Fatalf("the groups are %q, %v", s.Cages, err)
	}
	for file, want := range map[string]string{"cpu.max": "50000 100000", "memory.max": "104857600", "pids.max": "33", "memory.swap.max": "0", "memory.oom.group": "1"} {
		got, err := os.ReadFile(filepath.Join(s.Cages[0], file))
		if os.IsNotExist(err) && file == "memory.swap.max" {
			continue // a kernel without swap
		}
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is %q, %v", file, got, err)
		}
	}
	if n := len(inCages(s.Cages)); n == 0 {
		t.Error("nothing is in the group")
	}
	untilGone(t, d, w)
	if _, err := os.Stat(s.Cages[0]); !os.IsNotExist(err) {
		t.Errorf("the group is still there: %v", err)
	}
}
