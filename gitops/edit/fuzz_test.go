package edit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds are texts with something of everything.
func seeds(f *testing.F) []string {
	f.Helper()
	out := []string{valuesFile(2000, true), manifests(600)}
	for _, c := range editCases() {
		out = append(out, c.in)
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, string(text))
	}
	return append(out, "a: b\n", "- a\n- b: c\n  d: |\n    x\n\n  e: f", "a:\n- b\n-\n  c: d\n", "\ufeffa: 'b'' c' # d\r\ne: \"f\\\"\"\r\n", "---\na: {b: [c, \"d\", {e: f}], g: 1}\n---\nh: >-\n  i\n   j\n")
}

// FuzzOutline holds the quick reader to yaml.v3: what it takes at all it must
// read the same, at the same places, also where parts are of no interest.
func FuzzOutline(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 || invalidUTF8(text) >= 0 {
			return
		}
		if ok, marked := simple(text); !ok || marked != (templateMark(text) != "") {
			if ok {
				t.Fatalf("%q has marks of a template: %v", text, marked)
			}
			return
		}
		ours, ok := outline(text, interest{})
		for _, in := range []interest{{word: "a"}, {word: "b", skip: true}, {path: []step{{key: "a", index: byKey}, {key: "b", index: byKey}}}} {
			part, partly := outline(text, in)
			if partly != ok || len(part) != len(ours) {
				t.Fatalf("%q is read so or so by interest %+v: %v, %v", text, in, ok, partly)
			}
			for i := range part {
				if _, differ := (comparison{text, text}).difference(part[i].root, ours[i].root); differ != "" {
					t.Fatalf("%q: with interest %+v %s", text, in, differ)
				}
			}
		}
		if !ok {
			return
		}
		theirs, err := (&file{text: text}).parseWhole(text)
		if err != nil || len(ours) != len(theirs) {
			t.Fatalf("%q: %d documents, and %d by yaml.v3 (%v)", text, len(ours), len(theirs), err)
		}
		for i := range ours {
			if at, differ := (comparison{text, text}).difference(ours[i].root, theirs[i].root); differ != "" {
				t.Fatalf("%q: at %d %s", text, at, differ)
			}
			samePlaces(t, text, ours[i].root, theirs[i].root)
		}
	})
}

func samePlaces(t *testing.T, text string, a, b *node) {
	t.Helper()
	if a.start != b.start || a.end != b.end {
		t.Fatalf("%q: %q is at %d to %d, and by yaml.v3 at %d to %d", text, a.value, a.start, a.end, b.start, b.end)
	}
	for i := range a.items {
		samePlaces(t, text, a.items[i], b.items[i])
	}
}

// FuzzEdit edits any text at any path and holds the outcome to what is
// promised: it parses, only what is said to have changed has, the bytes around
// the changes are the old ones, and once more it is so already.
func FuzzEdit(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, "a.b", "1.20", uint8(i))
		f.Add(s, "spec.replicas", "x: y", uint8(i+1))
	}
	f.Fuzz(func(t *testing.T, text, path, value string, which uint8) {
		if len(text) > 1<<14 {
			return
		}
		r := Request{File: "kustomization.yaml", Text: text, Changes: []Change{fuzzChange(text, path, value, which)}}
		res, err := Apply(r)
		if err != nil {
			if strings.Contains(err.Error(), "something went wrong") {
				t.Fatal(err)
			}
			return
		}
		held(t, r, res)
	})
}

// fuzzChange picks a change: of a path that is in the text, more often than
// not.
func fuzzChange(text, path, value string, which uint8) Change {
	switch which % 8 {
	case 0:
		return Image{Name: path, Tag: value}
	case 1:
		return Image{Name: "nginx", Tag: "1.20", Digest: "sha256:" + strings.Repeat("0", 64)}
	case 2:
		return Replicas{Count: int(which)}
	case 3:
		return Set{Path: path, Value: value, String: true}
	}
	if docs, err := (&file{}).parseWhole(text); err == nil && len(docs) > 0 && which%8 > 4 {
		var all []string
		paths(docs[0].root, "", &all)
		if len(all) > 0 {
			path = all[len(value)*7%len(all)]
		}
		if which%8 == 7 {
			path += ".new"
		}
	}
	return Set{Path: path, Value: value}
}

