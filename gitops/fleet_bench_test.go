package gitops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access/accesstest"
	"github.com/fairlead-dev/fairlead/gitops"
)

// BenchmarkPlanFleet plans one change over 100 services of a repository in
// memory.
func BenchmarkPlanFleet(b *testing.B) {
	y := newYard(b, 100)
	var more strings.Builder
	for i := range 400 {
		fmt.Fprintf(&more, "key%d: {name: a, value: 'text of %d'}\nlist%d:\n  - one\n  - two\n", i, i, i)
	}
	for i := range 100 {
		y.files[fmt.Sprintf("s%03d/settings.yaml", i)] = more.String()
	}
	for n := 0; b.Loop(); n++ {
		f, err := y.PlanFleet(b.Context(), accesstest.As(fmt.Sprint("u", n), accesstest.Groups("team")), wish(nil)) // each plans once
		if err != nil || f.Counts.Waiting != 100 || f.State != gitops.FleetPlanned {
			b.Fatal(f, err)
		}
	}
}
