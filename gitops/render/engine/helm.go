package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmengine "helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/ignore"
)

// maxDepth is how deep charts of the repository may depend on others in it.
const maxDepth = 5

// helm renders a chart of the repository. It asks no cluster, so `lookup` finds
// nothing, resolves no names, and fetches no dependencies.
func (p *peer) helm(side int) ([]resource, error) {
	c, err := p.chart(side, p.order.Dir, 0)
	if err != nil {
		return nil, err
	}
	values, err := p.values(side)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: p.order.Release, Namespace: p.order.Namespace, Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	made, err := helmengine.Engine{}.Render(c, all)
	if err != nil {
		return nil, err
	}
	return rendered(c, made)
}

// rendered are the resources that a chart's files have become.
func rendered(c *chart.Chart, made map[string]string) ([]resource, error) {
	var out []resource
	for _, name := range manifests(c, made) {
		more, err := documents(made[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, more...)
	}
	return out, nil
}

// manifests names what a chart has made that is for the cluster, its own
// definitions added.
func manifests(c *chart.Chart, made map[string]string) []string {
	for _, crd := range c.CRDObjects() {
		made[crd.Filename] = string(crd.File.Data)
	}
	names := map[string]bool{}
	for name := range made {
		names[name] = true
	}
	return slices.DeleteFunc(sorted(names), func(n string) bool { return path.Base(n) == "NOTES.txt" })
}

// chart loads a chart, and those of the repository that it depends on.
func (p *peer) chart(side int, dir string, depth int) (*chart.Chart, error) {
	files, err := p.chartFiles(side, dir)
	if err != nil {
		return nil, err
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	unschooled(c)
	for _, dep := range c.Metadata.Dependencies {
		if err := p.depend(side, dir, depth, c, dep); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// depend adds a chart that another depends on, where it has not brought it.
func (p *peer) depend(side int, dir string, depth int, c *chart.Chart, dep *chart.Dependency) error {
	if dep == nil || slices.ContainsFunc(c.Dependencies(), func(have *chart.Chart) bool { return have.Name() == dep.Name }) {
		return nil
	}
	near, local := strings.CutPrefix(dep.Repository, "file://")
	if !local || depth >= maxDepth {
		return beyond("%s depends on the chart %s, which is not in its folder charts and is not fetched", path.Join(dir, "Chart.yaml"), nameless(dep.Name))
	}
	sub, err := p.chart(side, path.Clean(path.Join("/", dir, near))[1:], depth+1)
	if err != nil {
		return fmt.Errorf("the chart %s: %w", nameless(dep.Name), err)
	}
	c.AddDependency(sub)
	return nil
}

// chartFiles are the files of a chart that Helm would take. Schemas of values
// are left out: what they refer to is anywhere.
func (p *peer) chartFiles(side int, dir string) ([]*loader.BufferedFile, error) {
	names, err := p.below(side, dir)
	if err != nil {
		return nil, err
	}
	rules, err := p.ignored(side, dir)
	if err != nil {
		return nil, err
	}
	var out []*loader.BufferedFile
	for _, name := range names {
		if path.Base(name) == "values.schema.json" || skipped(rules, name) {
			continue
		}
		data, err := p.read(side, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		out = append(out, &loader.BufferedFile{Name: name, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	}
	return out, nil
}

// ignored are the rules of a chart's .helmignore, and Helm's own.
func (p *peer) ignored(side int, dir string) (*ignore.Rules, error) {
	text, err := p.read(side, path.Join(dir, ignore.HelmIgnore))
	if err != nil && !errors.Is(err, errNoFile) {
		return nil, err
	}
	rules, err := ignore.Parse(bytes.NewReader(text))
	if err == nil {
		rules.AddDefaults()
	}
	return rules, err
}

// skipped tells whether rules leave out a file, or a folder that it is in.
func skipped(rules *ignore.Rules, name string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if rules.Ignore(at, entry{path.Base(at), at != name}) {
			return true
		}
	}
	return false
}

// entry is a file or folder, as far as rules look at it.
type entry struct {
	name string
	dir  bool
}

// Name is that of fs.FileInfo.
func (e entry) Name() string { return e.name }

// Size is that of fs.FileInfo.
func (e entry) Size() int64 { return 0 }

// Mode is that of fs.FileInfo.
func (e entry) Mode() fs.FileMode { return 0 }

// ModTime is that of fs.FileInfo.
func (e entry) ModTime() time.Time { return time.Time{} }

// IsDir is that of fs.FileInfo.
func (e entry) IsDir() bool { return e.dir }

// Sys is that of fs.FileInfo.
func (e entry) Sys() any { return nil }

// unschooled drops the schemas of a chart and its dependencies.
func unschooled(c *chart.Chart) {
	c.Schema = nil
	for _, d := range c.Dependencies() {
		unschooled(d)
	}
}

// values are those of the files, the later over the earlier.
func (p *peer) values(side int) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range p.order.Values {
		more, err := p.valuesOf(side, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		over(out, more)
	}
	return out, nil
}

func (p *peer) valuesOf(side int, name string) (map[string]any, error) {
	data, err := p.read(side, name)
	if err != nil && (!p.order.Lenient || !errors.Is(err, errNoFile)) {
		return nil, err
	}
	return chartutil.ReadValues(data)
}

// over lays values over others, as Helm does with those of several files.
func over(out, more map[string]any) {
	for key, v := range more {
		to, both := out[key].(map[string]any)
		if from, ok := v.(map[string]any); ok && both {
			over(to, from)
		} else {
			out[key] = v
		}
	}
}
