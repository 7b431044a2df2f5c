package catalog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
)

// worst is a service of which there is too much of everything: long names,
// hundreds of rules, objectives, runbooks, environments and dependents, and
// commands that everybody disagrees about.
func worst(t testing.TB) *catalog.Service {
	t.Helper()
	long := strings.Repeat("very-long-name-", 4)
	files := map[string]string{
		"Makefile": "build:\n\tgo build ./...\n", "AGENTS.md": "Run `npm test`, lint with `npm run lint`, build with `npm run build`.\n",
		".github/workflows/ci.yml": "on: push\njobs:\n  t:\n    steps:\n      - run: pytest " + strings.Repeat("tests/x ", 40) + "\n      - run: ruff check .\n      - run: docker build .\n",
		"CONTRIBUTING.md":          "```\ncargo test\ncargo build\ncargo clippy\n```\n",
	}
	deep := "d"
	for i := range 60 {
		deep += fmt.Sprintf("/folder-%02d", i)
		files[deep+"/AGENTS.md"] = "Rules.\n"
		files[fmt.Sprintf("docs/runbooks/%s%d.md", long, i)] = ""
		files[fmt.Sprintf("slo/%d.yaml", i)] = fmt.Sprintf("apiVersion: openslo/v1\nkind: SLO\nmetadata: {name: %s%d, displayName: %s}\nspec:\n  service: big\n  timeWindow: [{duration: 28d, isRolling: true}]\n  objectives: [{target: 0.99}]\n", long, i, long)
	}
	var environments, links []string
	for i := range 60 {
		environments = append(environments, fmt.Sprintf("      - {name: %s%d, path: apps/%s/%d, url: \"https://%s%d.example.test\", argocd: {instance: main, app: %s%d}}", long, i, long, i, long, i, long, i))
		links = append(links, fmt.Sprintf("    - {url: \"https://grafana.example.test/d/%s%d\", title: %s dashboard}", long, i, long))
	}
	docs := []string{"kind: Component\nmetadata:\n  name: big\n  title: " + strings.Repeat("Big ", 60) + "\n  description: " + strings.Repeat("It does much. ", 200) +
		"\n  links:\n" + strings.Join(links, "\n") + "\nspec:\n  type: service\n  lifecycle: production\n  owner: " + long + "owners\n  fairlead:\n    commands: {build: make build, test: make test, lint: make lint, run: make run, setup: make setup, testOne: make one, " + long + ": x}\n    environments:\n" + strings.Join(environments, "\n") + "\n"}
	for i := range 80 {
		docs = append(docs, component(fmt.Sprintf("{name: %s%d}", long, i), "owner: others, dependsOn: [\"component:big\"]"))
	}
	s := catalogtest.NewWith(t, docs, catalogtest.WithIngestion(&broken{}))
	s.AttachFindings(foundIn(catalogtest.Repository, files))
	return s
}

// TestWorstBriefFits holds the most that can be said to every budget, by whole
// facts: each line is one that a larger budget has too.
func TestWorstBriefFits(t *testing.T) {
	s := worst(t)
	who := accesstest.As("user:default/alice")
	deep := "d" + strings.Repeat("/folder-00", 1)
	for _, in := range []catalog.GetServiceBriefInput{{Service: "big"}, {Service: "big", Path: deep}, {Service: "big", Sections: []string{"slos"}}} {
		in.MaxTokens = 8000
		all, err := s.GetServiceBrief(t.Context(), who, in)
		if err != nil {
			t.Fatal(err)
		}
		whole := map[string]bool{}
		for line := range strings.Lines(all.Text()) {
			whole[bare(line)] = true
		}
		for _, limit := range []int{0, 100, 101, 137, 200, 350, 500, 777, 1200, 2000, 4000, 8000} {
			in.MaxTokens = limit
			b, err := s.GetServiceBrief(t.Context(), who, in)
			if err != nil {
				t.Fatal(err)
			}
			want := limit
			if limit == 0 {
				want = 1200
			}
			enc, _ := json.Marshal(b)
			if n := (len(b.Text()) + 3) / 4; n > want || (len(enc)+3)/4 > 2*want {
				t.Errorf("max_tokens %d: text %d, structure %d", limit, n, len(enc)/4)
			}
			if b.Ref == "" || limit >= 500 && in.Sections == nil && (b.Owner == nil || b.Commands == nil || b.Commands.Test == nil) {
				t.Errorf("max_tokens %d: owner or test command went before less needed detail: omitted %v", limit, b.Omitted)
			}
			for line := range strings.Lines(b.Text()) {
				if !whole[bare(line)] {
					t.Errorf("max_tokens %d: a line that no larger brief has: %q", limit, line)
				}
			}
		}
	}
}

// bare is a line less what depends on the rest of the brief.
func bare(line string) string {
	for _, start := range []string{"component:default/big", "left out to fit", "not known", "facts from", "stale, most"} {
		if strings.HasPrefix(line, start) {
			return ""
		}
	}
	line, _, _ = strings.Cut(strings.TrimSpace(line), " stale: ")
	return line
}
