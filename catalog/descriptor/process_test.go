package descriptor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

func TestProcess(t *testing.T) {
	res := process(t, New(Options{}), shop("", "  dependsOn: [resource:b, component:z, component:B]\n  providesApis: ['😀', 'ｚ']\n"), nil)
	if !res.OK {
		t.Fatal(said(res.Problems))
	}
	got, _ := json.Marshal(res.Entity)
	want := `{"apiVersion":"backstage.io/v1alpha1","kind":"Component","metadata":{"name":"shop","namespace":"default","annotations":{` +
		`"backstage.io/managed-by-location":"url:https://github.com/acme/catalog/tree/main/dir/catalog-info.yaml",` +
		`"backstage.io/managed-by-origin-location":"url:https://github.com/acme/catalog/blob/main/dir/catalog-info.yaml",` +
		`"backstage.io/view-url":"https://github.com/acme/catalog/tree/main/dir/catalog-info.yaml",` +
		`"backstage.io/edit-url":"https://github.com/acme/catalog/edit/main/dir/catalog-info.yaml",` +
		`"backstage.io/source-location":"url:https://github.com/acme/catalog/tree/main/dir/"}},` +
		`"spec":{"type":"service","lifecycle":"production","owner":"team-a",` +
		`"dependsOn":["component:B","component:z","resource:b"],"providesApis":["😀","ｚ"]}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// The author's view, edit and source stay, the managed-by ones never do.
func TestWrittenAnnotations(t *testing.T) {
	res := process(t, New(Options{}), shop(`  annotations:
    backstage.io/managed-by-location: 5
    backstage.io/view-url: ""
    backstage.io/edit-url: " \tJava\nScript:alert(1)"
`, ""), nil)
	if !res.OK {
		t.Fatal(said(res.Problems))
	}
	annotations := res.Entity.Object("metadata").Object("annotations")
	for key, want := range map[string]string{
		annotationLocation: "url:https://github.com/acme/catalog/tree/main/dir/catalog-info.yaml",
		annotationView:     "", annotationEdit: " \tJava\nScript:alert(1)", // replaced when it is served
		annotationSource: "url:https://github.com/acme/catalog/tree/main/dir/",
	} {
		if got, ok := annotations.Get(key).(string); !ok || got != want {
			t.Errorf("%s is %v, want %q", key, annotations.Get(key), want)
		}
	}
}

func TestRelations(t *testing.T) {
	const self = "component:ns/shop"
	for _, tc := range []struct{ kind, spec, want string }{
		{"Component", "type: t, lifecycle: l, owner: A, system: s, subcomponentOf: p, providesApis: [x], consumesApis: [default/y], dependsOn: [a:b], dependencyOf: [c:d/e]",
			"ownedBy group:ns/a, ownerOf<, partOf system:ns/s, hasPart<, partOf component:ns/p, hasPart<, providesApi api:ns/x, apiProvidedBy<, " +
				"consumesApi api:default/y, apiConsumedBy<, dependsOn a:ns/b, dependencyOf<, dependencyOf c:d/e, dependsOn<"},
		{"Component", "type: t, lifecycle: l, owner: user:a, dependencyOf: {kind: K, name: N}, dependsOn: ['a:b', 'A:B']",
			"ownedBy user:ns/a, ownerOf<, dependsOn a:ns/b, dependencyOf<, dependencyOf k:ns/n, dependsOn<"},
		{"API", "type: t, lifecycle: l, owner: o, definition: d, dependsOn: 5, system: s", "ownedBy group:ns/o, ownerOf<, partOf system:ns/s, hasPart<"},
		{"Resource", "type: t, owner: o, dependsOn: ['k:x']", "ownedBy group:ns/o, ownerOf<, dependsOn k:ns/x, dependencyOf<"},
		{"System", "owner: o, domain: d", "ownedBy group:ns/o, ownerOf<, partOf domain:ns/d, hasPart<"},
		{"Domain", "owner: o, subdomainOf: d", "ownedBy group:ns/o, ownerOf<, partOf domain:ns/d, hasPart<"},
		{"Group", "type: t, children: [c], parent: p, members: [m]", "childOf group:ns/p, parentOf<, parentOf group:ns/c, childOf<, hasMember user:ns/m, memberOf<"},
		{"User", "memberOf: [g]", "memberOf group:ns/g, hasMember<"},
		{"Location", "owner: o", ""},
	} {
		text := "apiVersion: backstage.io/v1beta1\nkind: " + tc.kind + "\nmetadata: {name: shop, namespace: ns}\nspec: {" + tc.spec + "}\n"
		res := process(t, New(Options{}), text, nil)
		me := strings.Replace(self, "component", strings.ToLower(tc.kind), 1)
		var got []string
		for _, e := range res.Edges {
			if e.Source == me {
				got = append(got, e.Type+" "+e.Target)
			} else {
				got = append(got, e.Type+"<")
			}
		}
		slices.Sort(got)
		want := strings.Split(tc.want, ", ")
		if tc.want == "" {
			want = nil
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v; %s", tc.kind, got, want, said(res.Problems))
		}
	}
}

func TestBadReferences(t *testing.T) {
	for _, tc := range []struct{ spec, want string }{
		{"  system: ':a'\n", `9:3 spec.system ":a" is not a reference`},
		{"  system: 'a:/b'\n", `9:3 spec.system "a:/b" is not a reference`},
		{"  dependencyOf: true\n", "9:3 spec.dependencyOf is the boolean true, not a reference"},
		{"  dependencyOf: [[a]]\n", "9:18 spec.dependencyOf[0] is a list, not a reference"},
		{"  dependencyOf: {kind: K, name: 5}\n", "9:3 spec.dependencyOf has the name the number 5, which is not a text"},
		{"  dependencyOf: {name: a}\n", "9:3 spec.dependencyOf is a mapping that lacks a kind or a name"},
		{"  dependsOn: ['n/a']\n", `9:15 spec.dependsOn[0] "n/a" is not a reference`},
	} {
		if got := strings.TrimSpace(said(process(t, New(Options{}), shop("", tc.spec), nil).Problems)); got != tc.want {
			t.Errorf("%s: %s, want %s", strings.TrimSpace(tc.spec), got, tc.want)
		}
	}
	for _, fine := range []string{"", "null", "0", "false", `""`, "[]"} {
		if res := process(t, New(Options{}), shop("", "  dependencyOf: "+fine+"\n"), nil); !res.OK {
			t.Errorf("dependencyOf: %s: %s", fine, said(res.Problems))
		}
	}
}

func TestKinds(t *testing.T) {
	const widget = "apiVersion: acme.test/v1\nkind: Widget\nmetadata: {name: w}\nspec: {owner: team-a, dependsOn: [c, b]}\n"
	const tool = "apiVersion: scaffolder.backstage.io/v1beta3\nkind: Template\nmetadata: {name: t}\nspec:\n  type: service\n  owner: team-a\n"
	for _, tc := range []struct {
		name, text, want string
		opts             Options
		edges            int
	}{
		{"further kind", widget, "", Options{Kinds: []string{"Widget"}}, 0},
		{"further kind unknown", widget, "2:1 kind \"Widget\" is not allowed here, so nothing of the file is read\n2:1 kind \"Widget\" is not known\n", Options{}, 0},
		{"wrong case", strings.Replace(shop("", ""), "Component", "component", 1), "2:1 kind \"component\" is not known: kinds are case-sensitive\n", Options{}, 0},
		{"wrong version", strings.Replace(shop("", ""), "v1alpha1", "v2", 1), "1:1 apiVersion \"backstage.io/v2\" is not one that kind Component has\n", Options{}, 0},
		{"template", tool + "  steps: [{action: a, if: true}]\n", "", Options{Template: true}, 2},
		{"template off", tool + "  steps: []\n", "2:1 kind \"Template\" is not known\n", Options{}, 0},
		{"template without steps", tool, "4:1 spec.steps is missing: kind Template needs it\n", Options{Template: true}, 0},
		{"template with bad steps", tool + "  steps: [{if: 5}]\n  parameters: [x]\n  output: {a: 1, links: [{url: ''}]}\n",
			"7:11 spec.steps[0].action is missing: spec.steps[0] needs it\n7:12 spec.steps[0].if is the number 5, neither a text nor a boolean\n" +
				"8:16 spec.parameters[0] is \"x\", not a mapping\n9:12 spec.output.a is the number 1, not a text\n9:27 spec.output.links[0].url is empty\n",
			Options{Template: true}, 0},
	} {
		p := New(tc.opts)
		origin, at := catalogFile(t, p)
		f := p.Read(at, []byte(tc.text))
		d := f.Documents[0]
		res := p.Process(context.Background(), f, d, origin, nil)
		if got := said(append(d.Problems, res.Problems...)); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", tc.name, got, tc.want)
		}
		if len(res.Edges) != tc.edges {
			t.Errorf("%s: %d edges, want %d", tc.name, len(res.Edges), tc.edges)
		}
	}
}

func TestRules(t *testing.T) {
	p := New(Options{Allow: []string{"component", "API", "Location"}})
	for text, want := range map[string]bool{
		shop("", ""): true,
		strings.Replace(shop("", ""), "Component", "COMPONENT", 1): true,
		strings.Replace(shop("", ""), "Component", "Group", 1):     false,
	} {
		if f := p.Read(Location{TypeURL, blob + "a.yaml"}, []byte(text)); f.OK() != want {
			t.Errorf("%.60q: ok %v", text, f.OK())
		}
	}
}

// Keys that would replace prototypes are dropped where Backstage drops them.
func TestPrototypes(t *testing.T) {
	res := process(t, New(Options{}), shop("", "  __proto__: {a: 1}\n  x: [{__proto__: [1], constructor: {y: 2}}]\n"), nil)
	if got, _ := json.Marshal(res.Entity.Object("spec").Get("x")); string(got) != `[{"constructor":{"y":2}}]` || res.Entity.Object("spec").Get("__proto__") != nil {
		t.Errorf("spec.x is %s", got)
	}
	if res := process(t, New(Options{}), shop("", "")+"__proto__: text\n", nil); res.OK {
		t.Error("a text as __proto__ at the root is accepted")
	}
}

// Processing changes nothing that was read, and many can do it at once.
func TestProcessIsSafeForConcurrentUse(t *testing.T) {
	p := New(Options{})
	origin, at := catalogFile(t, p)
	f := p.Read(at, []byte(shop("  annotations: {a: b}\n", "  dependsOn: ['c:b', 'c:a']\n  x: {$text: t.txt}\n")))
	before, _ := json.Marshal(f.Documents[0].Raw)
	r := inRepository(map[string]string{"dir/t.txt": "text"})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if res := p.Process(context.Background(), f, f.Documents[0], origin, r); !res.OK {
					t.Error(said(res.Problems))
				}
				p.Read(at, []byte(typical))
			}
		})
	}
	wg.Wait()
	if after, _ := json.Marshal(f.Documents[0].Raw); string(after) != string(before) {
		t.Errorf("what was read has changed:\n%s\n%s", before, after)
	}
}

func TestCompareUTF16(t *testing.T) {
	ordered := []string{"", "A", "a", "aa", "b", "é", "\ud7ff", "😀", "\U0010ffff", "\ue000", "ｚ", "\uffff"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := compareUTF16(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("compare(%q, %q) = %d", a, b, got)
			}
		}
	}
}

func TestRegistration(t *testing.T) {
	p := New(Options{})
	origin, at := catalogFile(t, p)
	f, d := p.Registration(origin)
	res := p.Process(context.Background(), f, d, origin, nil)
	if !res.OK || len(res.Targets) != 1 || res.Targets[0].Location != at {
		t.Fatalf("%+v", res)
	}
	if want := (entity.Ref{Kind: "location", Namespace: "default", Name: "generated-11fe1172ae54abed28afa53c74b6260de04d2a1b"}); d.Ref != want {
		t.Errorf("reference %v", d.Ref)
	}
}
