package app

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestWhoDoesNotReadIsLeft asks for an endless answer and reads nothing of it.
func TestWhoDoesNotReadIsLeft(t *testing.T) {
	left := make(chan error, 1)
	s := httptest.NewServer(hurryAnswer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				left <- err
				return
			}
		}
	}), 50*time.Millisecond))
	defer s.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-left
}

// TestDeadlinesEndWithTheirAnswer lets a connection rest for longer than an
// answer may, and then asks again, for an answer without a body.
func TestDeadlinesEndWithTheirAnswer(t *testing.T) {
	const timeout = 100 * time.Millisecond
	s := httptest.NewServer(hurryAnswer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, strings.Repeat("x", 3*answerPart+1))
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a failure fails the test
			return
		}
		<-time.After(2 * timeout) // a slow handler, after a slow pause
		w.WriteHeader(http.StatusNoContent)
	}), timeout))
	defer s.Close()
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPut, http.MethodGet} {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || method == http.MethodGet && len(body) != 3*answerPart+1 {
			t.Errorf("%s: %d bytes, %v", method, len(body), err)
		}
		resp.Body.Close()
	}
}
