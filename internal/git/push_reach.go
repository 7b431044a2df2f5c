package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// push brings an update to the repository.
func (s *Source) push(ctx context.Context, u update) error {
	switch r := s.reader.(type) {
	case *local:
		return r.push(ctx, u)
	case *remote:
		return r.push(ctx, u)
	default:
		return errors.ErrUnsupported
	}
}

func (r *remote) push(ctx context.Context, u update) error {
	release, err := r.limit.acquire(ctx, r.at.url)
	if err != nil {
		return err
	}
	defer release()
	return r.within(ctx, pushing, func(ctx context.Context) error {
		w, err := r.dialPush(ctx, u.p.Token)
		if err != nil {
			return err
		}
		defer w.close()
		return r.mayPush(u.over(ctx, r.name(), w), u.p.Token != nil)
	})
}

const pushing = "pushing to"

// dialPush starts a conversation to push; over HTTP with another token where one
// is lent.
func (r *remote) dialPush(ctx context.Context, lent func() string) (pushWire, error) {
	if r.at.kind == overSSH {
		w, err := dialSSH(ctx, r.at, r.cfg.Credentials, receivePack, false)
		if err != nil {
			return nil, err // a nil *sshWire must not become a pushWire
		}
		return w, nil
	}
	if lent != nil {
		w := newHTTPWire(r.limit.transport, r.at.url, "oauth2", lent()) // a name that GitLab wants, and others leave be
		w.service = receivePack
		return w, nil
	}
	w, err := r.dialHTTP()
	if err != nil {
		return nil, err
	}
	w.service = receivePack
	return w, nil
}

// mayPush explains what only pushing can meet with.
func (r *remote) mayPush(err error, lent bool) error {
	var status *statusError
	var f *fault.Error
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case lent && errors.As(err, &status) && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, status.status):
		return fault.New(fault.FailedPrecondition, "%s %s: the server does not let the account push (HTTP %d)", pushing, r.name(), status.status).
			WithFix("Ask for the right to write to the repository, or link the account anew.").Because(errors.Join(ErrDenied, err))
	case errors.As(err, &status) && (status.status == http.StatusUnauthorized || status.status == http.StatusForbidden):
		if r.cfg.Credentials.TokenFile == "" && r.cfg.Credentials.TokenEnv == "" {
			return fault.New(fault.FailedPrecondition, "%s %s: the server lets nobody push without credentials, and none are configured", pushing, r.name()).
				WithFix("Name a token that may write by credentials.tokenFile or credentials.tokenEnv.").Because(err)
		}
		return fault.New(fault.FailedPrecondition, "%s %s: the server does not let this token push (HTTP %d)", pushing, r.name(), status.status).
			WithFix("Check that the token has not been revoked, and that it may write to the repository; put a new one in its place if not.").Because(err)
	case r.at.kind == overSSH && (errors.Is(err, packp.ErrEmptyInput) || errors.Is(err, io.EOF)):
		return fault.New(fault.FailedPrecondition, "%s %s: there is no such repository, or the key may not write to it", pushing, r.name()).
			WithFix("Correct the URL, or give the key write access to the repository.").Because(err)
	}
	return mayTake(r.name(), err)
}

// mayTake explains what a repository's own rules refuse.
func mayTake(name string, err error) error {
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return fault.New(fault.FailedPrecondition, "%s %s: it was refused: %s", pushing, name, refused.Error()).
			WithFix("Put right what the server says: a protected branch, a hook or a rule of the repository stands against it.").Because(err)
	case errors.Is(err, errNoReport):
		return fault.New(fault.Unavailable, "%s %s: %v", pushing, name, errNoReport).WithFix("Look at the branch; try again.").Because(err)
	}
	return err
}

func (w *httpWire) send(ctx context.Context, content *bytes.Buffer) (io.ReadCloser, error) {
	return w.post(ctx, content)
}

func (w *sshWire) send(_ context.Context, content *bytes.Buffer) (io.ReadCloser, error) {
	if _, err := content.WriteTo(w.in); err != nil {
		return nil, err
	}
	return io.NopCloser(w.out), nil
}

// push has the git program take what is pushed to a repository on disk, so that
// its locks, hooks and settings hold.
func (l *local) push(ctx context.Context, u update) error {
	program, err := exec.LookPath("git")
	if err != nil {
		return fault.New(fault.FailedPrecondition, "%s %s: the git program, which writes to repositories on disk, is not installed", pushing, l.name).
			WithFix("Install git on the server, or name the repository's URL in the place of its path.").Because(err)
	}
	bounded, cancel := context.WithTimeout(ctx, l.limits.Timeout)
	defer cancel()
	w, err := startReceive(bounded, program, l.path)
	if err == nil {
		err = mayTake(l.name, u.over(bounded, l.name, w))
		w.close()
	}
	var f *fault.Error
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	case bounded.Err() != nil:
		return fault.New(fault.Unavailable, "%s %s took longer than %s", pushing, l.name, l.limits.Timeout).WithFix("Look at the repository's hooks; raise limits.timeout.").Because(err)
	}
	said := ""
	if w != nil && w.words.String() != "" {
		said = ": " + w.words.String()
	}
	return fault.New(fault.FailedPrecondition, "%s %s: git does not take it%s", pushing, l.name, said).
		WithFix("Let the user that Fairlead runs as write to the repository.").Because(err)
}

// pipeWire talks to git-receive-pack in a process of its own.
type pipeWire struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.Reader
	words clipped
}

func startReceive(ctx context.Context, program, path string) (*pipeWire, error) {
	w := &pipeWire{cmd: exec.CommandContext(ctx, program, "receive-pack", path)} //nolint:gosec // the program is git, and the path absolute and an operator's
	// The repository's hooks are not for Fairlead's own settings and secrets.
	w.cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	w.cmd.Stderr = &w.words
	w.cmd.WaitDelay = time.Second // what a hook has started may hold the pipes
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if w.out, err = w.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return w, w.cmd.Start()
}

func (w *pipeWire) advertise(context.Context) (*packp.AdvRefs, error) { return decodeAdvert(w.out) }

func (w *pipeWire) send(_ context.Context, content *bytes.Buffer) (io.ReadCloser, error) {
	if _, err := content.WriteTo(w.in); err != nil {
		return nil, err
	}
	return io.NopCloser(w.out), nil
}

// close ends the process: it ends by itself where its input does.
func (w *pipeWire) close() {
	_ = w.in.Close()                  // it may be gone already
	_, _ = io.Copy(io.Discard, w.out) // so that it can end
	_ = w.cmd.Wait()                  // what matters has been read
}
