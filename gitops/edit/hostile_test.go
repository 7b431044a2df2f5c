package edit

import (
	"strings"
	"testing"
	"time"
)

// TestHostile edits the largest files there may be, of the worst forms.
func TestHostile(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (MaxBytes-100)/len(s)) }
	for name, text := range map[string]string{
		"brackets":         "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n",
		"open brackets":    fill("["),
		"open braces":      fill("{a: "),
		"deep":             deep(900),
		"dashes":           strings.Repeat("- ", 9000) + "a\n",
		"one word":         "image: a:1\n" + fill("a: a\n"),
		"one word, nested": "image: a:1\nb:\n" + fill("  a: a\n"),
		"items":            "image: a:1\nb:\n" + fill("- a\n"),
		"comments":         "image: a:1\n" + fill("# a\n"),
		"documents":        "image: a:1\n" + fill("---\na\n"),
		"blank lines":      "image: a:1\n" + fill("\n"),
		"one line":         "image: a:1\nb: " + fill("a "),
		"quotes":           "image: a:1\nb: \"" + fill("a\n") + "\"\n",
		"aliases":          "image: a:1\nx: &x a\nb: [" + fill("*x, ") + "a]\n",
		"billion":          "a0: &a0 [a]\n" + laughs(12) + "image: a:1\n",
		"block":            "image: a:1\nb: |\n" + fill("  a\n"),
		"CR":               "image: a:1\n" + fill("# a\r"),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			for _, c := range []Change{Image{Name: "a", Tag: "2"}, Set{Path: "image", Value: "x"}, Replicas{Count: 2}} {
				res, err := Apply(Request{File: "f.yaml", Text: text, Changes: []Change{c}})
				if err == nil && len(res.Text)-len(text) > 20 {
					t.Errorf("%+v added %d bytes", c, len(res.Text)-len(text))
				}
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %s", took)
			} else {
				t.Logf("%s for %d bytes", took.Round(time.Millisecond), len(text))
			}
		})
	}
}

func deep(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func laughs(levels int) string {
	var b strings.Builder
	for i := range levels {
		n := string(rune('a' + i))
		p := "a0"
		if i > 0 {
			p = "l" + string(rune('a'+i-1))
		}
		b.WriteString("l" + n + ": &l" + n + " [*" + p + ", *" + p + ", *" + p + "]\n")
	}
	return b.String()
}
