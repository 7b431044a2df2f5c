package realtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Argo is a real Argo CD and the Kubernetes that it runs against: an API
// server with its controllers, etcd, Redis, and Argo CD's server, repository
// server and application controller. A kubelet of ours says that Pods run; see
// ImageMissing for those that do not.
type Argo struct {
	// Server is the way to Argo CD's API, over TLS with a certificate of the
	// authority in CAFile.
	Server *Link
	CAFile string
	// Token is that of the account fairlead, which may read, make, change,
	// sync and delete the applications of projects whose names begin with
	// previews, read their logs, and see clusters and repositories. It is no
	// administrator. TokenFile holds it.
	Token, TokenFile string
	// AdminToken is an administrator's.
	AdminToken string

	// Cluster is the way to the API server, which Kubeconfig takes as a user
	// who sees everything, may delete namespaces and take finalizers away, and
	// AdminKubeconfig as one who may do everything. Both are paths of files.
	Cluster                     *Link
	Kubeconfig, AdminKubeconfig string

	// FarServer is the URL of a second cluster that Argo CD deploys to. It is
	// the same one by another way, Far: when that is cut, a cluster has
	// disappeared while Argo CD is well.
	FarServer string
	Far       *Link

	// Dir holds the logs of all servers, NAME.log, which stay after a test
	// that failed, and their certificate and its key, server.pem and
	// server.key, for a test that stands between.
	Dir string

	at           *place
	sweeper      *kept
	quit         context.CancelFunc // of the kubelet
	kube         *kubernetes
	servers      []*server
	admin        *api
	repositories *gitServer
	reached      sync.Map // of address, what Reach has made
}

// InCluster is the URL by which Argo CD knows the cluster that it runs in.
const InCluster = "https://kubernetes.default.svc"

// argocd is the stack of this process, started by the first test that needs it.
var argocd = sync.OnceValues(func() (*Argo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*startWithin)
	defer cancel()
	a, err := startArgoCD(ctx)
	if err != nil && a != nil { // nobody is left to tell it
		err = errors.Join(err, os.WriteFile(filepath.Join(a.Dir, keepLogs), nil, 0o600))
	}
	return a, err
})

// NewArgoCD is ArgoCD for programs that are no tests: a stack of their own, and
// what ends it.
func NewArgoCD(ctx context.Context) (a *Argo, stop func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*startWithin)
	defer cancel()
	if a, err = startArgoCD(ctx); err == nil {
		return a, a.stop, nil
	}
	if a != nil {
		err = errors.Join(err, a.stop())
	}
	return nil, nil, err
}

// stop ends all of it and removes its files.
func (a *Argo) stop() error {
	a.quit()
	var errs []error
	for _, s := range append([]*server{a.kube.controllers, a.kube.apiServer, a.kube.etcd}, a.servers...) {
		errs = append(errs, s.kill())
	}
	return errors.Join(append(errs, a.sweeper.stop())...)
}

// ArgoCD gives a real Argo CD, which the tests of a process share and which
// ends with it: let each have a project, namespaces and repositories of its
// own. It takes some ten seconds and 1.2 GB of memory.
func ArgoCD(t testing.TB) *Argo {
	t.Helper()
	_, err := findArgoPrograms()
	need(t, "Argo CD", err)
	a, err := argocd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.tell(t) })
	return a
}

// tell has the logs kept where the test has failed, and shows their ends.
func (a *Argo) tell(t testing.TB) {
	t.Helper()
	if !t.Failed() {
		return
	}
	if err := os.WriteFile(filepath.Join(a.Dir, keepLogs), nil, 0o600); err != nil {
		t.Error(err)
	}
	t.Logf("the logs of Argo CD and Kubernetes are kept in %s", a.Dir)
	for _, s := range a.servers {
		t.Logf("the end of %s:\n%s", s.logFile(), s.lastWords(1500))
	}
}

// argoPrograms are the folders and programs of a stack.
type argoPrograms struct {
	kube, argocd, tools string // folders
	etcd, redis         string // programs
	libraries           string // folder of the programs' own; "" for none
}

