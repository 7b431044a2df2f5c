package app

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// TestBrowserRegisters has a component of a real Gitea registered in the front
// end by somebody who has the repository's address alone at first, and taken back.
func TestBrowserRegisters(t *testing.T) {
	realtest.Browser(t) // or the test is skipped
	p := &pages{T: t, forge: realtest.Gitea(t), org: "register-" + strings.ToLower(rand.Text()[:8])}
	p.repository(p.org, map[string]string{"catalog-info.yaml": parcel})
	token, _ := p.forge.NewToken(t, "read:repository")
	s := startBrowsed(t, func(config string) string {
		file := filepath.Join(t.TempDir(), "gitea")
		write(t, file, token)
		locations := fmt.Sprintf("catalog:\n  locations: {hosts: [{host: %q, credentials: {tokenFile: %q}}]}\n", strings.TrimPrefix(p.forge.URL, "http://"), file)
		return strings.Replace(config, "catalog:\n", locations, 1)
	})
	file := p.page(p.org, "catalog-info.yaml")
	browse(t, s.url, "register.cjs", map[string]string{"repository": p.forge.URL + "/" + p.org + "/shop", "file": file})
	for _, action := range []string{"catalog.register", "catalog.unregister"} {
		a := s.send("sre", http.MethodGet, "/api/v1/audit?subject=user:default/alice&action="+action, "")
		if !strings.Contains(a.body, file) {
			t.Errorf("the audit of %s lacks %s: %s", action, file, a.body)
		}
	}
}
