package realtest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// application is what these tests read of one of Argo CD's.
type application struct {
	Status struct {
		Sync           struct{ Status, Revision string }
		Health         struct{ Status, Message string }
		OperationState struct{ Phase, Message string }
		Conditions     []struct{ Type, Message string }
		Resources      []struct{ Kind, Name, Status string }
	}
}

// fairlead is Argo CD as its account fairlead sees it from outside.
type fairlead struct {
	*realtest.Argo
	t      *testing.T
	client *http.Client
}

func argocd(t *testing.T) fairlead {
	t.Helper()
	a := realtest.ArgoCD(t)
	authority, err := os.ReadFile(a.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return fairlead{a, t, &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

// ask calls the API and gives the status, 0 for none.
func (f fairlead) ask(method, path string, in, out any) int {
	f.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		f.t.Fatal(err)
	}
	req, err := http.NewRequest(method, "https://"+f.Server.Address+path, bytes.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+f.Token)
	resp, err := f.client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if resp.StatusCode == http.StatusOK && out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			f.t.Fatalf("%v: %s", err, text)
		}
	}
	return resp.StatusCode
}

// create makes an application of a repository's main in a namespace of its
// own, and gives its name, which is the namespace's too.
func (f fairlead) create(project string, repo *realtest.Repository, server string) string {
	f.t.Helper()
	name := project + "-app"
	app := map[string]any{"metadata": map[string]any{"name": name, "finalizers": []string{"resources-finalizer.argocd.argoproj.io"}},
		"spec": map[string]any{"project": project,
			"source":      map[string]string{"repoURL": repo.URL, "path": ".", "targetRevision": "main"},
			"destination": map[string]string{"server": server, "namespace": name},
			"syncPolicy":  map[string]any{"automated": map[string]bool{"prune": true}, "syncOptions": []string{"CreateNamespace=true"}}}}
	if status := f.ask(http.MethodPost, "/api/v1/applications", app, nil); status != http.StatusOK {
		f.t.Fatalf("creating the application: status %d", status)
	}
	return name
}

// get reads an application as refreshed.
func (f fairlead) get(name string) (a application, status int) {
	f.t.Helper()
	status = f.ask(http.MethodGet, "/api/v1/applications/"+name+"?refresh=normal", nil, &a)
	return a, status
}

// until waits for a condition of an application, and shows what it is if that
// does not come.
func (f fairlead) until(name, what string, is func(application, int) bool) application {
	f.t.Helper()
	var a application
	status := 0
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if a, status = f.get(name); is(a, status) {
			return a
		}
	}
	text, _ := json.MarshalIndent(a.Status, "", " ")
	f.t.Fatalf("%s is not %s: status %d %s", name, what, status, text)
	return a
}

func absent(_ application, status int) bool { return status == http.StatusForbidden }

func syncedAndHealthy(a application, _ int) bool {
	return a.Status.Sync.Status == "Synced" && a.Status.Health.Status == "Healthy"
}

// remove deletes an application, its resources and its namespace.
func (f fairlead) remove(name string) {
	f.t.Helper()
	if status := f.ask(http.MethodDelete, "/api/v1/applications/"+name+"?cascade=true", nil, nil); status != http.StatusOK {
		f.t.Fatalf("deleting: status %d", status)
	}
}

func TestArgoCDDeploysAndRemoves(t *testing.T) {
	f := argocd(t)
	repo := f.Repository(t, map[string]string{"web.yaml": realtest.Web("registry.invalid/web:1")})
	project := f.Project(t)
	name := f.create(project, repo, realtest.InCluster)
	first := repo.Head(t)
	if a := f.until(name, "Synced and Healthy", syncedAndHealthy); a.Status.Sync.Revision != first {
		t.Errorf("it is at %s, not %s", a.Status.Sync.Revision, first)
	}
	second := repo.Commit(t, map[string]string{"web.yaml": realtest.Web("registry.invalid/web:2")})
	f.until(name, "Healthy at the next commit", func(a application, status int) bool {
		return syncedAndHealthy(a, status) && a.Status.Sync.Revision == second
	})
	var pods struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ Containers []struct{ Image string } }
		}
	}
	deployment := "/apis/apps/v1/namespaces/" + name + "/deployments/web"
	if status := f.Kube(t, http.MethodGet, deployment, nil, nil); status != http.StatusOK {
		t.Errorf("the deployment: status %d", status)
	}
	if f.Kube(t, http.MethodGet, "/api/v1/namespaces/"+name+"/pods", nil, &pods); len(pods.Items) == 0 {
		t.Fatal("there are no pods")
	}
	logs := "/api/v1/applications/" + name + "/logs?namespace=" + name + "&container=web&tailLines=10&podName=" + pods.Items[0].Metadata.Name
	if text := f.stream(logs); !strings.Contains(text, "listening") {
		t.Errorf("its logs are %s", text)
	}
	f.remove(name)
	f.until(name, "absent", absent)
	if status := f.Kube(t, http.MethodGet, deployment, nil, nil); status != http.StatusNotFound {
		t.Errorf("the deployment after the application is gone: status %d", status)
	}
	if status := f.Kube(t, http.MethodDelete, "/api/v1/namespaces/"+name, nil, nil); status != http.StatusOK {
		t.Errorf("deleting the namespace: status %d", status)
	}
	within(t, "the namespace is gone", func() bool {
		return f.Kube(t, http.MethodGet, "/api/v1/namespaces/"+name, nil, nil) == http.StatusNotFound
	})
}

