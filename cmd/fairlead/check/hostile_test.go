package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/check"
)

// TestOddNamesSpoilNothing has names that the catalog passes over beside a
// file that it reads.
func TestOddNamesSpoilNothing(t *testing.T) {
	dir := folder(t, map[string]string{"a/catalog-info.yaml": component("a", "")})
	for _, name := range []string{"odd\xff", "two\nlines", "odd\xff/below"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Skipf("this file system has no such names: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "catalog-info.yaml"), []byte("["), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := run(t, check.Options{Paths: []string{dir}}); r.Files != 1 || r.Entities != 1 || len(r.Findings) != 0 {
		t.Errorf("got %+v", r)
	}
}

// TestFewBytesCannotSayEndlesslyMuch: what a server would not hold is told
// ahead, without holding it.
func TestFewBytesCannotSayEndlesslyMuch(t *testing.T) {
	docs := make([]string, 100)
	for i := range docs {
		docs[i] = component(fmt.Sprintf("c%d", i), "  text: {$text: ./big}\n")
	}
	dir := folder(t, map[string]string{"catalog-info.yaml": strings.Join(docs, "---\n"), "big": strings.Repeat("x", 1<<20)})
	r := run(t, check.Options{Paths: []string{dir}})
	if r.Entities != 63 || len(r.Findings) != 37 || !strings.Contains(lines(r), "the file holds more than 64 MiB") {
		t.Errorf("%d entities, %d findings: %.300s", r.Entities, len(r.Findings), lines(r))
	}
}
