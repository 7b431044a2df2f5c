package app

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// TestReplicasKeepUp has two servers on one state of which one is told of a
// push: the other, which would poll in an hour, serves it, too.
func TestReplicasKeepUp(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront")})
	dir, token := t.TempDir(), "token-of-the-operator-0123456789"
	write(t, filepath.Join(dir, "developer"), token)
	begin := func(name string) *server {
		config := filepath.Join(dir, name+".yaml")
		write(t, config, fmt.Sprintf("listen: 127.0.0.1:0\nstate: ./state\ncache: ./cache-of-%s\nauth: {tokens: [{name: developer, tokenFile: ./developer, subject: user:default/eve, roles: [sre]}]}\n"+
			"catalog: {refresh: 1h, sources: [{name: shop, git: {url: %q}}]}\n", name, h.URL+"/acme/shop.git"))
		s := &server{t: t, dir: dir, tokens: map[string]string{"developer": token}}
		s.start(config)
		return s
	}
	one, two := begin("one"), begin("two")
	serves := func(s *server, ref string) {
		t.Helper()
		s.await("it serves "+ref, func() bool { return s.entityStatus("component:default/"+ref) == http.StatusOK })
	}
	serves(one, "stock")
	serves(two, "stock")
	for _, name := range []string{"till", "shelf"} {
		h.push("shop", "main", map[string]string{"catalog-info.yaml": service(name, "storefront")})
		if a := one.refresh("developer", "shop"); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		serves(one, name)
		serves(two, name)
		one, two = two, one
	}
}

func TestMovesAreKeptUntilTold(t *testing.T) {
	m := newMoves()
	m.add("a", "1")
	m.add("b", "1")
	if err := m.tell(func(map[string]string) error { m.add("a", ingest.Revision("2")); return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	var told map[string]string
	for range 2 { // the second has nothing to tell
		if err := m.tell(func(all map[string]string) error { told = all; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(told) != "map[a:2 b:1]" {
		t.Errorf("told %v", told)
	}
}
