package app

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

func TestArgoCDConfigured(t *testing.T) {
	cfg, err := ParseConfig([]byte(`argocd:
  - {name: main, server: argocd.example.com, tokenFile: ./token, kubeconfigFile: kube/config}
  - {name: near, server: "127.0.0.1:8080", plaintext: true, tokenEnv: TOKEN, project: mine}
previews: {deployers: {argocd: {instance: near, quota: {pods: "5"}}}}
`), "fairlead.yaml", "/etc/fairlead")
	if err != nil {
		t.Fatal(err)
	}
	if c := cfg.ArgoCD[0]; c.TokenFile != "/etc/fairlead/token" || c.KubeconfigFile != "/etc/fairlead/kube/config" || c.Address() != "argocd.example.com:443" {
		t.Errorf("%+v", c)
	}
	_, err = ParseConfig([]byte(`argocd:
  - {name: main, server: "https://argocd.example.com", tokenFile: a, tokenEnv: b}
  - {name: main, server: far.example.com, plaintext: true}
previews:
  deployers:
    argocd:
      instance: other
      url: https://{name}.example.com
      network: {to: [10.0.0.0]}
`), "fairlead.yaml", "/")
	var problems *ConfigError
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	for _, want := range []string{
		`line 2: argocd[0].server: "https://argocd.example.com" is no host`, "line 2: argocd[0].tokenFile: name tokenFile or tokenEnv", `line 3: argocd[1].name: another Argo CD`,
		"line 3: argocd[1].plaintext: the token could be read", "line 3: argocd[1].tokenFile: the token is missing", `line 7: previews.deployers.argocd.instance: no Argo CD`,
		"line 8: previews.deployers.argocd.url: there is no placeholder {name}", `line 9: previews.deployers.argocd.network.to[0]: "10.0.0.0" is no network`,
	} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("%q is not told in\n%s", want, problems)
		}
	}
	if _, err := ParseConfig([]byte("previews: {deployers: {argocd: {}}}\n"), "fairlead.yaml", "/"); err == nil || !strings.Contains(err.Error(), "no Argo CD is configured") {
		t.Error(err)
	}
}

// TestGuardsOfReplicas has replicas refused that would each tell Argo CD
// another place of the guards.
func TestGuardsOfReplicas(t *testing.T) {
	const base = "state: postgres://db.example.com/fairlead\ncache: ./cache\nargocd: [{name: main, server: argocd.example.com, tokenEnv: X}]\n"
	const gitops = "    gitops: {commitTo: {url: https://git.example.com/previews.git, ref: main}}\n"
	const guards = "guards: {repository: https://git.example.com/guards.git}"
	for text, want := range map[string][]string{
		base + "previews:\n  deployers:\n    argocd: {}\n" + gitops:                                              {"line 6: previews.deployers.argocd.guards: with the state in PostgreSQL there may be several replicas", "line 7: previews.deployers.gitops.guards: with the state", "set publicURL"},
		base + "publicURL: https://fairlead.example.com\npreviews:\n  deployers:\n    argocd: {}\n" + gitops:     nil,
		base + "previews: {deployers: {argocd: {" + guards + "}}}\n":                                             nil,
		"argocd: [{name: main, server: argocd.example.com, tokenEnv: X}]\npreviews: {deployers: {argocd: {}}}\n": nil,
	} {
		_, err := ParseConfig([]byte(text), "fairlead.yaml", "/")
		if (err == nil) != (want == nil) {
			t.Errorf("%s\n%v", text, err)
		}
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%q is not told in\n%v", w, err)
			}
		}
	}
}

// nobody is an Argo CD that nobody asks.
type nobody struct {
	argocd.Applications
	argocd.Resources
	argocd.Lister
	gitops.Deployments
	gitops.Listing
}

// Close does nothing.
func (nobody) Close() error { return nil }

// TestGuardsServed has the guards of previews read by who has no token.
func TestGuardsServed(t *testing.T) {
	cfg, err := ParseConfig([]byte("listen: 127.0.0.1:0\nargocd: [{name: main, server: argocd.example.com, tokenEnv: X}]\npreviews: {deployers: {argocd: {}}}\n"), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), cfg, t.Output()); err == nil || !strings.Contains(err.Error(), "without Argo CD's client") {
		t.Errorf("without a client: %v", err)
	}
	cfg.Argo = &ArgoDialer{Dial: func(instance.Config) (ArgoClient, error) { return nobody{}, nil }}
	a, err := New(t.Context(), cfg, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+guardsPath+"/info/refs?service=git-upload-pack", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = a.server.Serve(a.listener) }() // until it is closed
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/x-git-upload-pack-advertisement" {
		t.Errorf("%d %s", resp.StatusCode, resp.Header)
	}
}
