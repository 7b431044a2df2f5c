// Package graphql is the door for GraphQL: the catalog over HTTP and, for
// subscriptions, over WebSockets, with GraphiQL for browsers.
package graphql

import (
	"context"
	_ "embed" // the schema
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/graphql/engine"
	"github.com/fairlead-dev/fairlead/graphql/graphiql"
	"github.com/fairlead-dev/fairlead/graphql/limit"
	"github.com/fairlead-dev/fairlead/graphql/node"
	"github.com/fairlead-dev/fairlead/graphql/overhttp"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/secrets"
)

//go:embed schema.graphql
var schemaText string

// Config is what the door is built from. Catalog, Access, Authenticate and
// Recorder are needed; the zero value of anything else is its default.
type Config struct {
	Catalog *catalog.Service
	Access  *access.Service
	// Knowledge may be left out: then its fields are refused.
	Knowledge *knowledge.Service
	// Previews may be left out: then its fields say so.
	Previews *previews.Service
	// Secrets may be left out: then its fields say so.
	Secrets *secrets.Service
	// Gitops may be left out: then its fields say so.
	Gitops *gitops.Service
	// Health may be left out: then its field says so.
	Health *gitops.HealthService
	// CI may be left out: then its field says so.
	CI *gitops.CIService
	// Authenticate tells who sends a request.
	Authenticate func(*http.Request) (access.Caller, error)
	// Recorder is told of every operation.
	Recorder access.Recorder
	// Logger is told of panics and of defects in answers.
	Logger *slog.Logger
	// Limits bound a document.
	Limits limit.Limits
	// Entities is the number of entities that one request may touch, 50,000 by
	// default; half a KiB of JSON counts as one.
	Entities int
	// Timeout bounds a query or mutation, 15 s by default.
	Timeout time.Duration
	// Origins are the origins, such as https://portal.example.com, whose pages
	// may call from a browser besides the server's own; "*" is any.
	Origins []string
	// Socket bounds WebSocket connections.
	Socket overhttp.SocketLimits
	// Challenge is the WWW-Authenticate header of a 401, "Bearer" by default.
	Challenge string
}

// door holds what resolvers need.
type door struct {
	catalog   *catalog.Service
	access    *access.Service
	knowledge *knowledge.Service
	previews  *previews.Service
	secrets   *secrets.Service
	gitops    *gitops.Service
	health    *gitops.HealthService
	ci        *gitops.CIService
	recorder  access.Recorder
	nodes     *node.Reader
	logger    *slog.Logger
}

// introspection asks policy whether a caller may see the schema.
func introspection(s *access.Service) func(context.Context, access.Caller) bool {
	return func(ctx context.Context, who access.Caller) bool {
		id, err := s.Whoami(ctx, who, access.WhoamiInput{})
		return err == nil && slices.ContainsFunc(id.Actions, func(p access.Permission) bool { return p.Action == access.ReadSchema })
	}
}

// New makes the door; mount it at /graphql. An error is a defect of the
// schema or a missing part of the configuration. WebSockets are closed when
// the base context of the http.Server ends.
func New(cfg Config) (http.Handler, error) {
	if cfg.Catalog == nil || cfg.Access == nil || cfg.Authenticate == nil || cfg.Recorder == nil {
		return nil, errors.New("graphql: Catalog, Access, Authenticate and Recorder are needed")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	e, err := engine.New(engine.Config{
		Schema: schemaText, Root: &root{&door{cfg.Catalog, cfg.Access, cfg.Knowledge, cfg.Previews, cfg.Secrets, cfg.Gitops, cfg.Health, cfg.CI, cfg.Recorder, &node.Reader{Catalog: cfg.Catalog, Recorder: cfg.Recorder}, cfg.Logger}}, Limits: cfg.Limits, Budget: cfg.Entities,
		MayIntrospect: introspection(cfg.Access), Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("graphql: %w", err)
	}
	page, err := graphiql.Handler()
	if err != nil {
		return nil, fmt.Errorf("graphql: %w", err)
	}
	return &overhttp.Handler{
		Engine: e, Authenticate: cfg.Authenticate, Page: page, Challenge: cfg.Challenge,
		Timeout: cfg.Timeout, Origins: cfg.Origins, Socket: cfg.Socket, Logger: cfg.Logger,
	}, nil
}
