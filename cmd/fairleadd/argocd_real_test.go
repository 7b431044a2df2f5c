package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

const goodImage = "registry.invalid/web:1"

// TestArgoCDPreviewLives is the life of a preview on a real Argo CD.
func TestArgoCDPreviewLives(t *testing.T) {
	w := newWorld(t, realtest.Web(goodImage), settings{})
	f := w.servers[0]
	commit := w.repo.Head(t)
	p := f.create(map[string]any{"ttl": "45s"})
	if p.Commit != commit {
		t.Errorf("the preview is of %s, not %s", p.Commit, commit)
	}
	// What comes later is another commit's.
	w.repo.Commit(t, map[string]string{"deploy/web.yaml": realtest.Web("registry.invalid/web:2")})
	ready := f.until(p.ID, "ready", 90*time.Second, in(previews.Ready))
	w.holdsReady(ready, commit)

	extended := previews.Preview{}
	if status, text := f.try(http.MethodPost, "/api/v1/previews/"+p.ID+"/extend", map[string]string{"ttl": "10s"}, &extended); status != http.StatusOK || extended.ExpiresAt <= p.ExpiresAt {
		t.Fatalf("extending: %d %s", status, text)
	}
	end, err := time.Parse(time.RFC3339, extended.ExpiresAt)
	if err != nil {
		t.Fatal(err)
	}
	if lines := f.logs(p.ID); !strings.Contains(lines, "listening") {
		t.Errorf("its logs are %s", lines)
	}
	going := f.until(p.ID, "being deleted", time.Until(end)+20*time.Second, func(p previews.Preview) bool { return p.Phase == previews.Deleting || p.Phase == previews.Gone })
	if time.Now().Before(end) {
		t.Errorf("it ended %s early: %+v", time.Until(end), going)
	}
	gone := f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
	for _, phase := range []previews.Phase{previews.Creating, previews.Ready, previews.Deleting, previews.Gone} {
		if !slices.ContainsFunc(gone.Events, func(e previews.Event) bool { return e.Phase == phase }) {
			t.Errorf("no event tells of %s: %+v", phase, gone.Events)
		}
	}
}

// holdsReady holds the cluster to have what a preview that is ready says.
func (w *world) holdsReady(p previews.Preview, commit string) {
	w.t.Helper()
	apps := w.applications()
	if len(apps) != 1 {
		w.t.Fatalf("there are %d applications", len(apps))
	}
	a, name := apps[0], w.prefix+p.ID
	if a.Metadata.Name != name || a.Status.Sync.Status != "Synced" || a.Status.Health.Status != "Healthy" || len(a.Status.Sync.Revisions) == 0 || a.Status.Sync.Revisions[0] != commit {
		w.t.Errorf("Argo CD has %+v, and the preview of %s is ready", a, commit)
	}
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Image string } }
			}
		}
		Status struct{ AvailableReplicas int }
	}
	if status := w.Kube(w.t, http.MethodGet, "/apis/apps/v1/namespaces/"+name+"/deployments/web", nil, &deployment); status != http.StatusOK || deployment.Status.AvailableReplicas == 0 ||
		deployment.Spec.Template.Spec.Containers[0].Image != goodImage {
		w.t.Errorf("the deployment: %d %+v", status, deployment)
	}
	for _, guard := range []string{"/api/v1/namespaces/" + name + "/resourcequotas", "/apis/networking.k8s.io/v1/namespaces/" + name + "/networkpolicies"} {
		var list struct{ Items []argoApp }
		if w.Kube(w.t, http.MethodGet, guard, nil, &list); len(list.Items) == 0 {
			w.t.Errorf("there is nothing at %s", guard)
		}
	}
	var ns argoApp
	w.Kube(w.t, http.MethodGet, "/api/v1/namespaces/"+name, nil, &ns)
	for key, want := range map[string]string{"fairlead.dev/service": "component:default/web", "fairlead.dev/owner": "group:default/shop", "fairlead.dev/person": "user:default/ann", "fairlead.dev/commit": commit} {
		if ns.Metadata.Annotations[key] != want || a.Metadata.Annotations[key] != want {
			w.t.Errorf("%s is %q on the namespace and %q on the application, not %q", key, ns.Metadata.Annotations[key], a.Metadata.Annotations[key], want)
		}
	}
}

func (f *fairleadServer) logs(id string) string {
	f.t.Helper()
	_, text := f.try(http.MethodGet, "/api/v1/previews/"+id+"/logs", nil, nil)
	return text
}

func (f *fairleadServer) remove(id string) {
	f.t.Helper()
	if status, text := f.try(http.MethodDelete, "/api/v1/previews/"+id, nil, nil); status == 0 || status >= http.StatusMultipleChoices {
		f.t.Fatalf("deleting: %d %s", status, text)
	}
}
