package secrets_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/catalogtest"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/offer"
)

// declaring is a catalog in which shop offers what a text says.
func declaring(t *testing.T, annotations, credentials string) *catalog.Service {
	t.Helper()
	return catalogtest.New(t, fmt.Sprintf("kind: Component\nmetadata: {name: shop, annotations: {%s}}\nspec: {type: service, lifecycle: production, owner: payments, fairlead: {credentials: %s}}\n", annotations, credentials))
}

func TestOffers(t *testing.T) {
	for _, tt := range []struct {
		name, annotations, credentials string
		ask                            string
		want                           secrets.Offer
	}{
		{"a database", "", "[{name: db, mount: database, role: ro, maxTTL: 1h, environments: [staging]}]", "db",
			secrets.Offer{Name: "db", Engine: "database", Mount: "database", Role: "ro", MaxTTL: time.Hour, Environments: []string{"staging"}}},
		{"a database of another mount", "", "[{name: db, mount: database-eu, role: ro}]", "db", secrets.Offer{Name: "db", Engine: "database", Mount: "database-eu", Role: "ro"}},
		{"certificates", "", "[{name: tls, mount: pki/int, role: web, params: {commonName: shop.example.com}}]", "tls",
			secrets.Offer{Name: "tls", Engine: "pki", Mount: "pki/int", Role: "web", Params: map[string]string{"commonName": "shop.example.com"}}},
		{"an engine that nobody knows", "", "[{name: mq, mount: rabbitmq, role: shop}]", "mq", secrets.Offer{Name: "mq", Engine: "generic", Mount: "rabbitmq", Role: "shop"}},
		{"an engine that is named", "", "[{name: mq, mount: eu/db, engine: database, role: shop}]", "mq", secrets.Offer{Name: "mq", Engine: "database", Mount: "eu/db", Role: "shop"}},
		{"a secret", "", "[{name: api, mount: team, path: /shop/api/}]", "api", secrets.Offer{Name: "api", Engine: "kv", Mount: "team", Path: "shop/api"}},
		{"an annotation", "vault.io/secrets-path: team/shop", "[]", "vault", secrets.Offer{Name: "vault", Engine: "kv", Mount: "secret", Path: "team/shop"}},
		{"two annotations", "vault.io/secrets-path: team/shop, vault.io/secrets-engine: kv2", "[]", "vault", secrets.Offer{Name: "vault", Engine: "kv", Mount: "kv2", Path: "team/shop"}},
		{"what is declared before an annotation", "vault.io/secrets-path: team/shop", "[{name: vault, mount: secret, path: other}]", "vault", secrets.Offer{Name: "vault", Engine: "kv", Mount: "secret", Path: "other"}},
		{"a wrong one beside it", "", "[{name: a, mount: x}, {name: b, mount: database, role: r}]", "b", secrets.Offer{Name: "b", Engine: "database", Mount: "database", Role: "r"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t, `rules: [{name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}]`)
			w.catalog = declaring(t, tt.annotations, tt.credentials)
			l, err := w.service(nil, secrets.Limits{}).Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: tt.ask, Environment: strings.Join(tt.want.Environments, "")})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.get(l.Lease).Offer; fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("it offers %+v", got)
			}
		})
	}
}

// TestOffersThatAreWrong holds that each is told of with its place, and lent to
// nobody.
func TestOffersThatAreWrong(t *testing.T) {
	for _, tt := range []struct{ name, annotations, credentials, ask, want string }{
		{"no list", "", "{name: a}", "a", "is no list"},
		{"no mapping", "", "[a]", "a", "is no mapping"},
		{"nothing", "", "[]", "a", "lends no credentials"},
		{"a key that nobody knows", "", "[{name: a, mount: database, role: r, user: x}]", "a", "credentials.user"},
		{"no mount", "", "[{name: a, role: r}]", "a", "credentials.mount"},
		{"a mount that leads up", "", "[{name: a, mount: database/.., role: r}]", "a", "credentials.mount"},
		{"a mount with nothing in it", "", "[{name: a, mount: a//b, role: r}]", "a", "credentials.mount"},
		{"an encoded mount", "", "[{name: a, mount: a%2fb, role: r}]", "a", "credentials.mount"},
		{"a role that is a path", "", "[{name: a, mount: database, role: a/b}]", "a", "credentials.role"},
		{"a role of two lines", "", `[{name: a, mount: database, role: "a\nb"}]`, "a", "credentials.role"},
		{"no role", "", "[{name: a, mount: database}]", "a", "credentials.role"},
		{"a path that leads up", "", "[{name: a, mount: secret, path: a/../b}]", "a", "credentials.path"},
		{"a path with a query", "", `[{name: a, mount: secret, path: "a?list=true"}]`, "a", "credentials.path"},
		{"a path and a role", "", "[{name: a, mount: secret, path: b, role: c}]", "a", "credentials.role"},
		{"another engine", "", "[{name: a, mount: x, engine: ssh, role: r}]", "a", "credentials.engine"},
		{"too short a time", "", "[{name: a, mount: database, role: r, maxTTL: 1s}]", "a", "credentials.maxTTL"},
		{"a time without a unit", "", "[{name: a, mount: database, role: r, maxTTL: 60}]", "a", "credentials.maxTTL"},
		{"no environments", "", "[{name: a, mount: database, role: r, environments: []}]", "a", "credentials.environments"},
		{"a variable that finds programs", "", "[{name: a, mount: database, role: r, env: {PATH: username}}]", "a", "credentials.env"},
		{"a variable that loads programs", "", "[{name: a, mount: database, role: r, env: {LD_PRELOAD: username}}]", "a", "credentials.env"},
		{"a name twice", "", "[{name: b, mount: x, path: y}, {name: b, mount: database, role: r}]", "", "there twice"},
		{"a name that is none", "", "[{name: A_b, mount: database, role: r}]", "", "credentials.name"},
		{"an annotation that leads up", "vault.io/secrets-path: ../sys/mounts", "[]", "vault", "vault.io/secrets-path"},
		{"an annotation with another mount", "vault.io/secrets-path: a, vault.io/secrets-engine: ../sys", "[]", "vault", "vault.io/secrets-engine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := onSQLite(t, `rules: [{name: all, effect: allow, who: {subjects: ["*"]}, actions: ["*"]}]`)
			w.catalog = declaring(t, tt.annotations, tt.credentials)
			e, err := w.catalog.GetEntity(t.Context(), access.Caller{}, catalog.GetEntityInput{Ref: "shop"})
			if err != nil {
				e, err = w.catalog.GetEntity(t.Context(), alice(), catalog.GetEntityInput{Ref: "shop"})
			}
			if err != nil {
				t.Fatal(err)
			}
			told := offer.Problems(e)
			if tt.want != "lends no credentials" && (len(told) != 1 || !strings.Contains(told[0].Message, tt.want) || told[0].Line == 0 || told[0].File != "catalog-info.yaml" || told[0].Fix == "" || strings.Contains(told[0].Message, ".yaml")) {
				t.Errorf("problems: %+v", told)
			}
			if tt.ask == "" {
				return
			}
			_, err = w.service(nil, secrets.Limits{}).Request(t.Context(), alice(), secrets.RequestInput{Service: "shop", Name: tt.ask})
			wants(t, "a loan", err, fault.FailedPrecondition, tt.want, "catalog-info.yaml")
			if len(w.fake.There()) > 0 {
				t.Error("something was asked of the issuer")
			}
		})
	}
}
