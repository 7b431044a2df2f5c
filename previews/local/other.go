//go:build !linux

package local

import (
	"context"
	"errors"
	"io/fs"

	"github.com/fairlead-dev/fairlead/previews"
)

// supported tells that previews run on this system.
const supported = false

var errUnsupported = errors.New("local previews run on Linux alone")

// Main runs nothing on this system.
func Main([]string) (code int, ran bool) { return 0, false }

type process struct {
	pid   int
	start uint64
}

func (p process) String() string { return itoa(p.pid) }

func lockFolder(context.Context, folder, bool) (func(), error) { return nil, errUnsupported }
func alive(folder) bool                                        { return false }
func endProcess(int, uint64, bool) bool                        { return false }
func leftovers(folder, string, state) []process                { return nil }
func killCages([]string)                                       {}
func killGroups([]process)                                     {}
func openCages([]string)                                       {}
func strayCages(string) map[string][]string                    { return nil }
func strayProcesses(string) map[string][]process               { return nil }
func consumption(plan, state) previews.Resources               { return previews.Resources{} }
func tryBubblewrap(string) error                               { return errUnsupported }
func tryNamespaces() error                                     { return errUnsupported }
func onDisk(info fs.FileInfo) int64                            { return info.Size() }

func (d *Deployer) start(context.Context, folder, plan) error { return errUnsupported }
