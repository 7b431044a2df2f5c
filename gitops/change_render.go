package gitops

import (
	"path"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
)

// render says what an environment is rendered as: its folder, or where one of
// its files describes it, the folder of that with its values.
func (c *changing) render(found *catalog.EnvironmentPlace) *Render {
	r := &Render{Dir: c.dir, Release: c.name, Namespace: "default"}
	if app := found.Environment.App; app != "" {
		r.Release = path.Base(app)
	}
	if !isYAML(c.dir) {
		return r
	}
	r.Dir = strings.TrimPrefix(path.Dir(c.dir), ".")
	switch base := path.Base(c.dir); {
	case isKustomization(base), base == "values.yaml", base == "Chart.yaml":
	default:
		r.Values = []string{c.dir}
	}
	return r
}
