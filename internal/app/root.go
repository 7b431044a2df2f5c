package app

import "net/http"

const contents = `Fairlead: one catalog for people and agents.

/graphql               GraphQL; GraphiQL in a browser
/mcp, /mcp/readonly    MCP, for agents
/api/catalog/...       Backstage's catalog API
/api/v1/...            the same operations as plain REST; described in /api/v1/openapi.json
/healthz, /readyz      alive; serving a catalog
/metrics               Prometheus

On the command line: fairlead status
`

// root tells whoever opens the bare address what is served where.
func root(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, contents) }

func nothingThere(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusNotFound, "there is nothing here; what is served is listed at /\n")
}
