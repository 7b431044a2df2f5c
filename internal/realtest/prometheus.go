package realtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// PrometheusServer is a real Prometheus of a test.
type PrometheusServer struct {
	// URL is where its API is.
	URL string

	stdin io.Closer
	ended chan struct{}
}

// Prometheus starts a Prometheus that reads target, host:port, each 100 ms, and
// evaluates rules, the text of a rule file, as often. It ends with the test.
func Prometheus(t testing.TB, target, rules string) *PrometheusServer {
	t.Helper()
	program, err := findPrometheus()
	need(t, "Prometheus", err)
	dir := t.TempDir()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("global: {scrape_interval: 100ms, scrape_timeout: 100ms, evaluation_interval: 100ms}\nrule_files: [rules.yaml]\nscrape_configs: [{job_name: test, static_configs: [{targets: [%q]}]}]\n", target)
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yaml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &PrometheusServer{URL: "http://" + loopback(port), ended: make(chan struct{})}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()                                                                                                      // the program has its own
	cmd := exec.Command("sh", "-c", redisKeeper, "keeper", program, "--config.file="+filepath.Join(dir, "prometheus.yml"), //nolint:noctx,gosec // it ends with its standard input; a program that prometheus.sh unpacked
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+loopback(port))
	cmd.Stdout, cmd.Stderr = log, log
	if p.stdin, err = cmd.StdinPipe(); err == nil { // the end of this process closes it
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // its log says why
		close(p.ended)
	}()
	t.Cleanup(p.Stop)
	p.await(t, log.Name())
	return p
}

func findPrometheus() (string, error) {
	if program, err := exec.LookPath("prometheus"); err == nil {
		return program, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(cache, "fairlead", "prometheus", "prometheus")
	if _, err := os.Stat(program); err != nil {
		return "", errors.New("there is no prometheus; run internal/realtest/prometheus.sh")
	}
	return program, nil
}

// await waits until it is ready.
func (p *PrometheusServer) await(t testing.TB, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/-/ready", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close() // nothing is read of it
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-p.ended:
		case <-time.After(20 * time.Millisecond):
			continue
		case <-ctx.Done():
		}
		text, _ := os.ReadFile(log) // only adds to the message
		t.Fatalf("Prometheus does not answer: %v\n%s", err, text)
	}
}

// Stop ends the server and waits until it has ended.
func (p *PrometheusServer) Stop() {
	_ = p.stdin.Close() // closed already is as good
	<-p.ended
}
