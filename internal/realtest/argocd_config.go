package realtest

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// account is the one of Argo CD that Fairlead has.
const account = "fairlead"

// policy is what the account may do, and nobody else but an administrator may
// do anything.
const policy = `p, role:previews, applications, get, previews*/*, allow
p, role:previews, applications, create, previews*/*, allow
p, role:previews, applications, update, previews*/*, allow
p, role:previews, applications, delete, previews*/*, allow
p, role:previews, applications, sync, previews*/*, allow
p, role:previews, logs, get, previews*/*, allow
p, role:previews, projects, get, previews*, allow
p, role:previews, clusters, get, *, allow
p, role:previews, repositories, get, *, allow
g, ` + account + `, role:previews
`

// configuration is Argo CD's, with the project previews and the far cluster.
func (a *Argo) configuration(passwordHash string) []object {
	part := func(kind, name string, more map[string]any) object {
		is := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "argocd",
			"labels": map[string]string{"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/name": name}}}
		for k, v := range more {
			is[k] = v
		}
		return object{"/api/v1/namespaces/argocd/" + strings.ToLower(kind) + "s/" + name, is}
	}
	settings := func(name string, data map[string]string) object {
		return part("ConfigMap", name, map[string]any{"data": data})
	}
	far := part("Secret", "far-cluster", map[string]any{"stringData": map[string]string{"name": "far", "server": a.FarServer, "config": a.farConfig()}})
	far.is.(map[string]any)["metadata"].(map[string]any)["labels"] = map[string]string{"argocd.argoproj.io/secret-type": "cluster"}
	return []object{
		{"/api/v1/namespaces/argocd", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]string{"name": "argocd"}}},
		settings("argocd-cm", map[string]string{"accounts." + account: "apiKey", "timeout.reconciliation": "10s"}),
		settings("argocd-rbac-cm", map[string]string{"policy.default": "", "policy.csv": policy}),
		settings("argocd-cmd-params-cm", nil), settings("argocd-tls-certs-cm", nil),
		settings("argocd-ssh-known-hosts-cm", nil), settings("argocd-gpg-keys-cm", nil),
		//nolint:gosec // a password's hash and a random key
		part("Secret", "argocd-secret", map[string]any{"stringData": map[string]string{
			"admin.password": passwordHash, "admin.passwordMtime": "2026-01-01T00:00:00Z", "server.secretkey": rand.Text() + rand.Text(),
			"tls.crt": string(a.kube.cert.certificate), "tls.key": string(a.kube.cert.key)}}),
		far,
		{"/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/default", project("default")},
		{"/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects/previews", project("previews")},
	}
}

// farConfig is how Argo CD signs in at the far cluster.
func (a *Argo) farConfig() string {
	config, _ := json.Marshal(map[string]any{"bearerToken": a.kube.token, // strings alone
		"tlsClientConfig": map[string]string{"caData": base64.StdEncoding.EncodeToString(a.kube.cert.authority)}})
	return string(config)
}

// project is one whose applications may come from everywhere and go
// everywhere.
func project(name string) map[string]any {
	any1 := map[string]string{"group": "*", "kind": "*"}
	return map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": map[string]any{"name": name, "namespace": "argocd"},
		"spec": map[string]any{"sourceRepos": []string{"*"}, "destinations": []any{map[string]string{"server": "*", "namespace": "*"}},
			"clusterResourceWhitelist": []any{any1}}}
}

// lowerText is random and may be part of the name of anything.
func lowerText() string { return strings.ToLower(rand.Text()[:10]) }
