package argo

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// brought applies a preview as the reconciler does, until it is ready.
func (w *world) brought(wish *previews.Wish) previews.Observed {
	w.Helper()
	w.apply(wish)
	return w.until(wish, "it is ready", func(o previews.Observed) bool {
		if o.Stale {
			w.apply(wish)
		}
		return o.Ready && !o.Stale
	})
}

// secret is a Secret as the cluster has it.
type secret struct {
	Metadata struct{ Labels map[string]string }
	Data     map[string][]byte
}

func (w *world) secret(wish *previews.Wish) (s secret, status int) {
	w.Helper()
	status = w.argo.Kube(w, http.MethodGet, "/api/v1/namespaces/preview-"+wish.ID+"/secrets/"+argocd.SecretName, nil, &s)
	return s, status
}

// withData is a wish for a database, with the URL that reaches it.
func (w *world) withData(r *realtest.Repository, url string) previews.Wish {
	wish := w.wish(r)
	wish.Template.Data = []previews.DataTemplate{{Name: "db", Kind: "postgres", Server: "main", Env: "DATABASE_URL"}}
	wish.Given = []previews.Given{{Env: "DATABASE_URL", Value: access.NewSecret(url)}}
	return wish
}

// reading is a web whose Pods have the Secret for their environment.
func reading() string {
	return strings.Replace(realtest.Web("web:1"), `image: "web:1",`, `image: "web:1", envFrom: [{secretRef: {name: `+argocd.SecretName+`}}],`, 1)
}

// TestArgoCDCarriesData has what reaches a preview's data come into its
// namespace and nowhere else, stay there, and go with it.
func TestArgoCDCarriesData(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	const password = "word-that-nobody-else-may-see"
	wish := w.withData(w.argo.Repository(t, map[string]string{"deploy/web.yaml": reading()}), "postgres://pv:"+password+"@db.example.com/pv")
	if err := w.deployer.Carries(wish); err != nil {
		t.Fatal(err)
	}
	w.brought(&wish)
	s, _ := w.secret(&wish)
	if string(s.Data["DATABASE_URL"]) != wish.Given[0].Value.Reveal() || len(s.Data) != 1 || s.Metadata.Labels["fairlead.dev/preview"] != wish.ID {
		t.Errorf("the Secret holds %d values, with labels %v", len(s.Data), s.Metadata.Labels)
	}
	w.tellsNothing(&wish, password)

	app := "/api/v1/applications/preview-" + wish.ID
	w.argo.API(t, http.MethodGet, app+"?refresh=hard", nil, nil)
	w.argo.API(t, http.MethodPost, app+"/sync", map[string]any{"prune": true}, nil)
	if o := w.brought(&wish); o.Stale {
		t.Errorf("after another sync with pruning it is %+v", o)
	}
	if _, status := w.secret(&wish); status != http.StatusOK {
		t.Errorf("Argo CD pruned the Secret: %d", status)
	}

	wish.Given[0].Value = access.NewSecret("postgres://pv:another@db.example.com/pv")
	w.apply(&wish)
	if s, _ := w.secret(&wish); string(s.Data["DATABASE_URL"]) != wish.Given[0].Value.Reveal() {
		t.Error("the Secret holds what was given before")
	}
	w.goes(&wish)
	if _, status := w.secret(&wish); status != http.StatusNotFound {
		t.Errorf("the Secret outlives its preview: %d", status)
	}
}

// tellsNothing holds Argo CD to know nothing of a word.
func (w *world) tellsNothing(wish *previews.Wish, word string) {
	w.Helper()
	name := "preview-" + wish.ID
	for _, path := range []string{"", "/resource-tree", "/manifests", "/managed-resources", "/events"} {
		var told any
		if status := w.argo.API(w, http.MethodGet, "/api/v1/applications/"+name+path, nil, &told); status != http.StatusOK {
			w.Errorf("%s: %d", path, status)
		}
		w.hasNot(path, told, word)
	}
	var app, ns any
	w.argo.Kube(w, http.MethodGet, "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/"+name, nil, &app)
	w.argo.Kube(w, http.MethodGet, "/api/v1/namespaces/"+name, nil, &ns)
	w.hasNot("the application", app, word)
	w.hasNot("the namespace", ns, word)
	o, err := w.deployer.Observe(w.Context(), *wish)
	w.hasNot("what is seen", fmt.Sprint(o, err, *wish), word)
}

