package argo

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// until looks until something holds of a preview.
func (w *world) until(wish *previews.Wish, what string, holds func(previews.Observed) bool) previews.Observed {
	w.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		o, err := w.deployer.Observe(w.Context(), *wish)
		if err == nil && holds(o) {
			return o
		}
		if time.Now().After(deadline) {
			w.Fatalf("in vain waited for: %s; there is %+v, %v", what, o, err)
		}
	}
}

func (w *world) apply(wish *previews.Wish) {
	w.Helper()
	if err := w.deployer.Apply(w.Context(), *wish); err != nil {
		w.Fatal(err)
	}
}

// goes removes a preview.
func (w *world) goes(wish *previews.Wish) previews.Observed {
	w.Helper()
	return w.until(wish, "it is gone", func(o previews.Observed) bool {
		if err := w.deployer.Remove(w.Context(), *wish); err != nil {
			w.Fatal(err)
		}
		return !o.Exists && len(o.Remains) == 0
	})
}

func settings(t *testing.T, s argocd.Settings) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestArgoCDRefuses has what cannot be deployed refused before it is, with
// what is wrong.
func TestArgoCDRefuses(t *testing.T) {
	web := realtest.Web("web:1")
	for name, c := range map[string]struct {
		files  map[string]string
		change func(w *world, r *realtest.Repository, wish *previews.Wish)
		want   string
	}{
		"a revision that is not there": {map[string]string{"deploy/web.yaml": web}, func(_ *world, _ *realtest.Repository, wish *previews.Wish) {
			wish.Commit = strings.Repeat("1", 40)
		}, "the revision is not in the repository"},
		"a folder that is not there": {map[string]string{"web.yaml": web}, nil, "the folder of manifests is not in the repository"},
		"a repository that moved": {map[string]string{"deploy/web.yaml": web}, func(_ *world, r *realtest.Repository, _ *previews.Wish) {
			r.Move(t)
		}, "Argo CD cannot read the repository"},
		"a namespace of another": {map[string]string{"deploy/web.yaml": web, "deploy/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: default}\n"}, nil,
			"ConfigMap c in namespace default"},
		"nothing to deploy":          {map[string]string{"deploy/notes.txt": "x"}, nil, "holds no manifests"},
		"manifests that are no YAML": {map[string]string{"deploy/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n"}, nil, "no manifests"},
		"a project that does not allow it": {map[string]string{"deploy/web.yaml": web}, func(w *world, _ *realtest.Repository, _ *previews.Wish) {
			w.restrict()
		}, "the AppProject of previews does not allow it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, argocd.Config{})
			r := w.argo.Repository(t, c.files)
			wish := w.wish(r)
			if c.change != nil {
				c.change(w, r, &wish)
			}
			err := w.deployer.Apply(t.Context(), wish)
			if fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), c.want) || fault.From(err).Fix == "" {
				t.Errorf("%v (%s), want %s", err, fault.CodeOf(err), c.want)
			}
			w.goes(&wish)
			if status := w.argo.Kube(t, http.MethodGet, "/api/v1/namespaces/preview-"+wish.ID, nil, nil); status != http.StatusNotFound {
				t.Errorf("the namespace was made: %d", status)
			}
		})
	}
}

// restrict has the project allow no repository of tests.
func (w *world) restrict() {
	var p map[string]any
	path := "/api/v1/projects/" + w.instance.Project
	w.argo.API(w, http.MethodGet, path, nil, &p)
	p["spec"].(map[string]any)["sourceRepos"] = []string{"https://git.example.com/*"}
	if status := w.argo.API(w, http.MethodPut, path, map[string]any{"project": p}, nil); status != http.StatusOK {
		w.Fatalf("changing the project: %d", status)
	}
}

func TestArgoCDNamesPodsThatDoNotStart(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	wish := w.wish(w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("missing:1")}))
	w.apply(&wish)
	w.until(&wish, "the reason is named", func(o previews.Observed) bool { return strings.Contains(o.Reason, "ImagePullBackOff") })
	o := w.until(&wish, "it has failed", func(o previews.Observed) bool { return o.Failed })
	if o.Ready || !strings.Contains(o.Reason, "Deployment web is degraded") {
		t.Errorf("%+v", o)
	}
	w.goes(&wish)
}

