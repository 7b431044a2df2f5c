package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/cmd/fairlead/check"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
)

func component(name, more string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: " + name + "\nspec:\n  type: service\n  lifecycle: production\n  owner: crew\n" + more
}

func location(targets string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata:\n  name: all\nspec:\n  targets:\n" + targets
}

// folder writes files and makes their folder the working folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

func run(t *testing.T, o check.Options) *check.Report {
	t.Helper()
	r, err := check.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines are the findings as severity, place, owner and message.
func lines(r *check.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s:%d:%d [%s] %s\n", f.Severity, f.File, f.Line, f.Column, f.Owner, f.Message)
	}
	return b.String()
}

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		opts  check.Options
		want  []string // parts of the lines, in order
		count int      // entities
	}{
		"all well": {files: map[string]string{"catalog-info.yaml": component("a", ""), "sub/catalog-info.yml": component("b", "")}, count: 2},
		"what is wrong": {files: map[string]string{"catalog-info.yaml": component("a b", "")},
			want: []string{"error catalog-info.yaml:4:3 [group:default/crew] metadata.name \"a b\" is not valid"}},
		"broken YAML reaches the seeming owner": {files: map[string]string{"catalog-info.yaml": component("a", "  x: {\n")},
			want: []string{"error catalog-info.yaml:10:1 [group:default/crew]"}, count: 0},
		"an unknown kind, once": {files: map[string]string{"catalog-info.yaml": strings.Replace(component("a", ""), "Component", "Gizmo", 1)},
			want: []string{"error catalog-info.yaml:2:1 [group:default/crew] kind \"Gizmo\" is not allowed"}},
		"a kind let in": {files: map[string]string{"catalog-info.yaml": strings.Replace(component("a", ""), "Component", "Gizmo", 1)},
			opts: check.Options{Kinds: []string{"Gizmo"}}, count: 1},
		"placeholders": {files: map[string]string{
			"catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: API\nmetadata: {name: a}\nspec:\n  type: openapi\n  lifecycle: x\n  owner: crew\n  definition:\n    $text: ./api/openapi.yaml\n---\napiVersion: backstage.io/v1alpha1\nkind: API\nmetadata: {name: b}\nspec:\n  type: openapi\n  lifecycle: x\n  owner: crew\n  definition:\n    $text: ./gone.yaml\n",
			"api/openapi.yaml":  "openapi: 3.1.0\n"},
			want: []string{"error catalog-info.yaml:19:5 [group:default/crew] $text names \"./gone.yaml\", which is not there"}, count: 1},
		"locations": {files: map[string]string{
			"catalog-info.yaml":      location("    - ./services/*/catalog-info.yaml\n    - ./gone.yaml\n    - https://github.com/acme/other/blob/main/catalog-info.yaml\n    - ./broken.yaml\n    - ./extra/one.yaml\n"),
			"services/a/entity.yaml": component("ignored", ""), "services/b/catalog-info.yaml": component("b", ""),
			"extra/one.yaml": component("one", ""), "broken.yaml": "kind: [\n"},
			want: []string{"error broken.yaml:", "error catalog-info.yaml:8:7 [] target \"./gone.yaml\" is not there", "warning catalog-info.yaml:9:7 [] target \"https://github.com/acme/other/blob/main/catalog-info.yaml\" is outside",
				"error catalog-info.yaml:10:7 [] target \"./broken.yaml\" has errors of its own"}, count: 3},
		"patterns, by a server's rules": {files: map[string]string{
			"catalog-info.yaml": location("    - ./teams/!(legacy|.*)/entity.yaml\n"), "teams/a/entity.yaml": component("a", ""),
			"teams/legacy/entity.yaml": component("b", ""), "teams/.hidden/entity.yaml": component("c", "")}, count: 2},
		"a circle of locations": {files: map[string]string{"catalog-info.yaml": location("    - ./two.yaml\n"), "two.yaml": strings.Replace(location("    - ./catalog-info.yaml\n    - ./two.yaml\n"), "all", "two", 1)}, count: 2},
		"one name twice": {files: map[string]string{"a/catalog-info.yaml": component("x", ""), "b/catalog-info.yaml": component("x", "---\n"+component("y", "")+"---\n"+component("Y", ""))},
			want: []string{"error b/catalog-info.yaml:1:1 [group:default/crew] component:default/x is already described at a/catalog-info.yaml:1 by group:default/crew, which keeps the name", "warning b/catalog-info.yaml:19:1 [group:default/crew] component:default/y is described twice"}, count: 2},
		"a link that leads out": {files: map[string]string{"catalog-info.yaml": location("    - ./out.yaml\n")}, want: []string{"error catalog-info.yaml:7:7 [] target \"./out.yaml\" is not there"}, count: 1},
		"a large file":          {files: map[string]string{"catalog-info.yaml": strings.Repeat("#\n", 1<<20)}, want: []string{"error catalog-info.yaml:0:0 [] the file has more than 1 MiB"}},
		"a credential that leads elsewhere": {files: map[string]string{"catalog-info.yaml": component("a", "  fairlead:\n    credentials:\n      - {name: db, mount: database/../sys, role: ro}\n")},
			want: []string{"warning catalog-info.yaml:11:20 [group:default/crew] spec.fairlead.credentials.mount of component:default/a is no mount"}, count: 1},
		"all files": {files: map[string]string{"a.yaml": component("a", ""), "b.txt": "x"}, opts: check.Options{All: true}, count: 1},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, c.files)
			c.opts.Paths = []string{"."}
			r := run(t, c.opts)
			got := strings.Split(strings.TrimSuffix(lines(r), "\n"), "\n")
			if lines(r) == "" {
				got = nil
			}
			if len(got) != len(c.want) || r.Entities != c.count {
				t.Fatalf("%d entities, want %d; findings:\n%s", r.Entities, c.count, lines(r))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("finding %d is %s, want %s", i, got[i], c.want[i])
				}
				if r.Findings[i].Fix == "" {
					t.Errorf("%s has no fix", got[i])
				}
			}
		})
	}
}

