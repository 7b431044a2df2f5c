package git

import (
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

func FuzzParseCommit(f *testing.F) {
	tree := "tree " + strings.Repeat("1", 40) + "\n"
	f.Add([]byte(tree + "parent " + strings.Repeat("2", 40) + "\nauthor A <a@b> 1 +0000\n\nx"))
	f.Add([]byte(tree + "author <>>< -1 +99999999"))
	f.Add([]byte("tree x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCommit(objects.ID{1}, data)
		if err == nil && !strings.HasPrefix(strings.ToLower(string(data)), "tree "+c.tree.String()) {
			t.Errorf("%+v", c)
		}
	})
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"https://u:p@host/x", "git@host:x", "ssh://host/~a", "file:///x", "./x", "https://[::1]:1/x?y#z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAddress(s)
		if err != nil {
			return
		}
		if a.kind == unknownReach || strings.Contains(a.String(), "@") && a.kind == overHTTP && !strings.Contains(a.url.Path, "@") {
			t.Errorf("%q is %+v", s, a)
		}
		_ = baseURL(a.web(), forgeOf(a.web()), "main")
	})
}

func FuzzDecodeLsRefs(f *testing.F) {
	f.Add("003f" + strings.Repeat("1", 40) + " refs/heads/main x\n0000")
	f.Add("0000")
	f.Fuzz(func(t *testing.T, s string) {
		refs, err := decodeLsRefs(strings.NewReader(s))
		if err != nil && refs != nil {
			t.Error("refs in spite of an error")
		}
	})
}
