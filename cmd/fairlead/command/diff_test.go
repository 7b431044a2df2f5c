package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/git"
)

// TestCheckDiff compares a work tree with what was committed.
func TestCheckDiff(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo")
	of := func(name, more string) string {
		return "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: " + name + "}\nspec: {type: service, lifecycle: x, owner: y" + more + "}\n"
	}
	files := map[string]string{"user/catalog-info.yaml": of("user", ", dependsOn: [component:used]"), "used/catalog-info.yaml": of("used", ""), "free/catalog-info.yaml": of("free", "")}
	if err := git.Create(dir, files, git.Commit{Author: "A", Email: "a@example.com", When: time.Unix(0, 0), Message: "m"}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove("free/catalog-info.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []map[string]result{
		{
			". --diff main":            {0, "1 entity removed since main (", ""},
			". --diff main -o json":    {0, `"worse": false`, ""},
			". --diff main -o comment": {0, "✅ **Catalog: 1 entity removed** since `main (", ""},
			". --diff main...":         {0, "1 entity removed since main... (", ""},
			"free --diff main":         {0, "1 entity removed since main (", ""},
			". -o comment":             {2, "", "--diff"},
			". --diff= -o table":       {2, "", "names no commit"},
			". --diff mian":            {4, "", "which has the branch main and no tags"},
			". --diff main -o oracle":  {2, "", "without --all, --kind and --diff"},
			".. --diff main":           {4, "", "is in no Git repository"},
		},
		{
			". --diff HEAD":            {1, "1 broken relation, 2 entities removed since HEAD (", ""},
			". --diff HEAD -o yaml":    {1, "target: component:default/used", ""},
			". --diff HEAD -o sarif":   {1, `"baselineState": "new"`, ""},
			". --diff HEAD -o comment": {1, "❌ **Catalog: 1 broken relation", ""},
		},
	} {
		for args, want := range step {
			got := run(t, nil, "", append([]string{"catalog", "check"}, strings.Fields(args)...)...)
			if got.code != want.code || !strings.Contains(got.out, want.out) || !strings.Contains(got.err, want.err) {
				t.Errorf("%s: %+v", args, got)
			}
		}
		if err := os.RemoveAll("used"); err != nil {
			t.Fatal(err)
		}
	}
}
