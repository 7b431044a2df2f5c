package loan

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/scrub"
)

const (
	// idleAfter is how long nothing has to come from the program until a few
	// bytes that were held back are handed on.
	idleAfter = 50 * time.Millisecond
	// drainFor is how long what the program wrote is waited for after its end.
	drainFor = time.Second
	// killAfter is how long a program has to end when it is told to.
	killAfter = 5 * time.Second
	// lookEvery is how often it is looked whether something has ended.
	lookEvery = 20 * time.Millisecond
)

// child is the program that a credential is lent to.
type child struct {
	cmd      *exec.Cmd
	terminal bool
	// mark is what the environment of all that it starts holds.
	mark  string
	done  chan struct{}
	err   error
	pumps sync.WaitGroup
	outs  []*os.File
}

// Program is what is run.
type Program struct {
	Path string
	// Args begin with the program's name.
	Args []string
	In   io.Reader
	// Out and Err get what it writes, without values.
	Out, Err io.Writer
	// Env is the environment that it gets anyway.
	Env []string
}

// start starts a program whose output is scrubbed. It ends with this process;
// mark is added to its environment.
func start(p Program, env []string, mark string, hide *scrub.Set) (*child, error) {
	c := &child{terminal: foreground(), mark: mark, done: make(chan struct{}), cmd: &exec.Cmd{Path: p.Path, Args: p.Args, Env: append(env, mark), Stdin: p.In}}
	c.cmd.SysProcAttr, c.cmd.WaitDelay = attributes(c.terminal), drainFor
	if err := adopt(); err != nil {
		return nil, err
	}
	stdout, err := c.pump(p.Out, hide)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := c.pump(p.Err, hide)
	if err != nil {
		c.close()
		return nil, err
	}
	defer stderr.Close()
	c.cmd.Stdout, c.cmd.Stderr = stdout, stderr
	started := make(chan error)
	go func() {
		// The program ends when the thread does that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		c.cmd.Env = nil
		started <- err
		if err == nil {
			c.err = c.cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		stdout.Close()
		stderr.Close()
		c.close()
		return nil, err
	}
	return c, nil
}

// pump makes what the program writes to.
func (c *child) pump(to io.Writer, hide *scrub.Set) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.outs = append(c.outs, r)
	c.pumps.Go(func() {
		defer r.Close() // who writes to a reader that is gone is told so
		pour(hide.NewWriter(to), r)
	})
	return w, nil
}

// pour hands on what comes until there is no more, or nobody wants it.
func pour(w *scrub.Writer, r *os.File) {
	buf := make([]byte, 64<<10)
	defer clear(buf)
	defer w.Close() //nolint:errcheck // nobody is left to be told
	for {
		wait := time.Time{}
		if w.Waiting() {
			wait = time.Now().Add(idleAfter)
		}
		_ = r.SetReadDeadline(wait) // where there is none, the bytes wait for the next
		n, err := r.Read(buf)
		if _, broken := w.Write(buf[:n]); broken != nil {
			return
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if w.Idle() != nil {
				return
			}
		case err != nil:
			return
		}
	}
}

// close ends the pumps.
func (c *child) close() {
	for _, r := range c.outs {
		r.Close()
	}
	c.pumps.Wait()
}

// signal passes on a signal, unless the terminal does.
func (c *child) signal(sig syscall.Signal) {
	select {
	case <-c.done:
		return
	default:
	}
	if !c.terminal || sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		send(c.cmd.Process.Pid, c.terminal, sig)
	}
}

// end ends the program: by a signal that it can heed, and after a while by one
// that it cannot.
func (c *child) end() {
	send(c.cmd.Process.Pid, c.terminal, syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(killAfter):
		send(c.cmd.Process.Pid, c.terminal, syscall.SIGKILL)
		<-c.done
	}
}

// finish is called when the program has ended. What it has left running ends,
// too, and what it wrote is handed on.
func (c *child) finish() {
	c.clean()
	drained := make(chan struct{})
	go func() {
		c.pumps.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-time.After(drainFor):
	}
	c.close()
	<-drained
}

// clean ends what the program has left running.
func (c *child) clean() {
	sig := syscall.SIGTERM
	for begin := time.Now(); time.Since(begin) < 2*killAfter; time.Sleep(lookEvery) {
		left := leftovers(c.mark)
		if len(left) == 0 {
			return
		}
		if time.Since(begin) > drainFor {
			sig = syscall.SIGKILL
		}
		for _, pid := range left {
			send(pid, true, sig)
		}
	}
}

// code is the program's exit code, as shells tell it.
func (c *child) code() int {
	var exit *exec.ExitError
	if !errors.As(c.err, &exit) {
		return 0 // that its output was not read to the end is not its fault
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}
