package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// finds is what inference found in one repository.
type finds struct{ *catalog.Finding }

func foundIn(repository string, files map[string]string) finds {
	readings := map[string]infer.Reading{}
	for at, text := range files {
		if infer.Wanted(at) {
			readings[at] = infer.Read(at, []byte(text))
		}
	}
	repo := infer.NewRepository(readings, slices.Collect(maps.Keys(files)))
	return finds{&catalog.Finding{Repository: repo, Source: catalogtest.Source, URL: repository, Commit: "c0ffee"}}
}

func (f finds) Of(source string) *catalog.Finding {
	if source == f.Source {
		return f.Finding
	}
	return nil
}

func (f finds) In(repository string) *catalog.Finding {
	if entity.RepositoryKey(repository) == entity.RepositoryKey(f.URL) {
		return f.Finding
	}
	return nil
}

func (f finds) Naming(string) []*catalog.Finding { return nil }

// moved puts what publishes a document into a file of its own.
func moved(t *testing.T, file, doc string) []index.Change {
	t.Helper()
	changes := catalogtest.Changes(t, doc)
	for i := range changes {
		changes[i].Record.Entity.From.Path = file
	}
	return changes
}

const monorepo = "https://git.example.com/acme/catalog"

// mono is a repository of three components, one of them around the others.
func mono(t *testing.T) *catalog.Service {
	t.Helper()
	s := catalogtest.NewEmpty(t)
	for file, doc := range map[string]string{
		"services/api/catalog-info.yaml":      component("{name: api, annotations: {github.com/project-slug: acme/catalog}}", "owner: shop"),
		"services/worker/catalog-info.yaml":   component("{name: worker}", "owner: shop, fairlead: {commands: {test: make check}}"),
		"services/.backstage/everything.yaml": component("{name: services}", "owner: shop"),
	} {
		changes := moved(t, file, doc)
		if strings.Contains(file, "/api/") {
			changes[0].Record.Entity.From.Repository = "https://github.com/acme/catalog.git"
		}
		s.Publish(changes)
	}
	s.AttachFindings(foundIn(monorepo, map[string]string{
		"AGENTS.md":                           "Run `make test`.\n",
		"Makefile":                            "test:\n\tgo test ./...\n",
		"services/worker/AGENTS.md":           "Run the tests with `make check`.\n",
		"services/worker/Makefile":            "check:\n\tgo test ./...\n",
		"services/worker/ui/AGENTS.md":        "Rules of the pages.\n",
		"services/worker/ui/package.json":     `{"scripts": {"test": "vitest run"}}`,
		"services/worker/ui/src/index.ts":     "",
		"services/worker/catalog-info.yaml":   "",
		"services/.backstage/everything.yaml": "",
	}))
	return s
}

func TestBriefByPath(t *testing.T) {
	s := mono(t)
	who := accesstest.As("user:default/alice")
	for _, c := range []struct{ repository, path, want string }{
		{monorepo, "services/worker", "worker"},
		{monorepo, "services/worker/ui/src/index.ts", "worker"},
		{monorepo, "/services/worker/", "worker"},
		{monorepo, "./services/other/main.go", "services"},
		{monorepo, "services/workers/x", "services"},
		{monorepo, "", "services"}, // the nearest to the root
		{monorepo + "/src/branch/main/services/worker/ui", "", "worker"},
		{"git@github.com:acme/catalog.git", "services/api/x.go", "api"},
		{"https://github.com/acme/catalog/tree/main/services/api", "", "api"},
		{"https://github.com/acme/catalog/pull/7", "", "api"},
	} {
		b, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: c.repository, Path: c.path})
		if err != nil || b.Ref != "component:default/"+c.want {
			t.Errorf("%s %q: got %v %v, want %s", c.repository, c.path, b, err, c.want)
		}
	}
	for path, code := range map[string]fault.Code{
		"docs/x.md": fault.NotFound, "../x": fault.Invalid, "services/../../x": fault.Invalid, "a\x00b": fault.Invalid, strings.Repeat("a/", 3000): fault.Invalid, `c:\x`: fault.NotFound,
	} {
		if _, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: monorepo, Path: path}); fault.CodeOf(err) != code {
			t.Errorf("path %.20q: got %v, want %s", path, err, code)
		}
	}
	if _, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Path: "services"}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a path alone: got %v", err)
	}
}

// The nearest rules come first, and the commands are those of the folder that
// is nearest above the path.
func TestBriefOfAPathHasTheNearestRulesAndCommands(t *testing.T) {
	s := mono(t)
	who := accesstest.As("user:default/alice")
	for _, in := range []catalog.GetServiceBriefInput{{Repository: monorepo, Path: "services/worker/ui/src"}, {Service: "worker", Path: "services/worker/ui/src"}} {
		b, err := s.GetServiceBrief(t.Context(), who, in)
		if err != nil {
			t.Fatal(err)
		}
		var rules []string
		for _, r := range b.Rules {
			rules = append(rules, r.Value)
		}
		if got := strings.Join(rules, " "); got != "services/worker/ui/AGENTS.md services/worker/AGENTS.md AGENTS.md" {
			t.Errorf("rules: %s", got)
		}
		c := b.Commands.Test
		if c.Value != "npm test" || c.Path != "services/worker/ui" || c.Kind != catalog.Inferred || len(c.Disagrees) != 1 || c.Disagrees[0] != "services/worker/catalog-info.yaml:4 says `make check` for the whole of it" {
			t.Errorf("test: %+v", c)
		}
	}
	b, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Service: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	if c := b.Commands.Test; c.Value != "make check" || c.Kind != catalog.Declared || c.Stale != "" || len(b.Rules) != 2 {
		t.Errorf("without a path: %+v, %+v", c, b.Rules)
	}
}

// Two components of one folder cannot be told apart by a path.
func TestBriefOfAFolderOfTwo(t *testing.T) {
	s := mono(t)
	s.Publish(moved(t, "services/worker/catalog-info.yaml", component("{name: twin}", "owner: shop")))
	who := accesstest.As("user:default/alice")
	_, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: monorepo, Path: "services/worker/x"})
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "component:default/twin, component:default/worker") {
		t.Errorf("got %v", err)
	}
	s.Publish([]index.Change{{Ref: "component:default/twin"}})
	if b, err := s.GetServiceBrief(t.Context(), who, catalog.GetServiceBriefInput{Repository: monorepo, Path: "services/worker/x"}); err != nil || b.Ref != "component:default/worker" {
		t.Errorf("after the other is gone: %v %v", b, err)
	}
}
