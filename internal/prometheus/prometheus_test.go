package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/prometheus"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestReal asks a real Prometheus that reads a service which fails one request
// in ten.
func TestReal(t *testing.T) {
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := n.Add(1)
		fmt.Fprintf(w, "# TYPE requests_total counter\nrequests_total{code=\"200\"} %d\nrequests_total{code=\"500\"} %d\n", 9*i, i)
	}))
	t.Cleanup(service.Close)
	p := realtest.Prometheus(t, strings.TrimPrefix(service.URL, "http://"), `groups:
  - name: shop
    rules:
      - alert: ShopFails
        expr: requests_total{code="500"} > 0
        labels: {severity: page, service: shop}
        annotations: {summary: "Requests fail", runbook_url: https://example.com/runbooks/fails.md}
      - alert: ShopWaits
        expr: requests_total > 0
        for: 1h
`)
	c := prometheus.New(prometheus.Config{URL: p.URL + "/"})
	t.Cleanup(func() { _ = c.Close() })
	deadline := time.Now().Add(30 * time.Second)
	for {
		v, there, err := c.Value(t.Context(), `sum(rate(requests_total{code="500"}[1h])) / sum(rate(requests_total[1h]))`)
		firing, alertsErr := c.Firing(t.Context())
		if err != nil || alertsErr != nil {
			t.Fatal(err, alertsErr)
		}
		if there && len(firing) == 1 && v > 0.09 && v < 0.11 {
			a := firing[0]
			if a.Name != "ShopFails" || a.Severity != "page" || a.Summary != "Requests fail" || a.Runbook != "https://example.com/runbooks/fails.md" || a.Labels["service"] != "shop" || time.Since(a.Since) > time.Minute {
				t.Errorf("%+v", a)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a share of %v (%v), alerts %+v", v, there, firing)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if v, there, err := c.Value(t.Context(), "vector(2)"); v != 2 || !there || err != nil {
		t.Errorf("a vector: %v %v %v", v, there, err)
	}
	if v, there, err := c.Value(t.Context(), "3"); v != 3 || !there || err != nil {
		t.Errorf("a scalar: %v %v %v", v, there, err)
	}
	if v, there, err := c.Value(t.Context(), "no_such_metric"); there || err != nil {
		t.Errorf("nothing: %v %v %v", v, there, err)
	}
	now := time.Now()
	if v, there, err := c.ValueAt(t.Context(), "time()", now.Add(-time.Hour)); !there || err != nil || math.Abs(v-float64(now.Add(-time.Hour).UnixMilli())/1000) > 0.01 {
		t.Errorf("an hour ago: %v %v %v", v, there, err)
	}
	if v, there, err := c.ValueAt(t.Context(), "sum(requests_total)", now.Add(-time.Hour)); there || err != nil {
		t.Errorf("before there was anything: %v %v %v", v, there, err)
	}
	for expression, code := range map[string]fault.Code{"sum(": fault.FailedPrecondition, "requests_total": fault.FailedPrecondition, `"text"`: fault.Unavailable, "requests_total[5m]": fault.Unavailable} {
		if _, _, err := c.Value(t.Context(), expression); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", expression, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Value(ctx, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	p.Stop()
	if _, _, err := c.Value(t.Context(), "1"); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a server that is down: %v", err)
	}
}

// TestStrangeAnswers has whatever answers in Prometheus' place refused, and the
// token go to it alone.
func TestStrangeAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("somebody else is asked, with %q", r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("the-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "cannot be read"},
		"another place": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "cannot be read"},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "does not take Fairlead's token"},
		"too much":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 9<<20)) }, "more than 8 MiB"},
		"a value of no kind": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"value":[1,2]}]}}`)
		}, "cannot be read"},
		"a result of no kind": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"x","result":[]}}`)
		}, "cannot be read"},
		"an error of its own": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"status":"error","errorType":"internal","error":"secret"}`)
		}, "cannot be read"},
		"an expression so long": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":"error","errorType":"timeout","error":"x"}`)
		}, "took too long"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer the-token" {
					t.Errorf("it is shown %q", r.Header.Get("Authorization"))
				}
				c.answer(w, r)
			}))
			defer s.Close()
			client := prometheus.New(prometheus.Config{URL: s.URL, TokenFile: file})
			_, _, err := client.Value(t.Context(), "1")
			if f := fault.From(err); err == nil || !strings.Contains(f.Message, c.want) || strings.Contains(f.Message, "secret") {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := prometheus.New(prometheus.Config{URL: elsewhere.URL, TokenFile: file + "-none"}).Firing(t.Context()); fault.CodeOf(err) != fault.Unavailable || strings.Contains(fault.From(err).Message, file) {
		t.Errorf("without its token: %v", err)
	}
}

func TestConfig(t *testing.T) {
	for url, right := range map[string]bool{"https://prometheus.example.com": true, "http://127.0.0.1:9090/base": true, "": false, "prometheus": false, "ftp://x": false, "https://a:b@x": false, "https://x?y=z": false} {
		if ps := (&prometheus.Config{URL: url}).Validate(); (len(ps) == 0) != right {
			t.Errorf("%s: %v", url, ps)
		}
	}
	if ps := (&prometheus.Config{URL: "https://x", TokenFile: "a", TokenEnv: "b"}).Validate(); len(ps) != 1 {
		t.Error(ps)
	}
}