// stream reads the text of an answer.
func (f fairlead) stream(path string) string {
	f.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "https://"+f.Server.Address+path, http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.Token)
	resp, err := f.client.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func TestArgoCDTellsOfPodsThatDoNotStart(t *testing.T) {
	f := argocd(t)
	project := f.Project(t)
	repo := f.Repository(t, map[string]string{"pod.yaml": realtest.Pod("registry.invalid/" + realtest.ImageMissing + ":1")})
	name := f.create(project, repo, realtest.InCluster)
	a := f.until(name, "Degraded", func(a application, _ int) bool { return a.Status.Health.Status == "Degraded" })
	if a.Status.Sync.Status != "Synced" {
		t.Errorf("it is %s", a.Status.Sync.Status)
	}
	repo.Commit(t, map[string]string{"pod.yaml": "", "web.yaml": realtest.Web("registry.invalid/" + realtest.ImageNeverReady + ":1")})
	f.until(name, "Degraded for a deployment that is late", func(a application, _ int) bool {
		return a.Status.Health.Status == "Degraded" && a.Status.Sync.Revision == repo.Head(t)
	})
	f.remove(name)
	f.until(name, "absent", absent)
}

func TestArgoCDWaitsForAFinalizer(t *testing.T) {
	f := argocd(t)
	repo := f.Repository(t, map[string]string{"held.yaml": realtest.Held("held")})
	name := f.create(f.Project(t), repo, realtest.InCluster)
	f.until(name, "Synced and Healthy", syncedAndHealthy)
	f.remove(name)
	held := "/api/v1/namespaces/" + name + "/configmaps/held"
	within(t, "the object is being deleted", func() bool {
		var object struct {
			Metadata struct{ DeletionTimestamp string }
		}
		return f.Kube(t, http.MethodGet, held, nil, &object) == http.StatusOK && object.Metadata.DeletionTimestamp != ""
	})
	if _, status := f.get(name); status != http.StatusOK {
		t.Errorf("the application while its object is there: status %d", status)
	}
	f.Unfinalize(t, held)
	f.until(name, "absent", absent)
}

func TestArgoCDGivesTheAccountItsRightsAlone(t *testing.T) {
	f := argocd(t)
	app := map[string]any{"metadata": map[string]any{"name": "other"}, "spec": map[string]any{"project": "default",
		"source": map[string]string{"repoURL": "http://127.0.0.1:1/x.git", "path": "."}, "destination": map[string]string{"server": realtest.InCluster, "namespace": "default"}}}
	for what, status := range map[string]int{
		"an application of another project": f.ask(http.MethodPost, "/api/v1/applications", app, nil),
		"a project":                         f.ask(http.MethodPost, "/api/v1/projects", map[string]any{"project": map[string]any{"metadata": map[string]any{"name": "previews-own"}}}, nil),
		"a cluster's removal":               f.ask(http.MethodDelete, "/api/v1/clusters/"+"in-cluster?id.type=name", nil, nil),
	} {
		if status != http.StatusForbidden {
			t.Errorf("%s: status %d", what, status)
		}
	}
}

func TestArgoCDOutlivesItsCluster(t *testing.T) {
	f := argocd(t)
	project := f.Project(t)
	repo := f.Repository(t, map[string]string{"conf.yaml": realtest.ConfigMap("conf")})
	near := f.create(project, repo, realtest.InCluster)
	f.until(near, "Synced and Healthy", syncedAndHealthy)

	f.StopCluster(t)
	if status := f.ask(http.MethodPost, "/api/v1/applications", map[string]any{"metadata": map[string]any{"name": near + "-2"},
		"spec": map[string]any{"project": project}}, nil); status == http.StatusOK {
		t.Error("an application is made without a cluster")
	}
	f.StartCluster(t)
	f.until(near, "there again", func(_ application, status int) bool { return status == http.StatusOK })
	f.remove(near)
	f.until(near, "absent", absent)
}

func TestArgoCDLosesAFarCluster(t *testing.T) {
	f := argocd(t)
	repo := f.Repository(t, map[string]string{"conf.yaml": realtest.ConfigMap("conf")})
	name := f.create(f.Project(t), repo, f.FarServer)
	f.until(name, "Synced and Healthy", syncedAndHealthy)
	f.Far.Cut(t)
	repo.Commit(t, map[string]string{"more.yaml": realtest.ConfigMap("more")})
	f.until(name, "unable to sync without its cluster", func(a application, _ int) bool {
		return a.Status.Sync.Status != "Synced" && a.Status.OperationState.Phase != "Succeeded" && a.Status.OperationState.Message != ""
	})
	f.Far.Restore()
	f.until(name, "Synced and Healthy again", func(a application, status int) bool {
		return syncedAndHealthy(a, status) && a.Status.Sync.Revision == repo.Head(t)
	})
	f.remove(name)
	f.until(name, "absent", absent)
}

// TestArgoCDEndsWithItsProcess kills a process that has a stack of its own: the
// servers end, and its files go.
func TestArgoCDEndsWithItsProcess(t *testing.T) {
	const asked = "FAIRLEAD_TEST_ARGOCD_CHILD"
	if os.Getenv(asked) != "" {
		a := realtest.ArgoCD(t)
		fmt.Printf("stack %s %s\n", a.Dir, strings.Trim(fmt.Sprint(a.Pids()), "[]"))
		select {} // until it is killed
	}
	realtest.ArgoCD(t) // or why not
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), asked+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dir string
	var pids []int
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "stack "); ok {
			fields := strings.Fields(rest)
			dir = fields[0]
			for _, p := range fields[1:] {
				pid, err := strconv.Atoi(p)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if len(pids) != 7 {
		t.Fatalf("it has %d servers", len(pids))
	}
	for _, pid := range pids {
		within(t, "a server has ended", func() bool {
			in, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd")) // gone, or another's
			return !strings.HasPrefix(in, dir)
		})
	}
	within(t, "its files are gone", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
}
