package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// described is a component whose spec is given as JSON.
func described(t *testing.T, name, file string, line uint32, spec string, edges ...string) compare.Description {
	t.Helper()
	v, err := entity.ParseJSON([]byte(`{"kind":"Component","metadata":{"name":"` + name + `"},"spec":` + spec + `}`))
	if err != nil {
		t.Fatal(err)
	}
	d := compare.Description{Ref: "component:default/" + name, Owner: "group:default/crew", Place: compare.Place{File: file, Line: line}, Content: v.(*entity.Object)}
	for _, to := range edges {
		to = "component:default/" + to
		d.Edges = append(d.Edges, entity.Edge{Source: d.Ref, Type: "dependsOn", Target: to}, entity.Edge{Source: to, Type: "dependencyOf", Target: d.Ref})
	}
	return d
}

func problem(severity entity.Severity, file string, line uint32, ref, message string) compare.Problem {
	return compare.Problem{Problem: entity.Problem{Severity: severity, Name: "InputError", File: file, Line: line, Ref: ref, Message: message}}
}

// told is a difference in lines.
func told(d *compare.Difference) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	entities := func(what string, all []compare.Entity) {
		for _, e := range all {
			add("%s %s %s:%d", what, name(e.Ref), e.File, e.Line)
		}
	}
	changes := func(what string, all []compare.Change) {
		for _, c := range all {
			line := fmt.Sprintf("%s %s %s from %q", what, name(c.Ref), c.File, c.From)
			for _, f := range c.Fields {
				line += fmt.Sprintf("; %s %s -> %s", f.Name, f.Before, f.After)
			}
			add("%s", line)
		}
	}
	relations := func(what string, all []compare.Relation) {
		for _, r := range all {
			add("%s %s %s %s %s:%d", what, name(r.Source), r.Type, name(r.Target), r.File, r.Line)
		}
	}
	problems := func(what string, all []compare.Problem) {
		for _, p := range all {
			add("%s %s:%d %s", what, p.File, p.Line, p.Message)
		}
	}
	entities("added", d.Added)
	changes("changed", d.Changed)
	changes("moved", d.Moved)
	entities("removed", d.Removed)
	entities("stale", d.Stale)
	relations("broken", d.Relations.Broken)
	relations("made", d.Relations.Made)
	relations("dropped", d.Relations.Dropped)
	relations("unknown", d.Relations.Unknown)
	for _, c := range d.Conflicts {
		line := "conflict " + name(c.Ref)
		for _, cl := range c.Claims {
			line += fmt.Sprintf(" %s:%d keeps=%t new=%t", cl.File, cl.Line, cl.Keeps, cl.New)
		}
		add("%s", line)
	}
	problems("new", d.Problems.New)
	problems("old", d.Problems.Old)
	problems("fixed", d.Problems.Fixed)
	if d.Worse() {
		add("worse")
	}
	return out
}

func name(ref string) string { return strings.TrimPrefix(ref, "component:default/") }

func TestSets(t *testing.T) {
	d := func(name, file string, line uint32, spec string, edges ...string) compare.Description {
		return described(t, name, file, line, spec, edges...)
	}
	set := func(all ...compare.Description) compare.Set { return compare.Set{Descriptions: all} }
	const plain = `{"type":"service"}`
	for title, c := range map[string]struct {
		before, after compare.Set
		want          []string
	}{
		"nothing":          {before: set(d("a", "a", 1, plain, "x")), after: set(d("a", "a", 9, plain, "x"))},
		"an order of keys": {before: set(d("a", "a", 1, `{"x":1,"y":{"p":[1],"q":null}}`)), after: set(d("a", "a", 1, `{"y":{"q":null,"p":[1]},"x":1}`))},
		"added, changed, removed": {before: set(d("a", "a", 1, `{"owner":"x","dependsOn":["p"],"type":"service"}`), d("b", "b", 1, plain)),
			after: set(d("a", "a", 1, `{"owner":"y","dependsOn":["p","q"],"lifecycle":"x"}`), d("c", "c", 4, plain)),
			want: []string{"added c c:4", `changed a a from ""; spec.owner "x" -> "y"; spec.dependsOn ["p"] -> ["p","q"]; spec.lifecycle  -> "x"; spec.type "service" -> `,
				"removed b b:1"}},
		"moved":             {before: set(d("a", "a", 1, plain)), after: set(d("a", "b", 1, plain)), want: []string{`moved a b from "a"`}},
		"moved and changed": {before: set(d("a", "a", 1, plain)), after: set(d("a", "b", 1, `{"type":"x"}`)), want: []string{`changed a b from "a"; spec.type "service" -> "x"`}},
		"relations": {before: set(d("a", "a", 1, plain, "kept", "gone", "left", "else"), d("kept", "k", 1, plain), d("gone", "g", 1, plain), d("left", "l", 1, plain)),
			after: set(d("a", "a", 1, plain, "kept", "gone", "else", "fresh", "where"), d("kept", "k", 1, plain), d("left", "l", 1, plain), d("fresh", "f", 1, plain, "gone")),
			want: []string{"added fresh f:1", "removed gone g:1", "broken a dependsOn gone a:1", "broken fresh dependsOn gone f:1", "made a dependsOn fresh a:1",
				"dropped a dependsOn left a:1", "unknown a dependsOn where a:1", "worse"}},
		"both ends gone": {before: set(d("a", "a", 1, plain, "b"), d("b", "b", 1, plain)), after: set(), want: []string{"removed a a:1", "removed b b:1"}},
		"stale": {before: set(d("a", "a", 1, plain, "b"), d("b", "b", 1, plain), d("c", "c", 1, plain), d("d", "d", 1, plain)),
			after: compare.Set{Descriptions: []compare.Description{d("a", "a", 1, plain, "b")}, Unusable: []string{"b"},
				Failed: []compare.Attempt{{Ref: "component:default/c", File: "c"}, {Ref: "component:default/d", File: "elsewhere"}}},
			want: []string{"removed d d:1", "stale b b:1", "stale c c:1"}},
		"a conflict": {before: set(d("a", "b", 1, plain)), after: set(d("a", "a", 7, `{"type":"x"}`), d("a", "b", 1, plain)),
			want: []string{"conflict a b:1 keeps=true new=false a:7 keeps=false new=true", "worse"}},
		"a conflict of new files": {after: set(d("a", "x", 1, plain), d("a", "y", 2, plain)), want: []string{"added a x:1", "conflict a x:1 keeps=true new=true y:2 keeps=false new=true", "worse"}},
		"an old conflict":         {before: set(d("a", "a", 1, plain), d("a", "b", 1, plain)), after: set(d("a", "a", 1, plain), d("a", "c", 1, plain))},
		"twice in one file":       {before: set(d("a", "a", 1, plain)), after: set(d("a", "a", 1, `{"type":"x"}`), d("a", "a", 9, plain))},
	} {
		if diff := cmp.Diff(c.want, told(compare.Sets(&c.before, &c.after))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", title, diff)
		}
	}
}

