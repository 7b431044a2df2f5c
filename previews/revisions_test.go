package previews

import (
	"slices"
	"testing"
	"time"
)

func namesOf(l RevisionList) (out []string) {
	for _, r := range l.Items {
		out = append(out, r.Name)
	}
	return out
}

// TestRevisionsInOrder: what is most likely meant comes first.
func TestRevisionsInOrder(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
	refs := &Refs{Default: "main", Older: true,
		Branches: []Revision{{Name: "zzz"}, {Name: "old", At: at(1)}, {Name: "aaa"}, {Name: "fix/Main", At: at(9)}, {Name: "maintenance", At: at(2)}, {Name: "main", At: at(3)}},
		Tags:     []Revision{{Name: "v1.9.0"}, {Name: "nightly-2"}, {Name: "v1.10.0"}, {Name: "1.10.0-rc1"}, {Name: "nightly-10"}, {Name: "v2.0.0"}},
		Commits:  []Revision{{Name: "c0ffee", Title: "Sell more", Author: "Ada"}, {Name: "beef00", Title: "Sell less", Author: "Bob"}},
	}
	refs.sort()
	for _, c := range []struct {
		text                    string
		most                    int
		branches, tags, commits []string
		more                    [3]bool
	}{
		{"", 10, []string{"main", "fix/Main", "maintenance", "old", "aaa", "zzz"}, []string{"v2.0.0", "v1.10.0", "1.10.0-rc1", "v1.9.0", "nightly-10", "nightly-2"}, []string{"c0ffee", "beef00"}, [3]bool{false, false, true}},
		{"", 1, []string{"main"}, []string{"v2.0.0"}, []string{"c0ffee"}, [3]bool{true, true, true}},
		{"main", 10, []string{"main", "maintenance", "fix/Main"}, nil, nil, [3]bool{false, false, true}},
		{"1.10.0", 10, nil, []string{"1.10.0-rc1", "v1.10.0"}, nil, [3]bool{false, false, true}},
		{"less", 10, nil, nil, []string{"beef00"}, [3]bool{false, false, true}},
		{"c0f", 10, nil, nil, []string{"c0ffee"}, [3]bool{false, false, true}},
		{"bob", 10, nil, nil, []string{"beef00"}, [3]bool{false, false, true}},
	} {
		got := refs.matching("component:default/a", c.text, c.most)
		if !slices.Equal(namesOf(got.Branches), c.branches) || !slices.Equal(namesOf(got.Tags), c.tags) || !slices.Equal(namesOf(got.Commits), c.commits) ||
			[3]bool{got.Branches.More, got.Tags.More, got.Commits.More} != c.more {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}
