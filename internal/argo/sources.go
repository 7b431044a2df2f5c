package argo

import (
	"net/url"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/gitops"
)

// maxOverrides bounds what is told of what a source sets by itself.
const maxOverrides = 500

// sourceOf is a source: where it is, and what it sets by name. No value of it
// goes on.
func sourceOf(s *v1alpha1.ApplicationSource) gitops.AppSource {
	out := gitops.AppSource{Repository: plainURL(s.RepoURL), Chart: s.Chart, Target: s.TargetRevision, Path: s.Path, Ref: s.Ref, Plugin: s.Plugin != nil}
	if h := s.Helm; h != nil {
		out.Release, out.Values, out.Lenient = h.ReleaseName, slices.Clone(h.ValueFiles), h.IgnoreMissingValueFiles
		out.Overrides = helmOverrides(h)
	}
	if k := s.Kustomize; k != nil {
		out.Overrides = append(out.Overrides, kustomizeOverrides(k)...)
	}
	out.Values = slices.DeleteFunc(out.Values, withPassword)
	out.Overrides = out.Overrides[:min(len(out.Overrides), maxOverrides)]
	return out
}

// withPassword tells whether a file of values is fetched with a password.
func withPassword(file string) bool {
	u, err := url.Parse(file)
	return err != nil || u.User != nil || u.RawQuery != ""
}

func helmOverrides(h *v1alpha1.ApplicationSourceHelm) (out []gitops.AppOverride) {
	for _, p := range h.Parameters {
		out = append(out, gitops.AppOverride{In: gitops.InHelmParameters, Name: p.Name})
	}
	for _, p := range h.FileParameters {
		out = append(out, gitops.AppOverride{In: gitops.InHelmParameters, Name: p.Name})
	}
	inline := h.Values
	if h.ValuesObject != nil && len(h.ValuesObject.Raw) > 0 {
		inline = string(h.ValuesObject.Raw)
	}
	var v any
	if yaml.Unmarshal([]byte(inline), &v) == nil {
		named := map[string]bool{}
		pathsOf(named, v, "", 0)
		for name := range named {
			out = append(out, gitops.AppOverride{In: gitops.InHelmValues, Name: name})
		}
	}
	slices.SortFunc(out, func(a, b gitops.AppOverride) int { return strings.Compare(a.In+a.Name, b.In+b.Name) })
	return out
}

// pathsOf adds the paths of values that are no mappings.
func pathsOf(into map[string]bool, v any, at string, depth int) {
	m, ok := v.(map[string]any)
	if !ok {
		into[at] = true
		delete(into, "")
		return
	}
	for key, each := range m {
		if depth < 20 && len(into) < maxOverrides {
			pathsOf(into, each, strings.TrimPrefix(at+"."+key, "."), depth+1)
		}
	}
}

func kustomizeOverrides(k *v1alpha1.ApplicationSourceKustomize) (out []gitops.AppOverride) {
	for _, image := range k.Images {
		name, _, _ := strings.Cut(string(image), "=")
		out = append(out, gitops.AppOverride{In: gitops.InKustomizeImages, Name: imageOf(name).Name})
	}
	for _, r := range k.Replicas {
		out = append(out, gitops.AppOverride{In: gitops.InKustomizeReplicas, Name: r.Name})
	}
	for _, p := range k.Patches {
		name := "some"
		if p.Target != nil {
			name = strings.TrimSpace(p.Target.Kind + " " + p.Target.Name)
		}
		out = append(out, gitops.AppOverride{In: gitops.InKustomizePatches, Name: name})
	}
	return out
}
