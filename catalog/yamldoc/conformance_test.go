package yamldoc

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// expectation is what Backstage makes of the files of a folder.
type expectation struct {
	Files []struct {
		File      string
		Documents []struct {
			Stage  string
			Raw    json.RawMessage
			Errors []struct{ Name, Message string }
		}
	}
}

func sharedFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "conformance")); err != nil {
		t.Skipf("the conformance suite is not here: set FAIRLEAD_SHARED to its folder (%v)", err)
	}
	return dir
}

// tally counts documents that agree, by theme.
type tally struct{ good, all int }

// TestConformance reads the files of the conformance suite and of the corpus of
// public files. What follows the first broken document of a file is not
// compared: Backstage stores nothing of such a file.
func TestConformance(t *testing.T) {
	dir := sharedFolder(t)
	for _, suite := range []struct{ name, cases, expected string }{
		{"cases", "conformance/cases", "conformance/expected.url.json"},
		{"file", "conformance/cases-file", "conformance/expected.file.json"},
		{"rules", "conformance/cases-rules", "conformance/expected.rules.json"},
		{"corpus", "corpus/catalog", "corpus/expected.url.json"},
	} {
		t.Run(suite.name, func(t *testing.T) {
			themes := compareSuite(t, filepath.Join(dir, suite.cases), filepath.Join(dir, suite.expected))
			for theme, n := range themes {
				least := 1.0
				if strings.HasPrefix(theme, "yaml-") {
					least = 0.97
				}
				share := float64(n.good) / float64(n.all)
				t.Logf("%-16s %4d of %4d documents agree (%.1f %%)", theme, n.good, n.all, 100*share)
				if share < least {
					t.Errorf("%s: %.1f %% of the documents agree, fewer than %.1f %%", theme, 100*share, 100*least)
				}
			}
		})
	}
}

func compareSuite(t *testing.T, cases, expected string) map[string]*tally {
	t.Helper()
	text, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	var want expectation
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	themes := map[string]*tally{}
	for _, f := range want.Files {
		data, err := os.ReadFile(filepath.Join(cases, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		theme, _, _ := strings.Cut(f.File, "/")
		if themes[theme] == nil {
			themes[theme] = &tally{}
		}
		n := themes[theme]
		got := outcomes(data)
		n.all++
		if len(got) == len(f.Documents) {
			n.good++
		} else if !broken(got) {
			t.Logf("%s: %d documents, not %d", f.File, len(got), len(f.Documents))
		}
		for i, d := range f.Documents {
			n.all++
			wrong := d.Stage == "parse"
			if i >= len(got) || wrong != (got[i].problem != "") || (!wrong && !sameJSON(d.Raw, got[i].value)) {
				t.Logf("%s: document %d differs\n got %s\nwant %s %s %v", f.File, i, shown(got, i), d.Stage, clip(d.Raw), d.Errors)
			} else {
				n.good++
			}
			if wrong {
				n.good, n.all = n.good+1, n.all+1
				break
			}
		}
	}
	return themes
}

func broken(got []outcome) bool { return len(got) > 0 && got[len(got)-1].problem != "" }

type outcome struct {
	value   entity.Value
	problem string
}

// outcomes are the documents that Backstage would list.
func outcomes(data []byte) []outcome {
	docs, fatal := Read(data)
	var out []outcome
	for _, d := range docs {
		switch _, object := d.Value.(*entity.Object); {
		case len(d.Problems) > 0:
			out = append(out, outcome{problem: d.Problems[0].String()})
		case d.Null:
		case !object:
			out = append(out, outcome{problem: "no mapping"})
		default:
			out = append(out, outcome{value: d.Value})
		}
	}
	if fatal != nil {
		out = append(out, outcome{problem: fatal.String()})
	}
	return out
}

func shown(got []outcome, i int) string {
	if i >= len(got) {
		return "nothing"
	}
	if got[i].problem != "" {
		return got[i].problem
	}
	return string(clip(entity.AppendJSON(nil, got[i].value)))
}

func clip(b []byte) []byte { return b[:min(len(b), 1500)] }

func sameJSON(want []byte, got entity.Value) bool {
	var a, b any
	if json.Unmarshal(want, &a) != nil {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(entity.AppendJSON(nil, got)))
	return dec.Decode(&b) == nil && reflect.DeepEqual(a, b)
}
