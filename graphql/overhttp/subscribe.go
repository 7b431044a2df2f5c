package overhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// job is one operation that runs on a connection.
type job struct {
	id     string
	cancel context.CancelFunc
}

// subscribe starts an operation of any kind.
func (s *socket) subscribe(ctx context.Context, m message) bool {
	var fields map[string]json.RawMessage
	switch {
	case !s.open():
		s.close(closeUnauthorized, "Unauthorized")
		return false
	case m.ID == "" || json.Unmarshal(m.Payload, &fields) != nil:
		s.close(closeBadMessage, "Invalid message received")
		return false
	}
	opCtx, cancel := context.WithCancel(ctx)
	j := &job{m.ID, cancel}
	n, fresh := s.begin(j)
	if !fresh {
		cancel()
		s.close(closeDuplicate, fmt.Sprintf("Subscriber for %.60s already exists", m.ID))
		return false
	}
	if limit := or(s.h.Socket.Operations, 32); n > limit {
		s.finish(j)
		return s.fail(ctx, m.ID, Refuse(fault.New(fault.QuotaExceeded, "%d operations are running on this connection already", limit).
			WithFix("Complete some, or open another connection.")))
	}
	run := s.start(opCtx, j, fields)
	s.jobs.Go(func() {
		defer s.finish(j)
		if !s.logged(opCtx, "running an operation on a connection", run) {
			s.end(opCtx, j, Refuse(fault.From(errPanicked)))
		}
	})
	return true
}

var errPanicked = errors.New("it panicked")

// open tells whether connection_init has been acknowledged.
func (s *socket) open() bool {
	select {
	case <-s.acknowledged:
		return true
	default:
		return false
	}
}

// begin notes a job and how many there are; it is not fresh if its id is in
// use.
func (s *socket) begin(j *job) (n int, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[j.id] != nil {
		return len(s.running), false
	}
	s.running[j.id] = j
	return len(s.running), true
}

// finish ends a job and frees its id; it tells whether it was running still.
func (s *socket) finish(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.cancel()
	if s.running[j.id] != j {
		return false
	}
	delete(s.running, j.id)
	return true
}

// cancel ends the job of an id, if there is one, on the client's word.
func (s *socket) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.running[id]; j != nil {
		j.cancel()
		delete(s.running, id)
	}
}

// start makes an operation ready and gives what runs it. A subscription
// stands when start returns, so that what the client sends later finds it so.
func (s *socket) start(ctx context.Context, j *job, fields map[string]json.RawMessage) (run func()) {
	p, bad := fromFields(fields)
	if bad != nil {
		return func() { s.end(ctx, j, Refuse(bad.err)) }
	}
	op, resp := s.h.prepare(ctx, s.who, *p)
	switch {
	case resp != nil:
		return func() { s.end(ctx, j, resp) }
	case op.Kind() == Subscription:
		events := op.Subscribe(ctx)
		return func() { s.stream(ctx, j, events) }
	}
	return func() {
		limited, cancel := context.WithTimeout(ctx, or(s.h.Timeout, 15*time.Second))
		defer cancel()
		resp := op.Run(limited)
		if resp.Data == nil || s.next(ctx, j, resp) {
			s.end(ctx, j, resp)
		}
	}
}

func (s *socket) stream(ctx context.Context, j *job, events <-chan *Response) {
	for resp := range events {
		if resp.Data == nil {
			s.end(ctx, j, resp)
			return
		}
		if !s.next(ctx, j, resp) {
			return
		}
	}
	s.end(ctx, j, &Response{Data: json.RawMessage("{}")})
}

func (s *socket) next(ctx context.Context, j *job, resp *Response) bool {
	head, data, tail, err := resp.encode()
	payload := slices.Concat([]byte(head), data, []byte(tail))
	return err == nil && ctx.Err() == nil && s.send(ctx, message{ID: j.id, Type: "next", Payload: payload})
}

// end tells the client that an operation is over, by error if it was refused
// as a whole, unless the client ended it. The id is free before the client
// hears of it.
func (s *socket) end(ctx context.Context, j *job, resp *Response) {
	if !s.finish(j) {
		return
	}
	if resp.Data == nil {
		s.fail(ctx, j.id, resp)
		return
	}
	s.send(ctx, message{ID: j.id, Type: "complete"})
}

func (s *socket) fail(ctx context.Context, id string, resp *Response) bool {
	payload, err := json.Marshal(resp.Errors)
	return err == nil && s.send(ctx, message{ID: id, Type: "error", Payload: payload})
}
