package yamldoc

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// TestProblems holds what people read about the mistakes that they make.
func TestProblems(t *testing.T) {
	check(t, []reading{
		{"a: b: c", `1:5: a second "key:" cannot stand on the same line`},
		{"kind: Component\n metadata:\n  name: x", `2:2: a key is indented more than the one before it, which has its value on line 1 already`},
		{"a:\n  b: 1\n c: 2", `3:2: the key starts in column 2 and lines up with nothing above it that could go on; line 1 starts in column 1`},
		{"key1: v\nkey2 v\nkey3: v", `2:1: line 2 has no ":" that makes it a key`},
		{"a:\n\tb: c", "2:1: a tab cannot be used as indentation"},
		{"a: {\n\tb: c }", "2:1: a tab cannot be used as indentation within the '{' of line 1"},
		{"-\ta: b", "1:2: a tab cannot be used as indentation"},
		{"e:\tf: g", `1:5: a second "key:" cannot stand on the same line`},
		{"a: @b", "1:4: a value cannot start with '@', which YAML keeps for itself"},
		{"a: `b`", "1:4: a value cannot start with '`', which YAML keeps for itself"},
		{"{% if x %}", `1:1: "{%" starts a template directive, which is no YAML`},
		{"a: - b", "1:4: '-' cannot stand here: a list or a key starts on a line of its own"},
		{"a: [b, , c]", "1:8: there is nothing before the comma"},
		{"a: [b\nc]", "2:1: the line is indented too little to belong to the '[' of line 1, which is not closed"},
		{"a: [\"b\" c]", "1:9: there is no comma between two items of the '[' of line 1"},
		{"a: [b}", "1:6: '}' does not close the '[' of line 1"},
		{"tags: [a]]", "1:10: ']' closes nothing"},
		{"a: \"b\nc: d", "2:1: the line is indented too little to belong to the quoted text that starts on line 1"},
		{"a: 'b", "1:4: the quote is not closed"},
		{"a: 'b' c", "1:8: there is text behind the end of the value"},
		{"a: 'b'#c", `1:7: "#" starts a comment only behind a space`},
		{"é: 'b'\nü: \"\\q\"", `2:5: \q is no escape`},
		{"a: |0\n  b", "1:5: '0' cannot stand behind '|'"},
		{"a: | b", "1:6: nothing but a comment can stand behind '|' on its line"},
		{"a: |\n    \n  b", "3:3: the first line of the text is indented less than a blank line before it"},
		{"--- a: b", `1:6: a key cannot stand on the line of the "---"`},
		{"- a\nb: c", "2:1: a key stands where line 1 has begun with a list item"},
		{" a: 1\nb: 2", "2:1: the key is indented less than the document's first line"},
		{"[a]\nb: c", "2:1: there is a key behind the end of the document's value"},
		{"a: 1\n%YAML 1.2\n---\nb: 2", `2:1: a value cannot start with "%", which starts a directive | {"b":2}`},
		{"%YAML 1.2\na: b", `1:1: the directive is not followed by a "---" line`},
		{"a: b\n... c", `2:5: nothing can stand behind "..." on its line`},
		{strings.Repeat("k", 1100) + ": v", "1:1: a key is longer than 1024 characters"},
		{"\"a\n b\": c", "2:4: a key must stand on one line; this one starts on line 1"},
		{"a: &x b\nc: &y *x", "2:7: an alias can have no anchor and no tag"},
	})
}

// TestProblemsHelp checks that every problem says how to put it right.
func TestProblemsHelp(t *testing.T) {
	docs, _ := Read([]byte("a: @b\nb: `c`\n---\nok: 1\n---\na: 1\na: 2\n"))
	if len(docs) != 3 || len(docs[0].Problems) != 2 || len(docs[2].Problems) != 1 {
		t.Fatalf("got %+v", docs)
	}
	for _, d := range docs {
		for _, p := range d.Problems {
			if p.Fix == "" || p.Severity != entity.SeverityError || p.Line == 0 || p.Column == 0 {
				t.Errorf("a problem that does not help: %+v", p)
			}
		}
	}
}

