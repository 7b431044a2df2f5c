package arch

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fairlead-dev/fairlead"

// layer says which of our own packages a package may import; the longest
// prefix that matches a package's path decides.
type layer struct {
	prefix string
	may    []string
}

var layers = []layer{
	{"internal/fault", nil},
	{"internal/record", []string{"internal/fault"}},
	{"access/accesstest", []string{"access", "internal/fault"}},
	{"access/oidc", []string{"access", "internal/fault"}},
	{"access/rego", []string{"access", "internal/fault"}},
	{"access", []string{"internal/feed", "internal/fault"}},
	{"catalog", []string{"catalog", "access", "internal/feed", "internal/fault"}},
	{"knowledge", []string{"catalog", "access", "internal/fault"}},
	{"internal/shelf", []string{"internal/fault"}},
	{"internal/feed", []string{"internal/fault"}},
	{"previews", []string{"catalog", "access", "internal/record", "internal/shelf", "internal/feed", "internal/fault"}},
	{"previews/local", []string{"previews", "internal/fault"}},
	{"secrets", []string{"catalog", "access", "internal/record", "internal/feed", "internal/fault"}},
	{"gitops", []string{"catalog", "access", "internal/record", "internal/shelf", "internal/feed", "internal/fault"}},
	{"gitops/render", []string{"gitops"}},
	{"gitops/render/wire", nil},
	{"gitops/render/engine", []string{"gitops/render/wire"}},
	{"graphql", []string{"catalog", "knowledge", "previews", "secrets", "gitops", "access", "internal/fault"}},
	{"mcp", []string{"catalog", "knowledge", "previews", "secrets", "gitops", "access", "internal/fault"}},
	{"rest", []string{"catalog", "knowledge", "previews", "secrets", "gitops", "access", "internal/fault"}},
	{"internal/git", []string{"catalog", "gitops", "internal/fault"}},
	{"internal/forge", []string{"internal/forge", "gitops", "internal/fault"}},
	{"internal/keep", []string{"catalog", "internal/fault"}},
	{"internal/seal", []string{"internal/fault"}},
	{"internal/store", []string{"catalog", "previews", "secrets", "gitops", "access", "internal/fault"}},
	{"internal/jobs", []string{"catalog", "previews", "secrets", "gitops", "access", "internal/fault"}},
	{"internal/argo/instance", nil},
	{"internal/notify", []string{"internal/fault"}},
	{"internal/prometheus", []string{"gitops", "internal/fault"}},
	{"internal/registry", []string{"gitops", "internal/fault"}},
	{"internal/argo", []string{"previews", "gitops", "internal/fault"}},
	{"internal/realtest", []string{"internal/fault"}},
	{"internal/realtest/full", []string{"internal/realtest", "internal/demo", "internal/fault"}},
	{"internal/arch", nil},
	{"internal/demo", []string{"internal/git", "access", "internal/fault"}},
	{"internal/bench", []string{""}},
	{"internal/heap", []string{"internal/fault"}},
	{"internal/app", []string{""}},
	{"cmd/fairleadd", []string{"access/rego", "internal/app", "internal/argo", "internal/demo", "previews/argocd", "internal/fault"}},
	{"cmd/fairlead-render", []string{"gitops/render/engine", "gitops/render/wire"}},
	{"cmd/fairlead-supervisor", []string{"previews/local", "internal/fault"}},
	{"cmd/fairlead", []string{"cmd/fairlead", "catalog", "gitops/edit", "secrets/value", "secrets/offer", "access", "internal/git", "internal/fault"}},
}

