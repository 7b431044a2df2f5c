package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// packages is the folder of the plug-ins for Backstage.
func packages(t *testing.T) string {
	t.Helper()
	return realtest.Packages(t, filepath.Join("..", "realtest", "ui.sh"))
}

// fed is a real Backstage that keeps a catalog of its own, fed from a server.
type fed struct {
	*realtest.BackstageServer
	t *testing.T
}

// catalogOf are the entities of a catalog by their references, less what each
// catalog gives of its own, and less Locations.
func catalogOf(t *testing.T, url, token string) map[string]string {
	t.Helper()
	var all []map[string]any
	(&server{t: t, url: url}).send(token, http.MethodGet, "/api/catalog/entities", "").decode(t, &all)
	out := map[string]string{}
	for _, e := range all {
		meta := e["metadata"].(map[string]any)
		ref := strings.ToLower(fmt.Sprintf("%s:%s/%s", e["kind"], meta["namespace"], meta["name"]))
		if e["kind"] == "Location" {
			continue
		}
		delete(meta, "uid")
		delete(meta, "etag")
		delete(e, "status")
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out[ref] = string(text)
	}
	return out
}

// await waits until the catalog holds what is said, and tells how long that
// took.
func (f *fed) await(what string, holds func(map[string]string) bool) {
	f.t.Helper()
	start := time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); ; {
		got := catalogOf(f.t, f.URL, f.Token)
		if holds(got) {
			f.t.Logf("%s: %v", what, time.Since(start).Round(time.Millisecond))
			return
		}
		select {
		case <-late:
			f.t.Fatalf("in vain waited for: %s; there are %v\n%s", what, slices.Sorted(maps.Keys(got)), f.Log())
		case <-tick.C:
		}
	}
}

// without leaves one entity out.
func without(all map[string]string, ref string) map[string]string {
	all = maps.Clone(all)
	delete(all, ref)
	return all
}

// startFixed serves the demo at an address that stays; again serves it there
// anew, from the same state.
func startFixed(t *testing.T) (s *server, again func()) {
	t.Helper()
	s, set := newDemo(t, realtest.FreeAddress(t))
	again = func() { s.start(set.Config) }
	again()
	return s, again
}

// rewrite changes a text in a file of one of the demo's repositories.
func (s *server) rewrite(repo, path, old, text string) {
	s.t.Helper()
	was := readFile(s.t, s.repo(repo, path))
	now := strings.ReplaceAll(was, old, text)
	if now == was {
		s.t.Fatalf("there is no %q in %s", old, path)
	}
	s.commit(repo, path, now)
}

