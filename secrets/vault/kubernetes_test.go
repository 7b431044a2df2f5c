package vault_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// namespaceOf makes a namespace of the test's own.
func namespaceOf(t *testing.T, c *realtest.Cluster, name string) {
	t.Helper()
	if status := c.API(t, http.MethodPost, "/api/v1/namespaces", m{"metadata": m{"name": name}}, nil); status != http.StatusCreated {
		t.Fatalf("making the namespace: status %d", status)
	}
}

func authority(t *testing.T, c *realtest.Cluster) string {
	t.Helper()
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem)
}

func TestKubernetesServiceAccountsOnLoan(t *testing.T) {
	c := realtest.Kubernetes(t)
	server, _, v := lender(t)
	namespaceOf(t, c, "lent")
	server.Must(t, http.MethodPost, "sys/mounts/kubernetes", m{"type": "kubernetes"}, nil)
	server.Must(t, http.MethodPost, "kubernetes/config", m{"kubernetes_host": "https://" + c.Server.Address, "kubernetes_ca_cert": authority(t, c),
		"service_account_jwt": c.Token, "disable_local_ca_jwt": true}, nil)
	server.Must(t, http.MethodPost, "kubernetes/roles/viewer", m{"allowed_kubernetes_namespaces": "lent", "kubernetes_role_type": "Role", "token_max_ttl": "30m",
		"generated_role_rules": `{"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]}`}, nil)
	server.Policy(t, "fairlead/default/checkout", `path "kubernetes/creds/viewer" { capabilities = ["update"] }`)
	o := offering(secrets.Offer{Name: "cluster", Engine: secrets.EngineKubernetes, Mount: "kubernetes", Role: "viewer", Params: map[string]string{"namespace": "lent"}})
	_, err := v.Open(t.Context(), o)
	fails(t, err, fault.Invalid, "Kubernetes issues no token for 1m0s", "10m")
	o.TTL, o.MaxTTL = 40*time.Minute, time.Hour
	a, w := draw(t, v, o)
	if left := time.Until(w.CredentialExpiresAt); left > 30*time.Minute || left < 29*time.Minute {
		t.Errorf("it is said to live for %s, and the role allows half an hour", left)
	}
	got := values(t, v, w)
	token, account := got["service_account_token"], got["service_account_name"]
	if status := c.As(t, token, "/api/v1/namespaces/lent/configmaps"); status != http.StatusOK {
		t.Errorf("what it may do is answered with %d", status)
	}
	if status := c.As(t, token, "/api/v1/namespaces/lent/secrets"); status != http.StatusForbidden {
		t.Errorf("what it may not do is answered with %d", status)
	}
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	until(t, "the service account is gone", func() bool {
		return c.API(t, http.MethodGet, "/api/v1/namespaces/lent/serviceaccounts/"+account, nil, nil) == http.StatusNotFound
	})
	if status := c.As(t, token, "/api/v1/namespaces/lent/configmaps"); status != http.StatusUnauthorized && status != http.StatusForbidden {
		t.Errorf("after the revocation it is answered with %d", status)
	}
	o.Offer.Params["namespace"] = "default"
	a, err = v.Open(t.Context(), o)
	if err == nil {
		_, err = v.Draw(t.Context(), o, a)
	}
	fails(t, err, fault.FailedPrecondition, "cluster")
}

func TestKubernetesLogsIn(t *testing.T) {
	c := realtest.Kubernetes(t)
	server, _, _ := lender(t)
	namespaceOf(t, c, "fairlead")
	if status := c.API(t, http.MethodPost, "/api/v1/namespaces/fairlead/serviceaccounts", m{"metadata": m{"name": "fairlead"}}, nil); status != http.StatusCreated {
		t.Fatalf("making the service account: status %d", status)
	}
	token := func(account string) string {
		var made struct{ Status struct{ Token string } }
		status := c.API(t, http.MethodPost, "/api/v1/namespaces/fairlead/serviceaccounts/"+account+"/token",
			m{"spec": m{"expirationSeconds": 3600}}, &made)
		if status != http.StatusCreated || strings.Count(made.Status.Token, ".") != 2 {
			t.Fatalf("making the token: status %d", status)
		}
		return made.Status.Token
	}
	server.Must(t, http.MethodPost, "sys/auth/kubernetes", m{"type": "kubernetes"}, nil)
	server.Must(t, http.MethodPost, "auth/kubernetes/config", m{"kubernetes_host": "https://" + c.Server.Address, "kubernetes_ca_cert": authority(t, c),
		"token_reviewer_jwt": c.Token, "disable_local_ca_jwt": true}, nil)
	server.Must(t, http.MethodPost, "auth/kubernetes/role/fairlead", m{"bound_service_account_names": "fairlead", "bound_service_account_namespaces": "fairlead",
		"token_policies": "fairlead", "token_ttl": "1h"}, nil)
	name := file(t, token("fairlead"))
	v := connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{Kubernetes: &vault.Kubernetes{Role: "fairlead", TokenFile: name}}})
	if err := opens(t, v); err != nil {
		t.Error(err)
	}
	if status := c.API(t, http.MethodPost, "/api/v1/namespaces/fairlead/serviceaccounts", m{"metadata": m{"name": "other"}}, nil); status != http.StatusCreated {
		t.Fatalf("making the service account: status %d", status)
	}
	v = connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{Kubernetes: &vault.Kubernetes{Role: "fairlead", TokenFile: file(t, token("other"))}}})
	fails(t, opens(t, v), fault.Unavailable, "auth/kubernetes/login")
}
