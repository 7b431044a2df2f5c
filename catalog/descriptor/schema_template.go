package descriptor

// template is the kind that Backstage's scaffolder backend adds.
func template() kind {
	permissions := optional(mappingOf(optional(listOf(one(anyText)), "tags")), "backstage:permissions")
	steps := listOf(mappingOf(
		[]rule{{"action", one(anyText), true, "action: fetch:template"}},
		optional(one(anyText), "id", "name"), optional(one(mapping), "input"), optional(one(flag), "if"), permissions,
	))
	decorators := listOf(mappingOf(optional(one(anyText), "id"), optional(one(mapping), "input")))
	buttons := mappingOf(optional(one(anyText), "backButtonText", "createButtonText", "reviewButtonText"))
	return kind{name: "Template", versions: []string{"scaffolder.backstage.io/v1beta3"}, spec: mappingOf(
		needed("type", "type: service"), []rule{{"steps", steps, true, "steps: []"}},
		optional(one(text), "owner", "lifecycle"),
		optional(schema{shape: either, fields: append(optional(one(flag), "when"), permissions...)}, "parameters"),
		optional(mappingOf(optional(one(mapping), "schema")), "secrets"),
		optional(mappingOf(optional(buttons, "buttonLabels")), "presentation"),
		optional(mappingOf(optional(one(anyText), "EXPERIMENTAL_strategy")), "EXPERIMENTAL_recovery"),
		optional(decorators, "formDecorators", "EXPERIMENTAL_formDecorators"),
		optional(output(), "output"),
	), relations: []relation{ownedBy()}}
}

// output is what a Template shows when it has run.
func output() schema {
	links := listOf(mappingOf(optional(one(flag), "if"), optional(one(text), "url", "entityRef", "title", "icon")))
	texts := listOf(mappingOf(optional(one(flag), "if"), optional(one(text), "title", "icon"), optional(one(anyText), "content")))
	other := one(anyText)
	s := mappingOf(optional(links, "links"), optional(texts, "text"))
	s.rest = &other
	return s
}
