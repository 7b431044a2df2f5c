package app

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// client gives the absolute path of a client's script and the environment
// that tells it where the server is.
func (s *server) client(script, role string) (path string, env []string) {
	s.t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "clients", script))
	if err != nil {
		s.t.Fatal(err)
	}
	return path, []string{"FAIRLEAD_SERVER=" + s.url, "FAIRLEAD_TOKEN=" + s.tokens[role]}
}

func TestRealBackstageClient(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	script, env := s.client("catalog.cjs", "developer")
	var got struct {
		Entities, ByRefs, Ancestors, Text []string
		ByRef                             string
		Missing                           any
		Pages                             [][]string
		Total                             int
		Facets                            []struct {
			Value string
			Count int
		}
	}
	out := clients.Run(t, env, script)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Entities) < 12 || got.ByRef != "checkout" || got.Missing != nil || !slices.Equal(got.ByRefs, []string{"cart", ""}) {
		t.Errorf("got %s", out)
	}
	if paged := slices.Concat(got.Pages...); !slices.Equal(paged, got.Entities) || got.Total != len(got.Entities) {
		t.Errorf("pages %q of %d, all %q", paged, got.Total, got.Entities)
	}
	if len(got.Facets) < 6 || !slices.Equal(got.Text, []string{"checkout", "fraud"}) || !slices.Contains(got.Ancestors, "shop") {
		t.Errorf("got %s", out)
	}
}

func TestRealInspector(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	inspect := func(args ...string) string {
		cli := filepath.Join(clients.Dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
		base := []string{"--cli", s.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + s.tokens["agent"]}
		return clients.Run(t, nil, cli, append(base, args...)...)
	}
	list := inspect("--method", "tools/list")
	for _, tool := range []string{"whoami", "search_catalog", "get_entity", "get_service_brief", "get_dependencies"} {
		if !strings.Contains(list, `"`+tool+`"`) {
			t.Errorf("the Inspector does not see %s: %s", tool, list)
		}
	}
	inspect("--method", "tools/list", "--strict") // it fails on a schema that is not to the letter
	brief := inspect("--method", "tools/call", "--tool-name", "get_service_brief", "--tool-arg", "service=checkout")
	for _, want := range []string{"component:default/checkout", "make test", "group:default/storefront"} {
		if !strings.Contains(brief, want) {
			t.Errorf("the brief lacks %q: %s", want, brief)
		}
	}
}
