package app

import (
	"encoding/json"
	"maps"
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

// inspector runs the MCP Inspector's command line against the server, as the
// demo's agent.
func (s *server) inspector(clients realtest.Clients) func(args ...string) string {
	cli := filepath.Join(clients.Dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	return func(args ...string) string {
		s.t.Helper()
		base := []string{"--cli", s.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + s.tokens["agent"]}
		return clients.Run(s.t, nil, cli, append(base, args...)...)
	}
}

// TestRealAgentsQuestions asks what agents ask through a client that others
// wrote.
func TestRealAgentsQuestions(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	inspect := s.inspector(clients)
	all := append(questions(s.repo), documentQuestions()...)
	s.asks(all, s.answer) // everything has been followed by then
	s.asks(all, func(q question) string {
		var text strings.Builder
		for _, c := range q.calls {
			text.WriteString(inspected(t, inspect(c.flags(t)...)))
		}
		return text.String()
	})
}

// flags are the Inspector's for a call.
func (c ask) flags(t *testing.T) []string {
	t.Helper()
	out := []string{"--method", "tools/call", "--tool-name", c.tool}
	for _, name := range slices.Sorted(maps.Keys(c.args)) {
		value, ok := c.args[name].(string)
		if !ok {
			enc, err := json.Marshal(c.args[name])
			if err != nil {
				t.Fatal(err)
			}
			value = string(enc)
		}
		out = append(out, "--tool-arg", name+"="+value)
	}
	return out
}

// inspected is what an agent reads of a result that the Inspector prints.
func inspected(t *testing.T, printed string) string {
	t.Helper()
	var r toolAnswer
	if err := json.Unmarshal([]byte(printed), &r); err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	if r.IsError || len(r.Content) == 0 {
		t.Errorf("the Inspector was given %s", printed)
	}
	var text strings.Builder
	for _, part := range r.Content {
		text.WriteString(part.Text + "\n")
	}
	return text.String()
}

func TestRealInspector(t *testing.T) {
	clients := realtest.ClientsOf(t)
	s := startDemo(t)
	inspect := s.inspector(clients)
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
