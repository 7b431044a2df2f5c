package descriptor

import "slices"

const (
	hintOwner     = "owner: group:default/my-team"
	hintLifecycle = "lifecycle: production"
)

// optional are members that a mapping may have.
func optional(s schema, names ...string) []rule {
	out := make([]rule, len(names))
	for i, name := range names {
		out[i] = rule{name: name, schema: s}
	}
	return out
}

func one(s shape) schema { return schema{shape: s} }

func listOf(items schema) schema { return schema{shape: list, items: &items} }

func mappingOf(fields ...[]rule) schema {
	return schema{shape: mapping, fields: slices.Concat(fields...)}
}

func profile() schema {
	return mappingOf(optional(one(text), "displayName", "email", "picture"))
}

// needed are texts that a mapping has to have, each with an example.
func needed(namesAndHints ...string) []rule {
	out := make([]rule, 0, len(namesAndHints)/2)
	for i := 0; i+1 < len(namesAndHints); i += 2 {
		out = append(out, rule{name: namesAndHints[i], schema: one(text), required: true, hint: namesAndHints[i+1]})
	}
	return out
}

func ownedBy() relation  { return relation{"owner", "Group", "ownedBy", "ownerOf"} }
func inSystem() relation { return relation{"system", "System", "partOf", "hasPart"} }

func dependencies() []relation {
	return []relation{{"dependsOn", "", "dependsOn", "dependencyOf"}, {"dependencyOf", "", "dependencyOf", "dependsOn"}}
}

// builtin are the kinds of Backstage's catalog model.
func builtin() []kind {
	kinds := []kind{component(), api(), resource(), system(), domain(), group(), user(), location()}
	for i := range kinds {
		kinds[i].versions = []string{"backstage.io/v1alpha1", "backstage.io/v1beta1"}
	}
	return kinds
}

func component() kind {
	return kind{name: "Component", spec: mappingOf(
		needed("type", "type: service", "lifecycle", hintLifecycle, "owner", hintOwner),
		optional(one(text), "system", "subcomponentOf"),
		optional(listOf(one(text)), "providesApis", "consumesApis", "dependsOn"),
	), relations: append([]relation{
		ownedBy(), inSystem(), {"subcomponentOf", "Component", "partOf", "hasPart"},
		{"providesApis", "API", "providesApi", "apiProvidedBy"}, {"consumesApis", "API", "consumesApi", "apiConsumedBy"},
	}, dependencies()...)}
}

func api() kind {
	return kind{name: "API", spec: mappingOf(
		needed("type", "type: openapi", "lifecycle", hintLifecycle, "owner", hintOwner, "definition", "definition: {$text: ./openapi.yaml}"),
		optional(one(text), "system"),
	), relations: []relation{ownedBy(), inSystem()}}
}

func resource() kind {
	return kind{name: "Resource", spec: mappingOf(
		needed("type", "type: database", "owner", hintOwner), optional(one(text), "system"), optional(listOf(one(text)), "dependsOn"),
	), relations: append([]relation{ownedBy(), inSystem()}, dependencies()...)}
}

func system() kind {
	return kind{name: "System", spec: mappingOf(needed("owner", hintOwner), optional(one(text), "domain", "type")),
		relations: []relation{ownedBy(), {"domain", "Domain", "partOf", "hasPart"}}}
}

func domain() kind {
	return kind{name: "Domain", spec: mappingOf(needed("owner", hintOwner), optional(one(text), "subdomainOf", "type")),
		relations: []relation{ownedBy(), {"subdomainOf", "Domain", "partOf", "hasPart"}}}
}

func group() kind {
	return kind{name: "Group", spec: mappingOf(
		needed("type", "type: team"), optional(profile(), "profile"), optional(one(text), "parent"),
		[]rule{{"children", listOf(one(text)), true, "children: []"}}, optional(listOf(one(text)), "members"),
	), relations: []relation{
		{"parent", "Group", "childOf", "parentOf"}, {"children", "Group", "parentOf", "childOf"},
		{"members", "User", "hasMember", "memberOf"},
	}}
}

func user() kind {
	return kind{name: "User", spec: mappingOf(optional(profile(), "profile"), []rule{{"memberOf", listOf(one(text)), true, "memberOf: []"}}),
		relations: []relation{{"memberOf", "Group", "memberOf", "hasMember"}}}
}

func location() kind {
	return kind{name: "Location", spec: mappingOf(optional(one(text), "type", "target"),
		optional(listOf(one(text)), "targets"), optional(one(presence), "presence"))}
}

// isSet tells whether a field of spec holds a set, which Backstage sorts
// whatever the kind.
func isSet(name string) bool {
	switch name {
	case "providesApis", "consumesApis", "dependsOn", "dependencyOf", "memberOf", "children", "members":
		return true
	}
	return false
}
