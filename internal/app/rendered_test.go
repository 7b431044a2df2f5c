package app

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
)

// rendering has a server render manifests, by the program as it is built.
func rendering(s *server) {
	s.render = filepath.Join(s.t.TempDir(), "fairlead-render")
	build := exec.CommandContext(s.t.Context(), "go", "build", "-o", s.render, "github.com/fairlead-dev/fairlead/cmd/fairlead-render")
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("building fairlead-render: %v\n%s", err, out)
	}
}

// TestRenderedInAllDoors has a change show what it makes of the manifests: to
// people with the diff, to models in names.
func TestRenderedInAllDoors(t *testing.T) {
	s := startChanges(t, rendering)
	p, a := s.change(newTag("1.5.0", nil))
	if p.State != gitops.Pushed || p.Rendered == nil || !p.Rendered.OK || strings.Join(p.Rendered.Changed, " ") != "Deployment/checkout" || p.Rendered.Diff != "" || p.Rendered.Omitted == 0 {
		t.Fatalf("by MCP: %s", a.raw)
	}
	const line = "+        - image: registry.shop.test/checkout:1.5.0"
	for door, body := range map[string]string{
		"rest":    s.send("developer", http.MethodGet, "/api/v1/proposals/"+p.ID, "").body,
		"graphql": s.graph("developer", `{ proposal(id: "`+p.ID+`") { rendered { tool ok error broken changed added removed unstable diff omitted note } } }`).body,
	} {
		if !strings.Contains(body, line) || !strings.Contains(body, `"changed":["Deployment/checkout"]`) {
			t.Errorf("%s says %s", door, body)
		}
	}
	broken := s.send("sre", http.MethodPost, "/api/v1/proposals", `{"service":"checkout","environment":"staging","reason":"why","change":{"set":[{"path":"resources[0]","value":"../../gone"}]}}`)
	if broken.status != http.StatusUnprocessableEntity || !strings.Contains(broken.body, "kustomize renders apps/checkout/overlays/staging now, and after the change it does not") || !strings.Contains(broken.body, "gone") {
		t.Errorf("a change that breaks it: %d %s", broken.status, broken.body)
	}
	s.commit("deploy", checkoutStaging, "resources: [\"https://git.test/base\"]\nimages:\n  - {name: registry.shop.test/checkout, newTag: \"1.4.0\"}\n")
	if away, a := s.change(newTag("1.9.0", nil)); away.ID != p.ID || away.Rendered == nil || away.Rendered.OK || !strings.Contains(strings.Join(away.Notes, " "), "https://git.test/base, which is elsewhere") {
		t.Errorf("what is made of something elsewhere: %s", a.raw)
	}
}
