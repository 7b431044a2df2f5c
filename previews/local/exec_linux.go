package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// order is what the beginning of a command is told, on descriptor 3, once
// everything around it is ready.
type order struct {
	Command   []string
	Env       []string
	Dir       string
	Processes int
	Memory    int64
	FileBytes int64
}

const orderFD = 3

// exitMissing is what shells end with where there is no such command.
const exitMissing = 127

// execCommand becomes the command. In namespaces it stays, as the first
// process there, whose end is that of all others.
func execCommand(mode string) int {
	runtime.LockOSThread() // rights are those of a thread
	o, err := readOrder()
	if err == nil {
		err = prepare(mode, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fairlead:", err)
		return exitMissing
	}
	path, err := findCommand(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fairlead:", err)
		return exitMissing
	}
	if mode == Namespaces {
		return first(path, o)
	}
	err = syscall.Exec(path, o.Command, o.Env) //nolint:gosec // the declared command is what is to be run
	fmt.Fprintf(os.Stderr, "fairlead: %s cannot be run: %v\n", o.Command[0], err)
	return exitMissing
}

func readOrder() (order, error) {
	f := os.NewFile(orderFD, "order")
	defer f.Close()
	var o order
	if err := json.NewDecoder(f).Decode(&o); err != nil {
		return o, fmt.Errorf("the order of the supervisor is missing: %w", err)
	}
	return o, nil
}

// prepare gives up what the command must not have, and sets its limits.
func prepare(mode string, o order) error {
	if mode == Namespaces {
		if err := ownProc(); err != nil {
			return err
		}
	}
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("the folder of the service cannot be entered: %w", err)
	}
	closeInherited()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // an old kernel has none
	if mode != None {
		for c := range uintptr(64) { // rights within the namespaces, down to the last that there is
			if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
				break
			}
		}
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10) // being nicer is always allowed
	return o.limit(mode)
}

// limit sets what the kernel bounds for each process.
func (o order) limit(mode string) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 4096}
	if o.Memory > 0 {
		// Address space would be the wrong measure: Go, Java and Node reserve
		// far more of it than they use.
		limits[unix.RLIMIT_DATA] = uint64(o.Memory)
	}
	if o.FileBytes > 0 {
		limits[unix.RLIMIT_FSIZE] = uint64(o.FileBytes)
	}
	if o.Processes > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(o.Processes)
	}
	if o.Processes > 0 && mode == None {
		// Only a user namespace of its own does not count the user's others.
		limits[unix.RLIMIT_NPROC] += threadsOf(os.Getuid())
	}
	for what, n := range limits {
		var was syscall.Rlimit
		if err := syscall.Getrlimit(what, &was); err != nil {
			return err
		}
		n = min(n, was.Max)
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("limit %d cannot be set: %w", what, err)
		}
	}
	return nil
}

// ownProc shows the processes of this namespace alone.
func ownProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts cannot be made private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc cannot be mounted: %w", err)
	}
	return nil
}

// closeInherited closes every descriptor that would be passed on, but those
// for input and output.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		_ = unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) // without /proc this does as well, on newer kernels
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.CloseOnExec(fd)
		}
	}
}

// findCommand looks for the command as a shell does, in the PATH that it gets.
func findCommand(o order) (string, error) {
	name := o.Command[0]
	if strings.Contains(name, "/") {
		return name, runnable(name, name)
	}
	for _, v := range o.Env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if at := filepath.Join(dir, name); filepath.IsAbs(at) && runnable(at, name) == nil {
				return at, nil
			}
		}
	}
	return "", fmt.Errorf("%s: there is no such command in PATH", name)
}

func runnable(path, name string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such file", name)
	case err != nil:
		return fmt.Errorf("%s cannot be run: %w", name, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder", name)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable; set its mode in Git: git update-index --chmod=+x", name)
	}
	return nil
}

// first is the first process of a namespace: it runs the command, reaps
// whoever loses its parent, and ends as the command does.
func first(path string, o order) int {
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP) // only the supervisor ends it
	cmd := exec.Cmd{Path: path, Args: o.Command, Env: o.Env, Stdout: os.Stdout, Stderr: os.Stderr}
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "fairlead: %s cannot be run: %v\n", o.Command[0], err)
		return exitMissing
	}
	pid := cmd.Process.Pid
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return exitMissing
		case got == pid && status.Exited():
			return status.ExitStatus()
		case got == pid && status.Signaled():
			return 128 + int(status.Signal())
		}
	}
}
