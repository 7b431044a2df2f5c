package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tryTimeout bounds trying out what isolates.
const tryTimeout = 10 * time.Second

// inside is where a bubble has the program that begins commands.
const inside = "/.fairlead"

// tryBubblewrap runs something by bwrap in the way that previews are run.
func tryBubblewrap(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	args := append(bubble(), system(nil, "/usr/bin:/bin")...)
	out, err := exec.CommandContext(ctx, path, append(args, "--", "/bin/sh", "-c", ":")...).CombinedOutput() //nolint:gosec // the bwrap of PATH
	if err != nil {
		return fmt.Errorf("bubblewrap does not work: %w: %.300s", err, out)
	}
	return nil
}

// tryNamespaces runs something in namespaces of its own.
func tryNamespaces() error {
	ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", ":")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	namespaces(cmd.SysProcAttr)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("user namespaces do not work: %w", err)
	}
	return nil
}

// namespaces gives a process namespaces for users, processes and mounts. It
// keeps its user, and the rights that making its own /proc needs.
func namespaces(a *syscall.SysProcAttr) {
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
}

// bubble are bwrap's arguments that are the same for all.
func bubble() []string {
	return []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session",
		"--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--hostname", "preview",
	}
}

// systemPaths are what programs need of the system; nothing of it is secret.
func systemPaths() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system",
		"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/java", "/etc/ld.so.cache",
		"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/passwd", "/etc/pki/tls/certs",
		"/etc/pki/ca-trust", "/etc/protocols", "/etc/resolv.conf", "/etc/services", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/terminfo",
		"/sys/devices/system/cpu", "/sys/fs/cgroup"}
}

// system are bwrap's arguments that show the system's programs, and those of
// PATH, for reading.
func system(more []string, path string) []string {
	var args []string
	shown := map[string]bool{"/": true}
	for _, p := range slices.Concat(systemPaths(), filepath.SplitList(path), more) {
		if !filepath.IsAbs(p) || shown[filepath.Clean(p)] || belowUsr(p) || unix.Access(p, unix.R_OK) != nil {
			continue
		}
		shown[filepath.Clean(p)] = true
		if to, err := os.Readlink(p); err == nil && filepath.Dir(p) == "/" {
			args = append(args, "--symlink", to, p) // as /bin is of many systems
			continue
		}
		args = append(args, "--ro-bind-try", p, p)
	}
	return args
}

// belowUsr tells that a path is seen already as part of /usr.
func belowUsr(p string) bool {
	rel, err := filepath.Rel("/usr", p)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// isolated gives the program that runs the command in isolation, how it is
// started, and what it calls the mode of what runs inside.
func isolated(f folder, p plan) (argv []string, attr *syscall.SysProcAttr) {
	attr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	switch p.Isolation {
	case Bubblewrap:
		argv = append([]string{p.Bwrap}, bubble()...)
		argv = append(argv, "--bind", f.tmp(), "/tmp")
		argv = append(argv, system(p.Config.ReadOnly, p.Config.Path)...)
		for _, dir := range []string{f.tree(), f.tmp()} {
			argv = append(argv, "--bind", dir, dir)
		}
		argv = append(argv, "--ro-bind", p.Runner[0], inside, "--chdir", "/", "--", inside)
		return slices.Concat(argv, p.Runner[1:], []string{wordExec, Bubblewrap}), attr
	case Namespaces:
		namespaces(attr)
	}
	return slices.Concat(p.Runner, []string{wordExec, p.Isolation}), attr
}

// shell is how many processes at the top are those of what isolates, which
// are not told to end: their end would be that of all below, at once.
func shell(mode string) int {
	switch mode {
	case Bubblewrap:
		return 2
	case Namespaces:
		return 1
	default:
		return 0
	}
}
