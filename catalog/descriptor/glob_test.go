package descriptor

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern   string
		good, bad []string
	}{
		{"*.yaml", []string{"a.yaml", "a.b.yaml"}, []string{"a/b.yaml", ".a.yaml", "a.YAML", "a.yml"}},
		{".*.yaml", []string{".a.yaml"}, []string{"a.yaml"}},
		{"a?c", []string{"abc", "aéc"}, []string{"ac", "abbc"}},
		{"[a-c]x", []string{"ax", "cx"}, []string{"dx", "Ax"}},
		{"[!a-c]x", []string{"dx"}, []string{"ax"}},
		{"[^a]", []string{"b"}, []string{"a"}},
		{"[]]", []string{"]"}, []string{"["}},
		{"a[b", []string{"a[b"}, []string{"ab"}},
		{"{a,b}.{x,y}", []string{"a.x", "b.y"}, []string{"c.x", "a.z"}},
		{"{a,{b,c}d}", []string{"a", "bd", "cd"}, []string{"b", "d"}},
		{"{a}", []string{"{a}"}, []string{"a"}},
		{"x{1..3}", []string{"x1", "x3"}, []string{"x4"}},
		{"{a..c}", []string{"b"}, []string{"d"}},
		{"**/*.yaml", []string{"a.yaml", "b/a.yaml", "c/b/a.yaml"}, []string{".git/a.yaml", "b/.x/a.yaml", "a.yml"}},
		{"a/**", []string{"a/", "a/b", "a/b/c", "a/b/"}, []string{"a", "b", "b/", "a/.b", "ab"}},
		{"a/*", []string{"a/b", "a/b/"}, []string{"a/", "a/b/c"}},
		{"?(a).*d", []string{".hid", "a.d"}, []string{"hid"}},
		{"{c..a}", []string{"b"}, []string{"d"}},
		{"{01..03}{3..1}", []string{"023"}, []string{"23", "040"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"a/bb", "b"}},
		{"**/a/**/b", []string{"x/a/a/y/b"}, []string{"x/b"}},
		{"!(a).x", []string{"b.x", "aa.x"}, []string{"a.x"}},
		{"@(a|b)c", []string{"ac", "bc"}, []string{"c", "abc"}},
		{"+(ab)", []string{"ab", "abab"}, []string{"a", "aba"}},
		{"*(a|b)c", []string{"c", "abac"}, []string{"d", "abd"}},
		{"?(a)b", []string{"b", "ab"}, []string{"aab"}},
		{"a(b)", []string{"a(b)"}, []string{"ab"}},
		{"plain/name.yaml", []string{"plain/name.yaml"}, []string{"plain/other.yaml"}},
	} {
		g, err := ParseGlob(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		for _, name := range tc.good {
			if !g.Match(name) {
				t.Errorf("%s does not match %s", tc.pattern, name)
			}
		}
		for _, name := range tc.bad {
			if g.Match(name) {
				t.Errorf("%s matches %s", tc.pattern, name)
			}
		}
	}
}

func TestGlobIsBounded(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("a", maxGlob+1),
		strings.Repeat("{a,b}", 20),
		"{" + strings.Repeat("a,", 400) + "a}",
		strings.Repeat("{a,", 10) + strings.Repeat("}", 10),
	} {
		if _, err := ParseGlob(pattern); err == nil {
			t.Errorf("%.30s… is accepted", pattern)
		}
	}
	name := strings.Repeat("a", 255)
	for _, pattern := range []string{
		strings.Repeat("*a", 400) + "b",
		strings.Repeat("**/", 300) + "b",
		strings.Repeat("+(a|*(a))", 80) + "b",
		strings.Repeat("!(a)", 200) + "b",
		strings.Repeat("!(!(!(", 20) + "a" + strings.Repeat(")))", 20),
		strings.Repeat("{", 1000),
		strings.Repeat("[", 1000),
	} {
		if g, err := ParseGlob(pattern); err == nil {
			g.Match(name)
			g.Match(strings.Repeat("a/", 500))
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/{a,b}*.y?ml", "x/a1.yaml")
	f.Add("!(a|[b-d])+(e)", "zee")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(name) > 300 {
			return
		}
		if g, err := ParseGlob(pattern); err == nil {
			g.Match(name)
		}
	})
}
