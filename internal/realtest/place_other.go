//go:build !linux

package realtest

import (
	"errors"
	"os/exec"
)

func ownNetwork() error { return errors.New("network namespaces are Linux's") }

func onFirstThread() bool { return false }

// endsWithThread does nothing: Argo CD's tests are for Linux.
func endsWithThread(*exec.Cmd) {}