// findArgoPrograms finds what argocd.sh built.
func findArgoPrograms() (p argoPrograms, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return p, err
	}
	built := func(pattern string) string {
		found, globErr := filepath.Glob(filepath.Join(cache, "fairlead", pattern, "done"))
		if globErr == nil && len(found) == 0 {
			globErr = fmt.Errorf("%s is not built; run internal/realtest/argocd.sh", pattern)
		}
		if err = errors.Join(err, globErr); globErr != nil {
			return ""
		}
		return filepath.Dir(found[len(found)-1])
	}
	p = argoPrograms{kube: built("kube-v*"), argocd: built("argocd-v*"), tools: built("argocd-tools-*")}
	var errEtcd, errRedis error
	p.etcd, errEtcd = exec.LookPath("etcd")
	p.redis, errRedis = exec.LookPath("redis-server")
	if errEtcd != nil || errRedis != nil {
		root := filepath.Join(built("etcd-redis"), "root", "usr")
		p.etcd, p.redis = filepath.Join(root, "bin", "etcd"), filepath.Join(root, "bin", "redis-server")
		libraries, _ := filepath.Glob(filepath.Join(root, "lib", "*-linux-gnu")) // a fixed pattern
		if len(libraries) > 0 {
			p.libraries = libraries[0]
		}
	}
	return p, err
}

// API calls Argo CD's REST API as an administrator with a JSON body, nil for
// none, and gives the status; the answer of a success is read into out, if
// that is not nil. No answer ends the test. It may be used in a Cleanup.
func (a *Argo) API(t testing.TB, method, path string, in, out any) (status int) {
	t.Helper()
	return a.admin.must(t, method, path, jsonType, in, out)
}

// Kube calls the API server as an administrator, as API does; a PATCH is a
// merge patch.
func (a *Argo) Kube(t testing.TB, method, path string, in, out any) (status int) {
	t.Helper()
	mediaType := jsonType
	if method == http.MethodPatch {
		mediaType = mergeType
	}
	return a.kube.api.must(t, method, path, mediaType, in, out)
}

// Ask is API for programs that are no tests, where anything but a success is an
// error.
func (a *Argo) Ask(ctx context.Context, method, path string, in, out any) error {
	_, err := a.admin.json(ctx, method, path, jsonType, in, out)
	return err
}

// AskKube is Kube for programs that are no tests, where anything but a success
// is an error.
func (a *Argo) AskKube(ctx context.Context, method, path string, in, out any) error {
	mediaType := jsonType
	if method == http.MethodPatch {
		mediaType = mergeType
	}
	_, err := a.kube.api.json(ctx, method, path, mediaType, in, out)
	return err
}

// Unfinalize takes all finalizers from the object at a path of the API server.
func (a *Argo) Unfinalize(t testing.TB, path string) {
	t.Helper()
	none := map[string]any{"metadata": map[string]any{"finalizers": nil}}
	if status := a.Kube(t, http.MethodPatch, path, none, nil); status != http.StatusOK && status != http.StatusNotFound {
		t.Errorf("taking the finalizers of %s: status %d", path, status)
	}
}

// StopCluster ends the API server, and so also what Argo CD can do, until the
// test ends or StartCluster is called.
func (a *Argo) StopCluster(t testing.TB) {
	t.Helper()
	if err := a.kube.apiServer.kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.StartCluster(t) })
}

// StartCluster starts the API server, where it does not run, and waits until
// it is ready.
func (a *Argo) StartCluster(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	if a.kube.apiServer.runs() {
		return
	}
	if err := a.kube.apiServer.start(); err != nil {
		t.Fatal(err)
	}
	if err := a.kube.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

// Pids are the processes of its servers.
func (a *Argo) Pids() []int {
	var pids []int
	for _, s := range a.servers {
		pids = append(pids, s.pid())
	}
	return pids
}

// Reach lets Argo CD reach a server of this machine's loopback interface, such
// as Gitea, at its own address, for as long as the process lives.
func (a *Argo) Reach(t testing.TB, address string) {
	t.Helper()
	if err := a.LetReach(address); err != nil {
		t.Fatal(err)
	}
}

// LetReach is Reach for programs that are no tests.
func (a *Argo) LetReach(address string) error {
	if a.at.shared != nil {
		return nil //nolint:nilerr // there is one network, and it reaches it already
	}
	if _, done := a.reached.LoadOrStore(address, true); done {
		return nil
	}
	l, err := a.at.listen(address)
	if err != nil {
		return err
	}
	newLink(l, dialOutside(address))
	return nil
}

// Project makes a project of Argo CD with a name of the test's own, whose
// applications may go to each cluster and namespace and come from each
// repository, and the token may manage. To remove these is the test's.
func (a *Argo) Project(t testing.TB) string {
	t.Helper()
	name := "previews-" + lowerText()
	if status := a.API(t, http.MethodPost, "/api/v1/projects", map[string]any{"project": project(name)}, nil); status != http.StatusOK {
		t.Fatalf("making the project: status %d", status)
	}
	// Argo CD checks applications against what its server has been told of
	// projects, which is what this answers from.
	for end := time.Now().Add(20 * time.Second); a.API(t, http.MethodGet, "/api/v1/projects/"+name+"/detailed", nil, nil) != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("Argo CD does not know the project that it has made")
		}
	}
	return name
}
