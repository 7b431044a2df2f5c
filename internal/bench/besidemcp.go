package main

import (
	"context"
	"errors"
	"fmt"
)

// besideMCP are the same questions to both over MCP: an entity, and then a
// page of twenty components.
func besideMCP(ctx context.Context, ours *server, repo *repository) ([]twin, error) {
	session, err := openMCP(ctx, ours)
	if err != nil {
		return nil, err
	}
	one := func(i int) named { return repo.components[i*7919%len(repo.components)] }
	return []twin{
		{visit{"MCP, an entity", "1/60", func(i int) request {
			return session.call("get_entity", map[string]any{"ref": one(i).ref()}, one(i).name)
		}}, func(i int) request {
			return backstageTool("catalog.get-catalog-entity", map[string]any{"kind": "component", "namespace": one(i).namespace, "name": one(i).name}, one(i).name)
		}},
		{visit{"MCP, a page of 20", "1/60", func(int) request {
			return session.call("search_catalog", map[string]any{"query": "", "filter": "kind=component", "limit": 20}, "component:")
		}}, func(int) request {
			return backstageTool("catalog.query-catalog-entities", map[string]any{"query": map[string]any{"kind": "Component"}, "limit": 20}, "Component")
		}},
	}, nil
}

// backstageTool calls a tool of Backstage's MCP server, which keeps no
// sessions.
func backstageTool(name string, arguments map[string]any, holds string) request {
	r := (&mcpSession{header: jsonBody()}).call(name, arguments, holds)
	r.path = "/api/mcp-actions/v1"
	return r
}

// pageBytes prints how long both answers to a question are.
func pageBytes(ctx context.Context, r report, ours, theirs *server, page twin) error {
	a, err1 := ours.ask(ctx, page.next(0))
	b, err2 := theirs.ask(ctx, page.theirs(0))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	r.line(page.name+", answer", fmt.Sprintf("%.1f kB, Backstage %.1f kB", float64(len(a))/1000, float64(len(b))/1000), "12 kB")
	return nil
}
