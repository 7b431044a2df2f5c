package index

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// shared is a file of the data that tests share; the test is skipped where
// there is none.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("FAIRLEAD_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		t.Skipf("no shared test data: %s is not there; set FAIRLEAD_SHARED", filepath.Join(dir, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRowsAsBackstage compares the rows of every entity that the real catalog
// made of the conformance suite's files and of public ones.
func TestRowsAsBackstage(t *testing.T) {
	for _, file := range []string{"conformance/expected.url.json", "corpus/expected.url.json"} {
		t.Run(file, func(t *testing.T) {
			var doc struct {
				Final struct {
					Entities map[string]struct {
						Entity      *entity.Object  `json:"entity"`
						Search      [][]*string     `json:"search"`
						StitchError json.RawMessage `json:"stitchError"`
					} `json:"entities"`
				} `json:"final"`
			}
			if err := json.Unmarshal(shared(t, file), &doc); err != nil {
				t.Fatal(err)
			}
			for ref, want := range doc.Final.Entities {
				var relations []entity.Relation
				for _, r := range want.Entity.List("relations") {
					o := r.Value.(*entity.Object)
					relations = append(relations, entity.Relation{Type: o.String("type"), TargetRef: o.String("targetRef")})
				}
				rows, err := Rows(want.Entity, relations)
				if want.StitchError != nil {
					var f struct{ Message string }
					if json.Unmarshal(want.StitchError, &f); err == nil || err.Error() != f.Message {
						t.Errorf("%s: error is %v, want %s", ref, err, want.StitchError)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: %v", ref, err)
					continue
				}
				compareRows(t, ref, rows, want.Search)
			}
			if len(doc.Final.Entities) < 50 {
				t.Errorf("only %d entities were compared", len(doc.Final.Entities))
			}
		})
	}
}

func compareRows(t *testing.T, ref string, rows []Row, want [][]*string) {
	t.Helper()
	got := make([]string, len(rows))
	for i, r := range rows {
		got[i] = fmt.Sprintf("%q %q %q", r.Key, r.Original, r.Value)
		if r.Null {
			got[i] = fmt.Sprintf("%q null null", r.Key)
		}
	}
	expected := make([]string, len(want))
	for i, r := range want {
		parts := make([]string, len(r))
		for j, p := range r {
			parts[j] = "null"
			if p != nil {
				parts[j] = fmt.Sprintf("%q", *p)
			}
		}
		expected[i] = strings.Join(parts, " ")
	}
	slices.Sort(got)
	slices.Sort(expected)
	if !slices.Equal(got, expected) {
		for _, g := range got {
			if !slices.Contains(expected, g) {
				t.Errorf("%s: row %s is not Backstage's", ref, g)
			}
		}
		for _, e := range expected {
			if !slices.Contains(got, e) {
				t.Errorf("%s: row %s is missing", ref, e)
			}
		}
	}
}
