package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

func filled(name, text string) string {
	return component(name) + "  text: {$text: " + text + "}\n"
}

// TestFewBytesCannotSayEndlesslyMuch has the documents of one small file each
// read one large file.
func TestFewBytesCannotSayEndlesslyMuch(t *testing.T) {
	w := newWorld(t, "a")
	docs := make([]string, 300)
	for i := range docs {
		docs[i] = filled(fmt.Sprintf("c%d", i), "./big")
	}
	w.write(map[string]string{"catalog-info.yaml": strings.Join(docs, "---\n"), "big": strings.Repeat("x", 1<<20), "b/catalog-info.yaml": component("other")})
	w.has("component:default/c0", "component:default/c62", "component:default/other")
	w.lacks("component:default/c63", "component:default/c299")
	if p := w.problem("the file holds more than 64 MiB"); p.Ref != "component:default/c63" || p.Line == 0 || p.Fix == "" {
		t.Errorf("got %+v", p)
	}
}

// TestSourceHasSoMuchRoom fills a source, then makes room and fills it again,
// before and after a restart.
func TestSourceHasSoMuchRoom(t *testing.T) {
	w := newWorld(t, "a")
	w.limit = 3 << 20
	w.start()
	w.write(map[string]string{"big": strings.Repeat("x", 1<<20), "small": "x",
		"a/catalog-info.yaml": filled("a", "../big"), "b/catalog-info.yaml": filled("b", "../big")})
	w.has("component:default/a", "component:default/b")
	for range 3 { // what is read again takes no more room
		w.write(map[string]string{"a/catalog-info.yaml": component("a"), "more/readme": "1"})
		w.write(map[string]string{"a/catalog-info.yaml": filled("a", "../big")})
	}
	w.quiet()
	w.start()
	w.write(map[string]string{"c/catalog-info.yaml": filled("c", "../big")})
	w.lacks("component:default/c")
	if p := w.problem("the source holds more than 3 MiB"); p.Ref != "component:default/c" || p.File != "c/catalog-info.yaml" {
		t.Errorf("got %+v", p)
	}
	w.write(map[string]string{"a/catalog-info.yaml": component("a")})
	w.write(map[string]string{"other": "1"})
	w.has("component:default/c")
	w.write(map[string]string{"b/catalog-info.yaml": "", "d/catalog-info.yaml": filled("d", "../big")})
	w.has("component:default/d")
	w.quiet()
}

func TestProblemsOfManyTargetsAreCounted(t *testing.T) {
	w := newWorld(t, "a")
	lines := make([]string, 0, 1001)
	lines = append(lines, "targets:")
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("  - ./gone%d.yaml", i))
	}
	w.write(map[string]string{"catalog-info.yaml": location("root", lines...)})
	if n := len(w.in.Problems()); n != 101 {
		t.Errorf("%d problems", n)
	}
	w.problem("900 further targets of this Location have problems")
}
