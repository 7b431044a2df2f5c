package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// serveEnv names the configuration that this program serves instead of running
// tests: tests that kill a server need a process of its own.
const serveEnv = "FAIRLEAD_TEST_SERVE"

func TestMain(m *testing.M) {
	config := os.Getenv(serveEnv)
	if config == "" {
		os.Exit(m.Run())
	}
	go func() { // it ends with whoever started it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	err := (&serveCmd{Config: config}).Run(context.Background())
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// world is a service in a repository, a real Argo CD, and Fairlead before it.
type world struct {
	*realtest.Argo
	t *testing.T
	// repo holds the service web with its manifests in deploy.
	repo *realtest.Repository
	// prefix begins the names of this world's applications and namespaces.
	prefix string
	dir    string

	servers []*fairleadServer
}

const worldToken = "token-of-the-argo-cd-tests-0123456789"

// settings change a world's configuration.
type settings struct {
	server    string // Argo CD's address, the real one by default
	state     string // a folder of its own by default
	argocd    string // more keys of previews.deployers.argocd, in braces' inside
	deadlines string // of previews, in braces' inside
	data      string // of previews, in braces' inside
	noCluster bool   // no kubeconfig
	publicURL string // its own by default
}

// newWorld makes a service with manifests, and starts Fairlead.
func newWorld(t *testing.T, manifests string, s settings) *world {
	t.Helper()
	w := newWorldWithout(t, manifests)
	w.serve(s)
	return w
}

// newWorldWithout is newWorld without a server.
func newWorldWithout(t *testing.T, manifests string) *world {
	t.Helper()
	w := &world{Argo: realtest.ArgoCD(t), t: t, dir: t.TempDir(), prefix: "pv" + strings.ToLower(rand.Text()[:6]) + "-"}
	w.repo = w.Repository(t, map[string]string{
		"catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: web}\n" +
			"spec: {type: service, lifecycle: production, owner: group:default/shop, fairlead: {preview: {deployer: argocd}}}\n",
		"deploy/web.yaml": manifests})
	w.write("token", worldToken)
	return w
}

func (w *world) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// serve configures a server and starts it.
func (w *world) serve(s settings) *fairleadServer {
	w.t.Helper()
	n := len(w.servers)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	kubeconfig := "kubeconfigFile: " + w.Kubeconfig
	if s.noCluster {
		kubeconfig = ""
	}
	config := fmt.Sprintf(`listen: %s
publicURL: %s
state: %s
cache: ./cache-%d
auth: {tokens: [{name: t, tokenFile: ./token, subject: user:default/ann, roles: [sre]}]}
catalog: {refresh: 1s, sources: [{name: shop, git: {url: %q}}]}
argocd: [{name: main, server: %q, tokenFile: %q, caFile: %q, %s}]
previews:
  deployers: {argocd: {namePrefix: %q, %s}}
  deadlines: {%s}
  data: {%s}
`, address, or(s.publicURL, "http://"+address), or(s.state, fmt.Sprintf("./state-%d", n)), n, w.repo.URL, or(s.server, w.Server.Address), w.TokenFile, w.CAFile, kubeconfig, w.prefix, s.argocd, s.deadlines, s.data)
	w.Reach(w.t, address) // for the guards of previews
	f := &fairleadServer{t: w.t, url: "http://" + address, config: w.write(fmt.Sprintf("fairlead-%d.yaml", n), config), log: filepath.Join(w.dir, fmt.Sprintf("fairlead-%d.log", n))}
	f.start()
	w.servers = append(w.servers, f)
	w.t.Cleanup(f.kill)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			text, _ := os.ReadFile(f.log) // only tells more
			w.t.Logf("the end of the log of %s:\n%s", f.url, text[max(0, len(text)-6000):])
		}
	})
	return f
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// front is an address before all servers of a world: whichever lives answers.
func (w *world) front() string {
	w.t.Helper()
	proxy := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: w}
	server := httptest.NewServer(proxy)
	w.t.Cleanup(server.Close)
	w.Reach(w.t, server.Listener.Addr().String())
	return server.URL
}

// RoundTrip asks the first server that answers.
func (w *world) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for _, f := range w.servers {
		at := *r.URL
		at.Scheme, at.Host = "http", strings.TrimPrefix(f.url, "http://")
		out := r.Clone(r.Context())
		out.URL, out.Host, out.Body = &at, at.Host, io.NopCloser(bytes.NewReader(body))
		if resp, err = http.DefaultTransport.RoundTrip(out); err == nil {
			return resp, nil
		}
	}
	return nil, err
}

