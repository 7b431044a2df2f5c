package local

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// supported tells that previews run on this system.
const supported = true

// The words by which the program becomes something else than Fairlead.
const (
	wordSupervise = "preview-supervise"
	wordExec      = "preview-exec"
)

// Main makes this process a supervisor, or the beginning of a command, where
// the arguments (those of the program, without its name) say so: ran is then
// true and code is what the process must end with. A program that deploys
// local previews calls it before anything else.
func Main(args []string) (code int, ran bool) {
	switch {
	case len(args) == 2 && args[0] == wordSupervise:
		return supervise(folder(args[1])), true
	case len(args) == 2 && args[0] == wordExec:
		return execCommand(args[1]), true
	default:
		return 0, false
	}
}

// startTimeout is how long a supervisor may take to say that it is there.
const startTimeout = 30 * time.Second

// start starts a supervisor and waits until it has the folder.
func (d *Deployer) start(ctx context.Context, f folder, p plan) error {
	if err := f.saveState(state{}); err != nil {
		return err
	}
	errs, err := os.OpenFile(f.at("supervisor.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer errs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	argv := slices.Concat(d.opts.Runner, []string{wordSupervise, string(f)})
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec,noctx // our own program, which is to outlive this call
	secrets, err := writeSecrets(p.Wish.Given)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = "/", secrets, w, errs
	cmd.Env = []string{"PATH=" + p.Config.Path, "GOMAXPROCS=2"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	d.children.Go(func() { _ = cmd.Wait() }) // only reaps: how it ended is in the folder
	deadline := time.Now().Add(startTimeout)
	if t, ok := ctx.Deadline(); ok && t.Before(deadline) {
		deadline = t
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) }) // ends the wait below
	defer stop()
	_ = r.SetReadDeadline(deadline) // a pipe takes deadlines
	line, err := bufio.NewReader(r).ReadString('\n')
	if strings.TrimSpace(line) == "ok" {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault.New(fault.Unavailable, "the supervisor of preview %s did not start", f.id()).
		WithFix("Look at %s; the program that serves Fairlead must be able to start itself.", f.at("supervisor.log")).Because(errors.Join(err, errors.New(tailOf(f.at("supervisor.log")))))
}

// tailOf is the end of a small file, for a log.
func tailOf(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data[max(0, len(data)-1000):])
}