func TestRepository(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	err := git.Create(dir, map[string]string{
		"services/a/catalog-info.yaml": location("    - ../b/entity.yaml\n    - https://github.com/Acme/Shop/blob/any-branch/services/c.yaml\n    - /root.yaml\n"),
		"services/b/entity.yaml":       component("b", ""), "services/c.yaml": component("c", ""), "root.yaml": component("d", ""),
	}, git.Commit{Author: "A", Email: "a@example.com", When: time.Unix(0, 0), Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	config := "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n"
	f, err := os.OpenFile(filepath.Join(dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		t.Fatal(err)
	}
	f.Close()
	t.Chdir(filepath.Join(dir, "services", "a"))
	r := run(t, check.Options{Paths: []string{"catalog-info.yaml"}})
	if lines(r) != "" || r.Entities != 4 {
		t.Fatalf("%d entities; %s", r.Entities, lines(r))
	}
}

func TestWhatCannotBeChecked(t *testing.T) {
	folder(t, map[string]string{"a.yaml": "x", "empty/x": ""})
	for path, code := range map[string]fault.Code{"gone": fault.NotFound, "empty": fault.NotFound} {
		if _, err := check.Run(t.Context(), check.Options{Paths: []string{path}}); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", path, err)
		}
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := check.Run(ctx, check.Options{Paths: []string{"."}, All: true}); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestSARIF(t *testing.T) {
	folder(t, map[string]string{"a b/catalog-info.yaml": component("x y", ""), "c/catalog-info.yaml": location("    - https://github.com/o/r/blob/main/x.yaml\n")})
	raw, err := run(t, check.Options{Paths: []string{"."}}).SARIF("v1")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || len(log.Runs[0].Results) != 2 {
		t.Fatalf("%s", raw)
	}
	first, second := log.Runs[0].Results[0], log.Runs[0].Results[1]
	at := first.Locations[0].PhysicalLocation
	if at.ArtifactLocation.URI != "a%20b/catalog-info.yaml" || at.ArtifactLocation.URIBaseID != "%SRCROOT%" || at.Region.StartLine != 4 || at.Region.StartColumn != 3 || first.Level != "error" {
		t.Errorf("%+v", first)
	}
	if second.Level != "warning" || log.Runs[0].Tool.Driver.Rules[second.RuleIndex].ID != second.RuleID {
		t.Errorf("%+v", second)
	}
	empty, err := (&check.Report{}).SARIF("v1")
	if err != nil || !strings.Contains(string(empty), `"results":[]`) {
		t.Errorf("%s %v", empty, err)
	}
}

// TestCorpus checks every public catalog file at hand.
func TestCorpus(t *testing.T) {
	shared := os.Getenv("FAIRLEAD_SHARED")
	if shared == "" {
		shared = "../../../../shared"
	}
	corpus := filepath.Join(shared, "corpus", "catalog")
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("there is no corpus at %s", corpus)
	}
	r := run(t, check.Options{Paths: []string{corpus}, All: true})
	if r.Files < 100 || r.Entities < 100 {
		t.Errorf("%d files, %d entities", r.Files, r.Entities)
	}
	for _, f := range r.Findings {
		if f.Message == "" || f.File == "" || f.Severity != entity.SeverityError && f.Severity != entity.SeverityWarning {
			t.Errorf("%+v", f)
		}
		if f.Fix == "" {
			t.Logf("no fix: %s", f.Problem)
		}
	}
}