func (w *world) hasNot(what string, told any, word string) {
	w.Helper()
	text, err := json.Marshal(told)
	if err != nil || len(text) < 3 {
		w.Errorf("%s: %s, %v", what, text, err)
	}
	if strings.Contains(string(text), word) || strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(word))[:24]) {
		w.Errorf("%s tells the word", what)
	}
}

// TestArgoCDDataIsPutRight has a Secret vanish, one of somebody else's stand in
// its place, and a repository that holds one of that name.
func TestArgoCDDataIsPutRight(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	r := w.argo.Repository(t, map[string]string{"deploy/web.yaml": reading()})
	wish := w.withData(r, "postgres://pv:one@db.example.com/pv")
	w.brought(&wish)
	path := "/api/v1/namespaces/preview-" + wish.ID + "/secrets"
	w.argo.Kube(t, http.MethodDelete, path+"/"+argocd.SecretName, nil, nil)
	w.until(&wish, "it is missed", func(o previews.Observed) bool {
		return !o.Ready && o.Stale && strings.Contains(o.Reason, argocd.SecretName)
	})
	w.brought(&wish)

	w.argo.Kube(t, http.MethodDelete, path+"/"+argocd.SecretName, nil, nil)
	other := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": argocd.SecretName}, "stringData": map[string]string{"A": "b"}}
	if status := w.argo.Kube(t, http.MethodPost, path, other, nil); status != http.StatusCreated {
		t.Fatalf("making another's: %d", status)
	}
	if err := w.deployer.Apply(t.Context(), wish); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "none of Fairlead's") {
		t.Errorf("over another's: %v", err)
	}
	if s, _ := w.secret(&wish); string(s.Data["A"]) != "b" || len(s.Data) != 1 {
		t.Error("another's Secret was changed")
	}
	w.goes(&wish)

	wish = w.withData(r, "postgres://pv:one@db.example.com/pv")
	wish.Commit = r.Commit(t, map[string]string{"deploy/own.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: " + argocd.SecretName + "}\nstringData: {A: b}\n"})
	if err := w.deployer.Apply(t.Context(), wish); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "holds a Secret "+argocd.SecretName) {
		t.Errorf("with one of its own: %v", err)
	}
	w.goes(&wish)
}

// TestArgoCDDataNeedsTheCluster refuses data where the cluster is not at hand,
// and says so where the kubeconfig does not reach.
func TestArgoCDDataNeedsTheCluster(t *testing.T) {
	w := newWorld(t, argocd.Config{}, func(_ *realtest.Argo, cfg *instance.Config) { cfg.KubeconfigFile = "" })
	wish := w.withData(w.argo.Repository(t, map[string]string{"deploy/web.yaml": reading()}), "postgres://x")
	if err := w.deployer.Carries(wish); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(fault.From(err).Fix, "kubeconfigFile") {
		t.Error(err)
	}
	w = newWorld(t, argocd.Config{})
	cluster, ok := w.instance.Secrets.(*Cluster)
	if !ok {
		t.Fatalf("%T", w.instance.Secrets)
	}
	if _, err := cluster.Secret(t.Context(), "argocd", "none"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a Secret that is not there: %v", err)
	}
	err := cluster.PutSecret(t.Context(), argocd.Secret{Namespace: "argocd", Name: "argocd-secret"})
	if f := fault.From(err); f.Code != fault.Unavailable || !strings.Contains(f.Fix, "create on secrets") {
		t.Errorf("over what the kubeconfig may not change: %v", err)
	}
}

