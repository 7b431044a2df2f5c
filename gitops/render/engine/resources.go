package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"gopkg.in/yaml.v3"

	"github.com/fairlead-dev/fairlead/gitops/render/wire"
)

// resource is one that is rendered.
type resource struct {
	key  string // Kind/name, with the namespace where it says one
	body map[string]any
}

// documents are the resources of a YAML stream; those of lists are taken out.
func documents(text string) ([]resource, error) {
	var out []resource
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var body map[string]any
		err := dec.Decode(&body)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("what is rendered is no YAML: %w", err)
		case len(body) > 0:
			out = append(out, listed(body)...)
		}
	}
}

// listed are the items of a list, or what is none.
func listed(body map[string]any) []resource {
	kind, _ := body["kind"].(string)
	items, ok := body["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return []resource{{keyOf(body), body}}
	}
	return eachOf(items)
}

func eachOf(items []any) (out []resource) {
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, resource{keyOf(m), m})
		}
	}
	return out
}

func keyOf(body map[string]any) string {
	kind, _ := body["kind"].(string)
	meta, _ := body["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if name == "" {
		name, _ = meta["generateName"].(string)
	}
	if ns, _ := meta["namespace"].(string); ns != "" {
		name = ns + "/" + name
	}
	return oneLine(kind + "/" + name)
}

// oneLine is a name, which has no spaces in it.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), "-")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200])
	}
	return s
}

// yaml is the resource as text, by sorted keys.
func (r resource) yaml() string {
	if r.body == nil {
		return ""
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(r.body); err != nil {
		return "" // it was read from YAML
	}
	return b.String()
}

// keyed are resources by what they are called; of those of one name the second
// is numbered.
func keyed(all []resource) map[string]resource {
	out := make(map[string]resource, len(all))
	for _, r := range all {
		key := r.key
		for n := 2; out[key].body != nil; n++ {
			key = fmt.Sprintf("%s#%d", r.key, n)
		}
		out[key] = r
	}
	return out
}

// comparison is an answer that is being made.
type comparison struct {
	*wire.Answer
	most int // bytes of its diff
}

// compare tells what differs between two renderings.
func (a *comparison) compare(before, after []resource, unstable map[string]bool) {
	had, has := keyed(before), keyed(after)
	renamed := pairs(had, has)
	keys := map[string]bool{}
	for k := range had {
		keys[k] = true
	}
	for k := range has {
		keys[k] = true
	}
	for _, key := range sorted(keys) {
		if unstable[key] {
			a.Unstable = append(a.Unstable, key)
			continue
		}
		old, was := had[key]
		now, is := has[key]
		to, moved := renamed[key]
		switch {
		case slices.Contains(sortedValues(renamed), key) && !was:
			continue // told with the name that it had
		case moved:
			a.Changed = append(a.Changed, to)
			a.differ(key, to, old, has[to])
		case !was:
			a.Added = append(a.Added, key)
			a.differ("/dev/null", key, resource{}, now)
		case !is:
			a.Removed = append(a.Removed, key)
			a.differ(key, "/dev/null", old, resource{})
		default:
			if a.differ(key, key, old, now) {
				a.Changed = append(a.Changed, key)
			}
		}
	}
}

// hashed is a name that a generator of Kustomize has given a hash.
var hashed = regexp.MustCompile(`^(.+)-[a-z0-9]{10}$`)

// pairs are the resources of which nothing but the hash in the name tells that
// they are the same, by the name that they had.
func pairs(had, has map[string]resource) map[string]string {
	came, out := stems(has, had), map[string]string{}
	for stem, from := range stems(had, has) {
		if to := came[stem]; len(from) == 1 && len(to) == 1 {
			out[from[0]] = to[0]
		}
	}
	return out
}

// stems are the resources with a hash in their name that are not among others,
// by their name without it.
func stems(of, but map[string]resource) map[string][]string {
	out := map[string][]string{}
	for key := range of {
		if m := hashed.FindStringSubmatch(key); m != nil && but[key].body == nil {
			out[m[1]] = append(out[m[1]], key)
		}
	}
	return out
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func sortedValues(m map[string]string) []string {
	set := map[string]bool{}
	for _, v := range m {
		set[v] = true
	}
	return sorted(set)
}

// differ adds the difference of a resource, and tells whether there is one.
func (a *comparison) differ(from, to string, old, now resource) bool {
	mask(old.body, now.body)
	was, is := old.yaml(), now.yaml()
	if was != is {
		a.add(udiff.Unified(from, to, was, is))
	}
	return was != is
}

// add adds to the diff, whole lines as long as there is room.
func (a *comparison) add(d string) {
	if len(a.Diff)+len(d) > a.most || a.Omitted > 0 {
		whole := d[:min(len(d), max(a.most-len(a.Diff), 0))]
		if a.Omitted > 0 {
			whole = ""
		}
		whole = whole[:strings.LastIndexByte(whole, '\n')+1]
		a.Omitted += len(d) - len(whole)
		d = whole
	}
	a.Diff += d
}
