package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervisor runs one preview from the start of its command to the end of its
// last descendant.
type supervisor struct {
	f     folder
	p     plan
	state state
	cage  cage
	log   *logWriter
	pump  chan struct{} // closed when the output has ended
	out   *os.File
	// secret is what the command is given that is in no file.
	secret map[string]string

	main   int // the process that was started, 0 once it has ended
	status syscall.WaitStatus
	began  time.Time
	// bad counts answers in a row that were not healthy.
	bad int
	// looked is when the disk was measured last, tookDisk how long that took.
	looked   time.Time
	tookDisk time.Duration
}

// supervise is the life of a supervisor.
func supervise(f folder) int {
	runtime.LockOSThread() // the command is to end with this thread, which is to be that of the process
	closeInherited()
	signal.Ignore(unix.SIGHUP, unix.SIGPIPE)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	lock, err := hold(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fairlead: the folder of the preview cannot be held:", err)
		return 1
	}
	defer lock.Close()
	s := &supervisor{f: f, began: time.Now()}
	if s.secret, err = readSecrets(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead: the preview cannot be told what it is given:", err)
		return 1
	}
	if err := s.open(); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead: the preview cannot be supervised:", err)
		return 1
	}
	fmt.Println("ok")
	os.Stdout.Close()
	if err := s.begin(); err != nil {
		s.finish(failed, err.Error()+".")
		return 0
	}
	s.finish(s.run(signals))
	return 0
}

// open reads the plan and says that this process is here.
func (s *supervisor) open() error {
	p, ok, err := s.f.plan()
	if err == nil && !ok {
		err = errors.New("there is no plan")
	}
	if err != nil {
		return err
	}
	s.p = p
	me, ok := look(os.Getpid())
	if !ok {
		return errors.New("/proc is missing")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if !p.Cageless {
		s.cage = newCage(s.f, p.Config.Limits)
	}
	s.state = state{PID: me.pid, Start: me.start, Mark: p.Mark, Phase: starting, Since: time.Now().UTC(), Reason: "Its health is awaited.", Cages: s.cage.dirs}
	if s.log, err = openLog(s.f.log(), p.Config.Limits.LogBytes, s.secret); err != nil {
		return err
	}
	return s.f.saveState(s.state)
}

// begin starts the command.
func (s *supervisor) begin() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	orders, send, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orders.Close()
	defer send.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	argv, attr := isolated(s.f, s.p)
	child, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: "/", Env: []string{"PATH=" + s.p.Config.Path, markName + "=" + s.p.Mark},
		Files: []*os.File{null, w, w, orders}, Sys: attr,
	})
	if err != nil {
		return fmt.Errorf("the command cannot be started: %w", err)
	}
	s.main, s.out, s.pump = child.Pid, r, make(chan struct{})
	_ = child.Release() // it is waited for along with all that it leaves
	go s.copy(r)
	if is, ok := look(s.main); ok {
		s.state.Main, s.state.MainStart = is.pid, is.start
		if err := s.f.saveState(s.state); err != nil {
			return err
		}
	}
	if err := s.enclose(); err != nil {
		return err
	}
	return json.NewEncoder(send).Encode(s.order())
}

// order is what the command is and may use, as far as the control groups do
// not bound it for all processes together.
func (s *supervisor) order() order {
	l := s.p.Config.Limits
	o := order{Command: s.p.Wish.Template.Command, Env: s.p.environment(s.f, s.secret), Dir: filepath.Join(s.f.tree(), dirOf(s.p.Wish)), FileBytes: l.DiskBytes}
	if !s.cage.memory {
		o.Memory = l.MemoryBytes
	}
	if !s.cage.pids {
		o.Processes = l.Processes
	}
	return o
}

// enclose puts what was started into the control groups, before the command
// begins. Whatever isolates may just have started something in turn.
func (s *supervisor) enclose() error {
	if len(s.cage.dirs) == 0 {
		return nil
	}
	in := map[int]bool{}
	for {
		found := false
		for _, p := range descendants(os.Getpid()) {
			if in[p.pid] || p.dead {
				continue
			}
			in[p.pid], found = true, true
			if err := s.cage.add(p.pid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
		if !found {
			return nil
		}
	}
}

func (s *supervisor) copy(r *os.File) {
	defer close(s.pump)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := s.log.Write(buf[:n]); err != nil {
				_, _ = io.Copy(io.Discard, r) // a full disk must not hold the command up
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// run watches the preview until it is over, and says how it ended.
func (s *supervisor) run(signals <-chan os.Signal) (phase, reason string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	health := make(chan error)
	go watchHealth(ctx, s.p.Port, s.p.Wish.Template.Health, health)
	watch := time.NewTicker(s.pace())
	defer watch.Stop()
	for {
		select {
		case sig := <-signals:
			if sig != unix.SIGCHLD {
				return stopped, "It was told to end."
			}
			if s.reap(); s.main == 0 {
				return failed, s.exited()
			}
		case err := <-health:
			s.healthy(err)
		case <-watch.C:
			if phase, reason := s.look(ctx); phase != "" {
				return phase, reason
			}
		}
	}
}

// pace is how often limits are looked after: often where the kernel does not.
func (s *supervisor) pace() time.Duration {
	if s.cage.pids && s.cage.memory {
		return 2 * time.Second
	}
	return 300 * time.Millisecond
}

// reap takes note of what has ended.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid == s.main {
			s.main, s.status = 0, status
		}
	}
}

// exited says how the command ended by itself.
func (s *supervisor) exited() string {
	command := strings.Join(s.p.Wish.Template.Command, " ")
	how := fmt.Sprintf("ended with exit code %d", s.status.ExitStatus())
	if s.status.Signaled() {
		how = fmt.Sprintf("was ended by signal %d (%s)", s.status.Signal(), s.status.Signal())
	}
	if n := s.cage.killedForMemory(); n > 0 {
		how += fmt.Sprintf("; it had used more than %d bytes of memory, the limit", s.p.Config.Limits.MemoryBytes)
	}
	return fmt.Sprintf("The command %.200q %s.", command, how)
}

// healthy takes note of an answer.
func (s *supervisor) healthy(err error) {
	if err == nil {
		s.bad = 0
		s.turn(ready, "It answers.")
		return
	}
	switch s.bad++; {
	case s.state.Phase == starting:
		s.state.Reason = "Its health is awaited: " + err.Error() + "." // told when it is over
	case s.bad >= flaps:
		s.turn(degraded, "It is not healthy: "+err.Error()+".")
	}
}

// turn tells a new phase.
func (s *supervisor) turn(phase, reason string) {
	if s.state.Phase == phase {
		return
	}
	s.state.Phase, s.state.Reason, s.state.Since = phase, reason, time.Now().UTC()
	if err := s.f.saveState(s.state); err != nil {
		fmt.Fprintln(os.Stderr, "fairlead:", err)
	}
}
