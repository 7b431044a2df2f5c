package local

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Ports are taken from below those that the kernel gives to outgoing
// connections, so that none of these is in the way.
const (
	firstPort = 20000
	lastPort  = 32000
)

func itoa(n int) string { return strconv.Itoa(n) }

// number reads a number, 0 where there is none.
func number(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// ports is the folder in which each port that is taken is a link that names
// its preview; making a link is how a port is taken, at most once.
func (d *Deployer) ports() string { return filepath.Join(d.cfg.Dir, ".ports") }

// reserve takes a free port for a preview, or gives the one that it has.
func (d *Deployer) reserve(id string) (int, error) {
	if port, ok := d.portOf(id); ok {
		return port, nil
	}
	if err := os.MkdirAll(d.ports(), 0o700); err != nil {
		return 0, err
	}
	const n = lastPort - firstPort
	from := rand.IntN(n) //nolint:gosec // where the search begins is no secret
	for i := range n {
		port := firstPort + (from+i)%n
		link := filepath.Join(d.ports(), itoa(port))
		err := os.Symlink(id, link)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if portFree(port) {
			return port, nil
		}
		if err := os.Remove(link); err != nil {
			return 0, err
		}
	}
	return 0, fault.New(fault.Unavailable, "none of the ports %d to %d is free", firstPort, lastPort).WithFix("Remove previews that are not needed any more.")
}

// portOf is the port that a preview has taken.
func (d *Deployer) portOf(id string) (int, bool) {
	entries, err := os.ReadDir(d.ports())
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(d.ports(), e.Name())); err == nil && to == id {
			port, err := strconv.Atoi(e.Name())
			return port, err == nil
		}
	}
	return 0, false
}

// release gives the ports of a preview back.
func (d *Deployer) release(id string) error {
	for {
		port, ok := d.portOf(id)
		if !ok {
			return nil
		}
		if err := os.Remove(filepath.Join(d.ports(), itoa(port))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// portFree tells that nothing listens at a port of this machine.
func portFree(port int) bool {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", itoa(port))) //nolint:noctx // a look of no length
	if err != nil {
		return false
	}
	return l.Close() == nil
}
