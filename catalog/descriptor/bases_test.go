package descriptor

import (
	"fmt"
	"slices"
	"testing"
)

// The bases that hold a location are those that it is within, one by one.
func TestBasesHoldWhatIsWithin(t *testing.T) {
	p := New(Options{})
	at := func(target string) Location { return Location{Type: TypeURL, Target: target} }
	bases := []Location{
		at("https://github.com/acme/shop/blob/main/"), at("https://github.com/acme/shop/tree/main/"), at("https://github.com/acme/shop/blob/main/services/"),
		at("https://github.com/acme/shop/blob/next/"), at("https://github.com/acme/"), at("https://github.com/"), at("http://git.test:3000/acme/shop/src/branch/main/"),
		at("https://git.test/a%20b/c/-/blob/main/"), at("https://git.test/a b/c/-/blob/main/"), at("https://git.test/x//"), at("https://git.test/100%/"), at("no url"),
		{Type: "file", Target: "/srv/catalog"}, {Type: "file", Target: "/srv"},
	}
	var held Bases[int]
	for i, b := range bases {
		held.Add(p, b, i)
	}
	for _, l := range []Location{
		at("https://github.com/acme/shop/blob/main/catalog-info.yaml"), at("https://github.com/acme/shop/tree/main/services/a/catalog-info.yaml"),
		at("https://github.com/acme/shop/raw/main/services"), at("https://github.com/acme/shop/blob/main"), at("https://github.com/acme/shop/blob/main/"),
		at("https://GitHub.com/acme/shop/blob/main/x.yaml"), at("https://github.com/acme/shopping/blob/main/x.yaml"), at("http://git.test:3000/acme/shop/src/branch/main/x.yaml"),
		at("https://git.test/a%20b/c/-/blob/main/x%2fy.yaml"), at("https://git.test/a%20b%2Fc/-/raw/main/x.yaml"), at("https://git.test/x//y"), at("https://git.test/x/"), at("https://git.test/x"),
		at("https://git.test/100%/y"), at("https://github.com/acme/../acme/shop/blob/main/x.yaml"), at("https://github.com"), at("also none"), at(""),
		{Type: "file", Target: "/srv/catalog/x.yaml"}, {Type: "file", Target: "/srv"}, {Type: "file", Target: "relative"},
	} {
		var want, got []string
		for i, b := range bases {
			if name, ok := p.Within(b, l); ok {
				want = append(want, fmt.Sprintf("%02d %s", i, name))
			}
		}
		for i, name := range held.Holding(p, l) {
			got = append(got, fmt.Sprintf("%02d %s", i, name))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: held by %q, is within %q", l.Target, got, want)
		}
	}
}
