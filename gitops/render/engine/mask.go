package engine

import (
	"reflect"
	"strconv"
)

// What stands for a value of a Secret. That it has changed is all that is told
// of it: there is nothing that a value could be guessed by.
const (
	masked  = "•••"
	changed = "••• (changed)"
)

// lastApplied is where kubectl keeps a resource whole, its values included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// mask takes the values of Secrets out of both forms of a resource, wherever in
// it there is one.
func mask(before, after map[string]any) {
	had := values{}
	hide(before, "", had.old)
	hide(after, "", had.now)
}

// values are those that a Secret had.
type values map[string]any

func (had values) old(at string, v any) string {
	had[at] = v
	return masked
}

func (had values) now(at string, v any) string {
	if old, was := had[at]; was && !reflect.DeepEqual(old, v) {
		return changed
	}
	return masked
}

// hide replaces the values of Secrets at and below a value.
func hide(v any, at string, by func(at string, v any) string) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			hide(v[i], at+"/"+strconv.Itoa(i), by)
		}
	case map[string]any:
		hideHere(v, at, by)
		for key := range v {
			hide(v[key], at+"/"+key, by)
		}
	}
}

// hideHere replaces the values of a Secret, and what kubectl keeps of any
// resource.
func hideHere(v map[string]any, at string, by func(at string, v any) string) {
	if meta, ok := v["annotations"].(map[string]any); ok && meta[lastApplied] != nil {
		meta[lastApplied] = by(at+"/"+lastApplied, meta[lastApplied])
	}
	if v["kind"] == "Secret" {
		hidePart(v, "data", at, by)
		hidePart(v, "stringData", at, by)
	}
}

// hidePart replaces the values of one part of a Secret.
func hidePart(secret map[string]any, part, at string, by func(at string, v any) string) {
	all, ok := secret[part].(map[string]any)
	for key := range all {
		all[key] = by(at+"/data/"+key, all[key])
	}
	if !ok && secret[part] != nil {
		secret[part] = by(at+"/"+part, secret[part])
	}
}
