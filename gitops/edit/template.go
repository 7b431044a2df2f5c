package edit

import "strings"

// template tells whether the file is a template that happens to be YAML, by
// what shows it and where. Braces in values are no proof: charts' values,
// ApplicationSets and rules of Prometheus have them for others to fill in.
// Braces where Kubernetes or Kustomize reads a name itself are.
func (f *file) template() (at int, mark string) {
	if f.looked {
		return f.markAt, f.mark
	}
	f.looked = true
	if templateMark(f.text) == "" {
		return 0, ""
	}
	for _, d := range f.docs {
		f.namesOf(d)
	}
	return f.markAt, f.mark
}

// namesOf looks at all that is a name in a document.
func (f *file) namesOf(d *document) {
	if d.root == nil || d.root.kind != mapping {
		return
	}
	meta := d.root.at("metadata")
	if d.kind() != "" {
		f.suspect(d.root.get("apiVersion"), d.root.get("kind"), meta.get("name"), meta.get("namespace"), meta.get("labels"))
		if d.kind() != "ApplicationSet" {
			f.suspectContainers(d.root)
		}
	}
	if f.kustomization(d) {
		for _, key := range []string{"namespace", "namePrefix", "nameSuffix", "resources", "images", "replicas", "labels", "commonLabels"} {
			f.suspect(d.root.get(key))
		}
	}
}

// suspectContainers looks at the names and images of containers.
func (f *file) suspectContainers(n *node) {
	for i, c := range n.items {
		if n.kind == mapping && i%2 == 1 && c.kind == sequence && strings.HasSuffix(strings.ToLower(n.items[i-1].value), "containers") {
			for _, it := range c.items {
				f.suspect(it.get("name"), it.get("image"))
			}
		}
		f.suspectContainers(c)
	}
}

// suspect notes the first mark in a node or below it.
func (f *file) suspect(nodes ...*node) {
	for _, n := range nodes {
		if n == nil || f.mark != "" {
			continue
		}
		if n.kind == scalar {
			f.mark, f.markAt = templateMark(n.value), n.start
		}
		f.suspect(n.items...)
	}
}
