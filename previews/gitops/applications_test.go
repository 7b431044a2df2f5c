package gitops

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// branch is a repository's branch in memory; moves is how often somebody else
// is first.
type branch struct {
	files   map[string]string
	commits []string
	moves   int
}

func (b *branch) Read(_ context.Context, path string) ([]byte, string, error) {
	if text, ok := b.files[path]; ok {
		return []byte(text), "head", nil
	}
	return nil, "head", nil
}

func (b *branch) Write(_ context.Context, _, path string, data []byte, message string) error {
	if b.moves > 0 {
		b.moves--
		return fault.New(fault.Conflict, "the branch has moved")
	}
	b.commits = append(b.commits, message)
	if data == nil {
		delete(b.files, path)
		return nil
	}
	b.files[path] = string(data)
	return nil
}

// watcher is an Argo CD that has what it was given.
type watcher struct {
	argocd.Applications
	app *argocd.Application
}

func (w *watcher) Get(context.Context, string, string) (*argocd.Application, error) {
	if w.app == nil {
		return nil, fault.New(fault.NotFound, "there is no application")
	}
	return w.app, nil
}

func (w *watcher) Manifests(context.Context, string, string) ([]argocd.Manifest, error) {
	return []argocd.Manifest{{Ref: argocd.Ref{Kind: "Service", Name: "web"}}}, nil
}

func application(commit string) *argocd.Application {
	return &argocd.Application{
		Metadata: argocd.Metadata{Name: "preview-web-1", Labels: map[string]string{"fairlead.dev/preview": "web-1"}, Annotations: map[string]string{"fairlead.dev/expires-at": "2026-11-29T12:00:00Z"},
			Finalizers: []string{"resources-finalizer.argocd.argoproj.io"}},
		Spec: argocd.Spec{Project: "previews", Sources: []argocd.Source{{RepoURL: "https://git.test/web.git", Path: "deploy", TargetRevision: commit}},
			Destination: argocd.Destination{Server: "https://kubernetes.default.svc", Namespace: "preview-web-1"}},
		Status: argocd.Status{ReconciledAt: "2026-11-29T11:00:00Z"},
	}
}

const written = `# Written by Fairlead, which removes it when the preview ends.
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  annotations:
    fairlead.dev/expires-at: "2026-11-29T12:00:00Z"
  finalizers:
    - resources-finalizer.argocd.argoproj.io
  labels:
    fairlead.dev/preview: web-1
  name: preview-web-1
  namespace: argocd
spec:
  destination:
    namespace: preview-web-1
    server: https://kubernetes.default.svc
  project: previews
  sources:
    - path: deploy
      repoURL: https://git.test/web.git
      targetRevision: aaaa
`

func TestApplicationsAreFiles(t *testing.T) {
	b, w := &branch{files: map[string]string{}, moves: 2}, &watcher{}
	a, ctx, app := Over(b, "previews", "argocd", w), t.Context(), application("aaaa")
	const file, name = "previews/preview-web-1.yaml", "preview-web-1"
	if _, err := a.Get(ctx, "previews", name); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("at first: %v", err)
	}
	for range 2 { // the second finds it done
		if err := a.Put(ctx, app); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(written, b.files[file]); d != "" || len(b.commits) != 1 {
		t.Errorf("%d commits, and %s", len(b.commits), d)
	}
	app.Status = argocd.Status{Conditions: []argocd.Condition{{Type: argocd.ConditionUntaken,
		Message: "Argo CD has not taken " + file + " up yet. If it stays so, see that an application of Argo CD deploys the folder previews of the repository of previews, with pruning."}}}
	if got, err := a.Get(ctx, "previews", name); err != nil || cmp.Diff(app, got) != "" {
		t.Errorf("before Argo CD has taken it up: %v, %s", err, cmp.Diff(app, got))
	}
	if _, err := a.Manifests(ctx, "previews", name); !errors.Is(err, argocd.ErrUntaken) || !strings.Contains(err.Error(), "has not taken "+file+" up yet") {
		t.Errorf("manifests before Argo CD has taken it up: %v", err)
	}

	w.app = application("aaaa")
	if got, err := a.Get(ctx, "previews", name); err != nil || got != w.app {
		t.Errorf("of Argo CD: %+v, %v", got, err)
	}
	if m, err := a.Manifests(ctx, "previews", name); err != nil || len(m) != 1 {
		t.Errorf("manifests: %v, %v", m, err)
	}
	if err := a.Put(ctx, application("bbbb")); err != nil {
		t.Fatal(err)
	}
	if m, err := a.Manifests(ctx, "previews", name); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("manifests of the commit before: %v, %v", m, err)
	}

	if err := a.Delete(ctx, "previews", name, false); fault.CodeOf(err) != fault.FailedPrecondition || b.files[file] == "" {
		t.Errorf("forgetting it: %v", err)
	}
	for range 2 {
		if err := a.Delete(ctx, "previews", name, true); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.files) != 0 || len(b.commits) != 3 {
		t.Errorf("left are %v after %v", b.files, b.commits)
	}
	w.app = nil
	if _, err := a.Get(ctx, "previews", name); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("at last: %v", err)
	}
}

func TestFilesOfOthers(t *testing.T) {
	for _, text := range []string{"", "[", "a: 1\n", "metadata: {name: [x]}\n"} {
		b := &branch{files: map[string]string{"previews/x.yaml": text}}
		a := Over(b, "previews", "argocd", &watcher{})
		if _, err := a.Get(t.Context(), "previews", "x"); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "previews/x.yaml") {
			t.Errorf("%q: %v", text, err)
		}
	}
	b := &branch{files: map[string]string{}, moves: 100}
	if err := Over(b, "previews", "argocd", &watcher{}).Put(t.Context(), application("aaaa")); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("on a branch that always moves: %v", err)
	}
}
