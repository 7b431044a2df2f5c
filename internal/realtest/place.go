package realtest

import (
	"context"
	"net"
	"os/exec"
	"runtime"
	"time"
)

// place is where the servers of a stack run: a network namespace of its own,
// where this process may make one, so that ports and listeners on all
// addresses are nobody else's; else the machine's network. A socket belongs to
// the namespace in which it was made, whoever uses it, so this process reaches
// the servers by sockets that one thread makes there for it: there is no
// helper to install or to end, no address to share out and nothing left behind.
//
// That thread also starts the servers. It ends with the process, and the
// kernel ends them with it, however it ends.
type place struct {
	work chan func()
	// shared says why there is no namespace; nil if there is one.
	shared error
}

func newPlace() *place {
	p := &place{work: make(chan func())}
	entered := make(chan error)
	go p.live(entered)
	p.shared = <-entered
	return p
}

// live is the thread in the namespace, as long as the process lives. It is not
// the first thread, whose network /proc tells as that of the process: while
// that is locked, another goroutine is on another one.
func (p *place) live(entered chan<- error) {
	runtime.LockOSThread() // for good: nobody else may run on it
	if onFirstThread() {
		second := make(chan error)
		go p.live(second)
		entered <- <-second
		runtime.UnlockOSThread()
		return
	}
	entered <- ownNetwork()
	for f := range p.work {
		f()
	}
}

// in runs f on the thread.
func (p *place) in(f func()) {
	done := make(chan struct{})
	p.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// start starts a program that ends with this process.
func (p *place) start(cmd *exec.Cmd) error {
	endsWithThread(cmd)
	var err error
	p.in(func() { err = cmd.Start() })
	return err
}

// dial connects to a numeric address there: the net package makes the socket
// of such on the calling thread.
func (p *place) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	var err error
	d := net.Dialer{Timeout: 5 * time.Second, FallbackDelay: -1}
	p.in(func() { conn, err = d.DialContext(ctx, network, address) })
	return conn, err
}

// listen listens at a numeric address there.
func (p *place) listen(address string) (net.Listener, error) {
	var l net.Listener
	var err error
	p.in(func() { l, err = net.Listen("tcp", address) }) //nolint:noctx // numeric: nothing to wait for
	return l, err
}

// freePorts are ports that nobody listens at there: in a network of its own they
// are none of those that are chosen outside.
func (p *place) freePorts(n int) ([]int, error) { return chosenPorts(n, p.listen) }
