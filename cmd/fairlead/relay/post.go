package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	mediaJSON   = "application/json"
	mediaEvents = "text/event-stream"
	// maxRefusal bounds in bytes what is read of an answer that is no success.
	maxRefusal = 1 << 20
)

func media(res *http.Response) string {
	m, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return m
}

// send posts a message.
func (r *relay) send(ctx context.Context, m *message) (*http.Response, error) {
	req, err := r.Server.Request(ctx, http.MethodPost, r.Path, bytes.NewReader(m.line))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaJSON)
	req.Header.Set("Accept", mediaJSON+", "+mediaEvents)
	r.session.dress(req, m)
	return r.Server.Do(req)
}

// exchange posts a message, once more in another session if the server has
// forgotten the one it belongs to.
func (r *relay) exchange(ctx context.Context, m *message) (*http.Response, error) {
	id := r.session.current()
	res, err := r.send(ctx, m)
	if err != nil || res.StatusCode != http.StatusNotFound || id == "" || m.modern() || m.Method == "initialize" {
		return res, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	res.Body.Close()
	if err == nil && !isAnswer(body) && r.session.renew(ctx, id) {
		return r.send(ctx, m)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// request asks for an answer and hands it on, or one that says why there is
// none.
func (r *relay) request(ctx context.Context, m *message, f *flight) {
	res, err := r.exchange(ctx, m)
	if err == nil {
		res.Body = r.heard(f, res.Body)
		err = r.answer(m, f, res)
	}
	if errors.Is(context.Cause(ctx), errMute) {
		err = fault.New(fault.Unavailable, "the server has said nothing for %s", r.Timeout).WithFix("Try again, or allow more with --timeout.")
	}
	if err == nil || r.isDropped(f) || r.base.Err() != nil {
		return
	}
	r.write(failure(m.ID, codeServer, fault.From(err)))
}

// answer hands on everything that a response holds.
func (r *relay) answer(m *message, f *flight, res *http.Response) error {
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return r.refused(m, res)
	}
	answered := false
	err := receive(res, func(msg []byte) {
		if r.isDropped(f) {
			return
		}
		if in, ok := parse(msg); ok && in.Method == "" && key(in.ID) == key(m.ID) {
			answered = true
			r.greeted(m, &in, res)
		}
		r.forward(msg)
	})
	if answered {
		return nil
	}
	return fault.New(fault.Unavailable, "the server's answer broke off before it was whole").WithFix("Try again.").Because(err)
}

// greeted notes the session that an answer to initialize opens.
func (r *relay) greeted(m, in *message, res *http.Response) {
	if m.Method == "initialize" && in.Result != nil {
		r.session.begin(m.line, res.Header.Get(headerSession), text(in.Result.ProtocolVersion))
	}
}

// reopen asks for another session; the client, which has one, is told nothing.
func (r *relay) reopen(ctx context.Context, m *message) (ok bool) {
	res, err := r.send(ctx, m)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return false
	}
	err = receive(res, func(msg []byte) {
		if in, valid := parse(msg); valid && key(in.ID) == key(m.ID) && in.Result != nil {
			r.greeted(m, &in, res)
			ok = true
		}
	})
	return ok && err == nil
}

// refused hands on the server's own JSON-RPC error, or gives the fault that
// the response stands for.
func (r *relay) refused(m *message, res *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil {
		return fault.New(fault.Unavailable, "the server's answer broke off before it was whole").WithFix("Try again.").Because(err)
	}
	if in, ok := parse(body); ok && isAnswer(body) {
		if key(in.ID) == key(m.ID) {
			r.forward(body)
			return nil
		}
		body = said(body)
	}
	return r.Server.Refusal(res, body)
}

// said is the fault that a JSON-RPC error carries, in the form of the REST
// door.
func said(body []byte) []byte {
	var answer struct {
		Error struct {
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return body
	}
	f := &fault.Error{}
	if json.Unmarshal(answer.Error.Data, f) != nil || f.Code == "" || f.Message == "" {
		f = fault.New(fault.Invalid, "%s", answer.Error.Message)
	}
	out, err := json.Marshal(map[string]any{"error": f})
	if err != nil { // details that are no JSON
		return body
	}
	return out
}

// isAnswer tells whether a body is a JSON-RPC answer.
func isAnswer(body []byte) bool {
	var answer struct {
		Version string          `json:"jsonrpc"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	return json.Unmarshal(body, &answer) == nil && answer.Version == "2.0" && (answer.Result != nil || answer.Error != nil)
}

// tell posts what wants no answer, and waits until the server has it, so that
// what comes next comes after it.
func (r *relay) tell(ctx context.Context, m *message) {
	ctx, cancel := context.WithTimeout(ctx, r.courtesy())
	defer cancel()
	res, err := r.exchange(ctx, m)
	if err == nil {
		defer res.Body.Close()
		err = r.told(m, res)
	}
	if err != nil {
		r.Log.Warn("a message did not reach the server", "method", m.Method, "error", sentence(fault.From(err)))
	}
}

func (r *relay) told(m *message, res *http.Response) error {
	if res.StatusCode/100 != 2 {
		body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
		if err != nil {
			return err
		}
		return r.Server.Refusal(res, body)
	}
	if m.Method == "notifications/initialized" {
		r.session.initialized()
	}
	return receive(res, r.forward)
}

// receive hands on the messages of a response: one, or a stream of them.
func receive(res *http.Response, hand func([]byte)) error {
	switch media(res) {
	case mediaEvents:
		_, _, err := events(res.Body, func(e event) {
			if e.name == "" || e.name == "message" {
				hand(e.data)
			}
		})
		return err
	case mediaJSON:
		data, err := io.ReadAll(io.LimitReader(res.Body, maxMessage+1))
		switch {
		case err != nil:
			return err
		case len(data) > maxMessage:
			return fmt.Errorf("the answer has more than %d MiB", maxMessage>>20)
		case len(bytes.TrimSpace(data)) > 0:
			hand(data)
		}
		return nil
	default:
		n, err := io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal))
		if err == nil && n > 0 && res.StatusCode != http.StatusAccepted {
			err = errors.New("the answer is neither JSON nor a stream of events")
		}
		return err
	}
}

// forward hands a message to the client, on one line whatever its form.
func (r *relay) forward(msg []byte) {
	var b bytes.Buffer
	if err := json.Compact(&b, msg); err != nil {
		r.Log.Warn("the server sent something that is not JSON", "error", err)
		return
	}
	r.write(b.Bytes())
}
