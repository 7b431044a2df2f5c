package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes are a listener of connections in memory: in a bubble no time passes
// while they carry something, however busy the machine is.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// inMemory serves a handler in a bubble of its own to what a test does.
func inMemory(t *testing.T, handler http.Handler, test func(t *testing.T, p pipes)) {
	synctest.Test(t, func(t *testing.T) {
		p, s := make(pipes), &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
		go func() { _ = s.Serve(p) }() // ends with Close
		defer s.Close()
		test(t, p)
	})
}

// givenUp holds a handler to have been given up after a minute.
func givenUp(t *testing.T, left <-chan error) {
	t.Helper()
	time.Sleep(time.Minute + time.Second)
	synctest.Wait()
	select {
	case err := <-left:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ended with %v", err)
		}
	default:
		t.Error("it is waited for on")
	}
}

// TestWhoDoesNotReadIsLeft asks for an endless answer and reads nothing of it.
func TestWhoDoesNotReadIsLeft(t *testing.T) {
	left := make(chan error, 1)
	inMemory(t, hurryAnswer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				left <- err
				return
			}
		}
	}), time.Minute), func(t *testing.T, p pipes) {
		conn, _ := p.dial(t.Context(), "", "")
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		givenUp(t, left)
	})
}

func TestBodiesThatNeverComeAreGivenUp(t *testing.T) {
	left := make(chan error, 1)
	inMemory(t, hurryBody(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		left <- err
	}), time.Minute), func(t *testing.T, p pipes) {
		conn, _ := p.dial(t.Context(), "", "")
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab"); err != nil {
			t.Fatal(err)
		}
		givenUp(t, left)
	})
}

// TestDeadlinesEndWithTheirAnswer lets a connection rest for longer than an
// answer may, and then asks again, for an answer without a body.
func TestDeadlinesEndWithTheirAnswer(t *testing.T) {
	const timeout = time.Minute
	inMemory(t, hurryAnswer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, strings.Repeat("x", 3*answerPart+1))
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a failure fails the test
			return
		}
		time.Sleep(2 * timeout) // a slow handler, after a slow pause
		w.WriteHeader(http.StatusNoContent)
	}), timeout), func(t *testing.T, p pipes) {
		dialled := 0
		transport := &http.Transport{DialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
			dialled++
			return p.dial(ctx, network, at)
		}}
		defer transport.CloseIdleConnections()
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPut, http.MethodGet} {
			r, err := http.NewRequestWithContext(t.Context(), method, "http://a/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || method == http.MethodGet && len(body) != 3*answerPart+1 {
				t.Errorf("%s: %d bytes, %v", method, len(body), err)
			}
			resp.Body.Close()
			time.Sleep(2 * timeout)
		}
		if dialled != 1 {
			t.Errorf("there were %d connections", dialled)
		}
	})
}
