package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// server is one program of a stack, which can be ended and started again.
// What it says is in a file of the stack's folder that is named after it.
type server struct {
	name string
	at   *place
	dir  string
	env  []string // beside the environment of this process; may be nil
	args []string // the program first

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
}

func (s *server) logFile() string { return filepath.Join(s.dir, s.name+".log") }

// start starts the program; it is not ready then.
func (s *server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()                             // the program has its own
	cmd := exec.Command(s.args[0], s.args[1:]...) //nolint:noctx,gosec // it outlives the call that starts it; a program that argocd.sh built
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.Env = append(os.Environ(), s.env...)
	if err := s.at.start(cmd); err != nil {
		return fmt.Errorf("starting %s: %w", s.name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its log says why
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	return nil
}

// kill ends the program at once, where it was started, and waits until it has
// ended.
func (s *server) kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil
	}
	select {
	case <-s.ended:
		return nil
	default:
	}
	err := s.cmd.Process.Kill()
	<-s.ended
	return err
}

// runs tells whether the program has not ended.
func (s *server) runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// pid is the program's process.
func (s *server) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}

// lastWords are the end of what the program said.
func (s *server) lastWords(most int) []byte {
	text, _ := os.ReadFile(s.logFile()) // only adds to a message
	return text[max(0, len(text)-most):]
}

// await waits until the program is ready, and fails as soon as it has ended.
func (s *server) await(ctx context.Context, ready func(ctx context.Context) bool) error {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", s.name, ctx.Err(), s.lastWords(4096))
		case <-ended:
			return fmt.Errorf("%s ended:\n%s", s.name, s.lastWords(4096))
		case <-tick.C:
			if ready(ctx) {
				return nil
			}
		}
	}
}

// api is a server's interface of JSON over HTTP.
type api struct {
	url, token string
	client     *http.Client
}

// call sends a body of a media type, if there is one, and gives the status and
// the answer's body.
func (a *api) call(ctx context.Context, method, path, mediaType string, body []byte) (int, []byte, error) {
	resp, err := a.open(ctx, method, path, mediaType, body)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// open is call for an answer that comes bit by bit.
func (a *api) open(ctx context.Context, method, path, mediaType string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaType)
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.client.Do(req)
}

// json calls with a value, nil for none, and reads the answer into out, if it
// is not nil, where it is a success. The status is 0 where there is no answer.
func (a *api) json(ctx context.Context, method, path, mediaType string, in, out any) (int, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return 0, err
		}
	}
	status, text, err := a.call(ctx, method, path, mediaType, body)
	switch {
	case err != nil:
		return 0, err
	case status >= http.StatusMultipleChoices:
		return status, fmt.Errorf("%s %s: %d: %s", method, path, status, text)
	case out == nil:
		return status, nil
	}
	return status, json.Unmarshal(text, out)
}

// must is json for a test, which ends where there is no answer or one that
// cannot be read.
func (a *api) must(t testing.TB, method, path, mediaType string, in, out any) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startWithin)
	defer cancel()
	status, err := a.json(ctx, method, path, mediaType, in, out)
	if status == 0 || err != nil && status < http.StatusMultipleChoices {
		t.Fatal(err)
	}
	return status
}

// ok tells whether a path answers with success.
func (a *api) ok(ctx context.Context, path string) bool {
	status, _, err := a.call(ctx, http.MethodGet, path, jsonType, nil)
	return err == nil && status == http.StatusOK
}

// jsonType is what most bodies are; Argo CD insists on it.
const jsonType = "application/json"
