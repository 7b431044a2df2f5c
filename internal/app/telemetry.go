package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// telemetry is the request log, the metrics and the traces of a server. It is
// the access.Recorder of every door.
type telemetry struct {
	log       *slog.Logger
	registry  *prometheus.Registry
	calls     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	ingests   *prometheus.CounterVec
	ingestSec *prometheus.HistogramVec
	provider  trace.TracerProvider
	tracer    trace.Tracer
	traces    bool // they go somewhere
	stop      func(context.Context) error
}

func logLevel(s string) (slog.Level, error) {
	var l slog.Level
	if s == "" {
		return slog.LevelInfo, nil
	}
	err := l.UnmarshalText([]byte(strings.ToUpper(s)))
	return l, err
}

func newTelemetry(ctx context.Context, cfg TelemetryConfig, logs io.Writer) (*telemetry, error) {
	level, err := logLevel(cfg.LogLevel)
	if err != nil {
		return nil, err
	}
	t := &telemetry{
		log:      slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: level})),
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_operations_total",
			Help: "Operations called, by door, operation and outcome (ok or a fault code)."}, []string{"door", "operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairlead_operation_duration_seconds",
			Help: "How long operations took.", Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10}}, []string{"door", "operation"}),
		ingests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_ingestions_total",
			Help: "Readings of sources, by source and outcome (ok or a fault code)."}, []string{"source", "outcome"}),
		ingestSec: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "fairlead_ingestion_duration_seconds",
			Help: "How long readings of sources took.", Buckets: []float64{.001, .01, .1, .3, 1, 3, 10, 30, 100}}, []string{"source"}),
		provider: noop.NewTracerProvider(),
		stop:     func(context.Context) error { return nil },
	}
	t.registry.MustRegister(t.calls, t.seconds, t.ingests, t.ingestSec, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if cfg.OTLP != "" {
		err = t.trace(ctx, cfg.OTLP)
	}
	t.tracer = t.provider.Tracer("fairlead")
	return t, err
}

func (t *telemetry) trace(ctx context.Context, endpoint string) error {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return fmt.Errorf("trace exporter: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "fairlead"))))
	t.provider, t.stop, t.traces = provider, provider.Shutdown, true
	return nil
}

// traced traces requests where traces go somewhere: spans that nobody gets
// would be half of what the server allocates for a request.
func (t *telemetry) traced(next http.Handler) http.Handler {
	if !t.traces {
		return next
	}
	return otelhttp.NewHandler(next, "http", otelhttp.WithTracerProvider(t.provider))
}

// span is the span of a call, one that records nothing where nobody gets it.
func (t *telemetry) span(ctx context.Context, call *access.Call) (context.Context, trace.Span) {
	if !t.traces {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(ctx, call.Operation, trace.WithAttributes(
		attribute.String("fairlead.door", call.Door), attribute.String("fairlead.subject", call.Who.Subject()), attribute.String("fairlead.agent", call.Who.Agent())))
}

// Begin records the start of a call in a span and gives what records its end
// in the request log and the metrics.
func (t *telemetry) Begin(ctx context.Context, call access.Call) (context.Context, func(error)) {
	start := time.Now()
	ctx, span := t.span(ctx, &call)
	return ctx, func(err error) {
		took := time.Since(start)
		code := outcome(err)
		t.calls.WithLabelValues(call.Door, call.Operation, code).Inc()
		t.seconds.WithLabelValues(call.Door, call.Operation).Observe(took.Seconds())
		if err != nil {
			span.SetStatus(codes.Error, code)
		}
		span.End()
		t.logCall(ctx, call, code, took, err, span.SpanContext())
	}
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return string(fault.CodeOf(err))
}

func (t *telemetry) logCall(ctx context.Context, call access.Call, code string, took time.Duration, err error, span trace.SpanContext) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("operation", call.Operation), slog.String("action", string(call.Action)), slog.String("door", call.Door),
		slog.String("subject", call.Who.Subject()), slog.String("agent", call.Who.Agent()), slog.String("token", call.Who.Token()),
		slog.String("target", call.Target), slog.String("outcome", code), slog.Duration("took", took),
	}
	if f := fault.From(err); f != nil {
		attrs = append(attrs, slog.String("message", f.Message))
		if f.Code == fault.Internal {
			level = slog.LevelError
		}
		if f.Err != nil { // callers are never told, but may have been told to ask
			attrs = append(attrs, slog.String("cause", f.Err.Error()))
		}
	}
	if span.IsValid() {
		attrs = append(attrs, slog.String("trace", span.TraceID().String()))
	}
	t.log.LogAttrs(ctx, level, "call", attrs...)
}

// ingested records one reading of a source.
func (t *telemetry) ingested(ctx context.Context, source string, took time.Duration, files int, err error) {
	t.ingests.WithLabelValues(source, outcome(err)).Inc()
	t.ingestSec.WithLabelValues(source).Observe(took.Seconds())
	_, span := t.tracer.Start(ctx, "ingest", trace.WithTimestamp(time.Now().Add(-took)),
		trace.WithAttributes(attribute.String("fairlead.source", source), attribute.Int("fairlead.files", files)))
	if err != nil {
		span.SetStatus(codes.Error, outcome(err))
	}
	span.End()
}

// gauge registers a figure that is looked up when it is asked for.
func (t *telemetry) gauge(name, help string, value func() float64) {
	t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (t *telemetry) metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{Registry: t.registry})
}
