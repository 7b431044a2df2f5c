package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// session is one process of fairlead-render at work.
type session struct {
	cfg   *Config
	in    gitops.Rendering
	order *wire.Order
	// side is the one that it was at last, -1 before both.
	side   int
	answer *wire.Answer
	// read are the files that were given, and bytes their size.
	read  map[string]bool
	bytes int
	// err is why the repository could not be read.
	err error
}

// maxSaid bounds what the process may say, in bytes.
const maxSaid = 8 << 20

// run has the order carried out, by the process that is ready, else by a new
// one; answer is there afterwards.
func (s *session) run(ctx context.Context, spare *spare) error {
	timed, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	c, err := spare.take(), error(nil)
	if c == nil {
		c, err = start(context.WithoutCancel(ctx), s.cfg.Program, false)
	}
	if err != nil {
		s.answer = s.failed("fairlead-render could not be started", -1)
		return nil
	}
	ended := s.serve(timed, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.err != nil:
		return s.err
	case s.answer == nil && c.ahead && s.side < 0 && timed.Err() == nil: // it had ended while it waited
		return s.run(ctx, spare)
	case s.answer == nil:
		s.answer = s.failed(s.why(timed, ended, c.errs.String()), s.side)
	}
	return nil
}

// serve has a process carry the order out, and waits until it has ended.
func (s *session) serve(timed context.Context, c *child) error {
	stop := context.AfterFunc(timed, c.kill)
	defer stop()
	if s.talk(timed, c.in, c.out) != nil {
		c.kill() // it is not to go on
	}
	_ = c.in.Close()
	defer c.kill()
	return c.cmd.Wait()
}

// failed is the answer where the process gave none: what was rendered before
// the side at which it ended was well.
func (s *session) failed(why string, side int) *wire.Answer {
	if side == wire.After {
		return &wire.Answer{After: why}
	}
	return &wire.Answer{Before: why, After: why}
}

// why says why the process ended without an answer.
func (s *session) why(timed context.Context, ended error, errs string) string {
	var exit *exec.ExitError
	switch {
	case errors.As(ended, &exit) && exit.ExitCode() == wire.ExitMemory, strings.Contains(errs, "out of memory"), strings.Contains(errs, "cannot allocate memory"):
		return fmt.Sprintf("it takes more than %d MiB of memory", wire.MaxMemory>>20)
	case strings.Contains(errs, "stack exceeds"):
		return "it refers to itself without end"
	case timed.Err() != nil:
		return fmt.Sprintf("it takes longer than %s", s.cfg.Patience)
	}
	return s.order.Tool + " ended without an answer"
}

// talk answers what the process asks, until it is done.
func (s *session) talk(ctx context.Context, in io.Writer, out io.Reader) error {
	say, hear := json.NewEncoder(in), json.NewDecoder(io.LimitReader(out, maxSaid))
	if err := say.Encode(s.order); err != nil {
		return err
	}
	for {
		var a wire.Ask
		if err := hear.Decode(&a); err != nil {
			return err
		}
		switch a.Op {
		case wire.Done:
			s.answer = a.Answer
			return nil
		case wire.Begun:
			s.side = a.Side
			continue
		}
		r, err := s.reply(ctx, a)
		if err != nil {
			s.err = err
			return err
		}
		if err := say.Encode(r); err != nil {
			return err
		}
	}
}

// reply tells what is at a path.
func (s *session) reply(ctx context.Context, a wire.Ask) (r wire.Reply, err error) {
	files := s.in.Before
	if a.Side == wire.After {
		files = s.in.After
	}
	if !within(a.Path) {
		return wire.Reply{Refused: fmt.Sprintf("%q is no path of the repository", a.Path)}, nil
	}
	if a.Op == wire.Below {
		return s.below(ctx, files, a.Path)
	}
	data, err := files.Read(ctx, a.Path)
	switch {
	case err == nil:
		return s.given(a, data), nil
	case !errors.Is(err, gitops.ErrNoFile):
		return r, err
	}
	names, err := files.List(ctx, a.Path)
	r.Kind = wire.Nothing
	if len(names) > 0 {
		r.Kind = wire.Folder
	}
	return r, err
}

// below names the files below a folder, while there are not too many. What
// cannot be read by its path is not followed.
func (s *session) below(ctx context.Context, files gitops.Files, dir string) (r wire.Reply, err error) {
	all, err := files.Below(ctx, dir)
	if len(all) > s.cfg.MaxFiles {
		return wire.Reply{Refused: s.tooMuch()}, err
	}
	for _, e := range all {
		if name := strings.TrimPrefix(strings.TrimPrefix(e.Path, dir), "/"); name != "" && !e.Odd {
			r.Names = append(r.Names, name)
		}
	}
	return r, err
}

// given is a file, while there is not too much of them.
func (s *session) given(a wire.Ask, data []byte) wire.Reply {
	key := fmt.Sprint(a.Side, " ", a.Path)
	if !s.read[key] {
		s.read[key] = true
		s.bytes += len(data)
	}
	if len(s.read) > s.cfg.MaxFiles || s.bytes > s.cfg.MaxBytes {
		return wire.Reply{Refused: s.tooMuch()}
	}
	return wire.Reply{Kind: wire.File, Data: data}
}

func (s *session) tooMuch() string {
	return fmt.Sprintf("it is made of more than %d files or %d MiB", s.cfg.MaxFiles, s.cfg.MaxBytes>>20)
}

// within tells whether a path is one of the repository, as it is written there.
func within(p string) bool {
	return p == "" || path.Clean(p) == p && !strings.HasPrefix(p, "/") && p != ".." && !strings.HasPrefix(p, "../") && !strings.Contains("/"+p+"/", "/.git/") && !strings.ContainsAny(p, "\\\x00")
}

// head keeps the beginning of what is written, where a Go program says why it
// ended.
type head struct{ bytes.Buffer }

// Write is that of io.Writer.
func (t *head) Write(p []byte) (int, error) {
	if room := 4096 - t.Len(); room > 0 {
		t.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
