package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

// sql runs statements in a database.
func (w *world) sql(database, statements string) string {
	w.t.Helper()
	out, err := realtest.SQL(w.t.Context(), database, statements)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// TestArgoCDPreviewHasDataOfItsOwn gives a preview on a real Argo CD a database
// of a real PostgreSQL. Its password is in the preview's namespace and nowhere
// else, and nothing is left of either in the end.
func TestArgoCDPreviewHasDataOfItsOwn(t *testing.T) {
	database := realtest.Postgres(t)
	w := newWorldWithout(t, strings.Replace(realtest.Web(goodImage), "ports:", "envFrom: [{secretRef: {name: fairlead-preview-data}}], ports:", 1))
	for _, name := range strings.Fields(w.sql(database, "SELECT datname FROM pg_database WHERE datallowconn")) {
		w.sql(database, "REVOKE CONNECT ON DATABASE "+name+" FROM PUBLIC")
	}
	w.repo.Commit(t, map[string]string{"db/seed.sql": "CREATE TABLE mugs (name text); INSERT INTO mugs VALUES ('blue'), ('green');\n",
		"catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {type: service, lifecycle: production, owner: group:default/shop,\n" +
			"  fairlead: {preview: {deployer: argocd, data: [{name: db, kind: postgres, seed: db/seed.sql}]}}}\n"})
	f := w.serve(settings{data: "postgres: [{name: main, url: '" + strings.Replace(database, ":any@", "@", 1) + "'}]"})
	p := f.create(map[string]any{"ttl": "5m"})
	f.kill()
	f.start()
	f.until(p.ID, "ready", 2*time.Minute, in(previews.Ready))

	var s struct{ Data map[string][]byte }
	w.Kube(t, http.MethodGet, "/api/v1/namespaces/"+w.prefix+p.ID+"/secrets/fairlead-preview-data", nil, &s)
	own, err := url.Parse(string(s.Data["DATABASE_URL"]))
	if err != nil || own.User == nil {
		t.Fatalf("the Secret holds %d values, %v", len(s.Data), err)
	}
	if got := w.sql(own.String(), "SELECT name FROM mugs ORDER BY name"); got != "blue\ngreen" {
		t.Errorf("its database holds %q", got)
	}
	password, _ := own.User.Password()
	w.hasNot(f, p.ID, password)
	f.remove(p.ID)
	f.until(p.ID, "gone", 2*time.Minute, in(previews.Gone))
	w.nothingLeft()
	if left := w.sql(database, `SELECT datname FROM pg_database WHERE datname LIKE 'pv\_%' UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'pv\_%'`); left != "" {
		t.Errorf("there is still %s", left)
	}
	w.hasNot(f, p.ID, password)
}

// hasNot holds Argo CD, what Fairlead keeps, logs and says, and the repository
// to be without a word.
func (w *world) hasNot(f *fairleadServer, id, word string) {
	w.t.Helper()
	var apps any
	w.Kube(w.t, http.MethodGet, "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications", nil, &apps)
	text, err := json.Marshal(apps)
	_, shown := f.try(http.MethodGet, "/api/v1/previews/"+id, nil, nil)
	_, audit := f.try(http.MethodGet, "/api/v1/audit?limit=500", nil, nil)
	if said := string(text) + shown + audit; err != nil || strings.Contains(said, word) || !strings.Contains(said, id) {
		w.t.Errorf("what is told has the password, or nothing of the preview, %v", err)
	}
	err = filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what vanishes meanwhile holds nothing
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), word) {
			w.t.Errorf("%s has the password", path)
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// TestArgoCDPreviewWithoutItsClusterHasNoData refuses data where no kubeconfig
// leads to the cluster, with the place and what to do.
func TestArgoCDPreviewWithoutItsClusterHasNoData(t *testing.T) {
	w := newWorldWithout(t, realtest.Web(goodImage))
	w.repo.Commit(t, map[string]string{
		"catalog-info.yaml": "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: web}\nspec: {type: service, lifecycle: production, owner: group:default/shop,\n" +
			"  fairlead: {preview: {deployer: argocd, data: [{name: db, kind: postgres}]}}}\n"})
	f := w.serve(settings{noCluster: true, data: "postgres: [{name: main, url: 'postgres://fairlead@127.0.0.1:1/postgres'}]"})
	f.awaitReady()
	status, text := f.try(http.MethodPost, "/api/v1/previews", map[string]any{"service": "web"}, nil)
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "kubeconfigFile") || !strings.Contains(text, "fairlead-preview-data") {
		t.Errorf("%d %s", status, text)
	}
}
