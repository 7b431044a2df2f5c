package realtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"
	"gopkg.in/yaml.v3"
)

// keepLogs is the file that says that a test has failed.
const keepLogs = "failed"

// sweeper waits for the end of its standard input, which is that of the
// process that holds the other end, and removes the stack's files but for the
// logs of a test that failed. The servers may be ending still.
const sweeper = `read -r _
for try in 1 2 3 4 5; do
	if [ -e failed ]; then
		find . -mindepth 1 -maxdepth 1 ! -name '*.log' -exec rm -rf {} + && exit
	else
		rm -rf "$PWD" && exit
	fi
	sleep 1
done`

// startArgoCD starts all and waits until it is ready. With an error it gives
// what has been started, if anything has.
func startArgoCD(ctx context.Context) (*Argo, error) {
	programs, err := findArgoPrograms()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fairlead-argocd-")
	if err != nil {
		return nil, err
	}
	sweeping, err := sweep(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cert, err := newCertificates(dir)
	if err != nil {
		return nil, errors.Join(err, sweeping.stop())
	}
	a := &Argo{Dir: dir, CAFile: cert.authorityFile, at: newPlace(), sweeper: sweeping, quit: func() {}}
	if a.kube, err = newKubernetes(a.at, dir, programs.kube, programs.etcd, cert); err != nil {
		return nil, errors.Join(err, sweeping.stop())
	}
	return a, a.start(ctx, programs)
}

// sweep starts the sweeper in the folder.
func sweep(dir string) (*kept, error) { return keep(sweeper, dir, nil, nil, nil) }

// start starts the servers in the order in which they need each other.
func (a *Argo) start(ctx context.Context, programs argoPrograms) error {
	if err := a.kube.start(ctx); err != nil {
		return err
	}
	if err := a.startKubelet(ctx); err != nil {
		return err
	}
	password := rand.Text()
	if err := a.links(ctx); err != nil {
		return err
	}
	if err := a.settings(ctx, filepath.Join(programs.argocd, "crds"), password); err != nil {
		return err
	}
	port, err := a.startServers(ctx, programs)
	if err != nil {
		return err
	}
	if a.Server, err = a.outside(port); err != nil {
		return err
	}
	a.admin = &api{url: "https://" + loopback(port), client: trusting(a.kube.cert, a.at.dial)}
	server := a.servers[len(a.servers)-1]
	if err := server.await(ctx, func(ctx context.Context) bool { return a.admin.ok(ctx, "/healthz?full=true") }); err != nil {
		return err
	}
	if a.repositories, err = a.startGit(); err != nil {
		return err
	}
	return a.signIn(ctx, password)
}

// startKubelet starts the kubelet of ours, until it is told to quit.
func (a *Argo) startKubelet(ctx context.Context) error {
	l, err := a.at.listen(loopback(0))
	if err != nil {
		return err
	}
	k := &kubelet{api: a.kube.api}
	if err := k.node(ctx, l.Addr().(*net.TCPAddr).Port); err != nil {
		return err
	}
	ctx, a.quit = context.WithCancel(context.WithoutCancel(ctx))
	go k.run(ctx)
	logs := &http.Server{Handler: k, ReadHeaderTimeout: startWithin}
	go func() { _ = logs.ServeTLS(l, a.kube.cert.certificateFile, a.kube.cert.keyFile) }() // it ends with the process
	return nil
}

// links makes the ways to the API server.
func (a *Argo) links(context.Context) error {
	var err error
	if a.Cluster, err = a.outside(a.kube.port); err != nil {
		return err
	}
	l, err := a.at.listen(loopback(0))
	if err != nil {
		return err
	}
	a.Far = newLink(l, a.dialInside(a.kube.port))
	a.FarServer = "https://" + a.Far.Address
	a.Kubeconfig, a.AdminKubeconfig = a.kube.file("fairlead.kubeconfig"), a.kube.file("admin.kubeconfig")
	url := "https://" + a.Cluster.Address
	return errors.Join(a.kube.kubeconfig("fairlead.kubeconfig", url, a.kube.user), a.kube.kubeconfig("admin.kubeconfig", url, a.kube.token))
}

// outside is a link from the machine's loopback interface to a port of the
// place.
func (a *Argo) outside(port int) (*Link, error) {
	l, err := net.Listen("tcp", loopback(0)) //nolint:noctx // numeric: nothing to wait for
	if err != nil {
		return nil, err
	}
	return newLink(l, a.dialInside(port)), nil
}

func (a *Argo) dialInside(port int) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return a.at.dial(ctx, "tcp", loopback(port)) }
}

func dialOutside(address string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", address) }
}

