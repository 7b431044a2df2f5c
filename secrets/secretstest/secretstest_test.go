package secretstest_test

import (
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
)

func TestContractOfTheFake(t *testing.T) {
	secretstest.Contract(t, func(*testing.T) secretstest.Subject {
		f := &secretstest.Fake{}
		offer := secrets.Offer{Name: "db", Engine: secrets.EngineDatabase, Mount: "database", Role: "ro"}
		gone := offer
		gone.Role = "missing"
		return secretstest.Subject{Issuer: f, Custodian: f, Missing: gone, Seal: func(_ *testing.T, sealed bool) { f.Seal(sealed) },
			Order:     secrets.Order{Lease: "shop-db", Offer: offer, TTL: 30 * time.Second, MaxTTL: time.Hour, WrapTTL: time.Minute, Person: "user:default/alice"},
			Works:     func(_ *testing.T, fields map[string]secrets.Value) bool { return f.Works(fields) },
			Restarted: func(*testing.T) (secrets.Issuer, secrets.Custodian) { return f, f }}
	})
}
