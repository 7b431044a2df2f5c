package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// evidence is a policy of the demo's own: docs/policy asks for evidence where
// an environment is protected.
const evidence = `package fairlead

# In this demo staging, too, is to show that a change was tried.
require contains {
	"message": sprintf("nothing shows that the change is good, and %s wants to see that", [input.resource.environment]),
	"fix": "Give evidence: what was tested and where that can be seen.",
} if {
	input.operation == "propose_change"
	not input.resource.protected
	count(input.plan.evidence) == 0
}
`

// url is where Fairlead serves.
func (w *world) url() string {
	host, port, _ := net.SplitHostPort(w.listen) // it was listened at
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// configure writes Fairlead's configuration and policies.
func (w *world) configure() error {
	if err := w.policies(); err != nil {
		return err
	}
	if _, err := w.secret("webhook", rand.Text()); err != nil {
		return err
	}
	id, err := os.ReadFile(w.path("secrets", "vault-role-id"))
	if err != nil {
		return err
	}
	database, err := w.database("postgres")
	if err != nil {
		return err
	}
	password, _ := database.User.Password()
	if _, err := w.secret("postgres.password", password); err != nil {
		return err
	}
	database.User = nil
	address := strings.Replace(database.String(), "//", "//fairlead@", 1)
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %s\nstate: ./state\n%spolicy: {rego: ./policy}\n", w.listen, demo.Auth())
	gitea := fmt.Sprintf("url: %q, tokenFile: ./secrets/gitea-%s.token, webhookSecretFile: ./secrets/webhook", w.gitea.URL, robot)
	fmt.Fprintf(&b, "catalog:\n  refresh: 10s # what webhooks do not tell\n  sources:\n    - {name: shop, gitea: {org: %s, %s}}\nforges:\n  - {name: gitea, gitea: {%s}}\nproposals: {verify: 30s} # 10m where it counts\n", organization, gitea, gitea)
	fmt.Fprintf(&b, "argocd:\n  - {name: main, server: %q, tokenFile: %q, caFile: %q}\n", w.argo.Server.Address, w.argo.TokenFile, w.argo.CAFile)
	fmt.Fprintf(&b, "metrics: {prometheus: {url: %q}}\n", w.prometheus.URL)
	fmt.Fprintf(&b, "vault: {address: %q, auth: {approle: {roleID: %q, secretIDFile: ./secrets/vault-secret-id}}}\n", w.vault.Address, id)
	if runtime.GOOS == "linux" { // where the local deployer works
		fmt.Fprintf(&b, "previews:\n  deployers: {local: {}}\n  data: {postgres: [{name: main, url: %q, passwordFile: ./secrets/postgres.password}]}\n", address)
	}
	if err := os.WriteFile(w.set.Config, []byte(b.String()), 0o600); err != nil || w.ui == "" {
		return err
	}
	return w.set.ServeUI(w.ui, "sre")
}

// policies are those of docs/policy, for images of the company, and the demo's
// own.
func (w *world) policies() error {
	if err := os.CopyFS(w.path("policy"), os.DirFS(filepath.Join(w.root, "docs", "policy"))); err != nil {
		return err
	}
	config := "registries: [registry.shop.test/]\nfreezes: []\nexempt: [sre]\n"
	return errors.Join(os.WriteFile(w.path("policy", "evidence.rego"), []byte(evidence), 0o600), os.WriteFile(w.path("policy", "config.yaml"), []byte(config), 0o600))
}

// serve starts Fairlead, and waits until it serves the catalog.
func (w *world) serve(ctx context.Context) (err error) {
	if err := w.configure(); err != nil {
		return err
	}
	w.say("starting Fairlead with %s", w.set.Config)
	w.fairlead, err = realtest.Keep(w.dir, w.path("fairleadd.log"), filepath.Join(w.programs, "fairleadd"), "serve", "--config", w.set.Config)
	if err != nil {
		return err
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !w.served(ctx) {
		select {
		case <-w.fairlead.Ended():
			return fmt.Errorf("the server did not start:\n%s", realtest.LastLines(w.path("fairleadd.log")))
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// served tells whether all services are in the catalog.
func (w *world) served(ctx context.Context) bool {
	for _, s := range demo.Services() {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url()+"/api/v1/entities/"+s.Name, http.NoBody)
		if err != nil {
			return false
		}
		req.Header.Set("Authorization", "Bearer "+w.set.Tokens["sre"])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		if resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

// record is what demo.json says: where everything is, and which files hold what
// to log in with.
func (w *world) record() error {
	file := func(name string) string { return w.path("secrets", name) }
	database, err := w.database(organization)
	if err != nil {
		return err
	}
	database.User = nil
	if _, err := w.secret("argocd-admin.token", w.argo.AdminToken); err != nil {
		return err
	}
	data, err := json.MarshalIndent(map[string]any{"url": w.url(), "tokens": w.set.Tokens, "config": w.set.Config, "dir": w.dir,
		"gitea": map[string]any{"url": w.gitea.URL, "organization": organization, "users": map[string]any{
			"alice": map[string]string{"passwordFile": file("gitea-alice.password"), "tokenFile": file("gitea-alice.token")},
			"sam":   map[string]string{"passwordFile": file("gitea-sam.password"), "tokenFile": file("gitea-sam.token")}}},
		"argocd":     map[string]string{"url": "https://" + w.argo.Server.Address, "caFile": w.argo.CAFile, "adminTokenFile": file("argocd-admin.token"), "kubeconfigFile": w.argo.AdminKubeconfig},
		"vault":      map[string]string{"url": w.vault.Address, "rootTokenFile": file("vault-root.token"), "unsealKeyFile": file("vault-unseal.key")},
		"postgres":   map[string]string{"url": database.String(), "user": "fairlead", "passwordFile": file("postgres.password")},
		"prometheus": map[string]string{"url": w.prometheus.URL},
	}, "", "  ")
	if err != nil {
		return err
	}
	// The name appears only once the content is whole.
	if err := os.WriteFile(w.path("demo.json.part"), append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(w.path("demo.json.part"), w.path("demo.json"))
}
