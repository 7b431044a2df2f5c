package realtest

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// kubernetes is a real API server with etcd below it and the controllers
// beside it. A kubelet of ours says that Pods run.
type kubernetes struct {
	at   *place
	dir  string
	cert *certificates
	// token is that of an administrator, and user that of Fairlead's user.
	token, user string
	port        int
	// api reaches the API server from this process.
	api *api

	etcd, apiServer, controllers *server
}

// newKubernetes is what start starts: programs in a folder bin, and etcd.
func newKubernetes(at *place, dir, bin, etcd string, cert *certificates) (*kubernetes, error) {
	ports, err := at.freePorts(3)
	if err != nil {
		return nil, err
	}
	k := &kubernetes{at: at, dir: dir, cert: cert, token: rand.Text(), user: rand.Text(), port: ports[0]}
	k.api = &api{url: k.inside(), token: k.token, client: trusting(cert, at.dial)}
	client, peer := loopback(ports[1]), loopback(ports[2])
	k.etcd = k.server("etcd", etcd, "--data-dir", filepath.Join(dir, "etcd"),
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer,
		"--initial-cluster=default=http://"+peer, "--logger=zap", "--log-level=warn")
	k.apiServer = k.server("kube-apiserver", filepath.Join(bin, "kube-apiserver"),
		"--etcd-servers=http://"+client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", k.port),
		"--tls-cert-file="+cert.certificateFile, "--tls-private-key-file="+cert.keyFile, "--token-auth-file="+k.file("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+cert.keyFile,
		"--service-account-signing-key-file="+cert.keyFile, "--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
		"--authorization-mode=RBAC", "--enable-priority-and-fairness=false", "--profiling=false")
	k.controllers = k.server("kube-controller-manager", filepath.Join(bin, "kube-controller-manager"),
		"--kubeconfig="+k.file("kubeconfig"), "--secure-port=0", "--leader-elect=false", "--profiling=false",
		"--service-account-private-key-file="+cert.keyFile, "--root-ca-file="+cert.authorityFile,
		// Nodes are the kubelet's own business here.
		"--controllers=*,-node-lifecycle-controller,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller")
	return k, nil
}

func (k *kubernetes) file(name string) string { return filepath.Join(k.dir, name) }

func (k *kubernetes) inside() string { return "https://" + loopback(k.port) }

func (k *kubernetes) server(name string, args ...string) *server {
	return &server{name: name, at: k.at, dir: k.dir, args: args}
}

// start starts all and waits until the API server is ready.
func (k *kubernetes) start(ctx context.Context) error {
	users := fmt.Sprintf("%s,admin,1,system:masters\n%s,fairlead,2\n", k.token, k.user)
	err := errors.Join(os.WriteFile(k.file("tokens.csv"), []byte(users), 0o600), k.kubeconfig("kubeconfig", k.inside(), k.token))
	if err != nil {
		return err
	}
	if err := errors.Join(k.etcd.start(), k.apiServer.start()); err != nil {
		return err
	}
	if err := k.awaitReady(ctx); err != nil {
		return err
	}
	if err := k.controllers.start(); err != nil {
		return err
	}
	return k.apply(ctx, rights()...)
}

// awaitReady waits for the API server.
func (k *kubernetes) awaitReady(ctx context.Context) error {
	return k.apiServer.await(ctx, func(ctx context.Context) bool { return k.api.ok(ctx, "/readyz") })
}

// object is what is to be there at a path of the API.
type object struct {
	path string
	is   any
}

const rbac = "/apis/rbac.authorization.k8s.io/v1/"

// rights let the user see everything, delete namespaces, take finalizers away,
// and give previews what reaches their data, and nothing else.
func rights() []object {
	const group = "rbac.authorization.k8s.io"
	type m = map[string]any
	return []object{
		{rbac + "clusterroles/fairlead", m{"apiVersion": group + "/v1", "kind": "ClusterRole", "metadata": m{"name": "fairlead"},
			"rules": []m{
				{"apiGroups": []string{"*"}, "resources": []string{"*"}, "verbs": []string{"get", "list", "watch", "patch"}},
				{"apiGroups": []string{""}, "resources": []string{"namespaces"}, "verbs": []string{"delete"}},
				{"apiGroups": []string{""}, "resources": []string{"secrets"}, "verbs": []string{"create"}},
				{"apiGroups": []string{""}, "resources": []string{"secrets"}, "resourceNames": []string{"fairlead-preview-data"}, "verbs": []string{"update"}},
			}}},
		{rbac + "clusterrolebindings/fairlead", m{"apiVersion": group + "/v1", "kind": "ClusterRoleBinding", "metadata": m{"name": "fairlead"},
			"roleRef":  m{"apiGroup": group, "kind": "ClusterRole", "name": "fairlead"},
			"subjects": []m{{"apiGroup": group, "kind": "User", "name": "fairlead"}}}},
	}
}

// apply makes objects what they are to be.
func (k *kubernetes) apply(ctx context.Context, objects ...object) error {
	for _, o := range objects {
		if _, err := k.api.json(ctx, http.MethodPatch, o.path+applied, applyType, o.is, nil); err != nil {
			return err
		}
	}
	return nil
}

const (
	applied   = "?fieldManager=realtest&force=true"
	applyType = "application/apply-patch+yaml"
	mergeType = "application/merge-patch+json"
)

// kubeconfig writes what a client reads to reach the API server at a URL.
func (k *kubernetes) kubeconfig(name, url, token string) error {
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: test, user: {token: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
current-context: test
`, url, k.cert.authorityFile, token)
	return os.WriteFile(k.file(name), []byte(text), 0o600)
}

// trusting is a client of servers with the certificate that dials as it is
// told to.
func trusting(cert *certificates, dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert.authority)
	return &http.Client{Transport: &http.Transport{DialContext: dial, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
