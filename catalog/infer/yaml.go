package infer

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// documents parses every YAML document of a file that is a mapping. Those
// after a broken one are lost, and that is said.
func documents(data []byte) (roots []*yaml.Node, why string) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(roots) < maxFindings {
		var doc yaml.Node
		err := dec.Decode(&doc)
		switch {
		case errors.Is(err, io.EOF):
			return roots, ""
		case err != nil:
			return roots, "the file is not YAML"
		case len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode:
			roots = append(roots, doc.Content[0])
		}
	}
	return roots, ""
}

// at walks down by keys.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		n = child(n, k)
	}
	return n
}

// text is the scalar below keys, "" if there is none.
func scalar(n *yaml.Node, keys ...string) string {
	if n = at(n, keys...); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n.Value
	}
	return ""
}

// number is the number below keys.
func number(n *yaml.Node, keys ...string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(scalar(n, keys...), "%"), 64)
	return f, err == nil
}

// isYAML tells whether a path is one of a YAML file.
func isYAML(base string) bool {
	ext := strings.ToLower(path.Ext(base))
	return ext == ".yaml" || ext == ".yml"
}

// isOperations tells whether a path is one at which teams keep objectives,
// alerts and descriptions of deployments.
func isOperations(dir, base string) bool {
	if !isYAML(base) {
		return false
	}
	name := strings.ToLower(base)
	for _, word := range []string{"slo", "alert", "rule", "prometheus", "argo", "application", "kustomization", "datasource"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	if slices.ContainsFunc(append(strings.Split(strings.ToLower(dir), "/"), parted(name)...), func(part string) bool { return part == "sli" || part == "slis" }) {
		return true
	}
	for part := range strings.SplitSeq(strings.ToLower(dir), "/") {
		for _, word := range []string{"slo", "alert", "rules", "prometheus", "monitoring", "argo", "apps", "gitops", "clusters"} {
			if strings.Contains(part, word) {
				return true
			}
		}
	}
	return false
}

// isTemplate tells whether a file is a template of YAML rather than YAML.
func isTemplate(data []byte) bool {
	return bytes.Contains(data, []byte("{{")) && !bytes.Contains(data, []byte("apiVersion: openslo")) && !bytes.Contains(data, []byte("$labels"))
}

// isHelm tells whether a file lies among the templates of a Helm chart.
func isHelm(file string) bool { return strings.Contains("/"+file, "/templates/") }

// readOperations reads a file for what it turns out to hold.
func readOperations(path string, data []byte) Reading {
	if isHelm(path) && bytes.Contains(data, []byte("{{")) {
		return Reading{Unreadable: "the file is a template of a Helm chart: what it says is known only when it is filled in"}
	}
	roots, why := documents(data)
	var r Reading
	for _, root := range roots {
		r.object(path, root)
		if scalar(root, "kind") != "List" && !strings.HasSuffix(scalar(root, "kind"), "List") {
			continue
		}
		for _, item := range items(child(root, "items")) {
			r.object(path, item)
		}
	}
	found := len(r.SLOs)+len(r.Objects)+len(r.Alerts)+len(r.Applications)+len(r.Sets) > 0
	if why != "" && !found && !isTemplate(data) {
		r.Unreadable = why
	}
	return r
}

// object reads one object by what it says that it is.
func (r *Reading) object(path string, root *yaml.Node) {
	group, _, _ := strings.Cut(scalar(root, "apiVersion"), "/")
	kind := scalar(root, "kind")
	switch {
	case isOpenSLO(group):
		r.openSLO(path, kind, root)
	case group == "sloth.slok.dev" && kind == "PrometheusServiceLevel":
		r.sloth(path, child(root, "spec"))
	case strings.HasPrefix(scalar(root, "version"), "prometheus/v1") && kind == "":
		r.sloth(path, root)
	case group == "pyrra.dev" && kind == "ServiceLevelObjective":
		r.pyrra(path, root)
	case group == "monitoring.coreos.com" && kind == "PrometheusRule":
		r.rules(path, child(root, "spec"))
	case kind == "" && group == "" && child(root, "groups") != nil:
		r.rules(path, root)
	case group == "argoproj.io" && (kind == "Application" || kind == "ApplicationSet"):
		r.application(path, kind, root)
	case group == "kustomize.toolkit.fluxcd.io" && kind == "Kustomization", group == "helm.toolkit.fluxcd.io" && kind == "HelmRelease":
		r.flux(path, kind, root)
	}
}
