package previews

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxData is how many databases and caches one preview may ask for.
const maxData = 4

var (
	// dataName bounds names so that those made of them and a preview's id fit
	// wherever they are used.
	dataName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,14}[a-z0-9])?$`)
	envName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// dataKinds are the kinds of data and the variable that has the URL of one
// where a template names none.
func dataKinds() map[string]string {
	return map[string]string{"postgres": "DATABASE_URL", "redis": "REDIS_URL"}
}

// readData reads what a template asks for under data. Errors are
// failed_precondition with the place.
func (t *Template) readData(e *catalog.Entity, at entity.Position, v entity.Value) error {
	list, ok := v.(entity.List)
	if !ok {
		return misdeclared(e, at, "", "is no list such as [{name: db, kind: postgres, seed: db/seed.sql}]")
	}
	if len(list) > maxData {
		return misdeclared(e, list[maxData].At, "", "asks for more than 4")
	}
	for _, it := range list {
		o, ok := it.Value.(*entity.Object)
		if !ok {
			return misdeclared(e, it.At, "", "holds what is no mapping such as {name: db, kind: postgres}")
		}
		var d DataTemplate
		for _, m := range o.Members {
			if wrong := d.read(m.Key, m.Value); wrong != "" {
				return misdeclared(e, m.At, "."+m.Key, wrong)
			}
		}
		if field, wrong := t.addData(d); wrong != "" {
			return misdeclared(e, o.Position(field), "."+field, wrong)
		}
	}
	return nil
}

func misdeclared(e *catalog.Entity, at entity.Position, field, wrong string) error {
	return fault.New(fault.FailedPrecondition, "%s: spec.fairlead.preview.data%s of %s %s", place(e, at), field, e.Ref, wrong).
		WithFix("Correct the catalog file; each takes name, kind (postgres or redis), server, seed, env and optional.")
}

// read reads one key; wrong says what is wrong with it.
func (d *DataTemplate) read(key string, v entity.Value) (wrong string) {
	if key == "optional" {
		var ok bool
		if d.Optional, ok = v.(bool); !ok {
			return "is neither true nor false"
		}
		return ""
	}
	into := map[string]*string{"name": &d.Name, "kind": &d.Kind, "server": &d.Server, "seed": &d.Seed, "env": &d.Env}[key]
	if into == nil {
		return "is not known"
	}
	s, ok := v.(string)
	if !ok || s == "" {
		return "is no text"
	}
	*into = s
	return ""
}

// addData adds what was read, with its defaults; wrong says what is wrong with
// which of its fields.
func (t *Template) addData(d DataTemplate) (field, wrong string) {
	kinds := dataKinds()
	if d.Env == "" {
		d.Env = kinds[d.Kind]
	}
	switch {
	case !dataName.MatchString(d.Name):
		return "name", "must be lower-case letters, digits and hyphens, at most 16 of them"
	case kinds[d.Kind] == "":
		return "kind", "must be postgres or redis"
	case d.Seed != "" && d.Kind != "postgres":
		return "seed", "can only fill a database of kind postgres"
	case d.Seed != "" && !isPathBelow(d.Seed):
		return "seed", "is no path of a file below the folder of the catalog file"
	case !envName.MatchString(d.Env) || slices.Contains([]string{"PORT", "HOST", "PREVIEW_ID", "PATH", "HOME", "TMPDIR", "LANG", "FAIRLEAD_PREVIEW"}, d.Env):
		return "env", "is no variable that a preview is free to have"
	}
	for _, other := range t.Data {
		if other.Name == d.Name {
			return "name", "is there twice"
		}
		for _, env := range d.Envs() {
			if slices.Contains(other.Envs(), env) {
				return "env", "is the variable of " + other.Name + " already"
			}
		}
	}
	t.Data = append(t.Data, d)
	return "", ""
}

// isPathBelow tells whether a slashed path stays below where it begins.
func isPathBelow(p string) bool {
	return p == path.Clean(p) && p != "." && p != ".." && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "\x00\\")
}

// clash refuses a variable that both env and data set.
func (t *Template) clash(e *catalog.Entity) error {
	for _, d := range t.Data {
		for _, env := range d.Envs() {
			if _, twice := t.Env[env]; twice {
				return misdeclared(e, previewOf(e).Object("env").Position(env), ".env", "is "+env+", which spec.fairlead.preview.env sets, too")
			}
		}
	}
	return nil
}

// previewOf is the mapping spec.fairlead.preview.
func previewOf(e *catalog.Entity) *entity.Object {
	return e.Spec().Object("fairlead").Object("preview")
}

// dataAt is where the data of a name is declared.
func dataAt(e *catalog.Entity, name string) entity.Position {
	for _, it := range previewOf(e).List("data") {
		if o, ok := it.Value.(*entity.Object); ok && o.String("name") == name {
			return o.Position("name")
		}
	}
	return entity.Position{}
}
