package relay

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Bounds of the relay.
const (
	maxMessage = 16 << 20 // bytes of one message, either way
	// linger is how long answers are awaited: that to initialize before what
	// follows is sent, others once nothing more is asked.
	linger = 30 * time.Second
	// maxCourtesy is how long a notification or a farewell may take.
	maxCourtesy = 10 * time.Second
)

// Server is the server at the other end: it makes and sends requests with the
// caller's credential, refuses with faults and reads refusals.
type Server interface {
	Request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error)
	Do(req *http.Request) (*http.Response, error)
	Refusal(res *http.Response, body []byte) *fault.Error
}

// Config is what a relay works with.
type Config struct {
	Server Server
	// Path is where the server speaks MCP, for example /mcp.
	Path string
	In   io.Reader
	Out  io.Writer
	// Timeout is how long the server may say nothing while an answer is
	// awaited; 0 is for ever. Subscriptions may be silent.
	Timeout time.Duration
	// Log is told of what the client cannot be told of.
	Log *slog.Logger
}

// relay carries messages until In ends.
type relay struct {
	Config
	session *session
	// base ends when the relay does.
	base context.Context //nolint:containedctx // lives as long as the relay

	out    sync.Mutex
	outErr error
	// ended is called when Out cannot be written to any more.
	ended context.CancelFunc

	mu      sync.Mutex
	flights map[string]*flight
	wg      sync.WaitGroup
}

// flight is a request that waits for its answer.
type flight struct {
	cancel context.CancelCauseFunc
	// silence ends the request when the server says nothing for too long; nil
	// where it may.
	silence *time.Timer
	// dropped: the client has cancelled the request and wants no answer.
	dropped bool
	// endless: the request is a subscription, which only ends by being ended.
	endless bool
}

// courtesy is how long a notification or a farewell may take.
func (r *relay) courtesy() time.Duration {
	if r.Timeout > 0 {
		return min(r.Timeout, maxCourtesy)
	}
	return maxCourtesy
}

// errMute is why a request ends to which the server says nothing.
var errMute = errors.New("the server is mute")

func (f *flight) end() {
	if f.silence != nil {
		f.silence.Stop()
	}
	f.cancel(nil)
}

// heard gives a body that counts as a sign of life whatever comes of it.
func (r *relay) heard(f *flight, body io.ReadCloser) io.ReadCloser {
	if f.silence == nil {
		return body
	}
	f.silence.Reset(r.Timeout)
	return &audible{body, f.silence, r.Timeout}
}

type audible struct {
	io.ReadCloser
	silence *time.Timer
	timeout time.Duration
}

// Read reads on.
func (a *audible) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		a.silence.Reset(a.timeout)
	}
	return n, err
}

// Run carries messages until the input ends and what it asked for is
// answered, or ctx ends, whose cause it then returns.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	base, stop := context.WithCancel(ctx)
	defer stop()
	r := &relay{Config: cfg, base: base, flights: map[string]*flight{}, ended: stop}
	r.session = &session{relay: r}
	r.serve(base, r.read(base))
	r.drain(base)
	r.session.close(context.WithoutCancel(ctx))
	stop()
	r.wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.outErr
}

// input is one line, or why there is none.
type input struct {
	line []byte
	err  error
}

// read gives the lines of the input until it ends.
func (r *relay) read(ctx context.Context) <-chan input {
	lines := make(chan input)
	go func() { // may stay behind, blocked in a read that nothing can end
		defer close(lines)
		in := bufio.NewReaderSize(r.In, 64<<10)
		for {
			line, err := readLine(in, maxMessage)
			if err != nil && !errors.Is(err, errTooLong) {
				return
			}
			select {
			case lines <- input{line, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// serve deals with lines until there are no more.
func (r *relay) serve(ctx context.Context, lines <-chan input) {
	for {
		select {
		case in, more := <-lines:
			if !more {
				return
			}
			r.take(ctx, in)
		case <-ctx.Done():
			return
		}
	}
}

// take deals with one line.
func (r *relay) take(ctx context.Context, in input) {
	if in.err != nil {
		r.write(failure(nil, codeInvalid, fault.New(fault.Invalid, "a message has more than %d MiB", maxMessage>>20).WithFix("Send less at once.")))
		return
	}
	if blank(in.line) {
		return
	}
	m, ok := parse(in.line)
	switch {
	case !ok:
		r.write(failure(nil, codeParse, fault.New(fault.Invalid, "a line is not JSON").WithFix("Send one JSON-RPC message on each line.")))
	case m.asks() && m.Method == "initialize":
		r.initialize(ctx, &m)
	case m.asks():
		r.launch(ctx, &m)
	case m.Method == "notifications/cancelled":
		r.cancelled(ctx, &m)
	default: // a notification, an answer to the server, or what the server may judge
		r.tell(ctx, &m)
	}
}

func blank(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

// initialize waits for the answer, within reason, since all that follows
// belongs to the session that it opens.
func (r *relay) initialize(ctx context.Context, m *message) {
	done := r.launch(ctx, m)
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// launch asks for an answer without waiting for it.
func (r *relay) launch(ctx context.Context, m *message) <-chan struct{} {
	ctx, cancel := context.WithCancelCause(ctx)
	id, f := key(m.ID), &flight{cancel: cancel, endless: m.Method == "subscriptions/listen"}
	if r.Timeout > 0 && !f.endless {
		f.silence = time.AfterFunc(r.Timeout, func() { cancel(errMute) })
	}
	r.mu.Lock()
	r.flights[id] = f
	r.mu.Unlock()
	done := make(chan struct{})
	r.wg.Go(func() {
		defer close(done)
		defer f.end()
		r.request(ctx, m, f)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.flights[id] == f {
			delete(r.flights, id)
		}
	})
	return done
}

// cancelled ends the request that the client has cancelled. With a session
// the server is told; without one the end of the connection tells it.
func (r *relay) cancelled(ctx context.Context, m *message) {
	if !m.modern() && r.session.open() {
		r.tell(ctx, m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.flights[key(m.Params.RequestID)]; f != nil {
		f.dropped = true
		f.cancel(nil)
	}
}

func (r *relay) isDropped(f *flight) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f.dropped
}

// drain waits for the answers to what has been asked; subscriptions end.
func (r *relay) drain(ctx context.Context) {
	r.session.stopListening()
	r.mu.Lock()
	for _, f := range r.flights {
		if f.endless {
			f.dropped = true
			f.cancel(nil)
		}
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(done)
	}()
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		r.Log.Warn("some requests are still without an answer")
	case <-ctx.Done():
	}
}

// write hands a message to the client, on a line of its own.
func (r *relay) write(msg []byte) {
	r.out.Lock()
	defer r.out.Unlock()
	if r.outErr != nil {
		return
	}
	if _, err := r.Out.Write(append(msg, '\n')); err != nil {
		r.outErr = fault.New(fault.Unavailable, "the client does not read any more").Because(err)
		r.ended()
	}
}
