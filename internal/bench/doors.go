package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// visit is one kind of request through one door.
type visit struct {
	name, goal string
	next       func(i int) request
}

func jsonBody() http.Header {
	return http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
}

// visits are the requests that are measured: an entity by its name, and a
// page of twenty of a team's components, through each door.
func visits(ctx context.Context, s *server, repo *repository) ([]visit, error) {
	session, err := openMCP(ctx, s)
	if err != nil {
		return nil, err
	}
	one := func(i int) named { return repo.components[i*7919%len(repo.components)] }
	filter := func(i int) string {
		return "kind=component,spec.type=service,relations.ownedBy=group:default/" + repo.teams[i*31%len(repo.teams)]
	}
	return []visit{
		{"REST, entity by name", "p99 1 ms", func(i int) request {
			return request{method: http.MethodGet, path: "/api/v1/entities/" + url.PathEscape(one(i).ref()), holds: one(i).name}
		}},
		{"REST, filtered page of 20", "p99 3 ms", func(i int) request {
			return request{method: http.MethodGet, path: "/api/v1/entities?limit=20&filter=" + url.QueryEscape(filter(i)), holds: `"items":[{`}
		}},
		{"Backstage's REST, entity by name", "", func(i int) request {
			return request{method: http.MethodGet, path: "/api/catalog/entities/by-name/component/" + one(i).namespace + "/" + one(i).name, holds: one(i).name}
		}},
		{"Backstage's REST, filtered page of 20", "", func(i int) request {
			return request{method: http.MethodGet, path: "/api/catalog/entities/by-query?limit=20&filter=" + url.QueryEscape(filter(i)), holds: `"items":[{`}
		}},
		{"GraphQL, entity by name", "", func(i int) request {
			return graphQL(`query($ref:String!){entity(ref:$ref){metadata{name description} spec}}`, map[string]any{"ref": one(i).ref()}, one(i).name)
		}},
		{"GraphQL, filtered page of 20", "", func(i int) request {
			return graphQL(`query($f:Filter){entities(first:20,filter:$f){edges{node{metadata{name description}}}}}`, map[string]any{"f": filter(i)}, `"node":{`)
		}},
		{"MCP, get_entity", "", func(i int) request {
			return session.call("get_entity", map[string]any{"ref": one(i).ref()}, one(i).name)
		}},
		{"MCP, search_catalog, 20 hits", "", func(i int) request {
			return session.call("search_catalog", map[string]any{"query": "", "filter": filter(i), "limit": 20}, "component:")
		}},
	}, nil
}

func graphQL(query string, variables map[string]any, holds string) request {
	return request{method: http.MethodPost, path: "/graphql", header: jsonBody(), holds: holds, body: encoded(map[string]any{"query": query, "variables": variables})}
}

// mcpSession is a session of the Model Context Protocol.
type mcpSession struct{ header http.Header }

const mcpRevision = "2025-11-25"

func openMCP(ctx context.Context, s *server) (*mcpSession, error) {
	body := encoded(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": map[string]any{
		"protocolVersion": mcpRevision, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = jsonBody()
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("MCP initialize: %s", res.Status)
	}
	m := &mcpSession{header: jsonBody()}
	m.header.Set("MCP-Protocol-Version", mcpRevision)
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		m.header.Set("Mcp-Session-Id", id)
	}
	return m, nil
}

func (m *mcpSession) call(tool string, arguments map[string]any, holds string) request {
	return request{method: http.MethodPost, path: "/mcp", header: m.header, holds: holds, body: encoded(map[string]any{
		"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})}
}

// encoded is JSON of what can always be written as JSON.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