// fairleadServer is a server in a process of its own.
type fairleadServer struct {
	t                *testing.T
	url, config, log string

	cmd *exec.Cmd
}

// start starts it and waits until it has read its sources.
func (f *fairleadServer) start() {
	f.t.Helper()
	log, err := os.OpenFile(f.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), serveEnv+"="+f.config)
	cmd.Stdout, cmd.Stderr = log, log
	if _, err := cmd.StdinPipe(); err != nil { // never written to
		f.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.cmd = cmd
}

// awaitReady waits until it serves the service.
func (f *fairleadServer) awaitReady() {
	f.t.Helper()
	await(f.t, "the catalog is there", time.Minute, func() bool {
		status, _ := f.try(http.MethodGet, "/api/v1/entities/web", nil, nil)
		return status == http.StatusOK
	})
}

// kill ends it as kill -9 does.
func (f *fairleadServer) kill() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait() // it was killed
}

// try calls the API; the status is 0 where there is no answer.
func (f *fairleadServer) try(method, path string, in, out any) (int, string) {
	f.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	req, err := http.NewRequest(method, f.url+path, bytes.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	if resp.StatusCode < http.StatusMultipleChoices && out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			f.t.Fatalf("%v: %s", err, text)
		}
	}
	return resp.StatusCode, string(text)
}

// create asks for a preview of web.
func (f *fairleadServer) create(more map[string]any) (p previews.Preview) {
	f.t.Helper()
	in := map[string]any{"service": "web"}
	for k, v := range more {
		in[k] = v
	}
	f.awaitReady()
	if status, text := f.try(http.MethodPost, "/api/v1/previews", in, &p); status >= http.StatusMultipleChoices || p.ID == "" {
		f.t.Fatalf("creating: %d %s", status, text)
	}
	return p
}

// get is a preview; its phase is "" where there was no answer.
func (f *fairleadServer) get(id string) (p previews.Preview) {
	f.t.Helper()
	f.try(http.MethodGet, "/api/v1/previews/"+id, nil, &p)
	return p
}

// until waits for something of a preview.
func (f *fairleadServer) until(id, what string, within time.Duration, is func(previews.Preview) bool) (p previews.Preview) {
	f.t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if p = f.get(id); is(p) {
			return p
		}
	}
	text, _ := json.MarshalIndent(p, "", " ")
	f.t.Fatalf("within %s it is not %s: %s", within, what, text)
	return p
}

func in(phase previews.Phase) func(previews.Preview) bool {
	return func(p previews.Preview) bool { return p.Phase == phase }
}

func await(t *testing.T, what string, within time.Duration, is func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// argoApp is what these tests read of an application.
type argoApp struct {
	Metadata struct {
		Name        string
		Labels      map[string]string
		Annotations map[string]string
	}
	Status struct {
		Sync struct {
			Status    string
			Revisions []string
		}
		Health struct{ Status string }
	}
}

// applications are those of this world, as Kubernetes has them.
func (w *world) applications() (out []argoApp) {
	w.t.Helper()
	var all struct{ Items []argoApp }
	if status := w.Kube(w.t, http.MethodGet, "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications", nil, &all); status != http.StatusOK {
		w.t.Fatalf("listing applications: status %d", status)
	}
	for _, a := range all.Items {
		if strings.HasPrefix(a.Metadata.Name, w.prefix) {
			out = append(out, a)
		}
	}
	return out
}

// namespaces are those of this world.
func (w *world) namespaces() (out []string) {
	w.t.Helper()
	var all struct{ Items []argoApp }
	if status := w.Kube(w.t, http.MethodGet, "/api/v1/namespaces", nil, &all); status != http.StatusOK {
		w.t.Fatalf("listing namespaces: status %d", status)
	}
	for _, ns := range all.Items {
		if strings.HasPrefix(ns.Metadata.Name, w.prefix) {
			out = append(out, ns.Metadata.Name)
		}
	}
	return out
}

// nothingLeft holds the cluster to have nothing of this world.
func (w *world) nothingLeft() {
	w.t.Helper()
	if apps, namespaces := w.applications(), w.namespaces(); len(apps)+len(namespaces) > 0 {
		w.t.Errorf("there are still applications %v and namespaces %v", apps, namespaces)
	}
}
