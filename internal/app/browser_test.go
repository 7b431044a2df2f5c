package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// startBrowsed serves the demo with the front end, as Alice's, to a browser.
// Each change may add to the configuration or put another in its place.
func startBrowsed(t *testing.T, changes ...func(config string) string) *server {
	t.Helper()
	realtest.Browser(t) // or the test is skipped
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := set.ServeUI(realtest.UI(t, filepath.Join("..", "realtest", "ui.sh"))); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		write(t, set.Config, change(readFile(t, set.Config)))
	}
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	s.start(set.Config)
	return s
}

// walked is what a script saw in a browser.
type walked struct {
	// Pages are the milliseconds until the last text of each page that was
	// opened could be read.
	Pages map[string]int
	// Out is what the script says besides.
	Out json.RawMessage
}

// browse has a script of testdata/browser, as lib.cjs tells, use the pages at
// url; given is what it gets besides. That it got to its end, and that the
// browser had nothing to complain of, is held. Screenshots go to a folder of the
// script's name in FAIRLEAD_SHOTS.
func browse(t *testing.T, url, script string, given any) walked {
	t.Helper()
	browser := realtest.Browser(t)
	path, err := filepath.Abs(filepath.Join("testdata", "browser", script))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"FAIRLEAD_SERVER=" + url, "FAIRLEAD_GIVEN=" + string(data), "NODE_PATH=" + filepath.Join(browser.Dir, "node_modules")}
	if shots := os.Getenv("FAIRLEAD_SHOTS"); shots != "" {
		env = append(env, "FAIRLEAD_SHOTS="+filepath.Join(shots, strings.TrimSuffix(script, ".cjs")))
	}
	var seen struct {
		walked
		Failed   string
		Troubles []string
	}
	out := browser.Run(t, env, path)
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if seen.Failed != "" {
		t.Errorf("the browser got no further than %v: %s", seen.Pages, seen.Failed)
	}
	if len(seen.Troubles) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(seen.Troubles, "\n"))
	}
	t.Logf("milliseconds to the last text of each page: %v", seen.Pages)
	return seen.walked
}

// TestBrowserWalksTheCatalog opens the pages of a real Backstage front end,
// which nothing but Fairlead serves, in a real browser.
func TestBrowserWalksTheCatalog(t *testing.T) {
	s := startBrowsed(t)
	if got := browse(t, s.url, "pages.cjs", nil); len(got.Pages) < 10 {
		t.Errorf("no more than %v was opened", got.Pages)
	}
}
