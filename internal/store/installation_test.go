package store_test

import (
	"regexp"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/store"
)

// TestInstallation has replicas that ask at once told the same, also later,
// and another state told something else.
func TestInstallation(t *testing.T) {
	engines(t, func(t *testing.T, dsn func(testing.TB) string) {
		name := dsn(t)
		replicas := []*store.Store{open(t, name), open(t, name)}
		told := make([]string, 8)
		var wg sync.WaitGroup
		for i := range told {
			wg.Go(func() {
				var err error
				if told[i], err = replicas[i%2].Installation(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, id := range told {
			if id != told[0] || !regexp.MustCompile(`^[a-z0-9]{26}$`).MatchString(id) {
				t.Errorf("told %q", told)
				break
			}
		}
		if later, err := open(t, name).Installation(t.Context()); err != nil || later != told[0] {
			t.Errorf("later told %q, %v, and before %q", later, err, told[0])
		}
		if other, err := open(t, dsn(t)).Installation(t.Context()); err != nil || other == told[0] {
			t.Errorf("of another state told %q, %v", other, err)
		}
	})
}
