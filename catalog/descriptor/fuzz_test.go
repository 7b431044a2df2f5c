package descriptor

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzProcess wants of any input: no panic, an entity exactly where all is
// well or the type of a Location is not allowed, and a place for every
// problem within the document.
func FuzzProcess(f *testing.F) {
	f.Add(typical)
	f.Add("apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: l}\nspec: {targets: [./a, /b], presence: optional}\n")
	f.Add("apiVersion: v1\nkind: User\nmetadata: {name: u, labels: {$json: x}}\nspec: {memberOf: {$yaml: x}}\n---\n[a]\n")
	p := New(Options{Template: true, Kinds: []string{"Widget"}})
	at := Location{TypeURL, "https://github.com/acme/catalog/tree/main/a.yaml"}
	r := files{"https://github.com/acme/catalog/tree/main/x": "{\"a\": [1, \"b\"]}"}
	f.Fuzz(func(t *testing.T, text string) {
		file := p.Read(at, []byte(text))
		for _, d := range file.Documents {
			if d.Stage != StageProcess {
				if len(d.Problems) == 0 && len(file.Problems) == 0 {
					t.Errorf("document %d stops at %s without a problem", d.Index, d.Stage)
				}
				continue
			}
			before, _ := json.Marshal(d.Raw)
			res := p.Process(context.Background(), file, d, at, r)
			if res.OK != (len(res.Problems) == 0) || res.OK && res.Entity == nil {
				t.Errorf("ok %v with entity %v and problems %v", res.OK, res.Entity != nil, res.Problems)
			}
			for _, problem := range res.Problems {
				if problem.Line == 0 || problem.Message == "" || problem.Fix == "" {
					t.Errorf("problem without place or words: %+v", problem)
				}
			}
			if after, _ := json.Marshal(d.Raw); string(after) != string(before) {
				t.Errorf("the document was changed: %s, was %s", after, before)
			}
		}
	})
}

// FuzzResolve wants that what lies within a base is plainly below it, and
// that the address of a path leads back to it.
func FuzzResolve(f *testing.F) {
	f.Add("https://github.com/acme/catalog/tree/main/d/a.yaml", "../b%20c.yaml#x")
	f.Add("https://gitlab.com/g/p/-/blob/main/a.yaml", "/x//..%2f..")
	f.Add("https://dev.azure.com/o/p/_git/r?path=/a", "b?c")
	p := New(Options{})
	base := Location{TypeURL, blob}
	f.Fuzz(func(t *testing.T, from, ref string) {
		where := p.Resolve(Location{TypeURL, from}, TypeURL, ref)
		p.addressesOf(where)
		name, ok := p.Within(base, where)
		if !ok {
			return
		}
		if strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") || strings.ContainsRune(name, 0) {
			t.Errorf("%q from %q leads to %q", ref, from, name)
		}
		if name == "" || strings.HasSuffix(name, "/") {
			return
		}
		at, err := p.Address(base, name)
		if err != nil {
			t.Fatalf("%q has no address: %v", name, err)
		}
		if back, ok := p.Within(base, at); !ok || back != name {
			t.Errorf("%q has the address %s, which leads to %q, %v", name, at, back, ok)
		}
	})
}
