package entity

import (
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	for _, c := range []struct{ in, kind, namespace, want string }{
		{"checkout", "component", "default", "component:default/checkout"},
		{"API:Pay", "component", "team-a", "api:team-a/pay"},
		{"a:b:c", "x", "default", "a:default/b:c"},
		{"a/b/c", "x", "default", "x:a/b/c"},
		{"a/b:c", "x", "default", "x:a/b:c"},
		{"a::b", "x", "default", "a:default/:b"},
		{"k:n//x", "x", "default", "k:n//x"},
		{"group: name", "x", "default", "group:default/ name"},
		{"ΑΣ", "x", "default", "x:default/ας"},
	} {
		got, err := ParseRef(c.in, c.kind, c.namespace)
		if err != nil || got.String() != c.want {
			t.Errorf("%q: %v %v, want %s", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", ":a", "a:", "/a", "a/", "a:/b", ":a/b"} {
		if got, err := ParseRef(in, "x", "default"); err == nil {
			t.Errorf("%q was read as %v", in, got)
		}
	}
	if _, err := ParseRef("bare", "", "default"); err == nil || !strings.Contains(err.Error(), "has no kind") {
		t.Errorf("got %v", err)
	}
	if _, err := ParseRef(strings.Repeat("x", 1<<20)+":", "", "default"); err == nil || len(err.Error()) > 400 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func FuzzParseRef(f *testing.F) {
	for _, s := range []string{"checkout", "a:b/c", "a/b:c", "::", "İ:Σ/ß", "\xff:/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRef(s, "component", "default")
		if err != nil {
			return
		}
		if r.Kind == "" || r.Namespace == "" || r.Name == "" {
			t.Errorf("%q was read with an empty part: %+v", s, r)
		}
		again, err := ParseRef(r.String(), "", "")
		if err != nil || again.String() != r.String() {
			t.Errorf("%q is %s, which is %v %v", s, r, again, err)
		}
	})
}
