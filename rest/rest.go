// Package rest is the door for plain HTTP: Fairlead's own API under /api/v1,
// with its OpenAPI document, and Backstage's catalog API under /api/catalog,
// both over the same operations.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/secrets"
)

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 4 << 20

// Config is what the door is built from. Catalog, Access, Authenticate and
// Recorder are needed; the zero value of anything else is its default.
type Config struct {
	Catalog *catalog.Service
	Access  *access.Service
	// Previews may be left out: then its operations say so.
	Previews *previews.Service
	// Secrets may be left out: then its operations say so.
	Secrets *secrets.Service
	// Gitops may be left out: then its operations say so.
	Gitops *gitops.Service
	// Health may be left out: then its operation says so.
	Health *gitops.HealthService
	// CI may be left out: then its operation says so.
	CI *gitops.CIService
	// Links may be left out: then its operations say so.
	Links *gitops.LinkService
	// Knowledge may be left out: then its operations are refused.
	Knowledge *knowledge.Service
	// Authenticate tells who sends a request.
	Authenticate func(*http.Request) (access.Caller, error)
	// Recorder is told of every operation.
	Recorder access.Recorder
	// Origins are the origins, such as https://backstage.example.com, whose
	// pages may call from a browser; "*" lets all do so.
	Origins []string
	// Challenge is the WWW-Authenticate header of a 401, "Bearer" by default.
	Challenge string
	// Logger is told of panics; nil is slog.Default.
	Logger *slog.Logger
}

// door is the handler.
type door struct {
	Config
	mux     *http.ServeMux
	openAPI json.RawMessage
	buffers sync.Pool // of *[]byte that answers are collected in
}

// New makes the door; mount it at /api/. An error is a missing part of the
// configuration.
func New(cfg Config) (http.Handler, error) {
	if cfg.Catalog == nil || cfg.Access == nil || cfg.Authenticate == nil || cfg.Recorder == nil {
		return nil, errors.New("rest: Catalog, Access, Authenticate and Recorder are needed")
	}
	if cfg.Challenge == "" {
		cfg.Challenge = "Bearer"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	d := &door{Config: cfg, mux: http.NewServeMux()}
	routes := d.native()
	doc, err := json.Marshal(openAPI(routes))
	if err != nil {
		return nil, fmt.Errorf("rest: %w", err)
	}
	d.openAPI = doc
	for _, rt := range routes {
		d.handle(rt.method+" "+rt.pattern, nativeErrors, rt.serve)
	}
	d.handle("GET /api/v1/openapi.json", nativeErrors, d.document)
	d.handle("/api/v1/", nativeErrors, d.missing)
	d.backstage()
	return d, nil
}

// ServeHTTP answers a request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.crossOrigin(w, r) {
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
	d.mux.ServeHTTP(w, unslashed(r))
}

// unslashed takes a slash from the end of a path, which says nothing, as
// Backstage's back ends do.
func unslashed(r *http.Request) *http.Request {
	if !strings.HasSuffix(r.URL.Path, "/") || strings.Count(r.URL.Path, "/") < 4 {
		return r
	}
	out, at := *r, *r.URL
	at.Path, at.RawPath = strings.TrimSuffix(at.Path, "/"), strings.TrimSuffix(at.RawPath, "/")
	out.URL = &at
	return &out
}

// call is one request on its way to an answer.
type call struct {
	*http.Request
	door *door
	who  access.Caller
	// Of Backstage's API, once checked:
	query url.Values
	body  map[string]any
}

// answer is what goes back when a request succeeds.
type answer struct {
	status int // 200 if 0
	header http.Header
	value  any // nil for an empty body
}

// serve answers an authenticated request.
type serve func(*call) (answer, error)

// handle mounts what answers authenticated requests at a pattern.
func (d *door) handle(pattern string, shape errorShape, do serve) {
	d.open(pattern, shape, func(c *call) (answer, error) {
		who, err := d.Authenticate(c.Request)
		if err != nil {
			return answer{}, err
		}
		c.who = who
		return do(c)
	})
}

// open mounts what answers any request at a pattern.
func (d *door) open(pattern string, shape errorShape, do serve) {
	d.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		defer d.recovered(w, r, shape)
		a, err := do(&call{Request: r, door: d})
		if err != nil {
			d.refuse(w, r, shape, err)
			return
		}
		for k, v := range a.header {
			w.Header()[k] = v
		}
		d.give(w, r, shape, a)
	})
}

// give sends what a request asked for.
func (d *door) give(w http.ResponseWriter, r *http.Request, shape errorShape, a answer) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.value == nil {
		if a.status != http.StatusNoContent {
			w.Header().Set("Content-Length", "0")
		}
		w.WriteHeader(a.status)
		return
	}
	collected, ok := d.buffers.Get().(*[]byte)
	if !ok {
		collected = new(make([]byte, 0, chunk+chunk/2))
	}
	s := &sink{w: w, status: a.status, b: (*collected)[:0]}
	if err := s.put(a.value); err != nil {
		d.refuse(w, r, shape, err)
	} else {
		s.finish()
	}
	if cap(s.b) <= 4*chunk { // a single entity may have been large
		*collected = s.b
		d.buffers.Put(collected)
	}
}

// recovered answers for a handler that panicked.
func (d *door) recovered(w http.ResponseWriter, r *http.Request, shape errorShape) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // the panic's value is this very error
		panic(p)
	}
	d.Logger.ErrorContext(r.Context(), "panic in the REST door", "path", r.URL.Path, "error", fault.Recovered(p, "answering a request"))
	d.refuse(w, r, shape, fault.From(errors.New("panic")))
}

// invoke runs an operation for the caller of a request.
func invoke[I, O any](c *call, op string, action access.Action, target string, in I, do func(context.Context, access.Caller, I) (*O, error)) (*O, error) {
	return access.Invoke(c.Context(), c.door.Recorder, access.Call{Door: "rest", Operation: op, Action: action, Who: c.who, Target: target}, in, do)
}

// missing answers for a path, or for a method at a path, that nothing serves.
func (d *door) missing(c *call) (answer, error) {
	allowed := d.methods(c.Request)
	if len(allowed) == 0 {
		return answer{}, fault.New(fault.NotFound, "there is nothing at %s", c.URL.Path).WithFix("The paths are listed in /api/v1/openapi.json.")
	}
	return answer{}, &httpFault{status: http.StatusMethodNotAllowed, header: http.Header{"Allow": {strings.Join(allowed, ", ")}},
		fault: fault.New(fault.Invalid, "%s does not take %s", c.URL.Path, c.Method).WithFix("It takes %s.", strings.Join(allowed, ", "))}
}

// methods are those that a path takes.
func (d *door) methods(r *http.Request) []string {
	var out []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, pattern := d.mux.Handler(probe); strings.HasPrefix(pattern, m+" ") {
			out = append(out, m)
		}
	}
	if slices.Contains(out, http.MethodGet) {
		out = append(out, http.MethodHead)
	}
	return out
}

func (d *door) document(*call) (answer, error) { return answer{value: d.openAPI}, nil }
