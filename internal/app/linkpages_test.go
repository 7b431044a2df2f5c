package app

import (
	"net/http"
	"strings"
	"testing"
)

// TestLinkPagesOfStrangers has those come back from a forge whom nobody sent
// there.
func TestLinkPagesOfStrangers(t *testing.T) {
	s := startDemo(t)
	const hostile = `"><script>alert(1)</script>`
	for name, tt := range map[string]struct {
		method, path, body string
		status             int
		words              string
	}{
		"nothing":           {http.MethodGet, linkCallback, "", http.StatusNotFound, "Begin anew: fairlead login --forge NAME."},
		"a state of theirs": {http.MethodGet, linkCallback + "?state=" + strings.Repeat("A", 52) + "&code=x", "", http.StatusNotFound, "there is nothing to link"},
		"a hostile state":   {http.MethodGet, linkCallback + "?error=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&state=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "", http.StatusNotFound, "there is nothing to link"},
		"a word of theirs":  {http.MethodPost, linkCallback, "confirm=" + strings.Repeat("A", 52), http.StatusNotFound, "there is nothing to link"},
		"a very long word":  {http.MethodPost, linkCallback, "confirm=" + strings.Repeat("A", 1<<20), http.StatusNotFound, "there is nothing to link"},
		"another method":    {http.MethodPut, linkCallback, "x", http.StatusMethodNotAllowed, "confirm by its form"},
	} {
		a := s.send("", tt.method, tt.path, tt.body, "Content-Type", "application/x-www-form-urlencoded")
		if a.status != tt.status || !strings.Contains(a.body, tt.words) || strings.Contains(a.body, hostile) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if tt.status == http.StatusNotFound && (!strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || a.header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	if text := s.logs.text(); strings.Contains(text, "AAAAAAAAAA") {
		t.Error("the log has what was sent")
	}
}
