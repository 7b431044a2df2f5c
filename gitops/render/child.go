package render

import (
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// spareFor is how long a process waits for the next order.
const spareFor = 30 * time.Second

// child is a process of fairlead-render, for one order.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  io.Reader
	errs head
	// kill ends it, whatever it does.
	kill context.CancelFunc
	// ahead tells that it was started before there was an order.
	ahead bool
}

// start starts one, which ends with ctx at the latest.
func start(ctx context.Context, program string, ahead bool) (c *child, err error) {
	c = &child{ahead: ahead}
	word := wire.Word
	if ahead {
		word = wire.Ahead
	}
	ctx, c.kill = context.WithCancel(ctx)
	c.cmd = exec.CommandContext(ctx, program, word) //nolint:gosec // our own program
	c.cmd.Env, c.cmd.Dir, c.cmd.WaitDelay, c.cmd.Stderr = []string{}, "/", time.Second, &c.errs
	if c.in, err = c.cmd.StdinPipe(); err == nil {
		c.out, err = c.cmd.StdoutPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		c.kill()
	}
	return c, err
}

// end ends it and waits for that.
func (c *child) end() error {
	_ = c.in.Close()
	c.kill()
	return c.cmd.Wait()
}

// spare keeps one process ready for the next order, so that nobody waits until
// it has started.
type spare struct {
	life context.Context
	stop context.CancelFunc

	mu    sync.Mutex
	ready *child
	timer *time.Timer
}

func newSpare() *spare {
	s := &spare{}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// take is the process that is ready, nil where none is.
func (s *spare) take() *child {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.ready
	if s.ready = nil; c != nil {
		s.timer.Stop()
	}
	return c
}

// refill has one be ready, for a while.
func (s *spare) refill(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil || s.life.Err() != nil {
		return
	}
	c, err := start(s.life, program, true)
	if err != nil {
		return // who needs one is told
	}
	s.ready = c
	s.timer = time.AfterFunc(spareFor, func() { s.drop(c) })
}

// drop ends a process that nobody has taken.
func (s *spare) drop(c *child) {
	s.mu.Lock()
	mine := s.ready == c
	if mine {
		s.ready = nil
	}
	s.mu.Unlock()
	if mine {
		_ = c.end()
	}
}

// close ends the one that is ready; none is kept any more.
func (s *spare) close() {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	if c := s.take(); c != nil {
		_ = c.end()
	}
}
