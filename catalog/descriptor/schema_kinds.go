package descriptor

const (
	hintOwner     = "owner: group:default/my-team"
	hintLifecycle = "lifecycle: production"
)

// optional are fields that a kind may have.
func optional(s shape, names ...string) []rule {
	out := make([]rule, len(names))
	for i, name := range names {
		out[i] = rule{name: name, shape: s}
	}
	return out
}

// needed are texts that a kind has to have, each with an example.
func needed(namesAndHints ...string) []rule {
	out := make([]rule, 0, len(namesAndHints)/2)
	for i := 0; i+1 < len(namesAndHints); i += 2 {
		out = append(out, rule{name: namesAndHints[i], shape: text, required: true, hint: namesAndHints[i+1]})
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
	rules := needed("type", "type: service", "lifecycle", hintLifecycle, "owner", hintOwner)
	rules = append(rules, optional(text, "system", "subcomponentOf")...)
	rules = append(rules, optional(texts, "providesApis", "consumesApis", "dependsOn")...)
	return kind{name: "Component", rules: rules, relations: append([]relation{
		ownedBy(), inSystem(), {"subcomponentOf", "Component", "partOf", "hasPart"},
		{"providesApis", "API", "providesApi", "apiProvidedBy"}, {"consumesApis", "API", "consumesApi", "apiConsumedBy"},
	}, dependencies()...)}
}

func api() kind {
	rules := needed("type", "type: openapi", "lifecycle", hintLifecycle, "owner", hintOwner,
		"definition", "definition: {$text: ./openapi.yaml}")
	return kind{name: "API", rules: append(rules, optional(text, "system")...), relations: []relation{ownedBy(), inSystem()}}
}

func resource() kind {
	rules := needed("type", "type: database", "owner", hintOwner)
	rules = append(rules, optional(text, "system")...)
	return kind{name: "Resource", rules: append(rules, optional(texts, "dependsOn")...),
		relations: append([]relation{ownedBy(), inSystem()}, dependencies()...)}
}

func system() kind {
	return kind{name: "System", rules: append(needed("owner", hintOwner), optional(text, "domain", "type")...),
		relations: []relation{ownedBy(), {"domain", "Domain", "partOf", "hasPart"}}}
}

func domain() kind {
	return kind{name: "Domain", rules: append(needed("owner", hintOwner), optional(text, "subdomainOf", "type")...),
		relations: []relation{ownedBy(), {"subdomainOf", "Domain", "partOf", "hasPart"}}}
}

func group() kind {
	rules := append(needed("type", "type: team"), optional(profile, "profile")...)
	rules = append(rules, optional(text, "parent")...)
	rules = append(rules, rule{"children", texts, true, "children: []"})
	return kind{name: "Group", rules: append(rules, optional(texts, "members")...), relations: []relation{
		{"parent", "Group", "childOf", "parentOf"}, {"children", "Group", "parentOf", "childOf"},
		{"members", "User", "hasMember", "memberOf"},
	}}
}

func user() kind {
	rules := append(optional(profile, "profile"), rule{"memberOf", texts, true, "memberOf: []"})
	return kind{name: "User", rules: rules, relations: []relation{{"memberOf", "Group", "memberOf", "hasMember"}}}
}

func location() kind {
	rules := append(optional(text, "type", "target"), optional(texts, "targets")...)
	return kind{name: "Location", rules: append(rules, optional(presence, "presence")...)}
}

// template is the kind that Backstage's scaffolder backend adds.
func template() kind {
	rules := append(needed("type", "type: service"), rule{"steps", list, true, "steps: []"})
	return kind{name: "Template", versions: []string{"scaffolder.backstage.io/v1beta3"},
		rules: append(rules, optional(text, "owner")...), relations: []relation{ownedBy()}}
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
