package app

import (
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// startBrowsed serves the demo with the front end, as Alice's, to a browser.
// Each change may add to the configuration or put another in its place.
func startBrowsed(t *testing.T, changes ...func(config string) string) *server {
	t.Helper()
	return startBrowsedAs(t, "developer", changes...)
}

// startBrowsedAs is startBrowsed as somebody else of the demo's.
func startBrowsedAs(t *testing.T, role string, changes ...func(config string) string) *server {
	t.Helper()
	realtest.Browser(t) // or the test is skipped
	return startWithUI(t, realtest.UI(t, filepath.Join("..", "realtest", "ui.sh")), role, changes...)
}

// startWithUI serves the demo with the front end in a folder.
func startWithUI(t *testing.T, ui, role string, changes ...func(config string) string) *server {
	t.Helper()
	s, set := newDemo(t, "127.0.0.1:0")
	if err := set.ServeUI(ui, role); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		write(t, set.Config, change(readFile(t, set.Config)))
	}
	s.start(set.Config)
	return s
}

// browse has a script of testdata/browser use the pages at url; see
// realtest.Walk.
func browse(t *testing.T, url, script string, given any) realtest.Walked {
	t.Helper()
	return realtest.Walk(t, url, filepath.Join("testdata", "browser", script), given)
}

// TestBrowserWalksTheCatalog opens the pages of a real Backstage front end,
// which nothing but Fairlead serves, in a real browser.
func TestBrowserWalksTheCatalog(t *testing.T) {
	s := startBrowsed(t)
	if got := browse(t, s.url, "pages.cjs", nil); len(got.Pages) < 10 {
		t.Errorf("no more than %v was opened", got.Pages)
	}
}
