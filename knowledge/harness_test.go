package knowledge_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

// room is a knowledge room over sources in memory, read by the real ingester.
type room struct {
	*knowledge.Service
	t        testing.TB
	catalog  *catalog.Service
	ingester *ingest.Ingester
	sources  map[string]*ingesttest.Memory
	dir      string
	codeCfg  knowledge.CodeConfig
	code     *knowledge.Code
	halt     func() // ends the reading of sources
	stop     func() // halts, and closes the index
}

// newRoom makes a room of sources by name, each with its files by path.
func newRoom(t testing.TB, policy *access.Policy, repos map[string]map[string]string) *room {
	t.Helper()
	return newRoomOf(t, policy, repos, knowledge.CodeConfig{})
}

// newRoomOf makes a room that searches code as configured.
func newRoomOf(t testing.TB, policy *access.Policy, repos map[string]map[string]string, cfg knowledge.CodeConfig) *room {
	t.Helper()
	if policy == nil {
		policy = accesstest.OpenPolicy()
	}
	c, err := catalog.New(catalog.Config{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{t: t, catalog: c, sources: map[string]*ingesttest.Memory{}, dir: t.TempDir(), codeCfg: cfg}
	for name, files := range repos {
		r.sources[name] = ingesttest.NewMemory(name, "https://git.example.com/acme/"+name)
		r.sources[name].Write(files)
	}
	r.start()
	t.Cleanup(func() { r.stop() })
	return r
}

// start opens the index and follows the sources; after stop it is a restart.
func (r *room) start() {
	r.t.Helper()
	local, err := store.OpenKnowledge(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	x, err := fts.New(r.t.Context(), local.Read, local.Write, local.Scratch)
	if err != nil {
		r.t.Fatal(err)
	}
	codes, err := store.OpenCode(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	y, err := fts.NewCode(r.t.Context(), codes.Read, codes.Write)
	if err != nil {
		r.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	r.code = knowledge.NewCode(r.codeCfg, y, y, log)
	if r.Service, err = knowledge.New(knowledge.Config{Catalog: r.catalog, Index: x, Keeper: x, Code: r.code, Logger: log}); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Restore(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.code.Restore(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	var sources []ingest.Source
	for _, m := range r.sources {
		sources = append(sources, m)
	}
	r.ingester = ingest.New(ingest.Config{Sources: sources, Processor: descriptor.New(descriptor.Options{}), Publish: r.catalog.Publish, Log: log, Followers: []ingest.Follower{r.Service, r.code}})
	r.catalog.Attach(r.ingester)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.ingester.Run(ctx) }()
	r.halt = sync.OnceFunc(func() { cancel(); <-done })
	r.stop = sync.OnceFunc(func() {
		r.halt()
		if err := errors.Join(local.Close(), codes.Close()); err != nil {
			r.t.Error(err)
		}
	})
	for name := range r.sources {
		r.awaitRead(name)
	}
}

// awaitRead waits until the newest revision of a source was followed.
func (r *room) awaitRead(name string) {
	r.t.Helper()
	want, err := r.sources[name].Observe(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	is := r.sources[name].Describe()
	await(r.t, func() bool { return r.Followed(is) == want && r.code.Followed(is) == want })
}

// write changes files of a source and waits until they were read.
func (r *room) write(name string, files map[string]string) {
	r.t.Helper()
	r.sources[name].Write(files)
	if _, err := r.ingester.Refresh(r.t.Context(), name); err != nil {
		r.t.Fatal(err)
	}
	r.awaitRead(name)
}

func alice() access.Caller { return accesstest.As("user:default/alice") }

func (r *room) search(in knowledge.SearchKnowledgeInput) *knowledge.KnowledgeHits {
	r.t.Helper()
	out, err := r.SearchKnowledge(r.t.Context(), alice(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// found are the handles of a search's hits.
func (r *room) found(query, service string) []string {
	r.t.Helper()
	var out []string
	for _, h := range r.search(knowledge.SearchKnowledgeInput{Query: query, Service: service}).Hits {
		out = append(out, h.Handle)
	}
	return out
}

func (r *room) get(in knowledge.GetDocumentInput) *knowledge.KnowledgeDocument {
	r.t.Helper()
	out, err := r.GetDocument(r.t.Context(), alice(), in)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// service is the catalog file of a component.
func service(name, more string) string {
	return strings.NewReplacer("NAME", name, "MORE", more).Replace(`apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: NAME}
spec: {type: service, lifecycle: production, owner: team-NAMEMORE}
`)
}
