package check_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/check"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// repository makes a repository that is the working folder, with one commit.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed")
	}
	dir := folder(t, files)
	runGit(t, dir, "init", "-q", "-b", "main")
	commit(t, dir)
	return dir
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "--allow-empty", "-m", "m")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func differ(t *testing.T, rev string, paths ...string) *check.Diff {
	t.Helper()
	d, err := check.Compare(t.Context(), check.Options{Paths: paths}, rev)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// brief is a difference in short.
func brief(d *check.Diff) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, e := range d.Added {
		add("+%s", e.Ref)
	}
	for _, c := range d.Changed {
		var names []string
		for _, f := range c.Fields {
			names = append(names, f.Name)
		}
		add("~%s %s", c.Ref, strings.Join(names, ","))
	}
	for _, c := range d.Moved {
		add(">%s %s %s", c.Ref, c.From, c.File)
	}
	for _, e := range d.Removed {
		add("-%s", e.Ref)
	}
	for _, e := range d.Stale {
		add("=%s", e.Ref)
	}
	for _, r := range d.Relations.Broken {
		add("!%s:%d %s", r.File, r.Line, r.Target)
	}
	for _, c := range d.Conflicts {
		add("#%s %s %s", c.Ref, c.Claims[0].File, c.Claims[1].File)
	}
	for _, p := range d.Problems.New {
		add("?%s %s", p.File, p.Severity)
	}
	add("%d old, %d fixed, worse %t", len(d.Problems.Old), len(d.Problems.Fixed), d.Worse)
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(out, "; "), "component:default/", ""), "catalog-info.yaml", "*")
}

