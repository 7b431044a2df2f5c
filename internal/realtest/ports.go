package realtest

import (
	"math/rand/v2"
	"net"
	"testing"
)

// Ports are chosen from below those that the kernel gives to outgoing
// connections: any of these could take one before its server listens there.
const firstPort, portsInAll = 12_000, 8_000

// FreeAddress is one of the loopback interface at which nobody listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return loopback(port)
}

func freePort() (int, error) {
	ports, err := freePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// freePorts are ports that nobody listens at, each another.
func freePorts(n int) ([]int, error) {
	return chosenPorts(n, func(address string) (net.Listener, error) {
		return net.Listen("tcp", address) //nolint:noctx // numeric: nothing to wait for
	})
}

// chosenPorts are some at which a way to listen finds nobody.
func chosenPorts(n int, listen func(address string) (net.Listener, error)) (ports []int, err error) {
	for tries := 0; len(ports) < n; tries++ {
		port := firstPort + rand.IntN(portsInAll) //nolint:gosec // which one is no secret
		l, err := listen(loopback(port))
		switch {
		case err == nil:
			defer shut(l) // when all are found
			ports = append(ports, port)
		case tries == 100:
			return nil, err
		}
	}
	return ports, nil
}
