package realtest

import (
	"context"
	"errors"
	"fmt"
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

	keeper *kept
}

// Prometheus starts a Prometheus that reads target, host:port, each 100 ms, and
// evaluates rules, the text of a rule file, as often. It ends with the test.
func Prometheus(t testing.TB, target, rules string) *PrometheusServer {
	t.Helper()
	_, err := findPrometheus()
	need(t, "Prometheus", err)
	p, err := NewPrometheus(t.Context(), t.TempDir(), target, rules, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// NewPrometheus is Prometheus for programs that are no tests, over a folder:
// it reads and evaluates as often as they say, and ends by Stop.
func NewPrometheus(ctx context.Context, dir, target, rules string, every time.Duration) (*PrometheusServer, error) {
	program, err := findPrometheus()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf("global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}\nrule_files: [rules.yaml]\nscrape_configs: [{job_name: test, static_configs: [{targets: [%[2]q]}]}]\n", fmt.Sprint(every.Milliseconds())+"ms", target)
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yaml": rules} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the program has its own
	p := &PrometheusServer{URL: "http://" + loopback(port)}
	p.keeper, err = keep(plainKeeper, dir, nil, log, nil, program, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+loopback(port))
	if err != nil {
		return nil, err
	}
	if err := p.await(ctx); err != nil {
		p.Stop()
		text, _ := os.ReadFile(log.Name()) // only adds to the message
		return nil, fmt.Errorf("Prometheus does not answer: %w\n%s", err, text)
	}
	return p, nil
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
func (p *PrometheusServer) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/-/ready", nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close() // nothing is read of it
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-p.keeper.ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the server and waits until it has ended.
func (p *PrometheusServer) Stop() {
	_ = p.keeper.stop() // its log says why
}
