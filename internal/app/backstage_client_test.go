package app

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// clientLines are what Backstage's client got of a server, by line.
func clientLines(t *testing.T, url, token string, args ...string) []string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "clients", "backstage.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	out := realtest.BackstageClients(t).Run(t, []string{"FAIRLEAD_SERVER=" + url, "FAIRLEAD_TOKEN=" + token}, script, args...)
	return strings.Split(strings.TrimSpace(out), "\n")
}

func compareLines(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) || len(want) < 10 {
		t.Fatalf("%d lines of Backstage, %d of Fairlead", len(want), len(got))
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("Backstage: %s\n Fairlead: %s", want[i], got[i])
		}
	}
}

// TestBackstageClientReadsAlike calls every reading method of Backstage's own
// client on both.
func TestBackstageClientReadsAlike(t *testing.T) {
	realtest.BackstageClients(t)
	s, d := startBeside(t)
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: []string{filepath.Join(d.dir, "all.yaml")}})
	sameCatalog(t, b, d.uids)
	compareLines(t, clientLines(t, b.URL, b.Token), clientLines(t, s.url, s.tokens["reader"]))
}

// TestBackstageClientRegistersAlike calls those about locations.
func TestBackstageClientRegistersAlike(t *testing.T) {
	realtest.BackstageClients(t)
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront"), "other.yaml": service("other", "storefront")})
	first := filepath.Join(t.TempDir(), "first.yaml")
	write(t, first, service("first", "storefront"))
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: []string{first}, Hosts: []string{strings.TrimPrefix(h.URL, "http://")}})
	s := startWithHost(t, h)
	target, other := h.page("shop", "catalog-info.yaml"), h.page("shop", "other.yaml")
	compareLines(t, clientLines(t, b.URL, b.Token, target, other), clientLines(t, s.url, s.tokens["sre"], target, other))
}