// TestArgoCDStrayNamespace finds and removes a namespace whose application is
// gone, and finds and removes an application that nobody knows.
func TestArgoCDStrayNamespace(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	wish := w.wish(w.argo.Repository(t, map[string]string{"deploy/web.yaml": realtest.Web("web:1")}))
	w.brought(&wish)
	strays := func() (out []string) {
		found, err := w.deployer.Strays(t.Context(), func(id string) bool { return id != wish.ID })
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.Wish.Service != wish.Service || s.Since.IsZero() {
				t.Errorf("found %+v", s)
			}
			out = append(out, s.What...)
		}
		return out
	}
	if what := strays(); len(what) != 1 || !strings.HasPrefix(what[0], "Application preview-"+wish.ID) {
		t.Errorf("beside its application: %q", what)
	}
	if err := w.client.Delete(t.Context(), w.instance.Project, "preview-"+wish.ID, false); err != nil {
		t.Fatal(err)
	}
	w.until(&wish, "its application is forgotten", func(o previews.Observed) bool { return strings.Contains(o.Reason, "The application is gone") })
	if what := strays(); len(what) != 1 || !strings.HasPrefix(what[0], "namespace preview-"+wish.ID+" in the cluster of Argo CD main") {
		t.Errorf("without its application: %q", what)
	}
	if err := w.deployer.RemoveStray(t.Context(), wish.ID); err != nil {
		t.Fatal(err)
	}
	w.until(&wish, "the namespace is gone", func(o previews.Observed) bool { return !o.Exists })
	if what := strays(); len(what) > 0 {
		t.Errorf("at last: %q", what)
	}
}

// TestArgoCDHelm has a chart made with the values of a preview.
func TestArgoCDHelm(t *testing.T) {
	w := newWorld(t, argocd.Config{})
	image := strings.NewReplacer(`image: "web:1"`, `image: "registry.example.com/web:{{ .Values.image.tag }}"`, "replicas: 2", "replicas: {{ .Values.replicas }}").Replace(realtest.Web("web:1"))
	r := w.argo.Repository(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "chart/values.yaml": "image: {tag: latest}\nreplicas: 3\nhost: none\n",
		"chart/templates/web.yaml": image, "chart/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-settings, namespace: {{ .Release.Namespace }}}\ndata: {host: {{ .Values.host | quote }}}\n"})
	wish := w.wish(r)
	wish.Template.Settings = settings(t, argocd.Settings{Path: "chart", URL: "https://{id}.example.com", Helm: &argocd.Helm{ReleaseName: "web", Parameters: []argocd.Parameter{{Name: "image.tag", Value: "{commit}", ForceString: true}},
		ValuesObject: json.RawMessage(`{"replicas": 1, "host": "{id}.example.com"}`)}})
	if o := w.brought(&wish); o.Commit != wish.Commit || o.URL != "https://"+wish.ID+".example.com" {
		t.Errorf("%+v", o)
	}
	ns := "preview-" + wish.ID
	var d struct {
		Spec struct {
			Replicas int
			Template struct {
				Spec struct{ Containers []struct{ Image string } }
			}
		}
	}
	w.argo.Kube(t, http.MethodGet, "/apis/apps/v1/namespaces/"+ns+"/deployments/web", nil, &d)
	if c := d.Spec.Template.Spec.Containers; d.Spec.Replicas != 1 || len(c) != 1 || c[0].Image != "registry.example.com/web:"+wish.Commit {
		t.Errorf("deployed %+v", d)
	}
	var config struct{ Data map[string]string }
	if w.argo.Kube(t, http.MethodGet, "/api/v1/namespaces/"+ns+"/configmaps/web-settings", nil, &config); config.Data["host"] != wish.ID+".example.com" {
		t.Errorf("the chart was told %v", config.Data)
	}
	bad := w.wish(r)
	bad.Template.Settings = settings(t, argocd.Settings{Path: "chart", Helm: &argocd.Helm{ValueFiles: []string{"none.yaml"}}})
	if err := w.deployer.Apply(t.Context(), bad); fault.CodeOf(err) != fault.FailedPrecondition || fault.From(err).Fix == "" {
		t.Errorf("with values that are not there: %v", err)
	}
	w.goes(&bad)
	w.goes(&wish)
	if left, err := w.deployer.Strays(t.Context(), func(string) bool { return false }); err != nil || slices.ContainsFunc(left, func(s previews.Stray) bool { return s.ID == wish.ID || s.ID == bad.ID }) {
		t.Errorf("left: %+v, %v", left, err)
	}
}
