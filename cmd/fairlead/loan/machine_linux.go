package loan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Harden keeps what this process holds out of core dumps, and its memory and
// environment from other programs of the same user. Programs that it starts
// leave no core dumps either.
func Harden() error {
	return errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}), unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}

// adopt has what the program leaves behind become children of this process, so
// that they can be found.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// attributes have the program end with this process, however that ends. One
// that shares the terminal gets the terminal's signals; any other has a group of
// its own, which signals are passed on to.
func attributes(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: !terminal}
}

// send passes on a signal.
func send(pid int, terminal bool, sig syscall.Signal) {
	if !terminal {
		pid = -pid
	}
	_ = syscall.Kill(pid, sig) // it may have ended
}

// foreground tells whether this process is in the foreground of a terminal,
// which then sends its signals to the program by itself.
func foreground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// leftovers are what a program left running: children of this process whose
// environment holds the mark. What has got rid of its environment has got rid of
// the credential.
func leftovers(mark string) []int {
	parent := []byte(" " + strconv.Itoa(os.Getpid()) + " ")
	found, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	var out []int
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// pid (name) state parent …, where a name may hold anything
		rest := data[bytes.LastIndexByte(data, ')')+1:]
		if len(rest) < 3 || rest[1] == 'Z' || !bytes.HasPrefix(rest[2:], parent) {
			continue
		}
		env, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		marked := err == nil && bytes.Contains(append(env, 0), append([]byte(mark), 0))
		clear(env)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && marked {
			out = append(out, pid)
		}
	}
	return out
}

// inMemory tells whether a folder is on a file system that is in memory alone.
func inMemory(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && (fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC)
}

// lock locks a file as long as it is open, unless another process has.
func lock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// ours tells whether something is this user's.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && fmt.Sprint(st.Uid) == strconv.Itoa(os.Getuid())
}
