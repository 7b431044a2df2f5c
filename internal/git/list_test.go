package git

import (
	"slices"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

func TestList(t *testing.T) {
	_, first, second, sources := checkedOut(t)
	for kind, src := range sources {
		for rev, want := range map[string]map[string][]string{
			first:  {"": {"run.sh"}, "docs": {"a.md"}, "docs/": {"a.md"}, "run.sh": nil, "link": nil, "none": nil, "docs/a.md/b": nil, "..": nil},
			second: {"docs": {"a.md"}},
		} {
			for dir, names := range want {
				if got, err := src.List(t.Context(), ingest.Revision(rev), dir); err != nil || !slices.Equal(got, names) {
					t.Errorf("%s: %q of %s: %q, %v", kind, dir, rev, got, err)
				}
			}
		}
		if got, err := src.List(t.Context(), "0123456789012345678901234567890123456789", ""); err == nil {
			t.Errorf("%s: of no commit: %q", kind, got)
		}
	}
}