func TestProblems(t *testing.T) {
	const e, w = entity.SeverityError, entity.SeverityWarning
	twice := problem(w, "a", 9, "x", "x is described twice in this file, at lines 1 and 9")
	twice.Name = "ConflictError"
	moved := problem(w, "a", 12, "x", "x is described twice in this file, at lines 3 and 12")
	moved.Name = "ConflictError"
	lost := problem(e, "c", 1, "y", "y is already described at a:1")
	lost.Name = "ConflictError"
	before := compare.Set{Files: []string{"a", "b", "old"}, Problems: []compare.Problem{
		problem(e, "a", 3, "r", "owner is 7, see line 4"), problem(e, "a", 5, "", "broken"), problem(e, "b", 2, "s", "wrong"), problem(e, "old", 1, "", "unclosed"), twice,
		problem(e, "b", 4, "t", "same"), problem(e, "b", 5, "t", "same"),
	}}
	after := compare.Set{Files: []string{"a", "b", "c", "renamed"}, Problems: []compare.Problem{
		problem(e, "a", 4, "r", "owner is 7, see line 5"), problem(e, "c", 5, "", "broken"), problem(e, "c", 2, "s", "wrong"), problem(e, "renamed", 1, "", "unclosed"), moved, lost,
		problem(e, "b", 4, "t", "same"), problem(e, "b", 4, "t", "same"), problem(e, "b", 6, "t", "same"), problem(w, "b", 1, "", "odd"),
	}}
	want := []string{"new b:1 odd", "new b:6 same", "new c:5 broken",
		"old a:4 owner is 7, see line 5", "old a:12 x is described twice in this file, at lines 3 and 12", "old b:4 same", "old b:4 same", "old c:2 wrong", "old renamed:1 unclosed",
		"fixed a:5 broken", "worse"}
	if diff := cmp.Diff(want, told(compare.Sets(&before, &after))); diff != "" {
		t.Error(diff)
	}
	after.Problems = []compare.Problem{problem(w, "b", 1, "", "odd")}
	if d := compare.Sets(&before, &after); d.Worse() || !d.Same() {
		t.Error("a warning makes it worse")
	}
}

// TestWhere finds the line that names the target of a relation.
func TestWhere(t *testing.T) {
	a := described(t, "a", "a", 1, `{"x":"b","dependsOn":["component:c","Component:default/B"]}`, "B", "elsewhere")
	a.Edges[0].Target = "component:default/b"
	list := a.Content.Object("spec").List("dependsOn")
	list[1].At = entity.Position{Line: 9, Column: 3}
	a.Content.Object("spec").Set("x", "other")
	after := compare.Set{Descriptions: []compare.Description{a}}
	got := compare.Sets(&compare.Set{}, &after).Relations.Unknown
	if len(got) != 2 || got[0].Line != 9 || got[1].Line != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAnnotations tells labels and annotations one by one.
func TestAnnotations(t *testing.T) {
	of := func(meta string) compare.Set {
		v, err := entity.ParseJSON([]byte(`{"metadata":` + meta + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return compare.Set{Descriptions: []compare.Description{{Ref: "component:default/a", Content: v.(*entity.Object)}}}
	}
	before, after := of(`{"name":"a","annotations":{"x/y":"1","x/z":"2"},"title":"T"}`), of(`{"name":"a","annotations":{"x/y":"3","x/z":"2"},"labels":{"l":"1"},"title":null}`)
	want := []string{`changed a  from ""; metadata.annotations.x/y "1" -> "3"; metadata.labels.l  -> "1"; metadata.title "T" -> `}
	if diff := cmp.Diff(want, told(compare.Sets(&before, &after))); diff != "" {
		t.Error(diff)
	}
	before = of(`"x"`)
	if got := told(compare.Sets(&before, &after)); len(got) != 1 || !strings.Contains(got[0], "metadata") {
		t.Error(got)
	}
}
