package knowledgetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/catalog/ingest/ingesttest"
	"github.com/fairlead-dev/fairlead/knowledge"
)

// The shape of a made-up company: how many documents a service has, in how
// large a part of all repositories one in ten lives, and how many pages of the
// handbook, which is about no service, there are.
const (
	perService   = 12
	perMonorepo  = 300 // services
	inMonorepo   = 10  // one in so many services
	handbookPart = 50  // one in so many documents
)

// Corpus is the documents of a made-up company: runbooks, pages, decisions,
// answers and rules of its services, and a handbook. Words are as unequally
// common as in real texts. The same size always gives the same texts.
type Corpus struct {
	size     int
	services []service
	jargon   []string
}

// service is one that has documents.
type service struct {
	name, team   string
	source, path string // where it lives; path is "" or ends with a slash
}

// file is one text of a repository.
type file struct{ path, text string }

// NewCorpus describes a company with that many documents, 100 or more.
func NewCorpus(documents int) *Corpus {
	c := &Corpus{size: documents}
	rng := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // made-up data, the same each time
	for range max(500, documents/2) {
		c.jargon = append(c.jargon, madeUp(rng))
	}
	for i := range (documents - documents/handbookPart) / perService {
		s := service{name: fmt.Sprintf("%s-%s", pick(rng, nouns), pick(rng, parts)), team: "team-" + pick(rng, nouns)}
		if i >= len(nouns) {
			s.name = fmt.Sprintf("%s-%s", s.name, c.jargon[i])
		}
		s.source = s.name
		if i%inMonorepo == 0 {
			s.source, s.path = fmt.Sprintf("platform-%d", i/inMonorepo/perMonorepo), "services/"+s.name+"/"
		}
		c.services = append(c.services, s)
	}
	return c
}

// Services are the names of the services.
func (c *Corpus) Services() []string {
	var out []string
	for _, s := range c.services {
		out = append(out, s.name)
	}
	return out
}

// Changes publish the services in a catalog.
func (c *Corpus) Changes() ([]index.Change, error) {
	p := descriptor.New(descriptor.Options{})
	var out []index.Change
	for _, s := range c.services {
		at := descriptor.Location{Type: descriptor.TypeURL, Target: repositoryOf(s.source) + "/blob/main/" + s.path + "catalog-info.yaml"}
		f := p.Read(at, fmt.Appendf(nil, "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: %s}\nspec: {type: service, lifecycle: production, owner: %s}\n", s.name, s.team))
		for _, d := range f.Documents {
			res := p.Process(context.Background(), f, d, at, nil)
			if len(res.Problems) > 0 {
				return nil, fmt.Errorf("%s: %s", s.name, res.Problems[0].String())
			}
			out = append(out, index.Change{Ref: d.Ref.String(), Record: &index.Record{Edges: res.Edges, Entity: &entity.Entity{Ref: d.Ref, Root: res.Entity,
				From: entity.Provenance{Source: s.source, Repository: repositoryOf(s.source), Path: s.path + "catalog-info.yaml", Line: 1}}}})
		}
	}
	return out, nil
}

func repositoryOf(source string) string { return "https://git.example.com/corp/" + source }

// Fill lets a room read all documents, one source after the other.
func (c *Corpus) Fill(ctx context.Context, s *knowledge.Service) error {
	var group []service
	for i, svc := range c.services {
		if svc.path != "" {
			continue
		}
		if err := follow(ctx, s, svc.source, c.documents(i)); err != nil {
			return err
		}
	}
	mono := map[string][]file{}
	for i, svc := range c.services {
		if svc.path != "" {
			if len(mono[svc.source]) == 0 {
				group = append(group, svc)
			}
			mono[svc.source] = append(mono[svc.source], c.documents(i)...)
		}
	}
	for _, svc := range group {
		if err := follow(ctx, s, svc.source, mono[svc.source]); err != nil {
			return err
		}
	}
	return follow(ctx, s, "handbook", c.handbook())
}

// Edit lets a room read one document that changed, of one of nine services
// that have repositories of their own; every revision is another text.
func (c *Corpus) Edit(ctx context.Context, s *knowledge.Service, revision int) error {
	i := 1 + revision%(inMonorepo-1)
	files := c.documents(i)
	files[0].text += fmt.Sprintf("\nEdited for the %dth time, for the sake of edition%d.\n", revision, revision)
	return follow(ctx, s, c.services[i].source, files)
}

// follow lets a room read a source.
func follow(ctx context.Context, s *knowledge.Service, source string, files []file) error {
	m := ingesttest.NewMemory(source, repositoryOf(source))
	texts, ids := map[string]string{}, map[string]string{}
	for _, f := range files {
		h := fnv.New64a()
		_, _ = h.Write([]byte(f.text))
		texts[f.path], ids[f.path] = f.text, fmt.Sprint(h.Sum64())
	}
	m.Write(texts)
	rev, err := m.Observe(ctx)
	if err != nil {
		return err
	}
	tree, err := m.Open(ctx, rev)
	if err != nil {
		return err
	}
	info := tree.Info()
	info.Time = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return s.Follow(ctx, ingest.View{Source: m.Describe(), Revision: rev, Info: info, Files: ids, Tree: tree})
}

// documents are a service's.
func (c *Corpus) documents(i int) []file {
	s := c.services[i]
	w := c.writer(uint64(i), s) //nolint:gosec // an index
	at := func(p string) string { return s.path + p }
	out := []file{
		{at("README.md"), w.page(title(s.name), 3, "What it does", "Running it", "Tests", "Releases")},
		{at("AGENTS.md"), w.page("For agents", 2, "Commands", "Conventions")},
		{at("docs/architecture.md"), w.page("Architecture of "+s.name, 5, "Overview", "Data model", "Dependencies", "Failure modes", "Capacity")},
		{at("docs/configuration.md"), w.page("Configuration", 4, "Settings", "Secrets", "Feature flags")},
		{at("docs/operations.md"), w.page("Operating "+s.name, 4, "Deploying", "Rolling back", "Backups", "Scaling", "On-call")},
		{at("docs/" + pick(w.rng, topics) + ".md"), w.page(w.sentence("{Topic} of {thing} in {svc}"), 5, "Background", "How it works", "Limits")},
		{at("docs/adr/0001-" + pick(w.rng, techs) + ".md"), w.decision()},
	}
	first := w.rng.IntN(len(conditions))
	for n := range 3 {
		alert := camel(s.name) + conditions[(first+n)%len(conditions)]
		out = append(out, file{at("docs/runbooks/" + alert + ".md"), w.runbook(alert)})
	}
	for n := range 2 {
		out = append(out, file{at(fmt.Sprintf("qa/%s-%d.md", pick(w.rng, topics), n)), w.answer()})
	}
	return out
}

func (c *Corpus) handbook() []file {
	var out []file
	w := c.writer(1<<40, service{name: "handbook", team: "team-platform"})
	for i := len(c.services) * perService; i < c.size; i++ {
		out = append(out, file{fmt.Sprintf("handbook/%s/%s-%d.md", pick(w.rng, topics), pick(w.rng, topics), i), w.page(w.sentence("{Topic}: {tech} and {thing}"), 6, "Why", "Rules", "Exceptions", "Whom to ask")})
	}
	return out
}

func title(name string) string {
	parts := strings.Split(name, "-")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, " ")
}

func camel(name string) string { return strings.ReplaceAll(title(name), " ", "") }
