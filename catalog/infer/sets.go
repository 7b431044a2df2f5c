package infer

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// AppSet is an Argo CD ApplicationSet that makes an application for each
// folder of a repository that matches. Its application's fields are templates
// of the folder.
type AppSet struct {
	Application
	Patterns []string `json:"patterns"`
	Except   []string `json:"except,omitempty"`
}

// folders notes the generator that looks at folders.
func (r *Reading) folders(file string, git, template *yaml.Node) {
	set := AppSet{Application: Application{Place: Place{Path: file}}}
	for _, d := range items(child(git, "directories")) {
		p := scalar(d, "path")
		switch {
		case p == "" || len(set.Patterns)+len(set.Except) >= maxCalls:
		case scalar(d, "exclude") == "true":
			set.Except = append(set.Except, p)
		default:
			set.Patterns = append(set.Patterns, p)
		}
	}
	spec := child(template, "spec")
	source := firstNode(child(spec, "source"), firstOf(items(child(spec, "sources"))))
	if len(set.Patterns) == 0 || source == nil || len(r.Sets) >= maxCalls {
		return
	}
	set.Line = git.Line
	set.Name, set.Repo, set.Path = scalar(template, "metadata", "name"), scalar(source, "repoURL"), scalar(source, "path")
	set.Revision, set.Namespace, set.Cluster = scalar(source, "targetRevision"), scalar(spec, "destination", "namespace"), scalar(spec, "destination", "name")
	r.Sets = append(r.Sets, set)
}

func firstOf(all []*yaml.Node) *yaml.Node {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// maxFolders bounds the applications that sets make of a repository's folders.
const maxFolders = 2_000

// expand makes the applications of all sets, in the folders that are there.
func (r *Repository) expand(t *tree) {
	var dirs []string
	for _, at := range r.sorted {
		for _, set := range r.readings[at].Sets {
			if dirs == nil {
				dirs = slices.Sorted(maps.Keys(t.dirs))
			}
			for _, d := range dirs {
				if d != "" && len(r.made) < maxFolders && set.matches(d) && t.folder(d) {
					r.made = append(r.made, set.in(d))
				}
			}
		}
	}
}

func (s AppSet) matches(dir string) bool {
	any := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(strings.Trim(p, "/"), dir)
			return ok && err == nil
		})
	}
	return any(s.Patterns) && !any(s.Except)
}

var (
	pathBase    = regexp.MustCompile(`\{\{-?\s*\.?path\.(?:basename|basenameNormalized)\s*-?\}\}`)
	pathSegment = regexp.MustCompile(`\{\{-?\s*(?:path\[(\d+)\]|index\s+\.path\.segments\s+(\d+))\s*-?\}\}`)
	pathWhole   = regexp.MustCompile(`\{\{-?\s*\.?path(?:\.path)?\s*-?\}\}`)
)

// in is the application of one folder. What stays open is left out.
func (s AppSet) in(dir string) Application {
	parts := strings.Split(dir, "/")
	fill := func(text string) string {
		text = pathBase.ReplaceAllLiteralString(text, path.Base(dir))
		text = pathWhole.ReplaceAllLiteralString(text, dir)
		text = pathSegment.ReplaceAllStringFunc(text, func(m string) string {
			found := pathSegment.FindStringSubmatch(m)
			n, err := strconv.Atoi(found[1] + found[2])
			if err != nil || n >= len(parts) {
				return m
			}
			return parts[n]
		})
		return filled(text, nil)
	}
	a := s.Application
	a.Name, a.Repo, a.Path, a.Revision = fill(s.Name), fill(s.Repo), fill(s.Path), fill(s.Revision)
	a.Namespace, a.Cluster = fill(s.Namespace), fill(s.Cluster)
	if a.Path == "" {
		a.Path = dir
	}
	return a
}

// applications are all that the repository describes, by path.
func (r *Repository) applications() []Application {
	var out []Application
	for _, at := range r.sorted {
		out = append(out, r.readings[at].Applications...)
	}
	return append(out, r.made...)
}

// flux reads what Flux deploys: a folder, or a chart. A source that only has a
// name is known to the cluster alone, so that no repository is told.
func (r *Reading) flux(file, kind string, root *yaml.Node) {
	spec := child(root, "spec")
	a := Application{Name: scalar(root, "metadata", "name"), Namespace: scalar(spec, "targetNamespace"), Place: Place{file, root.Line}}
	if a.Namespace == "" && kind == "HelmRelease" {
		a.Namespace = scalar(root, "metadata", "namespace")
	}
	for _, key := range []string{"backstage.io/kubernetes-id", "app.kubernetes.io/part-of", "app.kubernetes.io/name"} {
		if a.Component = scalar(root, "metadata", "labels", key); a.Component != "" {
			break
		}
	}
	a.Path = strings.TrimPrefix(strings.TrimPrefix(scalar(spec, "path"), "./"), "/")
	if kind == "HelmRelease" {
		a.Path = folder(file)
	}
	open := strings.Contains(a.Name+a.Path+a.Namespace, "${")
	if a.Name != "" && !open && (a.Path != "" || kind == "HelmRelease") && len(r.Applications) < maxFindings {
		r.Applications = append(r.Applications, a)
	}
}
