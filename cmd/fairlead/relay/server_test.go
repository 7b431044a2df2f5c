package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// server speaks streamable HTTP: with sessions, and without them for messages
// of the stateless revision. What its tools are called says what they do.
type server struct {
	t *testing.T

	mu       sync.Mutex
	sessions map[string]chan string // what to send on the server's own stream
	made     int
	log      []string
	posts    []http.Header

	hanging   chan string   // names of calls that have begun to hang
	cancelled chan string   // names of hanging calls whose connection has gone
	deleted   chan string   // sessions that have been closed
	listening chan string   // sessions whose stream is being read
	answered  chan string   // what the client answered to questions
	release   chan struct{} // lets slow calls end
}

func newServer(t *testing.T) *server {
	return &server{t: t, sessions: map[string]chan string{}, hanging: make(chan string, 9), cancelled: make(chan string, 9),
		deleted: make(chan string, 9), listening: make(chan string, 9), answered: make(chan string, 9), release: make(chan struct{})}
}

// call is a message as the server reads it.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// ServeHTTP answers.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer tok" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"it is not known who asks","data":{"code":"unauthenticated","message":"it is not known who asks"}}}`)
		return
	}
	switch r.Method {
	case http.MethodGet:
		s.stream(w, r)
	case http.MethodDelete:
		s.deleted <- r.Header.Get("Mcp-Session-Id")
	default:
		s.post(w, r)
	}
}

func (s *server) session(r *http.Request) (chan string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.sessions[r.Header.Get("Mcp-Session-Id")]
	return c, ok
}

func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	c, ok := s.session(r)
	if !ok || r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
		http.Error(w, "no session", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	s.listening <- r.Header.Get("Mcp-Session-Id")
	for {
		select {
		case msg := <-c:
			fmt.Fprintf(w, ": comment\nevent: message\ndata: %s\n\n", strings.ReplaceAll(msg, "\n", "\ndata: "))
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (s *server) post(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		s.t.Errorf("body %s: %v", body, err)
	}
	s.mu.Lock()
	s.log = append(s.log, c.Method)
	s.posts = append(s.posts, r.Header.Clone())
	s.mu.Unlock()
	modern := c.Params.Meta.Version >= "2026-07-28"
	switch {
	case c.Method == "initialize":
		s.initialize(w, c)
		return
	case modern && (r.Header.Get("Mcp-Protocol-Version") != c.Params.Meta.Version || r.Header.Get("Mcp-Method") != c.Method || r.Header.Get("Mcp-Session-Id") != ""):
		answer(w, http.StatusBadRequest, c.ID, `"error":{"code":-32001,"message":"headers do not match"}`)
		return
	case !modern:
		if _, ok := s.session(r); !ok {
			http.Error(w, "Invalid session ID", http.StatusNotFound)
			return
		}
	}
	if len(c.ID) == 0 || c.Method == "" {
		if c.Method == "" {
			s.answered <- string(c.Result)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.answer(w, r, c)
}

func (s *server) initialize(w http.ResponseWriter, c call) {
	s.mu.Lock()
	s.made++
	id := fmt.Sprintf("session-%d", s.made)
	s.sessions[id] = make(chan string, 9)
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", id)
	answer(w, http.StatusOK, c.ID, `"result":{"protocolVersion":"2025-11-25","capabilities":{}}`)
}

func answer(w http.ResponseWriter, status int, id json.RawMessage, rest string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\n \"jsonrpc\":\"2.0\",\n \"id\":%s,\n %s\n}\n", id, rest)
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, c call) {
	switch name := c.Params.Name; {
	case c.Method == "subscriptions/listen" || name == "hang":
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
		w.(http.Flusher).Flush()
		s.hanging <- c.Method
		<-r.Context().Done()
		s.cancelled <- c.Method
	case name == "slow":
		s.hanging <- name
		<-s.release
		answer(w, http.StatusOK, c.ID, `"result":{"tool":"slow"}`)
	case name == "mute":
		<-r.Context().Done()
	case name == "half":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": alive\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case name == "asks":
		s.ask(w, c)
	case name == "events":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 1\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/progress\"}\r\n\r\nid: 2\nretry: 10\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", c.ID)
	case name == "cut":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
	case name == "proxy":
		http.Error(w, "<html>", http.StatusBadGateway)
	case name == "unknown":
		answer(w, http.StatusBadRequest, c.ID, `"error":{"code":-32602,"message":"no such tool"}`)
	default:
		answer(w, http.StatusOK, c.ID, fmt.Sprintf(`"result":{"method":%q}`, c.Method))
	}
}

// ask asks the client something on the stream of its call, and answers it with
// what the client said.
func (s *server) ask(w http.ResponseWriter, c call) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\"}\n\n")
	w.(http.Flusher).Flush()
	fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", c.ID, <-s.answered)
}

// say sends something on the server's own stream of every session.
func (s *server) say(msg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		c <- msg
	}
}

// forget drops all sessions, as a restart does.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
}

func (s *server) methods() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, " ")
}

func (s *server) lastPost() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts[len(s.posts)-1]
}
