package app

import (
	"net/http"
	"time"
)

// answerTimeout is how long a client may take to accept answerPart bytes of
// an answer. Answers may be as long as they like and streams may pause, but
// who does not read what was asked for is left.
const (
	answerTimeout = time.Minute
	answerPart    = 64 << 10
)

// hurryAnswer bounds the time in which each part of an answer is accepted.
func hurryAnswer(next http.Handler, timeout time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &hurriedAnswer{ResponseWriter: w, conn: http.NewResponseController(w), timeout: timeout}
		out.within(0) // what the request before set on this connection
		defer out.within(timeout)
		next.ServeHTTP(out, r)
	})
}

// hurriedAnswer sets a deadline for each part that is written.
type hurriedAnswer struct {
	http.ResponseWriter
	conn    *http.ResponseController
	timeout time.Duration
}

// within sets how long writing may take from now on; 0 is for ever.
func (a *hurriedAnswer) within(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = a.conn.SetWriteDeadline(at) // a connection without deadlines has none to keep
}

// Write writes part by part.
func (a *hurriedAnswer) Write(p []byte) (int, error) {
	done := 0
	for {
		part := p[done:min(len(p), done+answerPart)]
		a.within(a.timeout)
		n, err := a.ResponseWriter.Write(part)
		done += n
		if err != nil || done == len(p) {
			return done, err
		}
	}
}

// Flush passes on what has been written so far.
func (a *hurriedAnswer) Flush() {
	a.within(a.timeout)
	_ = a.conn.Flush() // a writer that cannot flush sends at its end
}

// Unwrap lets http.ResponseController reach the connection.
func (a *hurriedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
