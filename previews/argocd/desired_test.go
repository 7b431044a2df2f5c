package argocd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

func deployer(t *testing.T, cfg Config) *Deployer {
	t.Helper()
	d, err := New(cfg, Options{Instances: map[string]*Instance{"main": {URL: "https://argocd.example.com"}, "far": {URL: "https://far.example.com", Project: "far-previews"}},
		Mark: "abcdef.argocd", Guards: func() (string, string) {
			return "https://fairlead.example.com/previews/guards.git", strings.Repeat("9", 40)
		}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wish(t *testing.T, s Settings) previews.Wish {
	t.Helper()
	settings, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return previews.Wish{ID: "checkout-a1b2c3d4e5f6", Service: "component:default/checkout", Repository: "https://git.example.com/acme/shop.git", Dir: "services/checkout",
		Commit: strings.Repeat("0123456789", 4), Person: "user:default/alice", Agent: "claude", Owner: "group:default/storefront",
		ExpiresAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Template: previews.Template{Deployer: "argocd", Settings: settings}}
}

// TestApplications holds what Argo CD is asked for against files.
func TestApplications(t *testing.T) {
	for name, c := range map[string]struct {
		cfg Config
		of  Settings
	}{
		"default": {Config{Instance: "main"}, Settings{}},
		"kustomize": {Config{Instance: "main", Rewrite: []Rewrite{{"https://git.example.com/", "git@git.example.com:"}}}, Settings{Path: "k8s/base", URL: "https://{id}.preview.example.com",
			Kustomize: &Kustomize{Images: []string{"checkout=registry.example.com/checkout:{shortCommit}"}, NamePrefix: "p-",
				Patches: []Patch{{Patch: `[{"op":"replace","path":"/spec/rules/0/host","value":"{id}.preview.example.com"}]`, Target: &Target{Kind: "Ingress"}}}}}},
		"helm": {Config{Instance: "main", NamePrefix: "pr-", Background: true, Cluster: "previews"}, Settings{Instance: "far", Repository: "https://git.example.com/acme/charts.git", Path: "checkout",
			Helm: &Helm{ReleaseName: "checkout", Parameters: []Parameter{{Name: "image.tag", Value: "{commit}"}}, ValuesObject: json.RawMessage(`{"ingress":{"host":"{id}.example.com"}}`)}}},
		"directory": {Config{Instance: "main", Quota: map[string]string{"pods": "3"}, Network: Network{From: []map[string]string{{"kubernetes.io/metadata.name": "ingress"}}, To: []string{"10.1.0.0/16"}},
			Guards: Guards{Repository: "https://git.example.com/platform/guards.git", Path: "previews", Revision: "v1"}}, Settings{Path: ".", Directory: &Directory{Recurse: true, Exclude: "prod/*"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := wish(t, c.of)
			p, err := deployer(t, c.cfg).planOf(&w)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, p.app)
			if p.wish == p.checked || p.paused().Spec.SyncPolicy != nil || p.paused().Metadata.Annotations[annotationWish] == p.wish {
				t.Error("one that is paused is not told from one that is not")
			}
			w.ExpiresAt = w.ExpiresAt.Add(time.Hour)
			later, err := deployer(t, c.cfg).planOf(&w)
			if err != nil || later.wish == p.wish || later.checked != p.checked {
				t.Errorf("put off: %v, wish %s and %s, checked %s and %s", err, p.wish, later.wish, p.checked, later.checked)
			}
		})
	}
}

func golden(t *testing.T, name string, app *Application) {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(app); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden.json")
	if os.Getenv("FAIRLEAD_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(want, text.Bytes()) {
		t.Errorf("%s (%v) is not\n%s", file, err, text.Bytes())
	}
}

func TestChecksManifests(t *testing.T) {
	w := wish(t, Settings{})
	p, err := deployer(t, Config{Instance: "main"}).planOf(&w)
	if err != nil {
		t.Fatal(err)
	}
	own := Manifest{Ref{Version: "v1", Kind: "Namespace", Name: p.name}}
	web := Manifest{Ref{Group: "apps", Version: "v1", Kind: "Deployment", Name: "web"}}
	for _, c := range []struct {
		of   []Manifest
		want string
	}{
		{[]Manifest{own, web}, ""},
		{[]Manifest{own, own, {Ref{Version: "v1", Kind: "Service", Name: "web", Namespace: p.name}}}, ""},
		{[]Manifest{web}, "no Namespace"},
		{[]Manifest{own}, "holds no manifests"},
		{[]Manifest{own, {Ref{Version: "v1", Kind: "ResourceQuota", Name: guardName, Namespace: p.name}}}, "holds no manifests"},
		{[]Manifest{own, {Ref{Version: "v1", Kind: "ConfigMap", Name: "c", Namespace: "checkout"}}}, "ConfigMap c in namespace checkout"},
		{[]Manifest{own, {Ref{Version: "v1", Kind: "Namespace", Name: "checkout"}}}, "Namespace checkout, which is not the preview's own"},
		{[]Manifest{own, {Ref{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Name: "all"}}}, "ClusterRole all, which belongs to the whole cluster"},
		{[]Manifest{own, {Ref{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application", Name: "a"}}}, "Application a"},
		{[]Manifest{own, web, {Ref{Version: "v1", Kind: "Secret", Name: SecretName}}}, "holds a Secret fairlead-preview-data"},
	} {
		err := p.check(c.of)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.FailedPrecondition {
			t.Errorf("%v: %v, want %q", c.of, err, c.want)
		}
	}
}

func TestExplains(t *testing.T) {
	for text, want := range map[string]string{
		`rpc error: code = Unknown desc = Manifest generation error (cached): deploy: app path does not exist`:                                               "the folder of manifests is not in the repository",
		`Failed to load target state: failed to generate manifest for source 1 of 2: rpc error: code = Unknown desc = unable to resolve 'x' to a commit SHA`: "the revision is not in the repository",
		`failed to list refs: repository not found`:                                                          "Argo CD cannot read the repository",
		`application repo https://a:b@git.example.com/x is not permitted in project 'previews'`:              "the AppProject of previews does not allow it",
		"`kustomize build /tmp/x` failed exit status 1: Error: accumulating resources":                       "no manifests can be made of the folder",
		`Get "https://10.0.0.1:443/version?timeout=32s": dial tcp 10.0.0.1:443: connect: connection refused`: "Argo CD does not reach the repository or the cluster",
		`something else`: "Argo CD says: something else",
	} {
		what, _, _ := explain(text)
		if !strings.HasPrefix(what, want) || strings.Contains(what, "a:b@") {
			t.Errorf("%s:\n%s", text, what)
		}
	}
}
