package rest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// validationError is one thing that is wrong with an entity, as Backstage
// writes errors, with the way to put it right beside it.
type validationError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

func refused(errs ...validationError) answer {
	return answer{status: http.StatusBadRequest, value: map[string]any{"errors": errs}}
}

// validateEntity checks an entity of which only a URL can be the place.
func validateEntity(c *call) (answer, error) {
	var in struct {
		Entity   json.RawMessage `json:"entity"`
		Location string          `json:"location"`
	}
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	typ, target, ok := strings.Cut(in.Location, ":")
	switch {
	case !ok || typ == "" || target == "":
		return refused(validationError{Name: "TypeError", Message: "Unable to parse location ref '" + clipped(in.Location) + "', expected '<type>:<target>', e.g. 'url:https://host/path'"}), nil
	case typ != "url":
		return refused(validationError{Name: "TypeError", Message: "Invalid location ref " + clipped(in.Location) + ", only 'url:<target>' is supported, e.g. url:https://host/path"}), nil
	}
	out, err := listed(c, "validate_entity", "", catalog.ValidateEntityInput{Entity: in.Entity, Location: target}, c.door.Catalog.ValidateEntity)
	if err != nil || len(out.Problems) == 0 {
		return answer{}, err
	}
	var errs []validationError
	for _, p := range out.Problems {
		errs = append(errs, validationError{p.Name, p.Message, p.Fix})
	}
	return refused(errs...), nil
}

// analysis is what Backstage answers about a location: the entities that are
// there, or else one to begin with.
type analysis struct {
	Existing []existingFile    `json:"existingEntityFiles"`
	Generate []generatedEntity `json:"generateEntities"`
}

type existingFile struct {
	Location   locationRef     `json:"location"`
	Registered bool            `json:"isRegistered"`
	Entity     *catalog.Entity `json:"entity"`
}

type locationRef struct {
	Type   string `json:"type"`
	Target string `json:"target"`
}

type generatedEntity struct {
	Entity entity.Value `json:"entity"`
	Fields []string     `json:"fields"`
}

// analyzeLocation tells what the catalog has from a repository, and else
// suggests a component for it.
func analyzeLocation(c *call) (answer, error) {
	var in struct {
		Location locationRef `json:"location"`
	}
	if err := decode(c, &in); err != nil {
		return answer{}, err
	}
	found, err := listed(c, "analyze_location", "", catalog.AnalyzeLocationInput{Target: in.Location.Target}, c.door.Catalog.AnalyzeLocation)
	if err != nil {
		return answer{}, err
	}
	out := analysis{Existing: []existingFile{}, Generate: []generatedEntity{}}
	for _, e := range found.Existing {
		at := strings.TrimPrefix(e.Annotation("backstage.io/managed-by-location"), "url:")
		out.Existing = append(out.Existing, existingFile{locationRef{"url", at}, true, e})
	}
	if len(out.Existing) == 0 {
		out.Generate = append(out.Generate, generatedEntity{suggested(found), []string{}})
	}
	return answer{value: out}, nil
}

// suggested is a component to begin with.
func suggested(a *catalog.Analysis) entity.Value {
	meta := entity.Obj("name", a.Name)
	for forge, prefix := range map[string]string{"github": "github.com", "gitlab": "gitlab.com", "azure": "dev.azure.com"} {
		if a.Forge == forge {
			meta.Set("annotations", entity.Obj(prefix+"/project-slug", a.Owner+"/"+a.Name))
		}
	}
	return entity.Obj("apiVersion", "backstage.io/v1alpha1", "kind", "Component", "metadata", meta,
		"spec", entity.Obj("type", "other", "lifecycle", "unknown"))
}
