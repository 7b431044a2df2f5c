package app

import "testing"

// TestBrowserTellsTheHealth has a catalog file break and be mended while pages
// are open that tell of it.
func TestBrowserTellsTheHealth(t *testing.T) {
	s := startBrowsed(t)
	browse(t, s.url, "health.cjs", map[string]string{"repos": s.repo(), "token": s.tokens["sre"]})
}
