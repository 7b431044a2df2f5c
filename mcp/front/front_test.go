package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func sessionsAt(now *time.Time) (*Sessions, *[]string) {
	s, ended := newSessions(time.Hour), &[]string{}
	s.now = func() time.Time { return *now }
	s.ended = func(id string) { *ended = append(*ended, id) }
	return s, ended
}

// TestAllSessionsAreBounded: when there are too many in all, the caller who has
// the most loses one, not those who have few.
func TestAllSessionsAreBounded(t *testing.T) {
	now := time.Now()
	s, ended := sessionsAt(&now)
	modest := s.Begin("modest")
	for i := range 49 {
		for range maxSessions {
			s.Begin(fmt.Sprint("caller", i))
		}
	}
	for i := range 99 {
		s.Begin(fmt.Sprint("other", i))
	}
	if s.Len() != maxAllSessions || len(*ended) != 0 {
		t.Fatal(s.Len(), len(*ended))
	}
	for i := range 200 {
		s.Begin(fmt.Sprint("late", i))
	}
	if s.Len() != maxAllSessions || len(*ended) != 200 || !s.Holds(modest, "modest") {
		t.Error(s.Len(), len(*ended))
	}
}

func TestIdleSessionsAreDropped(t *testing.T) {
	now := time.Now()
	s, ended := sessionsAt(&now)
	idle, heard := s.Begin("a"), s.Begin("a")
	done, ok := s.listen(s.use(heard, "a"), func() {})
	if !ok {
		t.Fatal("no stream")
	}
	now = now.Add(61 * time.Minute)
	if s.Holds(idle, "a") || !s.Holds(heard, "a") {
		t.Error("a session that is listened to is in use, another is not")
	}
	s.Begin("b")
	if len(*ended) != 1 || (*ended)[0] != idle {
		t.Error(*ended)
	}
	at := s.use(heard, "a")
	s.End(heard)
	done()
	if _, ok := s.listen(at, func() {}); ok {
		t.Error("a session that has ended is listened to")
	}
}

func answering(t *testing.T) (*answer, *httptest.ResponseRecorder) {
	t.Helper()
	f, err := New(Config{Explain: func(_ *Request, code int, _ string) (int, *fault.Error) {
		return code, fault.New(fault.Internal, "something went wrong")
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, w := httptest.NewRequest(http.MethodPost, "/mcp", nil), httptest.NewRecorder()
	r.Header.Set("Accept", "application/json, text/event-stream")
	req := &Request{id: json.RawMessage("1")}
	req.answer = newAnswer(w, f, req, r)
	t.Cleanup(req.answer.close)
	return req.answer, w
}

// TestHeartbeats: an answer that takes long becomes a stream, whose last event
// it is, with errors put as elsewhere.
func TestHeartbeats(t *testing.T) {
	a, w := answering(t)
	a.alive()
	a.Header().Set("Content-Type", "application/json")
	a.WriteHeader(http.StatusOK)
	fmt.Fprintln(a, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the secret of the house"}}`)
	a.finish()
	a.close()
	a.alive()
	body := w.Body.String()
	if w.Header().Get("Content-Type") != mediaEvents || !strings.HasPrefix(body, ": alive\n\nevent: message\ndata: {") || strings.Contains(body, "secret") || strings.Count(body, "alive") != 1 {
		t.Error(body)
	}
	if a.send(1) == nil {
		t.Error("something is sent after the answer")
	}
}

// TestTheLibrarysOwnEvents: errors in them are put as elsewhere, too.
func TestTheLibrarysOwnEvents(t *testing.T) {
	a, w := answering(t)
	a.Header().Set("Content-Type", mediaEvents)
	a.WriteHeader(http.StatusOK)
	fmt.Fprintf(a, "event: message\ndata: %s\n\n", `{"jsonrpc":"2.0","method":"notifications/message"}`)
	fmt.Fprintf(a, "event: message\ndata: %s\n\n", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the secret of the house"}}`)
	a.Flush()
	a.finish()
	if body := w.Body.String(); strings.Contains(body, "secret") || strings.Count(body, "data: ") != 2 || !w.Flushed {
		t.Error(body)
	}
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`"text"`), `"x"`)
	f.Add([]byte{}, []byte(`"`), `"`)
	f.Fuzz(func(t *testing.T, one, two []byte, around string) {
		req := &Request{answer: &answer{}}
		first, _, _ := req.Splice(one)
		_, text, _ := req.Splice(two)
		got := req.spliced([]byte(around + string(first) + around + `"` + text + `"`))
		if want := bytes.Join([][]byte{[]byte(around), one, []byte(around), two}, nil); !bytes.Equal(got, want) {
			t.Fatalf("%q, not %q", got, want)
		}
	})
}
