package yamldoc

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHostile reads large files that are made to be costly: each is refused or
// read, and none takes much longer than the others.
func TestHostile(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (1<<20)/len(s)) }
	for name, c := range map[string]struct{ text, want string }{
		"open brackets":     {fill("["), "nested deeper than 1000"},
		"dashes":            {fill("- "), "nested deeper than 1000"},
		"question marks":    {fill("? "), "nested deeper than 1000"},
		"documents":         {fill("---\n"), "more than 20000 documents"},
		"items":             {"[" + fill("a,") + "]", "more than 500000 tokens"},
		"bad escapes":       {`a: "` + fill(`\q`) + `"`, "is no escape"},
		"colons":            {fill(": "), "nested deeper than 1000"},
		"aliases":           {"a: &a [" + strings.Repeat("x, ", 60000) + "]\nb: [" + strings.Repeat("*a, ", 90) + "]", "add up to more than"},
		"long text aliased": {"a: &a " + fill("x") + "\nb: [" + strings.Repeat("*a, ", 99) + "]", "add up to more than"},
		"binary":            {"a: !!binary " + fill("aaaa") + "aaaa", "longer than 1048576"},
		"long keys":         {"? [" + strings.Repeat("k, ", 20000) + "]\n: v", "longer than 16384"},
		"keys of keys":      {strings.Repeat("{? ", 900) + "[" + strings.Repeat("a,", 100000) + "]" + strings.Repeat(": x}", 900), "longer than 16384"},
		"nested aliases":    {laughs(12), "used too often"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(c.text); !strings.Contains(got, c.want) {
				t.Errorf("got %.300s, not %q", got, c.want)
			}
		})
	}
}

// laughs is a list of lists of aliases, each ten times the one before.
func laughs(levels int) string {
	var b strings.Builder
	b.WriteString("- &a0 x\n")
	for i := range levels {
		fmt.Fprintf(&b, "- &a%d [%s]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	return b.String()
}

func TestDeepNesting(t *testing.T) {
	for _, c := range []struct{ open, close string }{{"[", "]"}, {"{a: ", "}"}, {"- ", ""}} {
		if got := summary(strings.Repeat(c.open, 400) + "1" + strings.Repeat(c.close, 400)); strings.Contains(got, "nested") {
			t.Errorf("400 levels of %q: %.200s", c.open, got)
		}
	}
}

// FuzzRead checks that anything is read without a crash and that problems say
// where in the file they are.
func FuzzRead(f *testing.F) {
	for _, s := range []string{component(1), "a: [b, {c: d}]\n", "- &a 'x\n  y'\n- *a\n", "? |\n  k\n: >-\n  v\n", "%YAML 1.1\n---\n<<: {a: 1}\n...\n",
		"a: !!set {b}\n!x y: \"\\x41\"\n", "\ufeffa: \tb # c\r\n", "a:\n\tb: c\n", "{{ x }}: [: y, ? z]\n", "\xff\x00\r: |2+\n", "- - ? : a"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		docs, fatal := Read(data)
		lines := uint32(strings.Count(string(data), "\n")) + 1
		for _, d := range docs {
			for _, p := range d.Problems {
				if p.Line == 0 || p.Line > lines || p.Column == 0 || p.Message == "" || p.Fix == "" {
					t.Errorf("a problem without place or help in %q: %+v", data, p)
				}
				if !utf8.ValidString(p.Message) {
					t.Errorf("a message that is no text: %q", p.Message)
				}
			}
			if d.At.Line == 0 || d.At.Line > lines {
				t.Errorf("a document of %q at %+v", data, d.At)
			}
		}
		if fatal != nil && (fatal.Line == 0 || fatal.Line > lines) {
			t.Errorf("a fatal problem of %q at %+v", data, fatal)
		}
	})
}
