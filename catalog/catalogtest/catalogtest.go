// Package catalogtest makes catalogs for tests of what stands on them.
package catalogtest

import (
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
)

// Option says more of the service that NewWith makes.
type Option func(*catalog.Config)

// WithPolicy lets a policy say who may read what; without it everybody may
// read everything.
func WithPolicy(p *access.Policy) Option { return func(c *catalog.Config) { c.Policy = p } }

// WithGuard lets acts happen that the guard lets through.
func WithGuard(g *access.Guard) Option { return func(c *catalog.Config) { c.Guard = g } }

// WithIngestion tells the service of sources.
func WithIngestion(in catalog.Ingestion) Option { return func(c *catalog.Config) { c.Ingestion = in } }

// NewEmpty makes a service that holds nothing.
func NewEmpty(t testing.TB, options ...Option) *catalog.Service {
	t.Helper()
	c := catalog.Config{Policy: accesstest.OpenPolicy()}
	for _, o := range options {
		o(&c)
	}
	s, err := catalog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
