package app

import (
	"net/url"
	"strings"
	"testing"
)

func TestForgesConfigProblems(t *testing.T) {
	_, err := ParseConfig([]byte(`
forges:
  - {name: a, gitea: {url: "https://git.example.com", tokenFile: t}}
  - {name: a, github: {org: acme}}
  - {name: "b c", gitlab: {url: "http://git.example.com", tokenFile: t, ref: main}}
  - {name: d}
  - {name: e, github: {tokenFile: t}, gitea: {url: "https://git.example.com", tokenFile: t}}
`), "test.yaml", t.TempDir())
	for _, want := range []string{`another forge is called "a"`, "github.org: a forge has no owner", "github.tokenFile: a token that may write is missing", `"b c" is no name`,
		"gitlab.url: a token would travel unencrypted", "gitlab.filter: filter, include and ref are for sources", "forges[3]: a forge is exactly one", "forges[4]: a forge is exactly one"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
}

func TestForgeOfARepository(t *testing.T) {
	at := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	a := &App{forges: []writing{{name: "hub", web: at("https://github.com")}, {name: "own", web: at("https://git.example.com:8443/tea")}, {name: "local", web: at("http://127.0.0.1:3000")}}}
	for repository, want := range map[string]string{
		"https://github.com/acme/shop.git":              "hub acme/shop",
		"https://GitHub.com/acme/shop":                  "hub acme/shop",
		"git@github.com:acme/shop.git":                  "hub acme/shop",
		"ssh://git@github.com/acme/shop":                "hub acme/shop",
		"https://git.example.com:8443/tea/a/b/shop.git": "own a/b/shop",
		"http://127.0.0.1:3000/acme/shop/":              "local acme/shop",
		"https://git.example.com/tea/a/shop.git":        "", // another port
		"https://git.example.com:8443/a/shop.git":       "", // beside it
		"https://git.example.com:8443/team/shop.git":    "",
		"https://github.com.evil.example/acme/shop":     "",
		"https://github.com/acme":                       "",
		"/srv/git/shop":                                 "",
		"":                                              "",
	} {
		got := ""
		if w, name := a.forgeOf(repository); w != nil {
			got = w.name + " " + name
		}
		if got != want {
			t.Errorf("%s is %q, not %q", repository, got, want)
		}
	}
}
