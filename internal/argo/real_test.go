package argo

import (
	"crypto/rand"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// world is a deployer before a real Argo CD.
type world struct {
	*testing.T
	argo     *realtest.Argo
	instance *argocd.Instance
	deployer *argocd.Deployer
	cfg      argocd.Config
	guards   func() (string, string)
	client   *Client
}

// newWorld makes one with a project of its own. with changes the configuration
// of the instance.
func newWorld(t *testing.T, cfg argocd.Config, with ...func(*realtest.Argo, *instance.Config)) *world {
	t.Helper()
	a := realtest.ArgoCD(t)
	w := &world{T: t, argo: a, cfg: cfg}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(a.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ic := instance.Config{Name: "main", Server: a.Server.Address, TokenFile: token, CAFile: a.CAFile, KubeconfigFile: a.Kubeconfig, Project: a.Project(t)}
	for _, f := range with {
		f(a, &ic)
	}
	files, err := argocd.GuardFiles()
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := git.NewFixed(files)
	if err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(fixed)
	t.Cleanup(served.Close)
	a.Reach(t, served.Listener.Addr().String())
	w.guards = func() (string, string) { return served.URL + "/guards.git", fixed.Commit() }
	if w.client, err = Dial(ic); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.client.Close() })
	w.instance = &argocd.Instance{Applications: w.client, Resources: w.client, Lister: w.client, Project: ic.Project, URL: ic.URL()}
	if ic.KubeconfigFile != "" {
		cluster, err := Reach(ic)
		if err != nil {
			t.Fatal(err)
		}
		w.instance.Cluster, w.instance.Secrets, w.instance.Finder = cluster, cluster, cluster
	}
	w.deployer = w.again()
	return w
}

// again is the deployer as another process would have it.
func (w *world) again() *argocd.Deployer {
	w.Helper()
	d, err := argocd.New(w.cfg, argocd.Options{Instances: map[string]*argocd.Instance{"main": w.instance}, Guards: w.guards, Mark: "test.argocd"})
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// wish is for a repository's first commit.
func (w *world) wish(r *realtest.Repository) previews.Wish {
	id := "web-" + strings.ToLower(rand.Text()[:12])
	return previews.Wish{ID: id, Service: "component:default/web", Repository: r.URL, Commit: r.Head(w), Person: "user:default/alice", Agent: "claude",
		Owner: "group:default/shop", ExpiresAt: time.Now().Add(time.Hour), Template: previews.Template{Deployer: "argocd"}}
}

func TestArgoCDContract(t *testing.T) {
	for _, name := range []string{"cluster asked", "argo alone"} {
		t.Run(name, func(t *testing.T) {
			previewstest.Contract(t, func(t *testing.T) previewstest.Subject {
				w := newWorld(t, argocd.Config{}, func(_ *realtest.Argo, cfg *instance.Config) {
					if name == "argo alone" {
						cfg.KubeconfigFile = ""
					}
				})
				r := w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")})
				wish := w.wish(r)
				return previewstest.Subject{Deployer: w.deployer, Wish: wish, Within: 2 * time.Minute, Another: r.Commit(t, map[string]string{"deploy/web.yaml": realtest.Web("web:2")}),
					Restarted: func() previews.Deployer { return w.again() }}
			})
		})
	}
}
