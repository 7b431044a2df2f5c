package realtest_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

func TestPostgresGivesEachTestItsDatabase(t *testing.T) {
	one, two := parse(t, realtest.Postgres(t)), parse(t, realtest.Postgres(t))
	if one.Host != two.Host || one.Path == two.Path {
		t.Errorf("not two databases of one server: %s, %s", one, two)
	}
	conn, err := net.DialTimeout("tcp", one.Host, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
