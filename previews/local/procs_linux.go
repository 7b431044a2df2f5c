package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is one process, told apart from a later one of its number by when
// it started, in ticks since the kernel was booted.
type process struct {
	pid   int
	start uint64
	ppid  int
	group int // of processes, in its session
	sid   int
	pages int64 // that it has in memory
	ticks int64 // of processor time, its own and of children that it has waited for
	dead  bool  // waits to be reaped
	name  string
}

// String names it for people.
func (p process) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.name) }

// look reads what the kernel tells of a process.
func look(pid int) (process, bool) {
	data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	f := strings.Fields(string(data[end+1:]))
	if len(f) < 22 { // from the third field of proc(5) on
		return process{}, false
	}
	p := process{pid: pid, name: string(data[open+1 : end]), dead: f[0] == "Z" || f[0] == "X"}
	p.ppid, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.sid, _ = strconv.Atoi(f[3])
	for _, ticks := range f[11:15] {
		p.ticks += number(ticks)
	}
	p.start, err = strconv.ParseUint(f[19], 10, 64)
	p.pages, _ = strconv.ParseInt(f[21], 10, 64)
	return p, err == nil
}

// endProcess signals a process if it is still the one that started then. The
// signal goes by a descriptor, so that no later process of its number gets it.
func endProcess(pid int, start uint64, kill bool) bool {
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	return signalProcess(pid, start, sig)
}

func signalProcess(pid int, start uint64, sig syscall.Signal) bool {
	if pid <= 1 || start == 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // a descriptor that is closed
	is, ok := look(pid)
	return ok && is.start == start && p.Signal(sig) == nil
}

// killGroups kills the groups of processes that some of a preview's are in. A
// group is killed at once, so that no member gets to start another one; none
// reaches beyond its session, and every preview has sessions of its own.
func killGroups(ps []process) {
	own, _ := look(os.Getpid())
	done := map[int]bool{}
	for _, p := range ps {
		if done[p.group] || p.group <= 1 || p.sid <= 1 || p.sid == own.sid {
			continue
		}
		is, ok := look(p.pid)
		if ok && is.start == p.start && is.group == p.group {
			done[p.group] = true
			_ = unix.Kill(-p.group, unix.SIGKILL) // those that are left are killed one by one
		}
	}
}

// descendants are the processes below a process, parents first.
func descendants(pid int) []process {
	var out []process
	for at := []int{pid}; len(at) > 0; {
		var next []int
		for _, parent := range at {
			for _, child := range children(parent) {
				if p, ok := look(child); ok {
					out = append(out, p)
					next = append(next, child)
				}
			}
		}
		at = next
	}
	return out
}

// children are the processes that a process has started or adopted.
func children(pid int) []int {
	tasks, err := os.ReadDir(filepath.Join("/proc", itoa(pid), "task"))
	if err != nil {
		return nil
	}
	var out []int
	for _, t := range tasks {
		data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "task", t.Name(), "children"))
		if errors.Is(err, fs.ErrNotExist) && pid == os.Getpid() {
			return childrenByAll(pid) // a kernel without such lists
		}
		for n := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(n); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

func childrenByAll(pid int) []int {
	var out []int
	for _, n := range processes() {
		if p, ok := look(n); ok && p.ppid == pid {
			out = append(out, n)
		}
	}
	return out
}

// processes are the numbers of all processes.
func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// threadsOf counts what runs of a user.
func threadsOf(uid int) uint64 {
	var n uint64
	for _, pid := range processes() {
		info, err := os.Stat(filepath.Join("/proc", itoa(pid)))
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
			tasks, _ := os.ReadDir(filepath.Join("/proc", itoa(pid), "task")) // one that has ended has none
			n += uint64(len(tasks))
		}
	}
	return n
}

// leftovers are the processes of a preview whose supervisor is gone: the one
// that it started, those in its control groups, and those that carry its mark or
// work in its folder.
func leftovers(f folder, mark string, s state) []process {
	if alive(f) {
		return nil // the supervisor ends them
	}
	known := map[int]bool{}
	for _, pid := range inCages(s.Cages) {
		known[pid] = true
	}
	if p, ok := look(s.Main); ok && p.start == s.MainStart {
		known[s.Main] = true
	}
	var out []process
	for _, pid := range processes() {
		if pid == os.Getpid() || !known[pid] && !marked(pid, mark) && !within(pid, f) {
			continue
		}
		if p, ok := look(pid); ok && !p.dead {
			out = append(out, p)
		}
	}
	return out
}

// marked tells whether a process was started with the mark of a preview.
func marked(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+markName+"="+mark+"\x00"))
}

// within tells whether a process works in the preview's tree, or runs a
// program of it.
func within(pid int, f folder) bool {
	for _, link := range []string{"cwd", "exe"} {
		to, err := os.Readlink(filepath.Join("/proc", itoa(pid), link))
		if err != nil {
			continue
		}
		to = strings.TrimSuffix(to, " (deleted)")
		for _, dir := range []string{f.tree(), f.tmp()} {
			if to == dir || strings.HasPrefix(to, dir+"/") {
				return true
			}
		}
	}
	return false
}

// onDisk is what a file takes of the disk, which for one with holes is less
// than its length.
func onDisk(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