func TestAliases(t *testing.T) {
	uses := func(n int) string { return "a: &x v\nb: [" + strings.Repeat("*x, ", n) + "]" }
	if got := summary(uses(99)); !strings.HasPrefix(got, `{"a":"v"`) {
		t.Errorf("99 aliases: %s", got)
	}
	check(t, []reading{
		{uses(100), `fatal 2:401: the anchor "&x" is used too often, which Backstage takes for an attack`},
		{"a: 1\n---\nb: *x\n---\nc: 1", `{"a":1} | fatal 3:4: the alias "*x" names an anchor that is not defined before it in this document`},
		{"a: &x 1\n---\nb: *x", `{"a":1} | fatal 3:4: the alias "*x" names an anchor that is not defined before it in this document`},
		{"a: &x 1\nb: *x\nc: &x 2\nd: *x", `{"a":1,"b":1,"c":2,"d":2}`},
		{"a: &x.y/z [1]\nb: *x.y/z", `{"a":[1],"b":[1]}`},
		{"a: &x [*x]", `1:8: the alias "*x" refers to the value that it is part of`},
		{"a: &x\nb: *x", `{"a":null,"b":null}`},
	})
	nested := func(n int) string { return "a: &x v\nb: &y [*x]\nc: [" + strings.Repeat("*y, ", n) + "]" }
	if _, fatal := Read([]byte(nested(49))); fatal != nil {
		t.Errorf("49 aliases of an anchor with an alias: %v", fatal)
	}
	if _, fatal := Read([]byte(nested(50))); fatal == nil {
		t.Error("50 aliases of an anchor with an alias are not refused")
	}
}

// TestAliasesAreCopies changes one of two values that an alias made.
func TestAliasesAreCopies(t *testing.T) {
	docs, _ := Read([]byte("a: &x {k: [1]}\nb: *x"))
	root := docs[0].Value.(*entity.Object)
	root.Object("b").Set("k", "changed")
	if got := root.Object("a").List("k"); len(got) != 1 {
		t.Errorf("a was changed too: %v", got)
	}
}

func TestPositions(t *testing.T) {
	docs, _ := Read([]byte("# c\n---\nkind: Component\nspec:\n  tags: [a, b, {c: d}]\n  é: {x: 1,\n    y: z\n  }\n  list:\n  - 'q'\n  - k: v\n  -\n"))
	root := docs[0].Value.(*entity.Object)
	spec := root.Object("spec")
	tags, list := spec.List("tags"), spec.List("list")
	for name, c := range map[string]struct {
		got  entity.Position
		want entity.Position
	}{
		"document":  {docs[0].At, entity.Position{Line: 3, Column: 1}},
		"root":      {root.At, entity.Position{Line: 3, Column: 1}},
		"spec":      {root.Position("spec"), entity.Position{Line: 4, Column: 1}},
		"spec's":    {spec.At, entity.Position{Line: 5, Column: 3}},
		"tag b":     {tags[1].At, entity.Position{Line: 5, Column: 13}},
		"flow map":  {tags[2].At, entity.Position{Line: 5, Column: 16}},
		"flow key":  {tags[2].Value.(*entity.Object).Position("c"), entity.Position{Line: 5, Column: 17}},
		"é's":       {spec.Object("é").At, entity.Position{Line: 6, Column: 6}},
		"q":         {list[0].At, entity.Position{Line: 10, Column: 5}},
		"list's":    {list[1].At, entity.Position{Line: 11, Column: 5}},
		"list's k":  {list[1].Value.(*entity.Object).Position("k"), entity.Position{Line: 11, Column: 5}},
		"empty one": {list[2].At, entity.Position{Line: 12, Column: 3}},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %+v, not %+v", name, c.got, c.want)
		}
	}
}
