package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		xs := make([]change, n)
		for i := range xs {
			xs[i] = change{value: fmt.Sprintf("https://x/%d%s", r.IntN(1+n/2), []string{"", "-and-more", "\x00"}[r.IntN(3)]), id: uint32(i), order: uint32(r.IntN(1000))*1000 + uint32(i)}
		}
		want := slices.Clone(xs)
		slices.SortFunc(want, compareChange)
		if inOrder(xs); !slices.Equal(xs, want) {
			t.Fatalf("%d changes are not in order", n)
		}
	}
}