// engines are the libraries that exactly one package may import.
var engines = map[string]string{
	"github.com/go-git/go-git/v5":            "internal/git",
	"github.com/google/go-github/v89":        "internal/forge/github",
	"code.gitea.io/sdk/gitea":                "internal/forge/gitea",
	"gitlab.com/gitlab-org/api/client-go/v2": "internal/forge/gitlab",
	"golang.org/x/oauth2":                    "internal/forge",
	"go.etcd.io/bbolt":                       "internal/keep",
	"modernc.org/sqlite":                     "internal/store",
	"github.com/jackc/pgx/v5":                "internal/store",
	"github.com/pressly/goose/v3":            "internal/store",
	// Databases are made for previews in other servers than the store's, by
	// statements that no pool and no database/sql may repeat or put into a
	// transaction, and filled by files of many statements: docs/adr/0016.
	"github.com/jackc/pgx/v5/pgconn":          "previews/postgres",
	"github.com/jackc/pgx/v5/pgproto3":        "previews/postgres",
	"github.com/jackc/pgx/v5/pgxpool":         "internal/jobs", // River wants a pool of its own
	"github.com/redis/go-redis/v9":            "previews/redis",
	"github.com/riverqueue/river":             "internal/jobs",
	"github.com/mark3labs/mcp-go":             "mcp",
	"github.com/graph-gophers/graphql-go":     "graphql",
	"github.com/vektah/gqlparser/v2":          "graphql",
	"github.com/coder/websocket":              "graphql",
	"github.com/prometheus/client_golang":     "internal/app",
	"go.opentelemetry.io/otel/sdk":            "internal/app",
	"github.com/argoproj/argo-cd/v2":          "internal/argo",
	"k8s.io":                                  "internal/argo",
	"helm.sh/helm/v3":                         "gitops/render/engine",
	"github.com/google/go-containerregistry":  "internal/registry",
	"sigs.k8s.io/kustomize":                   "gitops/render/engine",
	"github.com/hashicorp/vault/api":          "secrets/vault",
	"github.com/coreos/go-oidc/v3":            "access/oidc",
	"github.com/go-jose/go-jose/v4":           "access/oidc",
	"github.com/open-policy-agent/opa":        "access/rego",
	"github.com/alecthomas/kong":              "cmd",
	"go.opentelemetry.io/otel/exporters/otlp": "internal/app",
}

func TestImports(t *testing.T) {
	for dir, pkg := range packages(t) {
		l, known := layerOf(dir)
		if !known {
			t.Errorf("%s is in no layer: add it to the design first", dir)
			continue
		}
		for _, imp := range pkg.Imports {
			if own, ok := strings.CutPrefix(imp, module+"/"); ok && !allowed(l, dir, own) {
				t.Errorf("%s must not import %s", dir, own)
			}
			if home := homeOf(imp); home != "" && !within(dir, home) {
				t.Errorf("%s must not import %s: only %s may", dir, imp, home)
			}
		}
	}
}

// TestRoomsKnowNoAdapters holds previews to its interfaces: neither the room nor
// a deployer knows a deployer, but for previews/gitops, which is previews/argocd
// with another way to write.
func TestRoomsKnowNoAdapters(t *testing.T) {
	found := 0
	for dir, pkg := range packages(t) {
		if !within(dir, "previews") {
			continue
		}
		found++
		for _, imp := range pkg.Imports {
			if own, ok := strings.CutPrefix(imp, module+"/previews/"); ok && (dir != "previews/gitops" || own != "argocd") {
				t.Errorf("%s must not import previews/%s", dir, own)
			}
		}
	}
	if found < 3 {
		t.Errorf("found only %d packages", found)
	}
}

// TestEnginesInTests holds tests to the same homes for engines, but for tests
// that drive a door with the library's own client.
func TestEnginesInTests(t *testing.T) {
	for dir, pkg := range packages(t) {
		for _, imp := range slices.Concat(pkg.TestImports, pkg.XTestImports) {
			if home := homeOf(imp); home != "" && !within(dir, home) && dir != "internal/app" {
				t.Errorf("tests of %s must not import %s: only %s may", dir, imp, home)
			}
		}
	}
}

func layerOf(dir string) (layer, bool) {
	best, found := layer{}, false
	for _, l := range layers {
		if within(dir, l.prefix) && len(l.prefix) >= len(best.prefix) {
			best, found = l, true
		}
	}
	return best, found
}

func allowed(l layer, dir, imp string) bool {
	if within(imp, l.prefix) && within(dir, l.prefix) {
		return true
	}
	return slices.ContainsFunc(l.may, func(m string) bool { return m == "" || within(imp, m) })
}

func homeOf(imp string) string {
	best := ""
	for lib := range engines {
		if within(imp, lib) && len(lib) > len(best) {
			best = lib
		}
	}
	return engines[best]
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// packages are the module's packages by their folder.
func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	root := repositoryRoot(t)
	out := map[string]*build.Package{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
			return fs.SkipDir
		}
		pkg, err := build.ImportDir(path, 0)
		if err != nil {
			return nil //nolint:nilerr // a folder without Go files is no package
		}
		rel, err := filepath.Rel(root, path)
		out[filepath.ToSlash(rel)] = pkg
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 5 {
		t.Fatalf("found only %d packages below %s", len(out), root)
	}
	return out
}

func repositoryRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}
