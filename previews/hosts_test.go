package previews

import (
	"slices"
	"testing"
)

func TestNamedIn(t *testing.T) {
	s := &shared{hosts: map[string]thing{}, names: map[string]thing{"orders-db": {ref: "resource:default/orders-db"}},
		resources: map[string]thing{"resource:default/orders-db": {ref: "resource:default/orders-db"}, "resource:money/ledger": {ref: "resource:money/ledger"}}}
	s.add([]string{canonical("orders-db.prod.example.com"), canonical("bücher.example"), "2001:db8::1", "10.1.2.3", "pg.data.svc.cluster.local", "localhost", "127.0.0.1"}, thing{ref: "host"})
	for text, want := range map[string]string{
		"resource:default/orders-db":        "resource:default/orders-db",
		"${{ resource:default/orders-db }}": "resource:default/orders-db",
		"${{ RESOURCE:Orders-DB.url }}":     "",
		"resource:orders-db":                "resource:default/orders-db",
		"Resource: Money/Ledger":            "resource:money/ledger",
		"resource:default/another":          "",
		"resource%3Adefault%2Forders-db":    "resource:default/orders-db",
		"postgres://u:p@orders-db.prod.example.com:5432/orders?sslmode=require": "host",
		"postgres://ORDERS-DB.Prod.EXAMPLE.com/orders":                          "host",
		"postgres://orders-db.prod.example.com./orders":                         "host",
		"postgres://orders%2Ddb.prod.example%2ecom/orders":                      "host",
		"postgres://a.example.com:1,orders-db.prod.example.com:2/orders":        "host",
		"postgres://u:p%40x@orders-db.prod.example.com/orders":                  "host",
		"postgres://x@y@orders-db.prod.example.com/orders":                      "host",
		"host=orders-db.prod.example.com user=u":                                "host",
		"u:p@tcp(orders-db.prod.example.com:3306)/orders":                       "host",
		"jdbc:postgresql://orders-db.prod.example.com/orders":                   "host",
		"orders-db.prod.example.com":                                            "host",
		"orders-db.prod.example.com:5432":                                       "host",
		"orders-db。prod．example｡com":                                            "host",
		"ｏｒｄｅｒｓ-db.prod.example.com":                                            "host",
		"https://bücher.example/":                                               "host",
		"https://BÜCHER.example":                                                "host",
		"https://xn--bcher-kva.example":                                         "host",
		"https://bu\u0308cher.example":                                          "host",
		"postgres://[2001:db8::1]:5432/x":                                       "host",
		"postgres://[2001:DB8:0:0:0:0:0:1]:5432/x":                              "host",
		"2001:0db8::0001":                                                       "host",
		"postgres://10.1.2.3/x":                                                 "host",
		"postgres://[::ffff:10.1.2.3]/x":                                        "host",
		"postgres://[::ffff:a01:203]/x":                                         "host",
		"postgres://0x0a010203/x":                                               "host",
		"postgres://167838211/x":                                                "host",
		"postgres://012.1.0x203/x":                                              "host",
		"redis://pg.data:6379":                                                  "host",
		"redis://pg.data.svc:6379":                                              "host",
		"redis://pg.data.svc.cluster.local.":                                    "host",
		"postgres://orders-db:5432/x":                                           "resource:default/orders-db",
		"postgres://other,orders-db/x":                                          "resource:default/orders-db",
		"postgres://other:1,orders-db:2/x":                                      "resource:default/orders-db",
		"host=orders-db":                                                        "resource:default/orders-db",
		"orders-db":                                                             "resource:default/orders-db",
		"postgres://other/orders-db":                                            "",
		"postgres://orders-db:pw@other/x":                                       "",
		"postgres://orders-db@other/x":                                          "",
		"the name of orders-db here":                                            "",
		"postgres://orders-db.prod.example.com.evil.test/x":                     "",
		"postgres://x-orders-db.prod.example.com/x":                             "",
		"postgres://127.0.0.1:5432/x":                                           "",
		"http://localhost:8080":                                                 "",
		"10.1.2.30":                                                             "",
		"12:30:45":                                                              "",
		"":                                                                      "",
		"://":                                                                   "",
		"%zz":                                                                   "",
		"\xff\xfe":                                                              "",
	} {
		if by, got, found := s.namedIn(text); got.ref != want || found != (want != "") {
			t.Errorf("%q names %q by %q, not %q", text, got.ref, by, want)
		}
	}
}

func TestAddressesIn(t *testing.T) {
	for text, want := range map[string][]string{
		"https://orders-db.example.com/x":   {"orders-db.example.com"},
		"postgres://u@db:5432/x":            {"db"},
		"db.example.com":                    {"db.example.com"},
		"DB.example.com:5432":               {"db.example.com"},
		"10.0.0.1":                          {"10.0.0.1"},
		"https://[2001:db8::1]/":            {"2001:db8::1"},
		"What customers order, see db.test": nil,
		"15":                                nil,
		"15.4":                              nil,
		"postgres":                          nil,
		"docs/db.md":                        nil,
		"someone@example.com":               nil,
		"":                                  nil,
	} {
		if got := addressesIn(text); !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%q has %v, not %v", text, got, want)
		}
	}
}
