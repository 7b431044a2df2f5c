package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	// probeTimeout bounds one question after health.
	probeTimeout = 5 * time.Second
	// probeFirst is the first pause before asking again, which grows up to
	// probeMost; probeLater is the pause once it has been healthy.
	probeFirst = 10 * time.Millisecond
	probeMost  = 250 * time.Millisecond
	probeLater = 5 * time.Second
	// flaps is how many bad answers in a row make a healthy preview degraded.
	flaps = 2
)

// probe asks a preview whether it is healthy; nil if it is.
func probe(ctx context.Context, port int, path string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	at := net.JoinHostPort("127.0.0.1", itoa(port))
	if path == "" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at)
		if err != nil {
			return fmt.Errorf("nothing listens at port %d, which PORT names", port)
		}
		return conn.Close()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		return fmt.Errorf("%s is no path", path)
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return unanswered(err, port, path)
	}
	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s answers %d", path, resp.StatusCode)
	}
	return nil
}

func unanswered(err error, port int, path string) error {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s does not answer within %s", path, probeTimeout)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("nothing listens at port %d, which PORT names", port)
	default:
		return fmt.Errorf("%s breaks the connection off", path)
	}
}

// watchHealth sends what each question says, nil for healthy, until the
// context ends.
func watchHealth(ctx context.Context, port int, path string, to chan<- error) {
	wait, was := probeFirst, false
	for {
		err := probe(ctx, port, path)
		if ctx.Err() != nil {
			return
		}
		select {
		case to <- err:
		case <-ctx.Done():
			return
		}
		if was = was || err == nil; was {
			wait = probeLater
		}
		if pause(ctx, wait) != nil {
			return
		}
		wait = min(wait*5/4, probeMost)
	}
}
