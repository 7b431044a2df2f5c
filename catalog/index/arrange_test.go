package index

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// slowLine is an entity with a value of each key, nil for none.
type slowLine struct {
	e      *entity.Entity
	values []*string
}

// slowly arranges everything by looking at the rows of each entity.
func slowly(t *testing.T, s *Snapshot, order []Sort) []string {
	t.Helper()
	var lines []slowLine
	for _, e := range s.List(everything(), Query{}, Window{Limit: -1}).Entities {
		rows, err := Rows(e.Root, e.Relations)
		if err != nil {
			t.Fatal(err)
		}
		mine := []slowLine{{e: e}}
		for _, o := range order {
			var values []*string
			for i := range rows {
				switch r := &rows[i]; {
				case r.Key == o.Field && !r.Null:
					values = append(values, &r.Value)
				case r.Key == o.Field && len(order) > 1:
					values = append(values, nil)
				}
			}
			if values == nil {
				values = []*string{nil}
			}
			var next []slowLine
			for _, l := range mine {
				for _, v := range values {
					next = append(next, slowLine{e, append(slices.Clip(l.values), v)})
				}
			}
			mine = next
		}
		lines = append(lines, mine...)
	}
	slices.SortStableFunc(lines, func(a, b slowLine) int {
		for i, o := range order {
			x, y := a.values[i], b.values[i]
			switch {
			case x == nil && y == nil:
			case x == nil:
				return 1
			case y == nil:
				return -1
			case *x != *y && o.Order == "desc":
				return strings.Compare(*y, *x)
			case *x != *y:
				return strings.Compare(*x, *y)
			}
		}
		if len(order) == 0 {
			return strings.Compare(a.e.Ref.String(), b.e.Ref.String())
		}
		return cmp.Compare(a.e.UID(), b.e.UID())
	})
	var out []string
	for _, l := range lines {
		out = append(out, l.e.Ref.String())
	}
	return out
}

func TestArrangeAgainstRows(t *testing.T) {
	s := small()
	for _, order := range [][]Sort{
		nil, {{"metadata.name", "asc"}}, {{"metadata.name", "desc"}}, {{"metadata.tags", "asc"}}, {{"metadata.tags", "desc"}},
		{{"spec.type", "desc"}}, {{"no.such.key", "asc"}}, {{"METADATA.NAME", "asc"}}, {{"relations.ownedby", "desc"}},
		{{"spec.type", "desc"}, {"metadata.name", "asc"}}, {{"metadata.tags", "asc"}, {"spec.type", "desc"}, {"kind", "asc"}},
	} {
		want := slowly(t, s, order)
		for _, w := range [][2]int{{0, -1}, {0, 7}, {5, 11}, {len(want) - 3, 3}, {len(want) - 3, 2}, {len(want) + 5, 4}} {
			es, more, err := s.Arrange(everything(), Arrangement{Order: order, Offset: w[0], Limit: w[1]})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range es {
				got = append(got, e.Ref.String())
			}
			part := want[min(w[0], len(want)):]
			wantMore := w[1] >= 0 && len(part) > w[1]
			if wantMore {
				part = part[:w[1]]
			}
			if !slices.Equal(got, part) || more != wantMore {
				t.Errorf("%v, %v: %v %q, want %v %q", order, w, more, got, wantMore, part)
			}
		}
	}
}

func TestArrangeHasBounds(t *testing.T) {
	order := make([]Sort, maxOrders+1)
	for i := range order {
		order[i] = Sort{"metadata.tags", "asc"}
	}
	if _, _, err := small().Arrange(everything(), Arrangement{Order: order, Limit: -1}); err == nil {
		t.Error("any number of fields is taken")
	}
	tags := make(entity.List, 100)
	for i := range tags {
		tags[i].Value = strings.Repeat("x", i+1)
	}
	s := Empty().Apply([]Change{record(entity.Obj("apiVersion", "v1", "kind", "Component", "metadata", entity.Obj("name", "a", "tags", tags)))})
	if _, _, err := s.Arrange(everything(), Arrangement{Order: order[:maxOrders], Limit: 1}); err == nil {
		t.Error("any number of values is taken")
	}
}
