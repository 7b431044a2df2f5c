package filter_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/graphql/filter"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func read(t *testing.T, text string) ([]string, error) {
	t.Helper()
	var given any
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		t.Skip()
	}
	var f filter.Filter
	if err := f.UnmarshalGraphQL(given); err != nil {
		t.Fatal(err)
	}
	return f.Strings()
}

func TestStrings(t *testing.T) {
	for given, want := range map[string][]string{
		`null`:                              nil,
		`"kind=component"`:                  {"kind=component"},
		`["a=b", {"kind": "api"}]`:          {"a=b", "kind=api"},
		`{"type": ["b", "a"], "kind": "x"}`: {"kind=x,spec.type=b,spec.type=a"},
		`{"owner": "payments"}`:             {"relations.ownedBy=group:default/payments"},
		`{"owner": "User:Team/Ann"}`:        {"relations.ownedBy=user:team/ann"},
		`{"system": "shop", "tag": "go"}`:   {"relations.partOf=system:default/shop,metadata.tags=go"},
		`{"spec.replicas": 3, "a": true}`:   {"a=true,spec.replicas=3"},
		`{"spec.bytes": 12000000}`:          {"spec.bytes=12000000"},
		`{}`:                                {""},
		`[]`:                                {},
	} {
		got, err := read(t, given)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", given, err, d)
		}
	}
	for _, given := range []string{`1`, `[1]`, `[[]]`, `{"kind": {}}`, `{"kind": [null]}`, `{"kind": "a,b"}`, `{"a=b": "c"}`, `{"a,b": "c"}`, `{"owner": "group:/x"}`} {
		if got, err := read(t, given); fault.CodeOf(err) != fault.Invalid || fault.From(err).Fix == "" {
			t.Errorf("%s: %v %v", given, got, err)
		}
	}
}

// FuzzStrings: what is given is a filter that the catalog reads, or an invalid
// fault.
func FuzzStrings(f *testing.F) {
	for _, seed := range []string{`"kind=a"`, `{"kind": ["a", 1, true]}`, `[{"owner": "x"}, "y"]`, `{"": ""}`, `null`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read(t, text)
		if err == nil {
			_, err = index.ParseFilter(got)
		}
		if code := fault.CodeOf(err); code != "" && code != fault.Invalid {
			t.Errorf("%q: %v", got, err)
		}
	})
}
