package previews

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// keys are those that are read of every preview; a deployer may read more.
func keys() []string {
	return []string{"deployer", "command", "env", "health", "ttl", "data", "environment", "protected", "pullRequests"}
}

// prepare has a deployer that reads keys of its own read them, and tells of
// those that nobody reads.
func (s *Service) prepare(e *catalog.Entity, t *Template, d Deployer) error {
	o := e.Spec().Object("fairlead").Object("preview")
	p, ok := d.(Preparer)
	known := keys()
	if ok {
		known = append(known, p.Keys()...)
		settings, key, wrong := p.Prepare(e, o)
		if wrong != "" {
			return wrongKey(e, o, key, wrong, known)
		}
		t.Settings = settings
	}
	for key := range o.All() {
		if ok && !slices.Contains(known, key) {
			return wrongKey(e, o, key, "is no key that the deployer "+t.Deployer+" reads", known)
		}
	}
	return nil
}

func wrongKey(e *catalog.Entity, o *entity.Object, key, wrong string, known []string) error {
	return fault.New(fault.FailedPrecondition, "%s: spec.fairlead.preview.%s of %s %s", place(e, o.Position(key)), key, e.Ref, clip(wrong, maxReason)).
		WithFix("Correct the catalog file; a preview takes %s.", strings.Join(known, ", "))
}

// templateOf reads what an entity declares under spec.fairlead.preview. An
// entity without is failed_precondition, and so is one that is declared wrong.
func templateOf(e *catalog.Entity) (Template, error) {
	said, ok := e.Spec().Object("fairlead").Lookup("preview")
	o, isObject := said.(*entity.Object)
	if !ok || !isObject {
		return Template{}, fault.New(fault.FailedPrecondition, "%s does not say how it is previewed", e.Ref).
			WithFix(`Add to %s, under spec.fairlead: preview: {deployer: local, command: ["./run.sh"], health: /healthz}`, place(e, entity.Position{}))
	}
	t := Template{Deployer: o.String("deployer"), Health: o.String("health"), Env: map[string]string{}}
	for key, v := range o.All() {
		if key == "data" {
			if err := t.readData(e, o.Position(key), v); err != nil {
				return t, err
			}
			continue
		}
		if wrong := t.read(key, v); wrong != "" {
			return t, wrongKey(e, o, key, wrong, keys())
		}
	}
	if t.Deployer == "" {
		return t, fault.New(fault.FailedPrecondition, "%s: spec.fairlead.preview of %s names no deployer", place(e, o.At), e.Ref).
			WithFix("Add deployer: local, argocd or gitops.")
	}
	return t, t.clash(e)
}

// read reads one key; wrong says what is wrong with it.
func (t *Template) read(key string, v entity.Value) (wrong string) {
	switch key {
	case "deployer", "health":
		if s, ok := v.(string); !ok || s == "" {
			return "is no text"
		}
	case "environment":
		if t.Environment, _ = v.(string); t.Environment == "" {
			return "is no text"
		}
	case "protected":
		var ok bool
		if t.Protected, ok = v.(bool); !ok {
			return "is neither true nor false"
		}
	case "command":
		list, _ := v.(entity.List)
		for _, it := range list {
			s, ok := it.Value.(string)
			if !ok {
				return "is no list of texts"
			}
			t.Command = append(t.Command, s)
		}
		if len(t.Command) == 0 || t.Command[0] == "" {
			return `is no list such as ["./run.sh"]`
		}
	case "env":
		return t.readEnv(v)
	case "pullRequests":
		on, ok := v.(bool)
		if !ok {
			return "is neither true nor false"
		}
		t.PullRequests = on
	case "ttl":
		s, _ := v.(string)
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return "is no duration such as 2h"
		}
		t.TTL = d
	}
	return "" // unknown keys are told of with the catalog's problems
}

func (t *Template) readEnv(v entity.Value) (wrong string) {
	o, ok := v.(*entity.Object)
	if !ok {
		return "is no mapping of names to texts"
	}
	for name, value := range o.All() {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return "holds a name that no variable can have"
		}
		text, isText := value.(string)
		if !isText {
			text = string(entity.AppendJSON(nil, value))
		}
		if strings.ContainsRune(text, 0) {
			return "holds a value with a zero byte"
		}
		t.Env[name] = text
	}
	return ""
}

// place names where something is written.
func place(e *catalog.Entity, at entity.Position) string {
	if e.From.Path == "" {
		return e.Ref.String()
	}
	if at.Line == 0 {
		return e.From.Path
	}
	return fmt.Sprintf("%s:%d", e.From.Path, at.Line)
}

// ownerOf is who owns an entity, "" for nobody.
func ownerOf(e *catalog.Entity) string {
	owners := slices.Sorted(slices.Values(e.Targets("ownedBy")))
	if len(owners) == 0 {
		return e.Owner()
	}
	return owners[0]
}
