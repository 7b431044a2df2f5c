package oracle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/oracle"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// folder writes files and gives where they are.
func folder(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const system = "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: shop}\nspec: {owner: team-a}\n"

func locationOf(name, spec string) string {
	return "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

type report struct {
	Files []struct {
		File, Target string
		Location     struct {
			OK      bool
			Emitted []struct{ Ref, LocationKey string }
		}
		Documents []struct {
			OK         bool
			Stage, Ref string
			Errors     []struct{ Name, Message string }
		}
	}
	Final struct {
		Entities map[string]struct {
			Entity struct {
				Relations []struct{ Type, TargetRef string }
			}
			Search [][]*string
		}
		Unprocessed map[string]any
		Conflicts   []struct{ Ref, Kept, Ignored string }
	}
}

func run(t *testing.T, o oracle.Options) report {
	t.Helper()
	var out bytes.Buffer
	if err := oracle.Run(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun(t *testing.T) {
	dir := folder(t, map[string]string{
		"a b/info.yaml":         system,
		"all.yml":               locationOf("all", "{targets: ['./part.entity', './a b/info.yaml']}"),
		"broken.yaml":           "a: [\n",
		"part.entity":           strings.Replace(system, "shop", "part", 1),
		".hidden/x.yaml":        system,
		"node_modules/x/x.yaml": system,
		"other.YAML":            system,
		"zz.yaml":               strings.Replace(system, "team-a", "team-b", 1),
	})
	r := run(t, oracle.Options{Dir: dir})
	var names []string
	for _, f := range r.Files {
		names = append(names, f.File)
	}
	if diff := cmp.Diff([]string{"a b/info.yaml", "all.yml", "broken.yaml", "zz.yaml"}, names); diff != "" {
		t.Error(diff)
	}
	if got := r.Files[0].Target; got != oracle.DefaultBase+"a%20b/info.yaml" {
		t.Errorf("target %s", got)
	}
	if r.Files[2].Location.OK || r.Files[2].Documents[0].Stage != "parse" {
		t.Errorf("broken file: %+v", r.Files[2])
	}
	shop := r.Final.Entities["system:default/shop"]
	if rel := shop.Entity.Relations; len(rel) != 1 || rel[0].TargetRef != "group:default/team-a" || len(shop.Search) == 0 {
		t.Errorf("shop: %+v", shop)
	}
	if c := r.Final.Conflicts; len(c) != 1 || c[0].Ref != "system:default/shop" || !strings.HasSuffix(c[0].Ignored, "/zz.yaml") {
		t.Errorf("conflicts: %+v", c)
	}
	if _, ok := r.Final.Entities["system:default/part"]; !ok {
		t.Error("what the Location points to is not there")
	}
	if n := len(r.Final.Unprocessed); n != 1 {
		t.Errorf("%d unprocessed, want the broken file's Location", n)
	}
}

func TestRunAsFolder(t *testing.T) {
	dir := folder(t, map[string]string{
		"all.yaml":   locationOf("all", "{targets: ['./p/*.{x,y}', './!(z).entity']}"),
		"p/a.x":      strings.Replace(system, "shop", "a", 1),
		"p/b.y":      strings.Replace(system, "shop", "b", 1),
		"c.entity":   strings.Replace(system, "shop", "c", 1),
		"z.entity":   strings.Replace(system, "shop", "z", 1),
		"gone.yaml":  locationOf("gone", "{target: ./nothing.yaml}"),
		"maybe.yaml": locationOf("maybe", "{target: ./nothing.yaml, presence: optional}"),
	})
	r := run(t, oracle.Options{Dir: dir, Type: "file"})
	for ref, want := range map[string]bool{
		"system:default/a": true, "system:default/b": true, "system:default/c": true, "system:default/z": false,
		"location:default/all": true, "location:default/gone": false, "location:default/maybe": true,
	} {
		if _, ok := r.Final.Entities[ref]; ok != want {
			t.Errorf("%s is there: %v", ref, ok)
		}
	}
	if got := r.Files[0].Target; got != "{ROOT}/all.yaml" {
		t.Errorf("target %s", got)
	}
	if got := r.Files[0].Location.Emitted[0].LocationKey; got != "file:{ROOT}/all.yaml" {
		t.Errorf("location key %s", got)
	}
}

// Nothing outside of the folder is read, whatever links or targets say.
func TestRunStaysInItsFolder(t *testing.T) {
	outside := folder(t, map[string]string{"secret.txt": "secret", "x.entity": system})
	dir := folder(t, map[string]string{
		"a.yaml": system + "  \n---\n" + strings.Replace(system, "{owner: team-a}", "{owner: {$text: ./link.txt}}", 1),
		"l.yaml": locationOf("l", "{targets: ['./link.entity', './../"+filepath.Base(outside)+"/x.entity']}"),
	})
	for link, target := range map[string]string{"link.txt": "secret.txt", "link.entity": "x.entity"} {
		if err := os.Symlink(filepath.Join(outside, target), filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	for _, typ := range []string{"url", "file"} {
		var out bytes.Buffer
		if err := oracle.Run(context.Background(), oracle.Options{Dir: dir, Type: typ}, &out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), `"secret"`) {
			t.Errorf("%s: a link out of the folder was followed", typ)
		}
		if r := run(t, oracle.Options{Dir: dir, Type: typ}); r.Final.Unprocessed["location:default/l"] == nil {
			t.Errorf("%s: a target outside of the folder was read", typ)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, tc := range []struct {
		options oracle.Options
		want    fault.Code
	}{
		{oracle.Options{Dir: filepath.Join(t.TempDir(), "none")}, fault.NotFound},
		{oracle.Options{Dir: t.TempDir(), Type: "git"}, fault.Invalid},
	} {
		err := oracle.Run(context.Background(), tc.options, &bytes.Buffer{})
		if got := fault.CodeOf(err); got != tc.want {
			t.Errorf("%+v: %v, want %s", tc.options, err, tc.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := oracle.Run(ctx, oracle.Options{Dir: folder(t, map[string]string{"a.yaml": system})}, &bytes.Buffer{}); err == nil {
		t.Error("an ended context is not noticed")
	}
}
