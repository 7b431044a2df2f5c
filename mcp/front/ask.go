package front

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// questions are the requests that the client of a session has not answered.
type questions struct {
	mu   sync.Mutex
	open map[string]chan reply
}

type reply struct {
	result json.RawMessage
	err    *rpcErrorBody
}

// Ask sends a request to the client of a session, on the stream of the request
// at hand, and waits for the result until ctx ends. Revisions from 2026-07-28
// on know no requests from server to client.
func (req *Request) Ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if req.session == nil || req.answer == nil || !req.answer.events {
		return nil, fault.New(fault.FailedPrecondition, "there is no way to ask the client").WithFix("Open a session, and accept text/event-stream.")
	}
	id, answered := uuid.NewString(), make(chan reply, 1)
	q := &req.session.questions
	q.put(id, answered)
	defer q.put(id, nil)
	if err := req.Send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	select {
	case r := <-answered:
		if r.err != nil {
			return nil, fault.New(fault.FailedPrecondition, "the client refused %s: %.200s", method, r.err.Message).Because(errors.New(r.err.Message))
		}
		return r.result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (q *questions) put(id string, answered chan reply) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if answered == nil {
		delete(q.open, id)
		return
	}
	if q.open == nil {
		q.open = map[string]chan reply{}
	}
	q.open[id] = answered
}

// answers tells whether a message answers a question of its session's, and
// hands it to who asked.
func (req *Request) answers() bool {
	var id string
	if req.session == nil || req.Method != "" || json.Unmarshal(req.id, &id) != nil {
		return false
	}
	q := &req.session.questions
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.open[id]
	if waiting == nil {
		return false
	}
	delete(q.open, id) // one answer is taken
	waiting <- req.reply
	return true
}
