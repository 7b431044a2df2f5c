package app

import "testing"

// TestBrowserTellsTheBrief reads the brief of a service in its page, and adds
// what it says is missing.
func TestBrowserTellsTheBrief(t *testing.T) {
	s := startBrowsed(t)
	browse(t, s.url, "brief.cjs", map[string]string{"repos": s.repo(), "token": s.tokens["sre"]})
}
