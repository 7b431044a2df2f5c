package git

import (
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestParseFileURL(t *testing.T) {
	for target, want := range map[string]FileURL{
		"https://github.com/acme/shop/blob/main/catalog-info.yaml":            {"github.com", "https://github.com/acme/shop", "acme", "main", "github"},
		"https://GitHub.com:443/acme/shop/tree/v1.0/a%20b/catalog-info.yaml":  {"github.com", "https://GitHub.com:443/acme/shop", "acme", "v1.0", "github"},
		"https://gitlab.example.com/a/b/c/-/blob/main/catalog-info.yaml":      {"gitlab.example.com", "https://gitlab.example.com/a/b/c", "a/b", "main", "gitlab"},
		"http://127.0.0.1:3000/acme/shop/src/branch/dev/catalog-info.yaml":    {"127.0.0.1:3000", "http://127.0.0.1:3000/acme/shop", "acme", "dev", "gitea"},
		"https://codeberg.org/acme/shop/src/tag/v1/catalog-info.yaml":         {"codeberg.org", "https://codeberg.org/acme/shop", "acme", "refs/tags/v1", "gitea"},
		"https://github.com/acme/shop/blob/HEAD/services/*/catalog-info.yaml": {"github.com", "https://github.com/acme/shop", "acme", "", "github"},
	} {
		got, err := ParseFileURL(target)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", target, got, err, want)
		}
	}
	for _, target := range []string{
		"", "catalog-info.yaml", "file:///etc/passwd", "ssh://git@github.com/acme/shop/blob/main/x.yaml", "https://github.com",
		"https://github.com/acme/shop", "https://github.com/acme/shop/blob/main", "https://github.com/acme/shop/blob/main/",
		"https://user:secret@github.com/acme/shop/blob/main/x.yaml", "https://github.com/acme/../shop/blob/main/x.yaml",
		"https://github.com/acme/%2e%2e/blob/main/x.yaml", "https://github.com/acme/sh%2Fop/blob/main/x.yaml", "https://github.com/acme/shop/blob/feature%2Fx/y.yaml",
		"https://github.com//acme/shop/blob/main/x.yaml", "https:///acme/shop/blob/main/x.yaml", "https://github.com/acme/shop/blob/-x/y.yaml",
	} {
		if got, err := ParseFileURL(target); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %+v, %v", target, got, err)
		}
	}
}

func FuzzParseFileURL(f *testing.F) {
	f.Add("https://github.com/acme/shop/blob/main/catalog-info.yaml")
	f.Add("https://gitlab.example.com/a/b/c/-/blob/main/x.yaml")
	f.Fuzz(func(t *testing.T, target string) {
		got, err := ParseFileURL(target)
		if err != nil {
			return
		}
		cfg := SourceConfig{URL: got.CloneURL(), WebURL: got.WebURL, Ref: got.Ref, Forge: got.Forge}
		if ps := cfg.Validate(); len(ps) > 0 {
			t.Errorf("%q makes %+v, which is wrong: %+v", target, got, ps)
		}
	})
}
