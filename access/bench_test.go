package access_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
)

// BenchmarkScope is what each read pays.
func BenchmarkScope(b *testing.B) {
	who := alice()
	for name, p := range map[string]*access.Policy{
		"default": access.DefaultPolicy(),
		"own":     accesstest.Policy(b, `rules: [{name: own, effect: allow, who: {subjects: ["*"]}, actions: ["*"], on: {owners: [own]}}]`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p.Scope(who, access.ReadCatalog).None() {
					b.Fatal("nothing")
				}
			}
		})
	}
}
