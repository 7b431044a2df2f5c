package descriptor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Every problem is told at once, each with its place and the value at fault.
func TestEveryProblemIsTold(t *testing.T) {
	res := process(t, New(Options{}), `apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: "-bad"
  labels: {tier: 5, "a b": x}
  tags: [Java, "a--b"]
  links:
    - url: example.test
    - title: " "
spec:
  type: service
  owner: {{ x }}
  dependsOn: [foo, 5, "component:"]
  docs: {$text: nope.txt}
  system:
extra: 1
`, files{})
	want := `4:3 metadata.name "-bad" is not valid
5:12 metadata.labels.tier is the number 5, not a text
5:21 metadata.labels has the key "a b", which is not valid
6:10 metadata.tags[0] "Java" is not valid
6:16 metadata.tags[1] "a--b" is not valid
8:7 metadata.links[0].url "example.test" is not a URL
9:7 metadata.links[1] has no url
9:7 metadata.links[1].title is blank
10:1 spec.lifecycle is missing: kind Component needs it
12:3 spec.owner is a mapping, not a text
13:15 spec.dependsOn[0] "foo" names no kind
13:20 spec.dependsOn[1] is the number 5, not a text
13:23 spec.dependsOn[2] "component:" is not a reference
14:10 $text names "nope.txt", which is not there
15:3 spec.system is null, not a text
16:1 "extra" is not a field of an entity: only apiVersion, kind, metadata and spec are
`
	if got := said(res.Problems); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
	if res.OK || res.Entity != nil || res.Edges != nil {
		t.Errorf("a document with problems came through: %+v", res)
	}
	for _, p := range res.Problems {
		if p.Fix == "" || p.Severity != entity.SeverityError || p.Name == "" {
			t.Errorf("problem without fix, severity or name: %+v", p)
		}
	}
}

// What follows from a placeholder that cannot be filled is not told again.
func TestUnfilledPlaceholderIsToldOnce(t *testing.T) {
	res := process(t, New(Options{}), `apiVersion: backstage.io/v1alpha1
kind: API
metadata: {name: a}
spec:
  type: openapi
  lifecycle: production
  owner: team-a
  definition:
    $text: ./openapi.yaml
`, files{})
	if got, want := said(res.Problems), "9:5 $text names \"./openapi.yaml\", which is not there\n"; got != want {
		t.Errorf("problems %q, want %q", got, want)
	}
}

func TestEnvelope(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"a: 1\n", "1:1 apiVersion is missing\n1:1 kind is missing\n1:1 metadata is missing\n"},
		{"apiVersion: 1\nkind: ''\nmetadata: []\n", "1:1 apiVersion is the number 1, not a text\n2:1 kind is empty\n3:1 metadata is a list, not a mapping\n"},
		{"apiVersion: v1\nkind: K\nmetadata: {namespace: , annotations: [a]}\n",
			"3:11 metadata.name is missing\n3:12 metadata.namespace is null, not a text\n3:25 metadata.annotations is a list, not a mapping\n"},
		{"- a\n", "1:1 the document is a list, not a mapping\n"},
		{"just text\n", "1:1 the document is \"just text\", not a mapping\n"},
	} {
		f := New(Options{}).Read(Location{TypeURL, blob + "a.yaml"}, []byte(tc.text))
		if got := said(f.Documents[0].Problems); got != tc.want {
			t.Errorf("%q: problems\n%s\nwant\n%s", tc.text, got, tc.want)
		}
		if f.OK() {
			t.Errorf("%q: the file is taken for good", tc.text)
		}
	}
}

func TestNullAnnotationsAreNone(t *testing.T) {
	for _, none := range []string{"", "null", "0", "false", `""`} {
		if res := process(t, New(Options{}), shop("  annotations: "+none+"\n", ""), nil); !res.OK {
			t.Errorf("annotations: %s: %v", none, res.Problems)
		}
	}
}

// One bad document spoils its file, null documents do not count.
func TestFileIsAllOrNothing(t *testing.T) {
	p := New(Options{})
	at := Location{TypeURL, blob + "a.yaml"}
	good := shop("", "")
	for _, tc := range []struct {
		name, text    string
		ok, forbidden bool
		documents     int
	}{
		{"good", good, true, false, 1},
		{"nothing", "# nothing\n", true, false, 0},
		{"null documents", "---\n" + good + "---\n---\nnull\n---\n" + good, true, false, 2},
		{"broken YAML", good + "---\na: [\n", false, false, 2},
		{"no envelope", good + "---\na: 1\n", false, false, 2},
		{"unknown kind", good + "---\n" + strings.Replace(good, "Component", "Widget", 1), false, true, 2},
		{"problems of processing", strings.Replace(good, "production", "", 1), true, false, 1},
	} {
		f := p.Read(at, []byte(tc.text))
		if f.OK() != tc.ok || f.Forbidden() != tc.forbidden || len(f.Documents) != tc.documents {
			t.Errorf("%s: ok %v, forbidden %v, %d documents; want %v, %v, %d", tc.name,
				f.OK(), f.Forbidden(), len(f.Documents), tc.ok, tc.forbidden, tc.documents)
		}
		for i, d := range f.Documents {
			if d.Index != i {
				t.Errorf("%s: document %d has index %d", tc.name, i, d.Index)
			}
		}
	}
}

// Problems beyond the limit are counted, not listed.
func TestProblemsAreCapped(t *testing.T) {
	var tags strings.Builder
	for i := range 250 {
		fmt.Fprintf(&tags, "    - T%d\n", i)
	}
	res := process(t, New(Options{}), shop("  tags:\n"+tags.String(), ""), nil)
	if n := len(res.Problems); n != maxProblems+1 {
		t.Fatalf("%d problems, want %d", n, maxProblems+1)
	}
	if got := res.Problems[maxProblems].Message; got != "150 more problems are not listed" {
		t.Errorf("last problem %q", got)
	}
	for document, want := range map[int]int{0: 100, 9: 100, 10: 90, 99: 10, 999: 1, 100000: 1} {
		if got := limitOf(document); got != want {
			t.Errorf("of document %d %d problems are told, want %d", document, got, want)
		}
	}
	f := New(Options{}).Read(Location{TypeURL, blob + "a.yaml"}, []byte(strings.Repeat("---\na: 1\n", 60)))
	if len(f.Problems) != 1 || f.Problems[0].Message != "80 more problems of the file are not listed" {
		t.Errorf("problems of the file: %v", f.Problems)
	}
}

func TestValuesAreShownShort(t *testing.T) {
	for _, tc := range []struct {
		value entity.Value
		want  string
	}{
		{nil, "null"}, {true, "the boolean true"}, {1e21, "the number 1e+21"}, {"a\nb", `"a\nb"`},
		{entity.List{}, "a list"}, {&entity.Object{}, "a mapping"},
		{strings.Repeat("é", 100), `"` + strings.Repeat("é", 40) + `"… (200 bytes)`},
	} {
		if got := show(tc.value); got != tc.want {
			t.Errorf("show(%v) = %s, want %s", tc.value, got, tc.want)
		}
	}
}
