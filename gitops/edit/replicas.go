package edit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Replicas sets how many replicas there are, in the one place of the file that
// says so: a workload, a kustomization's entry, Helm values, an Argo CD
// application. A workload that does not say gets the key.
type Replicas struct{ Count int }

// counter is a place that has replicas, or where they belong.
type counter struct {
	doc  *document
	path string
	n    *node // nil where the key is missing
	home *node // the mapping that it goes into
}

// workloads are the kinds that have spec.replicas.
var workloads = []string{"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout"}

func (r Replicas) plan(p *plan) error {
	if r.Count < 0 {
		return fault.New(fault.Invalid, "%d replicas are fewer than none", r.Count).WithFix("Give a number from 0.")
	}
	docs, err := p.documents()
	if err != nil {
		return err
	}
	var found []counter
	for _, d := range docs {
		found = append(found, p.file.counters(d)...)
	}
	switch len(found) {
	case 0:
		if at := p.file.inText("replica"); at >= 0 {
			return p.file.refuse(at, "replicas are named in a block of text alone, where nothing is changed").WithFix("Change it by hand.")
		}
		return p.file.refuse(nowhere, "it says nowhere how many replicas there are").WithFix("%s", r.hint(p, docs))
	case 1:
		return r.in(p, found[0])
	}
	var where []string
	for _, c := range found {
		at := c.home.start
		if c.n != nil {
			at = c.n.start
		}
		where = append(where, strings.TrimSpace(c.doc.title()+" "+c.path)+" (line "+itoa(p.file.lineOf(at))+")")
	}
	return p.file.refuse(nowhere, "it has replicas in %d places: %s", len(found), some(where)).
		WithFix("Say which by --document, or set one by its path: --set %s=%d.", found[0].path, r.Count)
}

func (r Replicas) in(p *plan, c counter) error {
	value := strconv.Itoa(r.Count)
	if c.n != nil {
		return p.set(c.doc, c.n, c.path, p.file.instead(c.n, value, false))
	}
	v := newScalar(value, plain)
	if c.home == c.doc.root {
		return p.add(c.doc, c.home, "", "", newScalar("spec", plain), newMapping(newScalar("replicas", plain), v))
	}
	return p.add(c.doc, c.home, strings.TrimSuffix(c.path, ".replicas"), "", newScalar("replicas", plain), v)
}

// hint says what to do where nothing is found.
func (r Replicas) hint(p *plan, docs []*document) string {
	for _, d := range docs {
		if p.file.kustomization(d) {
			return "Name the workload: --set 'replicas[name=NAME].count=" + itoa(r.Count) + "'."
		}
	}
	return "Set the value by its path: --set replicaCount=" + itoa(r.Count) + "."
}

// counters are the places of a document that have replicas.
func (f *file) counters(d *document) []counter {
	root := d.root
	switch kind := d.kind(); {
	case root.kind == sequence:
		return patched(d)
	case f.kustomization(d):
		return counts(d, root.get("replicas"), "replicas")
	case kind == "Application" || kind == "ApplicationSet":
		return applied(d)
	case kind == "HelmRelease":
		return counted(d, root.at("spec", "values"), "spec.values")
	case kind == "":
		return counted(d, root, "")
	default:
		return workload(d, kind)
	}
}

// workload is a manifest's spec.replicas.
func workload(d *document, kind string) []counter {
	spec := d.root.get("spec")
	switch known := slices.Contains(workloads, kind); {
	case spec.get("replicas") != nil:
		return []counter{{doc: d, path: "spec.replicas", n: spec.get("replicas"), home: spec}}
	case known && spec == nil:
		return []counter{{doc: d, path: "spec.replicas", home: d.root}}
	case known:
		return []counter{{doc: d, path: "spec.replicas", home: spec}}
	}
	return nil
}

// counts are the entries of a kustomization's replicas.
func counts(d *document, list *node, path string) []counter {
	var out []counter
	if list == nil || list.kind != sequence {
		return nil
	}
	for i, it := range list.items {
		if n := it.get("count"); n != nil {
			out = append(out, counter{doc: d, path: path + "[" + itoa(i) + "].count", n: n, home: it})
		}
	}
	return out
}

// patched are the values of JSON patches of replicas.
func patched(d *document) []counter {
	var out []counter
	for i, it := range d.root.items {
		if n := it.get("value"); n != nil && strings.HasSuffix(it.text("path"), "/replicas") {
			out = append(out, counter{doc: d, path: "[" + itoa(i) + "].value", n: n, home: it})
		}
	}
	return out
}

// counted are Helm's: replicaCount or replicas at the top, else the only one
// anywhere.
func counted(d *document, root *node, path string) []counter {
	if root == nil || root.kind != mapping {
		return nil
	}
	for _, key := range []string{"replicaCount", "replicas"} {
		if n := root.get(key); n != nil && n.kind != mapping {
			return []counter{{doc: d, path: join(path, key), n: n, home: root}}
		}
	}
	var out []counter
	deeper(d, root, path, &out)
	return out
}

func deeper(d *document, n *node, path string, out *[]counter) {
	for i, c := range n.items {
		if n.kind == sequence {
			deeper(d, c, path+"["+itoa(i)+"]", out)
			continue
		}
		if i%2 == 0 {
			continue
		}
		key := n.items[i-1].value
		if (key == "replicaCount" || key == "replicas") && c.kind != mapping && c.kind != sequence {
			*out = append(*out, counter{doc: d, path: join(path, key), n: c, home: n})
		}
		deeper(d, c, join(path, key), out)
	}
}

// applied are those of an Argo CD application's sources.
func applied(d *document) []counter {
	spec, path := d.root.get("spec"), "spec"
	if t := spec.at("template", "spec"); t != nil {
		spec, path = t, "spec.template.spec"
	}
	out := source(d, spec.get("source"), path+".source")
	if list := spec.get("sources"); list != nil && list.kind == sequence {
		for i, it := range list.items {
			out = append(out, source(d, it, path+".sources["+itoa(i)+"]")...)
		}
	}
	return out
}

func source(d *document, s *node, path string) []counter {
	out := counts(d, s.at("kustomize", "replicas"), path+".kustomize.replicas")
	out = append(out, counted(d, s.at("helm", "valuesObject"), path+".helm.valuesObject")...)
	list := s.at("helm", "parameters")
	if list == nil {
		return out
	}
	for i, it := range list.items {
		if n := it.get("value"); n != nil && (it.text("name") == "replicaCount" || it.text("name") == "replicas") {
			out = append(out, counter{doc: d, path: path + ".helm.parameters[" + itoa(i) + "].value", n: n, home: it})
		}
	}
	return out
}
