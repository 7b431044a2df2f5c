package knowledge

import (
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
)

func TestSightsRemember(t *testing.T) {
	var s sights
	key := catalog.Sight{}
	looked := 0
	look := func(is bool) func() bool { return func() bool { looked++; return is } }
	first := s.get(key, 1, 100)
	for range 3 {
		if !first.has(7, look(true)) || first.has(64, look(false)) {
			t.Error("another answer than was found out")
		}
	}
	if looked != 2 {
		t.Errorf("looked %d times for two documents", looked)
	}
	if got := s.get(key, 1, 200); got != first {
		t.Error("forgotten though there is room")
	}
	for name, other := range map[string]*sight{"more documents": s.get(key, 1, 1<<20), "sources elsewhere": s.get(key, 2, 100), "an earlier time": s.get(key, 1, 100)} {
		if other == first || other.has(7, look(false)) || !other.has(64, look(true)) {
			t.Errorf("%s: remembers what was before", name)
		}
	}
	if got := s.get(key, 2, 100); got.has(9, look(true)) != got.has(9, look(false)) {
		t.Error("what an earlier time found out is not kept apart")
	}
}
