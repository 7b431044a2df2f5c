package oracle_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/oracle"
)

// shared is the folder with what Backstage says; the test is skipped where it
// is missing.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SHARED")
	if !filepath.IsAbs(dir) {
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		if dir == "" {
			dir = "../shared"
		}
		dir = filepath.Join(root, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "conformance", "compare.py")); err != nil {
		t.Skipf("no conformance suite at %s: set FAIRLEAD_SHARED", dir)
	}
	return dir
}

// TestConformance compares what Fairlead makes of every case with what
// Backstage made of it. It runs from an empty folder, as Backstage did: in
// folders some targets are relative to where a program runs.
func TestConformance(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to compare with")
	}
	dir := shared(t)
	t.Chdir(t.TempDir())
	for _, tc := range []struct {
		name, cases, expected string
		options               oracle.Options
		root                  bool
	}{
		{name: "url", cases: "conformance/cases", expected: "conformance/expected.url.json"},
		{name: "file", cases: "conformance/cases-file", expected: "conformance/expected.file.json", options: oracle.Options{Type: "file"}, root: true},
		{name: "rules", cases: "conformance/cases-rules", expected: "conformance/expected.rules.json", options: oracle.Options{Rules: "default"}},
		{name: "corpus", cases: "corpus/catalog", expected: "corpus/expected.url.json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.options.Dir = filepath.Join(dir, tc.cases)
			if _, err := os.Stat(tc.options.Dir); err != nil {
				t.Skipf("no cases at %s", tc.options.Dir)
			}
			var out bytes.Buffer
			if err := oracle.Run(context.Background(), tc.options, &out); err != nil {
				t.Fatal(err)
			}
			expected, err := os.ReadFile(filepath.Join(dir, tc.expected))
			if err != nil {
				t.Fatal(err)
			}
			args := []string{filepath.Join(dir, "conformance", "compare.py"),
				comparable(t, expected), comparable(t, out.Bytes()), "--strict-final"}
			if tc.root {
				args = append(args, "--root", tc.options.Dir)
			}
			if report, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, report)
			}
		})
	}
}

// comparable writes a report to a file, without the one case that texts in Go
// cannot hold: half of a surrogate pair.
func comparable(t *testing.T, report []byte) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(report, &doc); err != nil {
		t.Fatal(err)
	}
	files, _ := doc["files"].([]any)
	doc["files"] = slices.DeleteFunc(files, func(f any) bool {
		name, _ := f.(map[string]any)["file"].(string)
		return strings.Contains(name, "lone-surrogate-escape")
	})
	final, _ := doc["final"].(map[string]any)
	entities, _ := final["entities"].(map[string]any)
	delete(entities, "component:default/lonesurr")
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
