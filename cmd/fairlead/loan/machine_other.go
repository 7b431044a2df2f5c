//go:build !linux

package loan

import (
	"os"
	"syscall"
)

// Harden does nothing where it is not known how.
func Harden() error { return nil }

func adopt() error { return nil }

func attributes(bool) *syscall.SysProcAttr { return nil }

// send passes on a signal.
func send(pid int, _ bool, sig syscall.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Signal(sig) // it may have ended
	}
}

func foreground() bool { return true }

func leftovers(string) []int { return nil }

func inMemory(string) bool { return false }

func lock(*os.File) bool { return false }

func ours(os.FileInfo) bool { return false }
