package graphql_test

import (
	"testing"
)

func TestQueries(t *testing.T) {
	s := serveShop(t)
	for name, c := range map[string]struct{ query, want string }{
		"entity":    {`{entity(ref: "checkout") {ref apiVersion kind title type lifecycle metadata {name namespace title description tags links {url title icon} label(key: "tier") annotation(key: "a/b") labels}}}`, ``},
		"relations": {`{entity(ref: "component:default/checkout") {owner {ref} system {ref domain {ref}} dependsOn {ref dependencyOf {ref}} relations(type: "dependsOn") {targetRef target {ref}} providesApis {ref apiProvidedBy {ref}}}}`, ``},
		"entities":  {`{entities(first: 2, filter: "kind=component", orderBy: {field: "metadata.name"}) {totalCount pageInfo {hasNextPage hasPreviousPage endCursor} edges {cursor node {metadata {name}}}}}`, ``},
		"brief":     {`{serviceBrief(service: "checkout") {ref owner {value kind source {path line} verifiedAt} dependsOn {value}}}`, ``},
		"whoami":    {`{whoami {subject groups actions {action on}}}`, ``},
		"facets":    {`{facets(keys: ["kind", "spec.type"]) {key values {value count}}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.data("owner", c.query, nil)
			t.Log(got)
		})
	}
}
