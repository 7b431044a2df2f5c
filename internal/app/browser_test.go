package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestBrowserWalksTheCatalog opens the pages of a real Backstage front end,
// which nothing but Fairlead serves, in a real browser.
func TestBrowserWalksTheCatalog(t *testing.T) {
	browser := realtest.Browser(t)
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := set.ServeUI(realtest.UI(t, filepath.Join("..", "realtest", "ui.sh"))); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	s.start(set.Config)
	script, err := filepath.Abs(filepath.Join("testdata", "browser", "pages.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	var seen struct {
		Pages    map[string]int // milliseconds to the last text
		Failed   string
		Troubles []string
	}
	out := browser.Run(t, []string{"FAIRLEAD_SERVER=" + s.url, "NODE_PATH=" + filepath.Join(browser.Dir, "node_modules"), "FAIRLEAD_SHOTS=" + os.Getenv("FAIRLEAD_SHOTS")}, script)
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if seen.Failed != "" || len(seen.Pages) < 9 {
		t.Errorf("the browser got no further than %v: %s", seen.Pages, seen.Failed)
	}
	seen.Troubles = slices.DeleteFunc(seen.Troubles, func(text string) bool { // the page of what there is not
		return strings.Contains(text, "/none") || strings.Contains(text, "status of 404")
	})
	if len(seen.Troubles) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(seen.Troubles, "\n"))
	}
	t.Logf("milliseconds to the last text of each page: %v", seen.Pages)
}
