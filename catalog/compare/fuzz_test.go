package compare_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/compare"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// drawn makes a set of the bytes given: which of a few entities there are, in
// which files, with which relations, and what is wrong.
func drawn(t *testing.T, data []byte) *compare.Set {
	s := &compare.Set{}
	for i := 0; i+2 < len(data) && i < 60; i += 3 {
		name, file := fmt.Sprint("e", data[i]%6), fmt.Sprint("f", data[i+1]%5)
		switch data[i+2] % 8 {
		case 0:
			s.Unusable = append(s.Unusable, file)
		case 1:
			s.Failed = append(s.Failed, compare.Attempt{Ref: "component:default/" + name, File: file})
		case 2:
			s.Problems = append(s.Problems, problem(entity.SeverityError, file, uint32(i), "component:default/"+name, "wrong"))
		default:
			s.Descriptions = append(s.Descriptions, described(t, name, file, uint32(i), fmt.Sprintf(`{"type":"t%d"}`, data[i+2]%3), fmt.Sprint("e", data[i+2]%7)))
		}
		s.Files = append(s.Files, file)
	}
	return s
}

// FuzzSets holds comparisons to what must be so whatever is compared: nothing
// differs from itself, and every entity is told once.
func FuzzSets(f *testing.F) {
	f.Add([]byte("abcdefghi"), []byte("abcxyzghi"))
	f.Add([]byte{1, 1, 3, 1, 2, 3}, []byte{1, 2, 3, 1, 1, 4, 2, 2, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		before, after := drawn(t, a), drawn(t, b)
		if d := compare.Sets(before, before); !d.Same() || d.Worse() || len(d.Relations.Made)+len(d.Relations.Dropped)+len(d.Relations.Unknown)+len(d.Problems.Fixed) > 0 {
			t.Errorf("a set differs from itself: %v", told(d))
		}
		d := compare.Sets(before, after)
		times := map[string]int{}
		for _, l := range [][]compare.Entity{d.Added, d.Removed, d.Stale} {
			for _, e := range l {
				times[e.Ref]++
			}
		}
		for _, l := range [][]compare.Change{d.Changed, d.Moved} {
			for _, c := range l {
				times[c.Ref]++
			}
		}
		for ref, n := range times {
			if n != 1 {
				t.Errorf("%s is told %d times", ref, n)
			}
		}
		if got := len(d.Problems.New) + len(d.Problems.Old); got != len(after.Problems) {
			t.Errorf("%d of %d problems are told", got, len(after.Problems))
		}
		if diff := cmp.Diff(told(d), told(compare.Sets(before, after))); diff != "" {
			t.Errorf("not the same each time: %s", diff)
		}
	})
}
