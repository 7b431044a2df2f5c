package realtest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNetwork moves the calling thread, which stays locked, into a new network
// namespace, where there is the loopback interface and nothing else. The
// namespace ends with the last process in it.
func ownNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("making a network namespace: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("setting the loopback interface up: %w", err)
	}
	// Ports that are chosen in here are none of those that are chosen outside,
	// whose servers are to be reached in here at their own (see Reach).
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("10000 19999"), 0o600); err != nil {
		return fmt.Errorf("choosing the ports of the network: %w", err)
	}
	return nil
}

func onFirstThread() bool { return unix.Gettid() == os.Getpid() }

// endsWithThread has the kernel kill the command when the thread ends that
// starts it, which a thread that is locked for good does with its process.
func endsWithThread(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