// startServers starts Redis and Argo CD's servers, argocd-server the last, and
// gives that one's port.
func (a *Argo) startServers(_ context.Context, programs argoPrograms) (int, error) {
	ports, err := a.at.freePorts(3)
	if err != nil {
		return 0, err
	}
	redis, repo, port := loopback(ports[0]), ports[1], ports[2]
	for _, d := range []string{"home", "tmp", "tls", "ssh", "plugins", "gpg"} {
		if err := os.Mkdir(filepath.Join(a.Dir, d), 0o700); err != nil {
			return 0, err
		}
	}
	env := a.environment(programs)
	argo := func(name string, args ...string) *server {
		return &server{name: name, at: a.at, dir: a.Dir, env: append(env, "ARGOCD_BINARY_NAME="+name), args: append([]string{filepath.Join(programs.argocd, "argocd")}, args...)}
	}
	kube := []string{"--namespace=argocd", "--kubeconfig=" + a.kube.file("kubeconfig"), "--redis=" + redis, "--repo-server=" + loopback(repo), "--repo-server-plaintext"}
	a.servers = []*server{
		a.kube.etcd, a.kube.apiServer, a.kube.controllers,
		{name: "redis-server", at: a.at, dir: a.Dir, env: []string{"LD_LIBRARY_PATH=" + programs.libraries},
			args: []string{programs.redis, "--bind", "127.0.0.1", "--port", fmt.Sprint(ports[0]), "--save", "", "--appendonly", "no"}},
		argo("argocd-repo-server", "--address=127.0.0.1", fmt.Sprintf("--port=%d", repo), "--metrics-address=127.0.0.1", "--metrics-port=0", "--redis="+redis, "--disable-tls"),
		// Its metrics are on all addresses, where there is nobody else to see.
		argo("argocd-application-controller", append(kube, "--metrics-port=0")...),
		argo("argocd-server", append(kube, "--address=127.0.0.1", fmt.Sprintf("--port=%d", port), "--metrics-address=127.0.0.1", "--metrics-port=0", "--dex-server=http://127.0.0.1:1")...),
	}
	for _, s := range a.servers[3:] {
		err = errors.Join(err, s.start())
	}
	return port, err
}

// environment keeps what Argo CD's servers read and write in the folder of the
// stack. argocd on the path asks for Git's passwords, and has branches looked
// up again after seconds.
func (a *Argo) environment(programs argoPrograms) []string {
	in := func(name string) string { return filepath.Join(a.Dir, name) }
	return []string{
		"HOME=" + in("home"), "TMPDIR=" + in("tmp"), "HOSTNAME=test-0",
		"PATH=" + strings.Join([]string{programs.argocd, programs.tools, os.Getenv("PATH")}, ":"),
		"KUBECONFIG=" + in("kubeconfig"), "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_RECONCILIATION_TIMEOUT=10s",
		"ARGOCD_TLS_DATA_PATH=" + in("tls"), "ARGOCD_SSH_DATA_PATH=" + in("ssh"), "ARGOCD_PLUGINSOCKFILEPATH=" + in("plugins"),
		"ARGOCD_GPG_ENABLED=false", "ARGOCD_GPG_DATA_PATH=" + in("gpg"), "ARGOCD_GNUPGHOME=" + in("gpg"), "ARGOCD_ASK_PASS_SOCK=" + in("ask.sock"),
	}
}

// settings puts Argo CD's definitions and configuration into the cluster.
func (a *Argo) settings(ctx context.Context, crds, password string) error {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("there are no definitions in %s: %w", crds, err)
	}
	var kinds []string
	for _, f := range files {
		kind, err := a.define(ctx, f)
		if err != nil {
			return err
		}
		kinds = append(kinds, kind)
	}
	err = a.kube.apiServer.await(ctx, func(ctx context.Context) bool {
		return !slices.ContainsFunc(kinds, func(path string) bool { return !a.kube.api.ok(ctx, path) })
	})
	if err != nil {
		return err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	return a.kube.apply(ctx, a.configuration(string(hash))...)
}

// define adds a kind of resources to the API server, and gives the path where
// it will serve them.
func (a *Argo) define(ctx context.Context, file string) (path string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var crd struct {
		Metadata struct{ Name string }
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return "", err
	}
	status, answer, err := a.kube.api.call(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/yaml", text)
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("defining %s: %d %s: %w", crd.Metadata.Name, status, answer, err)
	}
	kind, group, _ := strings.Cut(crd.Metadata.Name, ".")
	return "/apis/" + group + "/v1alpha1/" + kind, nil
}

// signIn gets the tokens as anybody would.
func (a *Argo) signIn(ctx context.Context, password string) error {
	var session, made struct{ Token string }
	if _, err := a.admin.json(ctx, http.MethodPost, "/api/v1/session", jsonType, map[string]string{"username": "admin", "password": password}, &session); err != nil {
		return err
	}
	a.AdminToken, a.admin.token = session.Token, session.Token
	if _, err := a.admin.json(ctx, http.MethodPost, "/api/v1/account/"+account+"/token", jsonType, map[string]any{"name": account, "expiresIn": 0}, &made); err != nil {
		return err
	}
	a.Token, a.TokenFile = made.Token, filepath.Join(a.Dir, "token")
	return os.WriteFile(a.TokenFile, []byte(a.Token), 0o600)
}