// paths lists the paths of a tree.
func paths(n *node, path string, out *[]string) {
	if len(*out) > 200 {
		return
	}
	*out = append(*out, path)
	for i, c := range n.items {
		switch {
		case n.kind == sequence:
			paths(c, fmt.Sprintf("%s[%d]", path, i), out)
		case i%2 == 1:
			paths(c, join(path, n.items[i-1].value), out)
		}
	}
}

// held checks what is promised of an edit.
func held(t *testing.T, r Request, res *Result) {
	t.Helper()
	old := r.Text
	if (res.Text == old) != (len(res.Touched) == 0) {
		t.Fatalf("%d places touched, and the text is the same: %v", len(res.Touched), res.Text == old)
	}
	was, err := (&file{}).parseWhole(old)
	if err != nil {
		t.Fatalf("%q was edited, which is not YAML: %v", old, err)
	}
	is, err := (&file{}).parseWhole(res.Text)
	if err != nil {
		t.Fatalf("%q became %q, which is not YAML: %v", old, res.Text, err)
	}
	if len(was) != len(is) {
		t.Fatalf("%q became %q: %d documents, then %d", old, res.Text, len(was), len(is))
	}
	changed := 0
	for i := range was {
		changed += changes(was[i].root, is[i].root)
	}
	if most := 2 * len(res.Touched); changed > most {
		t.Fatalf("%q became %q: %d places differ of %d", old, res.Text, changed, most)
	}
	more := r
	more.Text = res.Text
	again, err := Apply(more)
	if err != nil || again.Text != res.Text {
		t.Fatalf("%q became %q, and then again otherwise: %v", old, res.Text, err)
	}
	sameUnread(t, r, res)
}

// sameUnread has the edit made without the quick reader.
func sameUnread(t *testing.T, r Request, res *Result) {
	t.Helper()
	old := r.Text
	f := &file{name: r.File, text: old}
	var err error
	if f.docs, err = f.parseWhole(old); err != nil {
		t.Fatal(err)
	}
	for _, first := range []bool{false, true} {
		p := &plan{file: f, only: r.Document, first: first}
		if r.Changes[0].plan(p) != nil {
			return
		}
		if p.file != f && p.file.quick { // it was read again
			return
		}
		if len(p.splices) == 0 {
			if res.Text != old {
				t.Fatalf("%q became %q, and read whole it is so already", old, res.Text)
			}
			return
		}
		text, err := p.carryOut()
		if err == nil {
			if text != res.Text {
				t.Fatalf("%q became %q, and read whole %q", old, res.Text, text)
			}
			return
		}
		if f.docs, err = f.parseWhole(old); err != nil {
			t.Fatal(err)
		}
	}
}

// changes counts where two trees differ: a scalar that is another, what is
// there in one alone.
func changes(a, b *node) int {
	if a.kind != b.kind || a.kind == scalar || a.kind == alias {
		if a.kind == b.kind && a.value == b.value && a.anchor == b.anchor && a.shortTag() == b.shortTag() {
			return 0
		}
		return 1
	}
	n, i, j := 0, 0, 0
	for i < len(a.items) && j < len(b.items) {
		if len(a.items) == len(b.items) || same(a.items[i], b.items[j]) {
			n += changes(a.items[i], b.items[j])
			i, j = i+1, j+1
			continue
		}
		if len(a.items) < len(b.items) {
			j++
		} else {
			i++
		}
		n++
	}
	return n + len(a.items) - i + len(b.items) - j
}

func same(a, b *node) bool { return changes(a, b) == 0 }