// TestPackagesFeedBackstage has a real Backstage keep a catalog of its own, which
// the back-end module feeds: the same entities with the same relations, every
// change within seconds, also after either side was down, and an entity that the
// catalog refuses stops no other.
func TestPackagesFeedBackstage(t *testing.T) {
	folder := packages(t)
	s, again := startFixed(t)
	own := filepath.Join(t.TempDir(), "own.yaml")
	write(t, own, "apiVersion: backstage.io/v1alpha1\nkind: Resource\nmetadata: {name: cart-db, title: Of Backstage itself}\nspec: {type: database, owner: storefront, system: shop}\n")
	cfg := realtest.BackstageConfig{Database: realtest.Postgres(t), Locations: []string{own}, Packages: folder}
	if err := realtest.Backstage(t, cfg).Stop(); err != nil { // it holds its own now
		t.Fatal(err)
	}
	cfg.Providers = fmt.Sprintf(`{fairlead: {main: {url: %q, token: %q}}}`, s.url, s.tokens["developer"])
	f := &fed{realtest.Backstage(t, cfg), t}
	const theirs = "resource:default/cart-db"
	same := func(got map[string]string) bool {
		return maps.Equal(without(got, theirs), without(catalogOf(t, s.url, s.tokens["developer"]), theirs))
	}
	f.await("the demo's entities and relations", same)
	if got := catalogOf(t, f.URL, f.Token)[theirs]; !strings.Contains(got, "Of Backstage itself") {
		t.Errorf("Backstage holds of its own %s", got)
	}
	if log := f.Log(); !strings.Contains(log, "conflicting entityRef resource:default/cart-db") {
		t.Errorf("Backstage does not tell of what it refuses: %s", log)
	}

	s.rewrite("checkout", "catalog-info.yaml", "title: Checkout", "title: Checkout, renewed")
	f.await("an edit", func(got map[string]string) bool {
		return strings.Contains(got["component:default/checkout"], "Checkout, renewed")
	})
	s.rewrite("fraud", "catalog-info.yaml", "name: fraud\n", "name: fraud-checks\n")
	f.await("a new name", func(got map[string]string) bool {
		return got["component:default/fraud-checks"] != "" && got["component:default/fraud"] == ""
	})
	s.git("pricing", "rm", "-q", "catalog-info.yaml")
	s.git("pricing", "commit", "-qm", "Remove it")
	f.await("a deletion", func(got map[string]string) bool { return got["component:default/pricing"] == "" })

	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.rewrite("orders", "catalog-info.yaml", "title: Orders\n", "title: Orders, renewed\n")
	s.git("search", "rm", "-q", "catalog-info.yaml")
	s.git("search", "commit", "-qm", "Remove it")
	again()
	f.await("what changed while Fairlead was down", func(got map[string]string) bool {
		return strings.Contains(got["component:default/orders"], "Orders, renewed") && got["component:default/search"] == "" && same(got)
	})

	if err := f.Stop(); err != nil {
		t.Fatal(err)
	}
	s.git("ledger", "rm", "-q", "catalog-info.yaml")
	s.git("ledger", "commit", "-qm", "Remove it")
	s.await("Fairlead sees that", func() bool { return s.entityStatus("component:default/ledger") == http.StatusNotFound })
	f = &fed{realtest.Backstage(t, cfg), t}
	f.await("what went while Backstage was down", func(got map[string]string) bool { return got["component:default/ledger"] == "" && same(got) })
	if log := f.Log(); strings.Contains(log, s.tokens["developer"]) {
		t.Errorf("Backstage's log shows the token: %s", log)
	}
}

// TestPackagesFeedManyEntities feeds 5,000 entities at once.
func TestPackagesFeedManyEntities(t *testing.T) {
	folder := packages(t)
	const many, inFile = 5_000, 100
	dir := t.TempDir()
	for file := range many / inFile {
		var text strings.Builder
		for i := range inFile {
			fmt.Fprintf(&text, "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: service-%d-%d, description: %q}\nspec: {type: service, lifecycle: production, owner: shop}\n", file, i, strings.Repeat("what it is for ", 40))
		}
		folder := filepath.Join(dir, "catalog", fmt.Sprint(file))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "catalog-info.yaml"), text.String())
	}
	for name, text := range map[string]string{"token": "reader-0123456789abcdef0123456789abcdef", "own.yaml": service("own", "shop"),
		"fairlead.yaml": "listen: 127.0.0.1:0\nauth:\n  tokens:\n    - {name: reader, tokenFile: token, subject: 'user:default/reader', roles: [reader]}\ncatalog:\n  sources:\n    - {name: files, file: {path: ./catalog}}\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	s := &server{t: t, dir: dir}
	s.start(filepath.Join(dir, "fairlead.yaml"))
	b := realtest.Backstage(t, realtest.BackstageConfig{Packages: folder, Locations: []string{filepath.Join(dir, "own.yaml")}, LogLevel: "info",
		Providers: fmt.Sprintf(`{fairlead: {many: {url: %q, token: reader-0123456789abcdef0123456789abcdef}}}`, s.url)})
	var given string
	defer func() {
		if t.Failed() {
			t.Logf("%s were given\n%s", given, b.Log())
		}
	}()
	s.await("the catalog is given all of them", func() bool {
		given, _ = b.SQL(t.Context(), "SELECT count(*) FROM refresh_state_references WHERE source_key = 'fairlead-provider:many'")
		return strings.TrimSpace(given) == fmt.Sprint(many)
	})
	for line := range strings.Lines(b.Log()) {
		if strings.Contains(line, "Read 5000 entities") {
			t.Log(line)
		}
	}
}