// TestArgoCDKustomize has a kustomization changed, and a preview put off.
func TestArgoCDKustomize(t *testing.T) {
	w := newWorld(t, argocd.Config{URL: "https://{id}.preview.example.com", Quota: map[string]string{"pods": "7"}})
	wish := w.wish(w.argo.Repository(t, map[string]string{"k8s/web.yaml": realtest.Web("web:1"), "k8s/kustomization.yaml": "namespace: production\nresources: [web.yaml]\n"}))
	wish.Template.Settings = settings(t, argocd.Settings{Path: "k8s", Kustomize: &argocd.Kustomize{Images: []string{"web=registry.example.com/web:{shortCommit}"}, NamePrefix: "p-"}})
	w.apply(&wish)
	o := w.until(&wish, "it is ready", func(o previews.Observed) bool { return o.Ready })
	if o.URL != "https://"+wish.ID+".preview.example.com" || o.Commit != wish.Commit || o.Stale {
		t.Errorf("%+v", o)
	}
	ns := "preview-" + wish.ID
	var d struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Image string } }
			}
		}
	}
	if w.argo.Kube(t, http.MethodGet, "/apis/apps/v1/namespaces/"+ns+"/deployments/p-web", nil, &d); len(d.Spec.Template.Spec.Containers) != 1 ||
		d.Spec.Template.Spec.Containers[0].Image != "registry.example.com/web:"+wish.Commit[:12] {
		t.Errorf("deployed %+v", d)
	}
	var q struct {
		Spec struct{ Hard map[string]string }
	}
	if w.argo.Kube(t, http.MethodGet, "/api/v1/namespaces/"+ns+"/resourcequotas/fairlead-preview", nil, &q); q.Spec.Hard["pods"] != "7" {
		t.Errorf("quota %+v", q)
	}
	for _, guard := range []string{"/api/v1/namespaces/" + ns + "/limitranges/", "/apis/networking.k8s.io/v1/namespaces/" + ns + "/networkpolicies/"} {
		if status := w.argo.Kube(t, http.MethodGet, guard+"fairlead-preview", nil, nil); status != http.StatusOK {
			t.Errorf("%s: %d", guard, status)
		}
	}
	wish.ExpiresAt = wish.ExpiresAt.Add(time.Hour)
	if o := w.until(&wish, "it is stale", func(o previews.Observed) bool { return o.Stale }); !o.Ready {
		t.Errorf("put off, it is %+v", o)
	}
	w.apply(&wish)
	w.until(&wish, "it is not stale", func(o previews.Observed) bool { return !o.Stale && o.Ready })
	want := wish.ExpiresAt.UTC().Format(time.RFC3339)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var n struct {
			Metadata struct{ Annotations, Labels map[string]string }
		}
		w.argo.Kube(t, http.MethodGet, "/api/v1/namespaces/"+ns, nil, &n)
		if n.Metadata.Annotations["fairlead.dev/expires-at"] == want && n.Metadata.Annotations["fairlead.dev/agent"] == "claude" && n.Metadata.Labels["fairlead.dev/preview"] == wish.ID {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the namespace says %+v, want %s", n, want)
		}
	}
	if gone := w.goes(&wish); !strings.Contains(gone.Reason, "the cluster no namespace") {
		t.Errorf("gone, because %s", gone.Reason)
	}
}

// TestArgoCDNamesAndForcesFinalizers has a removal hang, and be forced.
func TestArgoCDNamesAndForcesFinalizers(t *testing.T) {
	for name, with := range map[string]func(*realtest.Argo, *instance.Config){
		"cluster asked": func(a *realtest.Argo, cfg *instance.Config) { cfg.KubeconfigFile = a.AdminKubeconfig },
		"argo alone":    func(_ *realtest.Argo, cfg *instance.Config) { cfg.KubeconfigFile = "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, argocd.Config{}, with)
			wish := w.wish(w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1"), "deploy/held.yaml": realtest.Held("held")}))
			w.apply(&wish)
			w.until(&wish, "it is ready", func(o previews.Observed) bool { return o.Ready })
			if err := w.deployer.Remove(t.Context(), wish); err != nil {
				t.Fatal(err)
			}
			o := w.until(&wish, "what hangs is named", func(o previews.Observed) bool {
				return slices.ContainsFunc(o.Remains, func(s string) bool {
					return strings.HasPrefix(s, "ConfigMap held (finalizer "+realtest.Finalizer+"; being deleted for ")
				})
			})
			t.Logf("remains %q", o.Remains)
			forced, err := w.deployer.Force(t.Context(), wish)
			if err != nil || !slices.ContainsFunc(forced, func(s string) bool { return strings.HasPrefix(s, "ConfigMap held") }) {
				t.Fatalf("forced %q, %v", forced, err)
			}
			w.goes(&wish)
		})
	}
}

// TestArgoCDIsAway has nothing taken for gone while nobody answers.
func TestArgoCDIsAway(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	wish := w.wish(w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")}))
	w.argo.StopCluster(t)
	if o, err := w.deployer.Observe(t.Context(), wish); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("without the cluster: %+v, %v", o, err)
	}
	w.argo.StartCluster(t)
	w.argo.Server.Cut(t)
	began := time.Now()
	if o, err := w.deployer.Observe(t.Context(), wish); fault.CodeOf(err) != fault.Unavailable || time.Since(began) > 20*time.Second {
		t.Errorf("without Argo CD: %+v, %v after %s", o, err, time.Since(began))
	}
	w.argo.Server.Restore()
	w.until(&wish, "it is seen that there is nothing", func(o previews.Observed) bool { return !o.Exists })
}
