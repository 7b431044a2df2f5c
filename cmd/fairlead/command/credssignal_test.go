package command_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shell runs a script with a credential.
func (l *lending) shell(t *testing.T, script string) *program {
	t.Helper()
	in, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		keep.Close()
	})
	return l.launch(t, in, "creds", "exec", "checkout", "db-readonly", "--", "bash", "-c", script)
}

func (l *lending) awaitRevoked(t *testing.T, within time.Duration) {
	t.Helper()
	select {
	case <-l.revoked:
	case <-time.After(within):
		t.Fatalf("it is not revoked; called %s", l.calls())
	}
}

// TestExecPassesSignalsOn holds creds exec to passing signals on, to the exit
// code that follows, and to giving the credential back.
func TestExecPassesSignalsOn(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		script string
		code   int
		out    string
	}{
		"heeded":     {syscall.SIGTERM, `trap 'echo heard; exit 7' TERM; echo ready; while :; do sleep 0.05; done`, 7, "heard"},
		"not heeded": {syscall.SIGTERM, `trap '' TERM; echo ready; sleep 0.5; echo on`, 0, "on"},
		"deadly":     {syscall.SIGHUP, `echo ready; exec sleep 100`, 128 + 1, ""},
		"interrupt":  {syscall.SIGINT, `trap 'echo heard $((++n))' INT; echo ready; while [ -z "$n" ]; do sleep 0.05; done; sleep 0.3; exit 9`, 9, "heard 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lend(t)
			p := l.shell(t, c.script)
			p.out.await(t, "ready\n")
			_ = p.Process.Signal(c.signal)
			code, out, errs := p.code(t), p.out.rest(), p.err.rest()
			if code != c.code || !strings.Contains(out, c.out) || strings.Contains(out, "heard 2") || strings.Contains(errs, "lease") {
				t.Errorf("%d %q %q", code, out, errs)
			}
			l.awaitRevoked(t, time.Second)
		})
	}
}

// TestExecKilled holds the child to ending with its parent.
func TestExecKilled(t *testing.T) {
	t.Parallel()
	l := lend(t)
	p := l.shell(t, `echo "pid=$$."; while :; do sleep 0.05; done`)
	pid := number(t, p.out.await(t, ".\n"), "pid=")
	_ = p.Process.Kill()
	awaitGone(t, pid)
	if said := strings.Join(l.calls(), " "); said != "borrow unwrap opened" {
		t.Errorf("called %s", said)
	}
}

// TestExecInterruptedBefore holds creds exec to giving back what it has borrowed
// when it is interrupted before the program runs.
func TestExecInterruptedBefore(t *testing.T) {
	t.Parallel()
	l := lend(t)
	arrived := make(chan struct{})
	l.with(func() { l.wait(arrived) })
	p := l.shell(t, "echo ran")
	<-arrived
	_ = p.Process.Signal(os.Interrupt)
	if code := p.code(t); code != 130 || p.out.rest() != "" {
		t.Errorf("%d %s", code, p.err.rest())
	}
	l.awaitRevoked(t, time.Second)
}

// TestExecEndsTheChild holds creds exec to ending the program when the
// credential ends first.
func TestExecEndsTheChild(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		least  time.Duration
	}{
		"heeds":           {`echo "pid=$$."; exec sleep 100`, 128 + 15, 0},
		"says all's well": {`trap 'exit 0' TERM; echo "pid=$$."; while :; do sleep 0.05; done`, 3, 0},
		"does not heed":   {`trap '' TERM; echo "pid=$$."; while :; do sleep 0.05; done`, 128 + 9, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lend(t)
			l.with(func() { l.expires = time.Now().Add(1500 * time.Millisecond) })
			p := l.shell(t, c.script)
			pid := number(t, p.out.await(t, ".\n"), "pid=")
			l.with(func() { l.state, l.reason = "expired", "its time is up" })
			begin := time.Now()
			code, errs := p.code(t), p.err.rest()
			if code != c.code || !strings.Contains(errs, "the credential is over: its time is up") || time.Since(begin) < c.least {
				t.Errorf("%d after %s: %s", code, time.Since(begin), errs)
			}
			awaitGone(t, pid)
		})
	}
}

// TestExecWithoutReader holds creds exec to giving the credential back when
// nobody reads what the program writes.
func TestExecWithoutReader(t *testing.T) {
	t.Parallel()
	l := lend(t)
	p := l.shell(t, `echo start; exec yes`)
	p.out.await(t, "start")
	p.out.r.Close()
	if code := p.code(t); code != 128+13 {
		t.Errorf("%d %s", code, p.err.rest())
	}
	l.awaitRevoked(t, time.Second)
}

// TestExecWithoutServer holds creds exec to ending, and saying what happens,
// when the server is gone.
func TestExecWithoutServer(t *testing.T) {
	t.Parallel()
	l := lend(t)
	l.with(func() { l.down = true })
	if r := l.launch(t, nil, "creds", "exec", "checkout", "db-readonly", "--", "true"); r.code(t) != 0 || !strings.Contains(r.err.rest(), "is not revoked yet; the server goes on") {
		t.Error(r.err.rest())
	}
}

// terminal makes a terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

// TestExecAtATerminal holds creds exec to a terminal's ways: prompts appear,
// what is typed arrives, an interrupt reaches the program once, and what it
// writes is scrubbed there, too.
func TestExecAtATerminal(t *testing.T) {
	t.Parallel()
	master, slave := terminal(t)
	l := lend(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "creds", "exec", "checkout", "db-readonly", "--", "bash", "-c",
		`trap 'n=$((n+1)); echo "heard $n"' INT; test -t 1 && echo direct; printf 'name, pleas'; read -r name; echo "hello $name $PGPASSWORD"; while [ -z "$n" ]; do sleep 0.05; done; sleep 0.5; exit 5`)
	cmd.Env = append(os.Environ(), asProgram+"=1", "FAIRLEAD_SERVER="+l.URL, "FAIRLEAD_TOKEN="+token, "XDG_CONFIG_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	o := &output{text: make(chan string, 1000)}
	go func() {
		defer close(o.text)
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			o.text <- string(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	o.await(t, "name, pleas")
	_, _ = master.WriteString("world\n")
	o.await(t, "hello world •••")
	_, _ = master.WriteString("\x03")
	o.await(t, "heard 1")
	err = cmd.Wait()
	if out := o.rest(); cmd.ProcessState.ExitCode() != 5 || strings.Contains(out, "heard 2") || strings.Contains(out, "direct") || strings.Contains(out, password) {
		t.Errorf("%v %q", err, out)
	}
	l.awaitRevoked(t, time.Second)
}