// TestDiff edits a repository and tells what that makes of the catalog.
func TestDiff(t *testing.T) {
	bad := strings.Replace(component("x", ""), "  name: x", "  name: x y", 1)
	for name, c := range map[string]struct {
		edit  map[string]string // "" removes
		moves [][2]string
		want  string
	}{
		"nothing":          {want: "1 old, 0 fixed, worse false"},
		"added":            {edit: map[string]string{"d/catalog-info.yaml": component("d", "")}, want: "+d; 1 old, 0 fixed, worse false"},
		"changed":          {edit: map[string]string{"b/catalog-info.yaml": strings.Replace(component("b", "  system: s\n"), "crew", "others", 1)}, want: "~b spec.owner,spec.system; 1 old, 0 fixed, worse false"},
		"removed":          {edit: map[string]string{"c/catalog-info.yaml": ""}, want: "-c; 1 old, 0 fixed, worse false"},
		"target removed":   {edit: map[string]string{"b/catalog-info.yaml": ""}, want: "-b; !a/*:9 b; 1 old, 0 fixed, worse true"},
		"moved":            {moves: [][2]string{{"a", "z"}}, want: ">a a/* z/*; 1 old, 0 fixed, worse false"},
		"moved, changed":   {moves: [][2]string{{"b", "z"}}, edit: map[string]string{"z/catalog-info.yaml": component("b", "  system: s\n")}, want: "~b spec.system; 1 old, 0 fixed, worse false"},
		"broken":           {edit: map[string]string{"b/catalog-info.yaml": "kind: ["}, want: "=b; ?b/* error; 1 old, 0 fixed, worse true"},
		"a conflict":       {edit: map[string]string{"a/a/catalog-info.yaml": component("b", "")}, want: "#b b/* a/a/*; 1 old, 0 fixed, worse true"},
		"old error fixed":  {edit: map[string]string{"bad/catalog-info.yaml": component("x", "")}, want: "+x; 0 old, 1 fixed, worse false"},
		"old error moved":  {edit: map[string]string{"bad/catalog-info.yaml": "\n\n" + bad}, want: "1 old, 0 fixed, worse false"},
		"a link":           {edit: map[string]string{"LINK": "d"}, want: "1 old, 0 fixed, worse false"},
		"a placeholder":    {edit: map[string]string{"text": "new"}, want: "~p metadata.description; 1 old, 0 fixed, worse false"},
		"of a Location":    {edit: map[string]string{"more/two.yaml": component("two", "")}, want: "+two; 1 old, 0 fixed, worse false"},
		"everything there": {edit: map[string]string{"a": "", "b": "", "c": "", "bad": "", "p": "", "more": "", "catalog-info.yaml": component("n", "")}, want: "+n; -a; -b; -c; -one; -p; -location:default/all; 0 old, 1 fixed, worse false"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, map[string]string{"a/catalog-info.yaml": component("a", "  dependsOn: [component:b]\n"), "b/catalog-info.yaml": component("b", ""),
				"c/catalog-info.yaml": component("c", ""), "bad/catalog-info.yaml": bad, "text": "old",
				"p/catalog-info.yaml":    strings.Replace(component("p", ""), "  name: p\n", "  name: p\n  description:\n    $text: ../text\n", 1),
				"more/catalog-info.yaml": location("    - ./o*.yaml\n    - ./t*.yaml\n") + "  presence: optional\n", "more/one.yaml": component("one", "")})
			for _, m := range c.moves {
				runGit(t, dir, "mv", m[0], m[1])
			}
			for name, text := range c.edit {
				switch {
				case name == "LINK":
					if err := os.Symlink("b", filepath.Join(dir, "link")); err != nil {
						t.Fatal(err)
					}
					if err := os.Symlink("../b/catalog-info.yaml", filepath.Join(dir, "c", "catalog-info.yml")); err != nil {
						t.Fatal(err)
					}
				case text == "":
					runGit(t, dir, "rm", "-rq", name)
				default:
					write(t, dir, name, text)
				}
			}
			if got := brief(differ(t, "main", ".")); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestDiffPaths compares parts of a repository, and what is gone.
func TestDiffPaths(t *testing.T) {
	dir := repository(t, map[string]string{"a/catalog-info.yaml": component("a", ""), "b/catalog-info.yaml": component("b", ""), "node_modules/x/catalog-info.yaml": component("n", ""), "empty/x": ""})
	runGit(t, dir, "checkout", "-q", "-b", "side")
	runGit(t, dir, "rm", "-rq", "b", "node_modules")
	commit(t, dir)
	runGit(t, dir, "checkout", "-q", "main")
	write(t, dir, "c/catalog-info.yaml", component("c", ""))
	commit(t, dir)
	runGit(t, dir, "checkout", "-q", "side")
	runGit(t, dir, "clone", "-q", ".", "nested")
	for paths, want := range map[string]string{"b": "-b", "b/catalog-info.yaml": "-b", "a": "", "a c": "-c", ".": "-b; -c"} {
		want = strings.TrimPrefix(want+"; 0 old, 0 fixed, worse false", "; ")
		if got := brief(differ(t, "main", strings.Fields(paths)...)); got != want {
			t.Errorf("%s: got %s, want %s", paths, got, want)
		}
	}
	if got := brief(differ(t, "main...", ".")); !strings.HasPrefix(got, "-b; 0 old") {
		t.Errorf("since branched off: %s", got)
	}
	t.Chdir(filepath.Join(dir, "a"))
	if got := differ(t, "main", ".."); got.Removed[0].File != "../b/catalog-info.yaml" || len(got.Bases) != 1 || got.Bases[0].Repository != dir {
		t.Errorf("%+v", got)
	}
}

func TestDiffCannot(t *testing.T) {
	dir := repository(t, map[string]string{"catalog-info.yaml": component("a", ""), "empty/x": ""})
	commit(t, dir)
	runGit(t, t.TempDir(), "clone", "-q", "--depth=1", "file://"+dir, filepath.Join(dir, "shallow"))
	outside := t.TempDir()
	write(t, outside, "catalog-info.yaml", component("a", ""))
	for _, c := range []struct{ path, rev, want string }{
		{".", "", `"" names no commit`}, {".", "nope", `no branch, tag or commit "nope"`}, {"empty", "main", `no catalog-info.yaml below "empty"`},
		{"gone", "main", `no catalog-info.yaml below "gone"`}, {outside, "main", "is in no Git repository"}, {"shallow", "HEAD~1", "shallow clone"},
		{".", "main:catalog-info.yaml", "names no commit"}, {".", "nope...", `"nope"`},
	} {
		_, err := check.Compare(t.Context(), check.Options{Paths: []string{c.path}}, c.rev)
		if f := fault.From(err); f == nil || f.Fix == "" || !strings.Contains(f.Message, c.want) {
			t.Errorf("%s at %q: %v", c.path, c.rev, err)
		}
	}
}

// TestDiffReadsCatalogFilesAlone compares with a commit of which nothing but
// the catalog files can be read.
func TestDiffReadsCatalogFilesAlone(t *testing.T) {
	dir := repository(t, map[string]string{"catalog-info.yaml": component("a", ""), "big/data.bin": "x", "big/data2.bin": "y"})
	object := func(name string) string {
		out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", "HEAD:"+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSpace(string(out))
		return filepath.Join(dir, ".git", "objects", id[:2], id[2:])
	}
	for _, name := range []string{"big/data.bin", "big/data2.bin"} {
		if err := os.Remove(object(name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := brief(differ(t, "HEAD", ".")); got != "0 old, 0 fixed, worse false" {
		t.Error(got)
	}
	if err := os.Remove(object("catalog-info.yaml")); err != nil {
		t.Fatal(err)
	}
	_, err := check.Compare(t.Context(), check.Options{Paths: []string{"."}}, "HEAD")
	if fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a commit that cannot be read: %v", err)
	}
}

func TestDiffSARIF(t *testing.T) {
	dir := repository(t, map[string]string{"a/catalog-info.yaml": component("a", "  dependsOn: [component:b]\n"), "b/catalog-info.yaml": component("b", ""), "old/catalog-info.yaml": component("x y", "")})
	runGit(t, dir, "rm", "-rq", "b")
	write(t, dir, "c/catalog-info.yaml", component("a", "  system: s\n"))
	write(t, dir, "d/catalog-info.yaml", component("d", "  system: s\n"))
	write(t, dir, "e/catalog-info.yaml", component("z z", ""))
	raw, err := differ(t, "main", ".").SARIF("v1")
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Runs []struct {
			Results []struct {
				RuleID, Level, BaselineState string
				Locations, RelatedLocations  []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &log); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		line := strings.Join([]string{r.RuleID, r.Level, r.BaselineState, r.Locations[0].PhysicalLocation.ArtifactLocation.URI}, " ")
		for _, l := range r.RelatedLocations {
			line += " " + l.PhysicalLocation.ArtifactLocation.URI
		}
		got = append(got, line)
	}
	want := []string{"InputError error new e/catalog-info.yaml", "ConflictError error new c/catalog-info.yaml a/catalog-info.yaml", "BrokenRelationError error new a/catalog-info.yaml",
		"NotFoundError warning new d/catalog-info.yaml", "NotFoundError warning new d/catalog-info.yaml", "InputError error unchanged old/catalog-info.yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
