package front

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// heartbeat is how often a stream with nothing to tell says that it is alive,
// so that neither proxies nor the system take it for dead.
const heartbeat = 15 * time.Second

const mediaEvents = "text/event-stream"

// answer is what the library writes to. A JSON answer is held back until it is
// whole, so that errors in it can be put as faults: the library tells clients
// the text of internal errors and has one code for all of them. Messages that
// handlers send meanwhile make a stream of events of it, whose last is the
// answer: what was sent before is written before, which the library's own
// queue does not promise.
type answer struct {
	front   *Front
	request *Request
	events  bool        // the client takes events
	header  http.Header // the library's, until they are sent
	begun   chan struct{}

	mu     sync.Mutex
	out    http.ResponseWriter
	flush  *http.ResponseController
	status int
	body   bytes.Buffer
	// streaming: events have been sent; passing: the library sends its own.
	streaming, passing, ended bool
	beat                      *time.Timer
}

func newAnswer(w http.ResponseWriter, f *Front, req *Request, r *http.Request) *answer {
	a := &answer{front: f, request: req, events: takesEvents(r), header: http.Header{}, begun: make(chan struct{}),
		out: w, flush: http.NewResponseController(w)}
	if a.events {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.beat = time.AfterFunc(heartbeat, a.alive)
	}
	return a
}

// takesEvents tells whether a client takes a stream of events.
func takesEvents(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accept, mediaEvents) || strings.Contains(accept, "*/*")
}

// Header is what the library sets, apart from what the front has set.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader decides whether the answer is held back.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status != 0 {
		return
	}
	a.status = status
	if strings.HasPrefix(a.header.Get("Content-Type"), mediaEvents) {
		a.passing = true
		a.begin()
	}
}

// Write keeps a part of the answer, or passes on an event of the library's,
// which writes each at once.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if !a.passing {
		return a.body.Write(p)
	}
	if data, ok := bytes.CutPrefix(bytes.TrimRight(p, "\n"), []byte("event: message\ndata: ")); ok {
		if plain, _ := a.put(data); !bytes.Equal(plain, data) {
			return len(p), a.event(plain)
		}
	}
	return a.out.Write(p)
}

// Flush passes on what a stream has so far.
func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.passing {
		_ = a.flush.Flush() // a writer that cannot flush sends at its end
	}
}

// begin makes a stream of the answer. It is called under the lock.
func (a *answer) begin() {
	if a.streaming || a.ended {
		return
	}
	a.streaming = true
	h := a.out.Header()
	h.Set("Content-Type", mediaEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // a proxy is not to collect events
	a.out.WriteHeader(http.StatusOK)
	close(a.begun)
}

// open begins the stream at once.
func (a *answer) open() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	_ = a.flush.Flush() // a writer that cannot flush sends at its end
}

// alive writes a comment, which clients pass over. It makes a stream of an
// answer that takes long.
func (a *answer) alive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.begin()
	if _, err := a.out.Write([]byte(": alive\n\n")); err == nil {
		_ = a.flush.Flush()
		a.beat.Reset(heartbeat)
	}
}

// event writes a message. It is called under the lock.
func (a *answer) event(message []byte) error {
	_, err := a.out.Write(slices.Concat([]byte("event: message\ndata: "), message, []byte("\n\n"))) //nolint:gosec // events under nosniff are no page
	return err
}

// send writes a message ahead of the answer.
func (a *answer) send(message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.events:
		return nil
	case a.ended:
		return errors.New("the answer has been given")
	}
	a.begin()
	if err := a.event(data); err != nil {
		return err
	}
	return a.flush.Flush()
}

// put puts a message of the library's as the client should have it; status is
// that of an error, else 0.
func (a *answer) put(message []byte) (out []byte, status int) {
	if !a.request.maybeError(message) {
		return a.request.spliced(message), 0
	}
	var response struct {
		Error *rpcErrorBody `json:"error"`
	}
	if json.Unmarshal(message, &response) != nil || response.Error == nil {
		return a.request.spliced(message), 0
	}
	code, f := response.Error.Code, a.request.Fault
	if f != nil {
		code = a.request.CodeOf(f)
	} else {
		code, f = a.front.cfg.Explain(a.request, code, response.Error.Message)
	}
	if f == nil {
		return message, 0
	}
	if a.request.Modern && (code == CodeInvalidParams || code == codeCapability) {
		status = http.StatusBadRequest
	}
	return a.request.rpc(code, f), status
}

// refuse makes the answer a refusal that asks for more of a token.
func (a *answer) refuse(status int, challenge string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.streaming {
		a.status = status
		a.out.Header().Set("WWW-Authenticate", challenge)
	}
}

// finish sends an answer that was held back.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.passing || a.status == 0 && !a.streaming {
		return
	}
	body := bytes.TrimRight(a.body.Bytes(), "\n")
	kind := a.header.Get("Content-Type")
	if a.status >= http.StatusBadRequest && !strings.HasPrefix(kind, "application/json") {
		// The library refuses in plain words what it has not taken for a message.
		body = a.request.rpc(CodeInvalidRequest, fault.New(codeOfStatus(a.status), "%s", strings.TrimSpace(string(body))))
		kind = "application/json"
	}
	plain, status := a.put(body)
	if status != 0 && a.status == http.StatusOK {
		a.status = status
	}
	if a.streaming {
		if len(plain) > 0 {
			_ = a.event(plain) // a client that has gone needs no answer
		}
		return
	}
	for key, values := range a.header {
		a.out.Header()[key] = values
	}
	if kind != "" {
		a.out.Header().Set("Content-Type", kind)
	}
	a.out.WriteHeader(a.status)
	_, _ = a.out.Write(plain) // a client that has gone needs no answer
}

// close ends the answer: nothing is written any more.
func (a *answer) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.beat != nil {
		a.beat.Stop()
	}
}

// codeOfStatus is the fault that a status of the library's stands for.
func codeOfStatus(status int) fault.Code {
	switch status {
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusForbidden:
		return fault.Forbidden
	default:
		return fault.Invalid
	}
}

// maybeError spares most results the parsing: an error stands where the result
// would, after the id.
func (req *Request) maybeError(body []byte) bool {
	head := body[:min(len(body), 200+6*len(req.id))]
	return bytes.Contains(head, []byte(`"error":`))
}
