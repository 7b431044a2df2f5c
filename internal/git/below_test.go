package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// TestCommitsOfThePast reads folders of commits that no branch names any more
// as the next of one: on disk, and from a server, which is asked by id.
func TestCommitsOfThePast(t *testing.T) {
	r := newRemoteRepo(t)
	latin := "caf\xe9 \x00\r\n" // no UTF-8, and no text
	large := strings.Repeat("x", 5<<20)
	r.write("apps/shop/a.yaml", "one")
	r.write("apps/shop/deep/er/b.bin", latin)
	r.write("apps/shop/large.bin", large)
	r.write("apps/shopping/c.yaml", "other")
	if err := os.Symlink("a.yaml", filepath.Join(r.dir, "apps/shop/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(r.dir, "apps/shop/a.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	past := r.commit("first")
	odd := filepath.Join(r.dir, "apps/shop/\xff.yaml")
	if err := os.WriteFile(odd, []byte("odd"), 0o600); err != nil {
		t.Skip("the disk has no such names")
	}
	r.write("apps/shop/a.yaml", "two")
	r.commit("second")
	runGit(t, r.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	for name, src := range map[string]*Source{"on disk": r.repo.source(SourceConfig{}), "from a server": r.source(SourceConfig{})} {
		t.Run(name, func(t *testing.T) {
			head := observe(t, src)
			now, err := src.Below(t.Context(), head, "apps/shop")
			if err != nil || len(now) != 5 || !slices.ContainsFunc(now, func(e Entry) bool { return e.Odd && e.Path == "apps/shop/\xff.yaml" }) {
				t.Fatalf("%+v %v", now, err)
			}
			p, err := src.At(t.Context(), string(past))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			was, err := p.Below(t.Context(), "apps/shop/")
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, e := range was {
				said = append(said, fmt.Sprint(e.Path, " ", e.Executable, " ", e.Odd))
			}
			check(t, "entries", strings.Join(said, ", "), "apps/shop/a.yaml true false, apps/shop/deep/er/b.bin false false, apps/shop/large.bin false false, apps/shop/link false true")
			for i := range now {
				same := slices.ContainsFunc(was, func(e Entry) bool { return e.Path == now[i].Path && e.ID == now[i].ID })
				if want := now[i].Path != "apps/shop/a.yaml" && now[i].Path != "apps/shop/\xff.yaml"; same != want {
					t.Errorf("%q is the same: %t", now[i].Path, same)
				}
			}
			check(t, "a file", read(t, p, "apps/shop/a.yaml"), "one")
			check(t, "a file that is no text", read(t, p, "apps/shop/deep/er/b.bin"), latin)
			if _, err := p.Read(t.Context(), "apps/shop/large.bin"); err == nil {
				t.Error("5 MiB are read")
			}
			one, err := p.Below(t.Context(), "apps/shop/a.yaml")
			if err != nil || len(one) != 1 || one[0].Path != "apps/shop/a.yaml" {
				t.Errorf("of a file: %+v %v", one, err)
			}
			if none, err := p.Below(t.Context(), "apps/none"); err != nil || len(none) > 0 {
				t.Errorf("of nothing: %+v %v", none, err)
			}
			if _, err := src.At(t.Context(), strings.Repeat("1", 40)); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("a commit that is not there: %v", err)
			}
			if _, err := src.At(t.Context(), "main"); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("no commit: %v", err)
			}
		})
	}
}
