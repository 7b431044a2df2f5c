package mcp

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// standing is the door with what the protocol's conformance suite asks a
// server to offer beside its own.
func standing(t testing.TB) *door {
	t.Helper()
	olga := accesstest.As("user:default/olga")
	d, err := newDoor(Config{
		Catalog: catalogtest.New(t, "kind: Component\nmetadata: {name: checkout}\nspec: {type: service, lifecycle: production, owner: payments}"),
		Access:  accesstest.Service(t, accesstest.OpenPolicy(), accesstest.NewLog()), Recorder: silent{},
		Authenticate: func(r *http.Request) (access.Caller, error) {
			if token := access.CredentialOf(r).Bearer; token != "" {
				return accesstest.As("user:default/olga", accesstest.Token(token)), nil
			}
			return olga, nil
		},
	}, server.WithLogging(), server.WithToolCapabilities(true), server.WithPromptCapabilities(true))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fixtures(d) {
		d.fixture(f)
	}
	addResources(d)
	addPrompts(d)
	return d
}

// fixture adds a tool.
func (d *door) fixture(f fixture) {
	if f.schema == "" {
		f.schema = `{"type":"object","properties":{}}`
	}
	e := entry{tool: mcpgo.Tool{Name: f.name, Description: "A fixture.", RawInputSchema: []byte(f.schema), Annotations: hints(access.ReadSelf)},
		toolset: "catalog", action: access.ReadSelf, handle: f.handle}
	d.tools = append(d.tools, e)
	d.protocol.AddTool(e.tool, e.handle)
}

func stand(t testing.TB) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(standing(t).front)
	t.Cleanup(s.Close)
	return s
}

// TestRealConformance runs the protocol's own suite against the door.
func TestRealConformance(t *testing.T) {
	clients := realtest.ClientsOf(t)
	suite := filepath.Join(clients.Dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	if _, err := os.Stat(suite); err != nil {
		if os.Getenv("FAIRLEAD_REAL") != "1" {
			t.Skip("the conformance suite is not installed: run internal/realtest/clients.sh")
		}
		t.Fatal("the conformance suite is not installed: run internal/realtest/clients.sh")
	}
	s := stand(t)
	for revision, least := range map[string]int{"2025-11-25": 30, "2026-07-28": 37} {
		t.Run(revision, func(t *testing.T) {
			// It exits with 1 for what is not scored, too.
			out, _ := exec.CommandContext(t.Context(), clients.Node, suite, "server", "--url", s.URL+"/mcp", "--requirements", revision, "-o", t.TempDir()).CombinedOutput()
			scenarios := regexp.MustCompile(`(?m)^([✓✗]) (\S+): (\d+) passed, (\d+) failed`).FindAllStringSubmatch(string(out), -1)
			if len(scenarios) < least {
				t.Fatalf("only %d scenarios ran:\n%s", len(scenarios), out)
			}
			for _, m := range scenarios {
				if m[4] != "0" && !strings.HasPrefix(m[2], "tasks-") {
					t.Errorf("%s: %s passed, %s failed", m[2], m[3], m[4])
				}
			}
			if t.Failed() {
				t.Logf("%s", out)
			}
		})
	}
}
