package realtest

import (
	"testing"
)

// OpenAPITools are programs that read OpenAPI documents, as openapi.sh
// installed them: a linter, a generator of clients and a TypeScript compiler.
func OpenAPITools(t testing.TB) Clients {
	t.Helper()
	dir, err := installed("openapi-*", "openapi.sh")
	need(t, "tools for OpenAPI", err)
	return Clients{Dir: dir, Node: nodeIn(dir)}
}
