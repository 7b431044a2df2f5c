package rest

import "github.com/fairlead-dev/fairlead/internal/fault"

// parameterExamples are examples of parameters, by name.
func parameterExamples() map[string]any {
	return map[string]any{
		"ref": "component:default/checkout", "service": "checkout", "repository": "https://github.com/acme/checkout", "entityRef": "component:default/checkout",
		"filter": []string{"kind=component,spec.type=service"}, "fields": []string{"metadata.name", "kind"}, "facets": []string{"kind", "spec.type"},
		"limit": 20, "depth": 2, "direction": "both", "max_tokens": 1200, "sections": []string{"owner", "commands"},
		"handle": "doc://checkout/docs/runbooks/slow.md#mitigation", "section": "mitigation", "alert": "HighErrorRate",
		"subject": "user:default/alice", "since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z",
	}
}

// bodyExamples are examples of bodies, by operation.
func bodyExamples() map[string]any {
	return map[string]any{
		"list_entities":     map[string]any{"query": map[string]any{"kind": "component", "spec.type": "service"}, "orderBy": []any{map[string]any{"field": "metadata.name", "order": "asc"}}, "limit": 20},
		"get_entities":      map[string]any{"entityRefs": []string{"component:default/checkout", "group:default/payments"}},
		"search_catalog":    map[string]any{"query": "payments", "filter": []string{"kind=component"}, "limit": 20},
		"list_facets":       map[string]any{"facets": []string{"kind", "spec.type"}},
		"refresh_entity":    map[string]any{"entityRef": "component:default/checkout"},
		"grant_approval":    map[string]any{"reason": "as agreed in the change meeting"},
		"deny_approval":     map[string]any{"reason": "not before the release is out"},
		"register_location": map[string]any{"target": "https://github.com/acme/shop/blob/main/catalog-info.yaml", "dryRun": true},
	}
}

// answerExamples are examples of answers, by operation.
func answerExamples() map[string]any {
	return map[string]any{
		"whoami": map[string]any{"subject": "user:default/alice", "agent": "claude", "token": "laptop", "groups": []string{"group:default/payments"}, "roles": []string{"developer"},
			"actions": []any{map[string]any{"action": "catalog.read", "on": "everything"}}},
		"search_catalog": map[string]any{"hits": []any{map[string]any{"ref": "component:default/checkout", "title": "Checkout", "type": "service", "lifecycle": "production", "owner": "group:default/payments"}}, "total": 1},
		"list_facets":    map[string]any{"facets": map[string]any{"kind": []any{map[string]any{"value": "Component", "count": 3}}}},
		"get_dependencies": map[string]any{"root": "component:default/checkout", "nodes": []any{map[string]any{"ref": "component:default/checkout", "depth": 0}, map[string]any{"ref": "resource:default/db", "depth": 1}},
			"edges": []any{map[string]any{"from": "component:default/checkout", "type": "dependsOn", "to": "resource:default/db"}}},
	}
}

// exampleFault is an example of a fault of a code.
func exampleFault(code fault.Code) map[string]any {
	texts := map[fault.Code][2]string{
		fault.Invalid:            {"limit must be a whole number, not \"ten\"", "Give a number such as 20."},
		fault.Unauthenticated:    {"the token expired 5m0s ago, at 2026-01-02T12:00:00Z", "Get a new one: sign in again or refresh it."},
		fault.Forbidden:          {"no rule allows catalog.refresh on component:default/checkout to user:default/alice", "Ask its owner, group:default/payments, to do it or to take you in."},
		fault.NotFound:           {"there is no entity component:default/chekout", "Did you mean component:default/checkout?"},
		fault.Conflict:           {"the location is registered already", "Refresh it instead."},
		fault.FailedPrecondition: {"there is nothing to do that to", "Look at it again."},
		fault.QuotaExceeded:      {"catalog.refresh is done at most 30 times a minute", "Try again in 2s."},
		fault.Unavailable:        {"the request ended before its answer was ready", "Try again, or ask for less at once."},
		fault.Internal:           {"something went wrong inside Fairlead", "Try again; if it stays, report the time of the request to the operators."},
	}
	return map[string]any{"code": code, "message": texts[code][0], "fix": texts[code][1]}
}
