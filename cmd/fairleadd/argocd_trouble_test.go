package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// soon are deadlines that these tests can wait for.
const soon = "create: 40s, repair: 20s, remove: 10s"

// says tells whether the reason says all of it.
func says(p previews.Preview, words ...string) bool {
	for _, word := range words {
		if !strings.Contains(p.Reason, word) {
			return false
		}
	}
	return true
}

func TestArgoCDPreviewWithAFinalizerThatHangs(t *testing.T) {
	w := newWorld(t, realtest.Held("held")+"---\n"+realtest.Web(goodImage), settings{deadlines: soon})
	f := w.servers[0]
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "ready", 90*time.Second, in(previews.Ready))
	f.remove(p.ID)
	held := "/api/v1/namespaces/" + w.prefix + p.ID + "/configmaps/held"
	t.Cleanup(func() { w.Unfinalize(t, held) })
	f.until(p.ID, "stuck, with what holds it", 60*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Deleting && says(p, "stuck:", "held", realtest.Finalizer)
	})
	w.Unfinalize(t, held)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

func TestArgoCDPreviewOfAnImageThatNeverStarts(t *testing.T) {
	w := newWorld(t, realtest.Web("registry.invalid/"+realtest.ImageMissing+":1"), settings{deadlines: soon})
	f := w.servers[0]
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "failed, for the image", 90*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Failed && says(p, "ImagePullBackOff")
	})
	f.remove(p.ID)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

func TestArgoCDPreviewOfARevisionThatIsNotThere(t *testing.T) {
	w := newWorldWithout(t, realtest.Web(goodImage))
	// Argo CD reads another repository, which the commit has not come to.
	mirror := w.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web(goodImage)})
	f := w.serve(settings{deadlines: soon, argocd: "rewrite: [{from: \"" + w.repo.URL + "\", to: \"" + mirror.URL + "\"}]"})
	f.awaitReady()
	if status, text := f.try(http.MethodPost, "/api/v1/previews", map[string]string{"service": "web", "revision": "nobody-knows-it"}, nil); status != http.StatusNotFound ||
		!strings.Contains(text, "nobody-knows-it") || !strings.Contains(text, `"fix":`) {
		t.Errorf("a revision that nobody knows: %d %s", status, text)
	}
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "failed, for the revision", 90*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Failed && says(p, "revision is not in the repository", "Push it")
	})
	f.remove(p.ID)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

func TestArgoCDPreviewOfARepositoryThatMoves(t *testing.T) {
	w := newWorldWithout(t, realtest.Web(goodImage))
	moved := w.repo.URL
	f := w.serve(settings{deadlines: soon})
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "ready", 90*time.Second, in(previews.Ready))
	w.repo.Move(t)
	// What runs goes on.
	if status, text := f.try(http.MethodPost, "/api/v1/previews", map[string]string{"service": "web", "revision": "main", "ttl": "10m"}, nil); status < http.StatusBadRequest ||
		!strings.Contains(text, `"fix":`) {
		t.Errorf("another preview of %s: %d %s", moved, status, text)
	}
	f.remove(p.ID)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

// TestArgoCDPreviewWhoseManifestsMoved moves the repository between the call
// and what Argo CD makes of it.
func TestArgoCDPreviewWhoseManifestsMoved(t *testing.T) {
	w := newWorldWithout(t, realtest.Web(goodImage))
	f := w.serve(settings{deadlines: soon, argocd: "rewrite: [{from: \"" + w.repo.URL + "\", to: \"" + strings.TrimSuffix(w.repo.URL, ".git") + "-moved.git\"}]"})
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "failed, for the repository", 90*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Failed && says(p, "cannot read the repository", "rewrite")
	})
	f.remove(p.ID)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}

func TestArgoCDPreviewOfAClusterThatDisappears(t *testing.T) {
	a := realtest.ArgoCD(t)
	w := newWorld(t, realtest.Web(goodImage), settings{deadlines: soon, argocd: "cluster: \"" + a.FarServer + "\""})
	f := w.servers[0]
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "ready", 90*time.Second, in(previews.Ready))
	a.Far.Cut(t)
	a.Cluster.Cut(t)
	f.remove(p.ID)
	f.until(p.ID, "stuck, for the cluster", 60*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Deleting && says(p, "stuck:", "cluster")
	})
	a.Far.Restore()
	a.Cluster.Restore()
	f.until(p.ID, "gone", 2*time.Minute, in(previews.Gone))
	w.nothingLeft()
}

func TestArgoCDPreviewWhileArgoCDIsAway(t *testing.T) {
	w := newWorld(t, realtest.Web(goodImage), settings{deadlines: soon})
	f := w.servers[0]
	p := f.create(map[string]any{"ttl": "10m"})
	f.until(p.ID, "ready", 90*time.Second, in(previews.Ready))
	w.Server.Cut(t)
	f.until(p.ID, "degraded, for Argo CD", 60*time.Second, func(p previews.Preview) bool {
		return p.Phase == previews.Degraded && says(p, "Argo CD", "main")
	})
	w.Server.Restore()
	f.until(p.ID, "ready again", 60*time.Second, in(previews.Ready))
	f.remove(p.ID)
	f.until(p.ID, "gone", 90*time.Second, in(previews.Gone))
	w.nothingLeft()
}
