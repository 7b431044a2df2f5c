package realtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// keeper runs a server until its standard input ends, which is when the
// process that holds the other end does, and then removes the server's files.
// A server that ends by itself leaves its files for whoever started it.
const keeper = `exec 3<&0 </dev/null; "$@" & server=$!
( read -r _ ; kill -INT "$server" ) <&3 &
wait "$server"; code=$?
[ $code -eq 0 ] && cd / && rm -rf "$OLDPWD"
exit $code`

// plainKeeper is keeper for a server whose files are somebody else's.
const plainKeeper = `exec 3<&0 </dev/null; "$@" & server=$!
( read -r _ ; kill -TERM "$server" ) <&3 &
wait "$server"`

// kept is a server below a keeper, which ends with this process, however that
// ends.
type kept struct {
	pid   int
	stdin io.Closer
	ended chan struct{} // closed when it has ended
}

// keep runs a program in a folder below a keeper, in a process group of its own
// so that a terminal interrupts it not; env nil is this process's, log nil
// nowhere, as nil this user.
func keep(keeper, dir string, env []string, log *os.File, as *syscall.Credential, program ...string) (*kept, error) {
	cmd := exec.Command("sh", append([]string{"-c", keeper, "keeper"}, program...)...) //nolint:noctx,gosec // it outlives the call that starts it; programs that the scripts beside this built or installed
	cmd.Dir, cmd.Env = dir, env
	if log != nil {
		cmd.Stdout, cmd.Stderr = log, log
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true}
	stdin, err := cmd.StdinPipe() // never written to: the end of this process closes it
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	k := &kept{pid: cmd.Process.Pid, stdin: stdin, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its log says why
		close(k.ended)
	}()
	return k, nil
}

// patience is how long a server may take to end.
const patience = 6 * time.Second

// stop ends the server in order, and by force where that takes too long.
func (k *kept) stop() error {
	_ = k.stdin.Close() // closed already is as good
	select {
	case <-k.ended:
		return nil
	case <-time.After(patience):
	}
	err := syscall.Kill(-k.pid, syscall.SIGKILL) // it has a group of its own
	if err == nil {
		err = fmt.Errorf("the process %d did not end and was killed", k.pid)
	}
	<-k.ended
	return err
}

// Program is a program that Keep has started.
type Program struct{ kept *kept }

// Keep starts a program that is no server of this package's, such as Fairlead
// itself, in a folder and a process group of its own. What it says goes to a
// file. It ends by Stop, and else with this process.
func Keep(dir, log string, program ...string) (*Program, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the program has its own
	k, err := keep(plainKeeper, dir, nil, file, nil, program...)
	if err != nil {
		return nil, err
	}
	return &Program{k}, nil
}

// Ended is closed when it has ended.
func (p *Program) Ended() <-chan struct{} { return p.kept.ended }

// Stop ends it by SIGTERM, and by force where it takes too long.
func (p *Program) Stop() error { return p.kept.stop() }
