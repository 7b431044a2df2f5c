package argo

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
	"github.com/fairlead-dev/fairlead/previews/gitops"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// hooked is a branch whose pushes Argo CD hears of, as by a webhook.
type hooked struct {
	*git.Files
	heard func()
}

func (h hooked) Write(ctx context.Context, head, path string, data []byte, message string) error {
	err := h.Files.Write(ctx, head, path, data, message)
	h.heard()
	return err
}

// TestArgoCDContractByCommits holds previews by commits to the contract: a real
// Argo CD deploys the folder that they are written to.
func TestArgoCDContractByCommits(t *testing.T) {
	previewstest.Contract(t, func(t *testing.T) previewstest.Subject {
		w := newWorld(t, argocd.Config{})
		wished := w.argo.Repository(t, map[string]string{"previews/README.md": "Applications of previews.\n"})
		root := watch(t, w.argo, wished.URL)
		src, err := git.NewSource("previews", git.SourceConfig{URL: wished.URL, Ref: "main"}, t.TempDir(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		files := hooked{src.Files("main", git.Signature{Name: "Fairlead", Email: "fairlead@example.invalid"}), func() {
			w.argo.API(t, http.MethodGet, "/api/v1/applications/"+root+"?refresh=normal", nil, nil)
		}}
		make := func() previews.Deployer {
			by := *w.instance
			by.Applications = gitops.Over(files, "previews", "argocd", readOnly{t, w.instance.Applications})
			d, err := argocd.New(w.cfg, argocd.Options{Instances: map[string]*argocd.Instance{"main": &by}, Guards: w.guards, Mark: "test.gitops"})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		r := w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")})
		return previewstest.Subject{Deployer: make(), Wish: w.wish(r), Within: 2 * time.Minute, Restarted: make,
			Another: r.Commit(t, map[string]string{"deploy/web.yaml": realtest.Web("web:2")})}
	})
}

// readOnly fails the test where something is written to Argo CD.
type readOnly struct {
	t *testing.T
	argocd.Applications
}

func (r readOnly) Put(context.Context, *argocd.Application) error {
	r.t.Error("an application was written to Argo CD")
	return nil
}

func (r readOnly) Delete(context.Context, string, string, bool) error {
	r.t.Error("an application was deleted in Argo CD")
	return nil
}

// watch has Argo CD deploy the folder of previews of a repository.
func watch(t *testing.T, a *realtest.Argo, repository string) (name string) {
	t.Helper()
	name = "root-" + strings.ToLower(rand.Text()[:12])
	app := map[string]any{
		"metadata": map[string]any{"name": name, "namespace": "argocd"},
		"spec": map[string]any{"project": "default", "destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": "argocd"},
			"source":     map[string]any{"repoURL": repository, "path": "previews", "targetRevision": "main", "directory": map[string]any{"include": "*.yaml"}},
			"syncPolicy": map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true, "allowEmpty": true}}},
	}
	if status := a.API(t, http.MethodPost, "/api/v1/applications", app, nil); status != http.StatusOK {
		t.Fatalf("making the application of applications: status %d", status)
	}
	t.Cleanup(func() { a.API(t, http.MethodDelete, "/api/v1/applications/"+name+"?cascade=true", nil, nil) })
	return name
}
