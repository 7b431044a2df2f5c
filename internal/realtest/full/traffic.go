package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// ImageFails is what is in the name of an image that runs, and answers a third
// of its requests with errors, and slowly; see realtest.ImageMissing for others.
const imageFails = "fails"

// buckets are the bounds of latencies, in seconds.
var buckets = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 1} //nolint:gochecknoglobals // a constant

// traffic plays the customers of what is deployed: it counts what they would
// see of the Pods that run, and restarts, as Prometheus reads it.
type traffic struct {
	argo *realtest.Argo

	mu       sync.Mutex
	served   map[string]*served // by service and environment
	restarts []string           // lines
}

// served are the counters of one service in one environment.
type served struct {
	service, environment string
	good, bad            float64
	under                []float64 // requests under each bucket's bound
}

// pod is what is read of a Pod.
type pod struct {
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Status struct {
		ContainerStatuses []struct {
			Name, Image  string
			Ready        bool
			RestartCount int
		}
	}
}

// follow looks at the Pods each second until the context ends.
func (t *traffic) follow(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		for environment, to := range environments {
			var all struct{ Items []pod }
			if err := t.argo.AskKube(ctx, http.MethodGet, "/api/v1/namespaces/"+to.namespace+"/pods", nil, &all); err == nil { // else with the next second
				t.serve(environment, all.Items)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// perSecond is how many requests a service gets in an environment each second.
func perSecond(environment string) float64 {
	if environment == "production" {
		return 40
	}
	return 10
}

// serve counts one second of requests to what is ready.
func (t *traffic) serve(environment string, pods []pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := environments[environment].namespace
	t.restarts = slices.DeleteFunc(t.restarts, func(l string) bool { return strings.Contains(l, fmt.Sprintf("{namespace=%q,", namespace)) })
	ready, failing := map[string]float64{}, map[string]float64{}
	for _, p := range pods {
		service := p.Metadata.Labels["app"]
		for _, c := range p.Status.ContainerStatuses {
			t.restarts = append(t.restarts, fmt.Sprintf("kube_pod_container_status_restarts_total{namespace=%q,pod=%q,container=%q} %d", namespace, p.Metadata.Name, c.Name, c.RestartCount))
			if !c.Ready {
				continue
			}
			ready[service]++
			if strings.Contains(c.Image, imageFails) {
				failing[service]++
			}
		}
	}
	for service, n := range ready {
		t.of(service, environment).count(perSecond(environment), failing[service]/n)
	}
}

// of are the counters of a service.
func (t *traffic) of(service, environment string) *served {
	key := service + " " + environment
	if t.served[key] == nil {
		t.served[key] = &served{service: service, environment: environment, under: make([]float64, len(buckets))}
	}
	return t.served[key]
}

// count adds requests, of which a share goes to Pods that fail.
func (s *served) count(requests, failing float64) {
	bad := requests * failing / 3
	s.good += requests - bad
	s.bad += bad
	for i, bound := range buckets {
		well, ill := 1-math.Exp(-bound/0.03), 1-math.Exp(-bound/0.4)
		s.under[i] += requests * (well*(1-failing) + ill*failing)
	}
}

// ServeHTTP answers Prometheus.
func (t *traffic) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Clone(t.restarts)
	for _, s := range t.served {
		labels := fmt.Sprintf("service=%q,environment=%q", s.service, s.environment)
		lines = append(lines, fmt.Sprintf("http_requests_total{%s,code=\"200\"} %g", labels, s.good), fmt.Sprintf("http_requests_total{%s,code=\"500\"} %g", labels, s.bad),
			fmt.Sprintf("http_request_duration_seconds_count{%s} %g", labels, s.good+s.bad), fmt.Sprintf("http_request_duration_seconds_bucket{%s,le=\"+Inf\"} %g", labels, s.good+s.bad))
		for i, bound := range buckets {
			lines = append(lines, fmt.Sprintf("http_request_duration_seconds_bucket{%s,le=\"%g\"} %g", labels, bound, s.under[i]))
		}
	}
	_, _ = fmt.Fprintln(w, strings.Join(lines, "\n")) // to Prometheus; where it has gone, nobody reads it
}

// measure starts the traffic, and a Prometheus that reads it.
func (w *world) measure(ctx context.Context) error {
	w.traffic = &traffic{argo: w.argo, served: map[string]*served{}}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // numeric: nothing to wait for
	if err != nil {
		return err
	}
	server := &http.Server{Handler: w.traffic, ReadHeaderTimeout: time.Minute}
	going, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { w.traffic.follow(going) })
	work.Go(func() { _ = server.Serve(l) }) // until it is closed
	w.atEnd(func() error {
		stop()
		err := server.Close()
		work.Wait()
		return err
	})
	w.prometheus, err = realtest.NewPrometheus(ctx, w.path("prometheus"), l.Addr().String(), alerts(), 2*time.Second)
	if err != nil {
		return errors.Join(err, server.Close())
	}
	w.atEnd(func() error { w.prometheus.Stop(); return nil })
	return nil
}

// alerts are the rules of each service, by which somebody is woken up.
func alerts() string {
	var b strings.Builder
	b.WriteString("groups:\n  - name: shop\n    rules:\n")
	for _, s := range demo.Services() {
		fmt.Fprintf(&b, "      - alert: ManyErrors\n        expr: sum by (environment) (rate(http_requests_total{service=%q,code=~\"5..\"}[1m])) / sum by (environment) (rate(http_requests_total{service=%[1]q}[1m])) > 0.05\n"+
			"        for: 10s\n        labels: {severity: page, service: %[1]s}\n        annotations: {summary: More than one in twenty requests to %[1]s fails}\n", s.Name)
	}
	return b.String()
}
