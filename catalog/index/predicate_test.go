package index

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestPredicatesThatBackstageTakes holds the parser against what Backstage's
// schema and query builder say of each predicate. null alone differs: here it
// is no predicate.
func TestPredicatesThatBackstageTakes(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`{}`, true},
		{`{"kind":"Component"}`, true},
		{`{"kind":1}`, true},
		{`{"kind":true}`, true},
		{`{"kind":null}`, false},
		{`{"kind":[]}`, false},
		{`{"kind":{}}`, false},
		{`[]`, false},
		{`"x"`, false},
		{`1`, false},
		{`{"$all":[]}`, true},
		{`{"$any":[]}`, true},
		{`{"$not":{}}`, true},
		{`{"$not":[]}`, false},
		{`{"$all":{}}`, false},
		{`{"$all":[{"a":"b"},{"$any":[{"c":"d"}]}]}`, true},
		{`{"$all":[],"a":"b"}`, false},
		{`{"a":"b","$all":[]}`, false},
		{`{"$foo":[]}`, false},
		{`{"$all":["x"]}`, false},
		{`{"a":{"$exists":true}}`, true},
		{`{"a":{"$exists":"yes"}}`, false},
		{`{"a":{"$exists":true,"$in":["x"]}}`, true},
		{`{"a":{"$exists":"yes","$in":["x"]}}`, true},
		{`{"a":{"$in":[]}}`, true},
		{`{"a":{"$in":["x",1,true]}}`, true},
		{`{"a":{"$in":[null]}}`, false},
		{`{"a":{"$in":"x"}}`, false},
		{`{"a":{"$hasPrefix":"x"}}`, true},
		{`{"a":{"$hasPrefix":1}}`, false},
		{`{"a":{"$contains":"x"}}`, true},
		{`{"a":{"$contains":{"b":"c"}}}`, false},
		{`{"a":{"$contains":[]}}`, false},
		{`{"a":{"$contains":null}}`, false},
		{`{"relations":{"$contains":{"type":"ownedBy"}}}`, true},
		{`{"relations":{"$contains":{"type":"ownedBy","targetRef":"group:default/x"}}}`, true},
		{`{"Relations":{"$contains":{"TYPE":"ownedBy","targetref":{"$in":["a","b"]}}}}`, true},
		{`{"relations":{"$contains":{"type":"ownedBy","targetRef":{"$in":[]}}}}`, false},
		{`{"relations":{"$contains":{"type":"ownedBy","targetRef":{"$in":[1]}}}}`, false},
		{`{"relations":{"$contains":{"type":1}}}`, false},
		{`{"relations":{"$contains":{"targetRef":"x"}}}`, false},
		{`{"relations":{"$contains":{"type":"a","Type":"b"}}}`, false},
		{`{"relations":{"$contains":{"type":"a","foo":"b"}}}`, false},
		{`{"relations":{"$contains":{}}}`, false},
		{`{"relations":{"$contains":"x"}}`, true},
		{`{"relations":{"$contains":{"type":"a","targetRef":{"$exists":true}}}}`, false},
		{`{"relations":{"$contains":{"$all":[]}}}`, false},
		{`{"relations":{"$contains":{"type":{"$in":["a"]}}}}`, false},
		{`{"":"x"}`, true},
		{`{"a\nb":"x"}`, false},
		{`{"a":{"b":"c"}}`, false},
		{`{"a":{"$exists":false}}`, true},
		{`{"a":{"foo":1,"$in":["x"]}}`, true},
		{`{"$not":{"a":"b"},"$all":[]}`, false},
		{`{"a":{"$in":["x"],"$contains":"y"}}`, true},
		{`{"a":{"$contains":"y","$hasPrefix":"z"}}`, true},
		{`{"a":{"$hasPrefix":1,"$in":["x"]}}`, true},
		{`{"a":{"$in":[1],"$in":"x"}}`, false},
		{`{"a":1e21}`, true},
		{`{"a":{"$not":"x"}}`, false},
		{`{"a":{"$contains":{"$in":["x"]}}}`, false},
		{`{"a":"b","c":{"$exists":true}}`, true},
		{`{"a":{"$contains":true}}`, true},
		{`{"a":{"$any":[]}}`, false},
		{`{"\u2028":"x"}`, true},
		{`{"a\u2028":"x"}`, false},
		{`{"relations":{"$contains":{"type":""}}}`, false},
		{`{"relations":{"$contains":{"type":"a","targetRef":{"$in":["x"],"$exists":true}}}}`, false},
	} {
		p, err := ParsePredicate("query", []byte(c.text))
		if (err == nil) != c.ok {
			t.Errorf("%s: error is %v, want ok %v", c.text, err, c.ok)
		}
		if err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v is no invalid fault", c.text, err)
		}
		if err != nil {
			continue
		}
		again, err := ParsePredicate("query", MarshalQuery(p))
		if d := cmp.Diff(p, again, cmp.AllowUnexported(Predicate{})); err != nil || d != "" {
			t.Errorf("%s: read again from %s: %v %s", c.text, MarshalQuery(p), err, d)
		}
	}
}

func TestPredicateErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		`{"$all":[{"kind":"x"},{"$any":[{"kind":{"$in":["a",null]}}]}]}`: `query.$all[1].$any[0].kind.$in[1]`,
		`{"kind":[1]}`: `got [1]`,
		`{"$nor":[]}`:  `query.$nor`,
		`{"kind":`:     `not JSON`,
		`{"a":{"b":"` + strings.Repeat("x", 200) + `"}}`:                            `…`,
		strings.Repeat(`{"$not":`, 60) + `{}` + strings.Repeat(`}`, 60):             `50 levels`,
		`{"a":{"$in":[` + strings.Repeat(`"x",`, 60_000) + `"x"]}}`:                 `50000 values`,
		`{"$all":[` + strings.Repeat(`{"a":"b"},`, 6_000) + `{}]}`:                  `5000 conditions`,
		`{"relations":{"$contains":{"type":"ownedBy","target":"x"}}}`:               `"target"`,
		`{"relations":{"$contains":{"type":"ownedBy","targetRef":{"$in":[true]}}}}`: `but got {"$in":[true]}`,
	} {
		if _, err := ParsePredicate("query", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: error is %v, want it to say %s", text, err, want)
		}
	}
}

func TestFilterStrings(t *testing.T) {
	for _, c := range []struct {
		filters []string
		want    string // as a predicate
	}{
		{nil, `null`},
		{[]string{""}, `null`},
		{[]string{" , ,"}, `null`},
		{[]string{"kind=Component"}, `{"kind":"component"}`},
		{[]string{"kind"}, `{"kind":{"$exists":true}}`},
		{[]string{"kind="}, `{"kind":""}`},
		{[]string{"a=b=c"}, `{"a":"b=c"}`},
		{[]string{" Kind = A , kind=b"}, `{"$all":[{"kind":"a"},{"kind":"b"}]}`},
		{[]string{"kind=a,kind=B"}, `{"kind":{"$in":["a","b"]}}`},
		{[]string{"kind,kind=B"}, `{"kind":"b"}`},
		{[]string{"kind=a,spec.type=x", "kind=b"}, `{"$any":[{"$all":[{"kind":"a"},{"spec.type":"x"}]},{"kind":"b"}]}`},
	} {
		p, err := ParseFilter(c.filters)
		if err != nil {
			t.Errorf("%q: %v", c.filters, err)
			continue
		}
		got := "null"
		if p != nil {
			got = string(MarshalQuery(p))
		}
		if got != c.want {
			t.Errorf("%q is %s, want %s", c.filters, got, c.want)
		}
	}
	if _, err := ParseFilter([]string{"kind=a", "b,=c"}); err == nil || !strings.Contains(err.Error(), `'=c' is not a valid statement`) {
		t.Errorf("error is %v", err)
	}
}

