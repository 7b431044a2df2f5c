package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestRealBackstageClientRegisters(t *testing.T) {
	clients := realtest.ClientsOf(t)
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront"), "other.yaml": service("other", "storefront")})
	s := startWithHost(t, h)
	script, env := s.client("locations.cjs", "developer")
	out := clients.Run(t, append(env, "FAIRLEAD_TARGET="+h.page("shop", "catalog-info.yaml")), script)
	const want = `{"tried":[false,true,["Location","Component"]],"added":[null,0,36],"exists":true,"again":"409 ConflictError ConflictError","refreshed":true,` +
		`"served":"stock","byRef":true,"byId":true,"byEntity":true,"list":[true],"query":1,"broken":"400 InputError InputError",` +
		`"moved":[true,true,"other",null],"removed":[null,null],"none":"404 NotFoundError NotFoundError"}`
	if got := strings.TrimSpace(out); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRegistrationDoorsAgree registers and takes back through each door that
// serves it, as several callers: equal codes and equal audit lines.
func TestRegistrationDoorsAgree(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront")})
	s := startWithHost(t, h)
	target := h.page("shop", "catalog-info.yaml")
	type door struct{ register, unregister func(role, of string) answer }
	over := func(path string) door {
		return door{
			func(role, target string) answer {
				return s.send(role, http.MethodPost, path, fmt.Sprintf(`{"type":"url","target":%q}`, target))
			},
			func(role, id string) answer { return s.send(role, http.MethodDelete, path+"/"+id, "") },
		}
	}
	doors := map[string]door{"native": over("/api/v1/locations"), "backstage": over("/api/catalog/locations"), "graphql": {
		func(role, target string) answer {
			return s.graph(role, fmt.Sprintf(`mutation { registerLocation(type: "url", target: %q) { location { id } } }`, target))
		},
		func(role, id string) answer {
			return s.graph(role, fmt.Sprintf(`mutation { unregisterLocation(id: %q) { removed } }`, id))
		},
	}}
	code := func(a answer) string {
		var body struct {
			Error  *struct{ Code string }
			Errors []struct{ Extensions struct{ Code string } }
		}
		if a.body != "" {
			a.decode(t, &body)
		}
		switch {
		case body.Error != nil:
			return body.Error.Code
		case len(body.Errors) > 0:
			return body.Errors[0].Extensions.Code
		default:
			return "ok"
		}
	}
	said := map[string][]string{}
	for door, at := range doors {
		for _, role := range []string{"reader", "nobody", "developer", "developer"} {
			said[door] = append(said[door], code(at.register(role, target)))
		}
		said[door] = append(said[door], code(at.register("developer", "https://elsewhere.example.com/a/b/blob/main/c.yaml")))
		var list []struct{ Data struct{ ID string } }
		s.send("developer", http.MethodGet, "/api/catalog/locations", "").decode(t, &list)
		for _, role := range []string{"reader", "other", "developer"} {
			said[door] = append(said[door], code(at.unregister(role, list[0].Data.ID)))
		}
		said[door] = append(said[door], code(at.unregister("developer", "none")))
		const want = "[forbidden unauthenticated ok conflict forbidden forbidden forbidden ok not_found]"
		if got := fmt.Sprint(said[door]); got != want {
			t.Errorf("%s says %s, want %s", door, got, want)
		}
	}
	var page struct{ Items []map[string]any }
	s.send("sre", http.MethodGet, "/api/v1/audit?limit=500", "").decode(t, &page)
	lines := map[string]int{}
	for _, e := range page.Items {
		for _, k := range []string{"id", "time", "took"} {
			delete(e, k)
		}
		if e["operation"] == "unregister_location" { // each door has a location of its own
			delete(e, "input")
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines[string(line)]++
	}
	for line, n := range lines {
		if n != len(doors) {
			t.Errorf("%d of %d doors recorded %s", n, len(doors), line)
		}
	}
	if len(lines) != 7 {
		t.Errorf("%d lines are in the audit: %v", len(lines), lines)
	}
}

// TestRegisteredAtAnotherReplica has two servers on one state: what one is
// told the other notices.
func TestRegisteredAtAnotherReplica(t *testing.T) {
	h := newGitHost(t)
	h.push("shop", "main", map[string]string{"catalog-info.yaml": service("stock", "storefront")})
	one := startWithHost(t, h)
	config := strings.Replace(readFile(t, filepath.Join(one.dir, "fairlead.yaml")), "state: ./state\n", "state: ./state\ncache: ./cache-of-two\n", 1)
	config = strings.Replace(config, "refresh: 2s", "refresh: 1h", 1)
	if err := os.WriteFile(filepath.Join(one.dir, "two.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	two := &server{t: t, dir: one.dir, tokens: one.tokens}
	two.start(filepath.Join(one.dir, "two.yaml"))
	l := one.registered("developer", h.page("shop", "catalog-info.yaml"))
	two.await("the other replica serves it", func() bool { return two.entityStatus("component:default/stock") == http.StatusOK })
	if a := two.send("developer", http.MethodDelete, "/api/catalog/locations/"+l.Location.ID, ""); a.status != http.StatusNoContent {
		t.Fatalf("%d %s", a.status, a.body)
	}
	one.await("the first replica lets go of it", func() bool { return one.entityStatus("component:default/stock") == http.StatusNotFound })
}

func TestRegistrationIsOff(t *testing.T) {
	s := startDemo(t)
	for _, a := range []answer{
		s.register("sre", "https://github.com/acme/shop/blob/main/catalog-info.yaml", false),
		s.register("sre", "https://github.com/acme/shop/blob/main/catalog-info.yaml", true),
		s.send("sre", http.MethodDelete, "/api/catalog/locations/x", ""),
	} {
		if a.status != http.StatusForbidden || !strings.Contains(a.body, "catalog.locations") || !strings.Contains(a.body, "comes from Git") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

func TestLocationsConfig(t *testing.T) {
	const text = `catalog:
  locations:
    max: -1
    hosts:
      - {host: "https://git.example.com"}
      - {host: git.example.com, credentials: {tokenFile: a, tokenEnv: B}}
      - {host: GIT.example.com}
      - {hosts: x}
  sources: [{name: registered, file: {path: .}}]
`
	_, err := ParseConfig([]byte(text), "fairlead.yaml", t.TempDir())
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{
		"catalog.locations.max: -1 is less than nothing", `catalog.locations.hosts[0].host: "https://git.example.com" is no host`,
		"catalog.locations.hosts[1].credentials: name tokenFile or tokenEnv", "catalog.locations.hosts[2].host: GIT.example.com is listed twice",
		"catalog.locations.hosts[3].hosts: unknown key", `catalog.sources[0].name: with catalog.locations no other source can be called "registered"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
}
