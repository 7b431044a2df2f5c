package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is the real server in a process of its own.
type server struct {
	cmd     *exec.Cmd
	url     string
	token   string
	started time.Time
	// logs ends when the server's log does.
	logs   chan struct{}
	client *http.Client
}

// token is what callers show; it opens a server on loopback that lives for
// minutes.
const token = "bench-0123456789abcdef0123456789abcdef"

// configure writes the configuration of a server of one repository and gives
// its path.
func configure(dir string, repo *repository) (string, error) {
	return configureSource(dir, fmt.Sprintf("{name: %s, git: {url: %q, include: [all.yaml]}}", sourceName, repo.dir))
}

// configureSource is configure for any source.
func configureSource(dir, source string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600); err != nil {
		return "", err
	}
	config := fmt.Sprintf(`listen: 127.0.0.1:0
auth:
  tokens:
    - {name: bench, tokenFile: token, subject: "user:default/bench", roles: [sre]}
catalog:
  refresh: 1h
  sources:
    - %s
`, source)
	file := filepath.Join(dir, "fairlead.yaml")
	return file, os.WriteFile(file, []byte(config), 0o600)
}

// startServer starts the program and waits until it listens.
func startServer(ctx context.Context, program, config string) (*server, error) {
	s := &server{cmd: exec.CommandContext(ctx, program, "serve", "--config", config), token: token, logs: make(chan struct{})} //nolint:gosec // the program that was asked for
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, DisableCompression: true}, Timeout: time.Minute}
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 12 * time.Second
	logs, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	s.started = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go s.follow(logs, address)
	select {
	case at := <-address:
		s.url = "http://" + at
		return s, nil
	case <-s.logs:
		return nil, fmt.Errorf("the server ended at once: %w", s.cmd.Wait())
	case <-time.After(time.Minute):
		return nil, errors.Join(errors.New("the server did not say where it listens"), s.stop())
	}
}

// follow reads the server's log; it shows trouble and tells the address.
func (s *server) follow(logs io.Reader, address chan<- string) {
	defer close(s.logs)
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		var e struct{ Level, Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Level == "ERROR" || e.Level == "WARN" {
			fmt.Fprintln(os.Stderr, "server:", lines.Text())
		}
		if e.Msg == "serving" {
			address <- e.Address
		}
	}
}

// stop ends the server and waits for it.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.logs
	return s.cmd.Wait()
}

// ask sends a request and gives the body of a good answer.
func (s *server) ask(ctx context.Context, r request) ([]byte, error) {
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, s.url+r.path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || !strings.Contains(string(data), r.holds)) {
		err = fmt.Errorf("%s %s: %s: %.300s", r.method, r.path, res.Status, data)
	}
	return data, err
}

// queryable waits until the whole catalog is served, and tells how long after
// the program's start that was and what CPU time it took.
func (s *server) queryable(ctx context.Context, entities int) (wall, cpu time.Duration, err error) {
	all := request{method: http.MethodGet, path: "/api/v1/entities?limit=0", holds: fmt.Sprintf(`"totalItems":%d`, entities)}
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err = s.ask(ctx, all); err == nil {
			wall = time.Since(s.started)
			cpu, err = cpuOf(s.cmd.Process.Pid)
			return wall, cpu, err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return 0, 0, err
}

// change times a change of the repository from the refresh call until it is
// seen.
func (s *server) change(ctx context.Context, repo *repository) (time.Duration, error) {
	ref, description, err := repo.edit(ctx)
	if err != nil {
		return 0, err
	}
	refresh := request{method: http.MethodPost, path: "/api/v1/refresh", body: `{"source":"` + sourceName + `"}`, header: jsonBody()}
	seen := request{method: http.MethodGet, path: "/api/v1/entities/" + url.PathEscape(ref), holds: description}
	start := time.Now()
	if _, err := s.ask(ctx, refresh); err != nil {
		return 0, err
	}
	_, err = s.ask(ctx, seen)
	return time.Since(start), err
}