// holds evaluates a predicate the slow way, over rows.
func holds(p *Predicate, rows []Row) bool {
	if p == nil {
		return true
	}
	each := func(want bool) bool {
		return slices.ContainsFunc(p.parts, func(q *Predicate) bool { return holds(q, rows) == want })
	}
	switch p.op {
	case opAll:
		return !each(false)
	case opAny:
		return each(true)
	case opNot:
		return !holds(p.parts[0], rows)
	}
	return slices.ContainsFunc(rows, func(r Row) bool {
		switch {
		case r.Key != p.key:
			return false
		case p.op == opExists:
			return true
		case r.Null:
			return false
		case p.op == opPrefix:
			return strings.HasPrefix(r.Value, p.values[0])
		default:
			return slices.Contains(p.values, r.Value)
		}
	})
}

// randomPredicate makes a predicate over the keys of randomRecord.
func randomPredicate(r *rand.Rand, depth int) string {
	key := []string{"kind", "SPEC.type", "spec.lifecycle", "metadata.tags", "metadata.tags.y", "metadata.description", "metadata.name", "no.such", "relations.dependsOn"}[r.IntN(9)]
	value := []string{`"component"`, `"A"`, `"b"`, `"PROD"`, `7`, `true`, `"x"`, `"n1"`, `"component:default/n3"`, `""`}[r.IntN(10)]
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf(`{"$all":[%s,%s]}`, randomPredicate(r, depth-1), randomPredicate(r, depth-1))
		case 1:
			return fmt.Sprintf(`{"$any":[%s,%s]}`, randomPredicate(r, depth-1), randomPredicate(r, depth-1))
		case 2:
			return fmt.Sprintf(`{"$not":%s}`, randomPredicate(r, depth-1))
		}
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf(`{%q:{"$exists":%v}}`, key, r.IntN(2) == 0)
	case 1:
		return fmt.Sprintf(`{%q:{"$in":[%s,"c","group"]}}`, key, value)
	case 2:
		return fmt.Sprintf(`{%q:{"$hasPrefix":"%s"}}`, key, []string{"", "n", "co", "PR"}[r.IntN(4)])
	case 3:
		return fmt.Sprintf(`{"relations":{"$contains":{"type":"dependsOn","targetRef":"component:default/n%d"}}}`, 3*r.IntN(10))
	default:
		return fmt.Sprintf(`{%q:%s}`, key, value)
	}
}

func TestPredicatesAgainstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var changes []Change
	for i := range 200 {
		changes = append(changes, randomRecord(r, i))
	}
	s, all := Empty().Apply(changes), everything()
	whole := s.List(all, Query{}, Window{Limit: -1}).Entities
	for range 150 {
		text := randomPredicate(r, 3)
		p, err := ParsePredicate("query", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var want, got []string
		for _, e := range whole {
			rows, _ := Rows(e.Root, e.Relations)
			if holds(p, rows) {
				want = append(want, e.Ref.String())
			}
		}
		for _, e := range s.List(all, Query{Where: p}, Window{Limit: -1}).Entities {
			got = append(got, e.Ref.String())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		term, text string
		want       bool
	}{
		{"check", "a-checkout", true}, {"CHECK", "a-checkout", true}, {"cheque", "a-checkout", false},
		{"c%t", "a-checkout", true}, {"t%c", "a-checkout", false}, {"c_e", "a-checkout", true}, {"c_h", "a-checkout", false},
		{"%", "", true}, {"_", "", false}, {"_", "ß", true}, {"__", "ß", false}, {"a%%b", "axxb", true}, {"a_%b", "ab", false},
		{`\%`, "50%", true}, {`\%`, "50", false}, {`\_`, "a_b", true}, {`\_`, "a-b", false}, {`\\`, `a\b`, true},
		{`50\`, "50%", true}, {`50\`, "50% off", false}, {`a\b`, "ab", true},
		{"aa%aab", "aaaaaaaaab", true}, {"%a%a%a%b", strings.Repeat("a", 190), false},
	} {
		f, err := NewTextFilter(c.term, []string{"x"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.pattern.match(c.text); got != c.want {
			t.Errorf("%q like %%%s%% is %v", c.text, c.term, got)
		}
	}
	if f, _ := NewTextFilter(" \u00a0\t", nil, ""); f != nil {
		t.Error("spaces are a term")
	}
	if _, err := NewTextFilter(strings.Repeat("%a", 600), nil, ""); err == nil {
		t.Error("a term of 1,200 bytes is taken")
	}
}

func TestProjection(t *testing.T) {
	e := &entity.Entity{Root: entity.Obj("kind", "Component", "metadata", entity.Obj("name", "a", "annotations", entity.Obj("backstage.io/x-ref", "1", "b", nil), "tags", list("t"))),
		Relations: []entity.Relation{{Type: "ownedBy", TargetRef: "group:default/g"}}, Status: []entity.StatusItem{{Type: "t", Level: "error", Message: "m"}}}
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"kind"}, `{"kind":"Component"}`},
		{[]string{"metadata.name,kind", " kind "}, `{"metadata":{"name":"a"},"kind":"Component"}`},
		{[]string{"metadata.annotations.backstage.io/x-ref"}, `{"metadata":{"annotations":{"backstage.io/x-ref":"1"}}}`},
		{[]string{"metadata.annotations.b"}, `{"metadata":{"annotations":{"b":null}}}`},
		{[]string{"metadata.nothing", "nothing.at.all", "kind.x"}, `{}`},
		{[]string{"metadata.tags", "metadata", "metadata.name"}, `{"metadata":{"name":"a","annotations":{"backstage.io/x-ref":"1","b":null},"tags":["t"]}}`},
		{[]string{"metadata", "metadata.name", "metadata.annotations.b"}, `{"metadata":{"name":"a","annotations":{"backstage.io/x-ref":"1","b":null},"tags":["t"]}}`},
		{[]string{"relations"}, `{"relations":[{"type":"ownedBy","targetRef":"group:default/g"}]}`},
		{[]string{"status.items"}, `{"status":{"items":[{"type":"t","level":"error","message":"m"}]}}`},
	} {
		p, err := NewProjection(c.fields)
		if err != nil {
			t.Errorf("%q: %v", c.fields, err)
			continue
		}
		got, _ := json.Marshal(p.Apply(e))
		if string(got) != c.want {
			t.Errorf("%q gives %s, want %s", c.fields, got, c.want)
		}
	}
	if _, err := NewProjection([]string{"kind", "metadata.tags[0]"}); err == nil || !strings.Contains(err.Error(), "tags[0]") {
		t.Errorf("error is %v", err)
	}
	if p, err := NewProjection([]string{" ", ","}); p != nil || err != nil {
		t.Errorf("no fields are %v, %v", p, err)
	}
}

// TestFacetsAgainstRows counts the slow way too, with and without a filter.
func TestFacetsAgainstRows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var changes []Change
	for i := range 900 {
		changes = append(changes, randomRecord(r, i))
	}
	s, all := Empty().Apply(changes), everything()
	keys := []string{"Kind", "spec.lifecycle", "metadata.tags", "metadata.description", "metadata.name"}
	for _, p := range []*Predicate{nil, Equals("spec.type", "b"), {op: opAny}} {
		want := make([]map[string]int, len(keys))
		for i, k := range keys {
			want[i] = map[string]int{}
			for _, e := range s.List(all, Query{Where: p}, Window{Limit: -1}).Entities {
				rows, _ := Rows(e.Root, e.Relations)
				for _, row := range rows {
					if row.Key == strings.ToLower(k) && !row.Null {
						want[i][row.Original]++
					}
				}
			}
		}
		for i, counts := range s.Facets(all, keys, p) {
			got := map[string]int{}
			for _, c := range counts {
				got[c.Value] += c.Count
			}
			sorted := slices.IsSortedFunc(counts, func(a, b FacetCount) int { return strings.Compare(a.Value, b.Value) })
			if d := cmp.Diff(want[i], got); d != "" || len(got) != len(counts) || !sorted {
				t.Errorf("%s: %v\n%s", keys[i], counts, d)
			}
		}
	}
}
