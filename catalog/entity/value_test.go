package entity

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNumbersAreWrittenAsJavaScriptDoes(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1.5: "-1.5", 1e21: "1e+21", 123456789012345680000: "123456789012345680000",
		1e-6: "0.000001", 1e-7: "1e-7", 5e-324: "5e-324", 9007199254740992: "9007199254740992", math.Inf(1): "Infinity",
	} {
		if got := FormatNumber(f); got != want {
			t.Errorf("%g is written %s, want %s", f, got, want)
		}
	}
	if got := string(AppendJSON(nil, List{{Value: math.NaN()}, {Value: math.Inf(-1)}})); got != "[null,null]" {
		t.Errorf("got %s", got)
	}
}

func TestStringsAreWrittenAsJSONStringifyDoes(t *testing.T) {
	got := string(AppendString(nil, "a\"\\\b\f\n\r\t\x00\x1f\x7f/<é\u2028\xff"))
	want := `"a\"\\\b\f\n\r\t\u0000\u001f` + "\x7f/<é\u2028\ufffd" + `"`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,true,null,"x"],"b":{}}`, `{"a":1,"a":2}`, `[1e400,-0]`, `"\ud800"`, `{"a":1}x`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseJSON([]byte(s))
		if (err == nil) != json.Valid([]byte(s)) {
			t.Fatalf("%q: %v", s, err)
		}
		if err != nil {
			return
		}
		once := AppendJSON(nil, v)
		again, err := ParseJSON(once)
		if err != nil || string(AppendJSON(nil, again)) != string(once) {
			t.Errorf("%q is written %s and read as %v %v", s, once, again, err)
		}
	})
}

func TestOfDuplicateKeysTheLastWins(t *testing.T) {
	v, err := ParseJSON([]byte(`{"a":1,"b":2,"a":3}`))
	if err != nil || string(AppendJSON(nil, v)) != `{"a":3,"b":2}` {
		t.Errorf("got %s %v", AppendJSON(nil, v), err)
	}
}

func TestObjects(t *testing.T) {
	o := Obj("a", "x", "b", List{{Value: "y"}, {Value: 1.0}, {Value: "z"}}, "c", Obj("d", true))
	c := o.Clone()
	c.Set("a", "changed")
	c.Object("c").Set("d", false)
	c.Delete("b")
	if o.String("a") != "x" || o.Object("c").Get("d") != true || !slices.Equal(o.Strings("b"), []string{"y", "z"}) || o.Len() != 3 {
		t.Errorf("a copy's change shows: %s", AppendJSON(nil, o))
	}
	if got := string(AppendJSON(nil, c)); got != `{"a":"changed","c":{"d":false}}` {
		t.Errorf("got %s", got)
	}
	var none *Object
	if none.Len() != 0 || none.Get("a") != nil || none.Object("a").String("b") != "" || none.Clone() != nil || len(slices.Collect(keys(none))) != 0 {
		t.Error("nothing is not empty")
	}
}

func keys(o *Object) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range o.All() {
			if !yield(k) {
				return
			}
		}
	}
}

func TestEntityJSON(t *testing.T) {
	e := &Entity{Ref: Ref{"component", "default", "x"}, Root: Obj("kind", "Component", "metadata", Obj("name", "X", "annotations", Obj("k", "v")), "spec", Obj("type", "service")),
		Relations: []Relation{{"ownedBy", "group:default/a"}, {"ownedBy", "group:default/b"}},
		Status:    []StatusItem{{Type: "t", Level: "error", Message: "m", Error: &StatusError{"InputError", "m"}}}}
	want := `{"kind":"Component","metadata":{"name":"X","annotations":{"k":"v"}},"spec":{"type":"service"},"relations":[{"type":"ownedBy","targetRef":"group:default/a"},{"type":"ownedBy","targetRef":"group:default/b"}],"status":{"items":[{"type":"t","level":"error","message":"m","error":{"name":"InputError","message":"m"}}]}}`
	for _, v := range []*Entity{e, e.WithJSON(e.AppendJSON(nil))} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got %s %v", got, err)
		}
	}
	if e.Owner() != "group:default/a" || e.Annotation("k") != "v" || e.Namespace() != "default" || e.Type() != "service" || strings.Join(e.Targets("none"), "") != "" {
		t.Errorf("got %+v", e)
	}
}
