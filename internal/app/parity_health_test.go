package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/gitops/gitopstest"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
)

// healthOperations are those of what is deployed.
func healthOperations() []operation {
	return []operation{
		{name: "get_deployment_health", paths: []string{"verdict", "grounds[]", "service", "environment", "application", "live.revision", "live.images[].name", "live.images[].tag", "desired.revision", "sync.status", "history[].revision", "operation.phase"},
			method: "GET", rest: "/api/v1/deployments/health?service=checkout&environment=production&revision=0123456789abcdef", field: "deploymentHealth",
			graph: `deploymentHealth(service: "checkout", environment: "production", revision: "0123456789abcdef") { verdict grounds service environment application live { revision images { name tag } } desired { revision } sync { status } history { revision } operation { phase } }`,
			tool:  "get_deployment_health", args: map[string]any{"service": "checkout", "environment": "production", "revision": "0123456789abcdef"}},
		{name: "get_deployment_health", paths: []string{"verdict"}, method: "GET", rest: "/api/v1/deployments/health?service=checkout&environment=moon", field: "deploymentHealth",
			graph: `deploymentHealth(service: "checkout", environment: "moon") { verdict }`, tool: "get_deployment_health", args: map[string]any{"service": "checkout", "environment": "moon"}},
		{name: "get_ci_status", paths: []string{"state", "grounds[]", "service", "repository", "revision", "commit", "checks[].name", "checks[].state", "checks[].required", "checks[].failed[]", "checks[].detail[]"},
			method: "GET", rest: "/api/v1/checks?service=checkout", field: "ciStatus",
			graph: `ciStatus(service: "checkout") { state grounds service repository revision commit checks { name state required failed detail } }`, tool: "get_ci_status", args: map[string]any{"service": "checkout"}},
		{name: "get_ci_status", paths: []string{"state"}, method: "GET", rest: "/api/v1/checks?service=checkout&revision=gone", field: "ciStatus",
			graph: `ciStatus(service: "checkout", revision: "gone") { state }`, tool: "get_ci_status", args: map[string]any{"service": "checkout", "revision": "gone"}},
	}
}

// argoSection configures the Argo CD of fakeArgo.
const argoSection = "argocd: [{name: main, server: argocd.example.com, tokenEnv: NONE}]\n"

// fakeArgo is an Argo CD that is not asked for previews.
func fakeArgo(f *gitopstest.Fake) *ArgoDialer {
	return &ArgoDialer{Dial: func(instance.Config) (ArgoClient, error) { return nobody{Deployments: f, Listing: f}, nil }}
}

// fakeCI has every service be in one repository of a forge, where a check has
// failed.
func fakeCI(cfg *gitops.CIConfig) {
	f := gitopstest.NewFakeCI("acme/checkout", strings.Repeat("c", 40))
	f.Require("lint", "unit")
	f.Report(strings.Repeat("c", 40), gitops.CheckRun{Name: "lint", State: gitops.CheckFailed, Failed: []string{"golangci-lint"}, Detail: []string{"main.go:3: unused"}})
	f.Report(strings.Repeat("c", 40), gitops.CheckRun{Name: "unit", State: gitops.CheckPassed})
	cfg.Forges = map[string]gitops.CI{"fake": f}
	cfg.Locate = func(*catalog.Entity) (gitops.Place, error) {
		return gitops.Place{Repository: "https://git.example.com/acme/checkout", Forge: "fake", Name: "acme/checkout"}, nil
	}
}

// checkToolsFit sees that the tools of all rooms are listed, and how long that is.
func checkToolsFit(t *testing.T, s *server) {
	t.Helper()
	list := s.send("owner", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Content-Type", "application/json", "Accept", "application/json, text/event-stream").body
	for _, name := range []string{"get_service_brief", "create_preview_environment", "get_proposal", "get_deployment_health", "get_ci_status", "search_knowledge", "request_credentials", "propose_change", "propose_rollback", "search_external"} {
		if !strings.Contains(list, `"`+name+`"`) {
			t.Errorf("%s is not listed", name)
		}
	}
	if n := (len(list) + 3) / 4; n > 6_000 {
		t.Errorf("the tools of all rooms take %d tokens", n)
	} else {
		t.Logf("the tools of all rooms take %d tokens", n)
	}
}

// at are the values at a path, of all items where it leads through lists.
func at(v any, path []string) []any {
	if len(path) == 0 {
		if v == nil || v == "" {
			return nil
		}
		return []any{v}
	}
	name, list := strings.CutSuffix(path[0], "[]")
	m, _ := v.(map[string]any)
	if !list {
		return at(m[name], path[1:])
	}
	var out []any
	items, _ := m[name].([]any)
	for _, it := range items {
		out = append(out, at(it, path[1:])...)
	}
	return out
}
