package vault_test

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/secretstest"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// subject is an issuer of its own Vault's for the contract.
func subject(t *testing.T, server *realtest.VaultServer, v *vault.Vault, offer, missing secrets.Offer) secretstest.Subject {
	t.Helper()
	auth := appRole(t, server, nil)
	as := func(installation string) (secrets.Issuer, secrets.Custodian) {
		v, err := vault.New(vault.Config{Address: server.Address, Auth: auth}, installation, slog.New(slog.NewTextHandler(t.Output(), nil)))
		if err != nil {
			t.Fatal(err)
		}
		return v, v
	}
	o := reader("lease")
	o.Offer, o.TTL, o.MaxTTL, o.WrapTTL = offer, 30*time.Second, 2*time.Minute, 20*time.Second
	s := secretstest.Subject{Issuer: v, Custodian: v, Order: o, Missing: missing,
		Restarted: func(t *testing.T) (secrets.Issuer, secrets.Custodian) {
			t.Helper()
			server.Restart(t)
			return as(installationOf(t))
		},
		Another: func(*testing.T) (secrets.Issuer, secrets.Custodian) { return as("another") },
		Seal: func(t *testing.T, sealed bool) {
			t.Helper()
			if sealed {
				server.Seal(t)
			} else {
				server.Unseal(t)
			}
		},
	}
	return s
}

func TestContractOfDatabase(t *testing.T) {
	secretstest.Contract(t, func(t *testing.T) secretstest.Subject {
		t.Helper()
		server, database, v := lender(t)
		offer := reader("").Offer
		missing := offer
		missing.Role = "unknown"
		s := subject(t, server, v, offer, missing)
		s.Works = func(t *testing.T, fields map[string]secrets.Value) bool {
			t.Helper()
			return logsIn(t, as(t, database, revealed(fields)))
		}
		return s
	})
}

func TestContractOfKV(t *testing.T) {
	secretstest.Contract(t, func(t *testing.T) secretstest.Subject {
		t.Helper()
		server, _, v := lender(t)
		server.Must(t, http.MethodPost, "secret/data/checkout/key", m{"data": m{"key": "value"}}, nil)
		offer := secrets.Offer{Name: "key", Engine: secrets.EngineKV, Mount: "secret", Path: "checkout/key"}
		missing := offer
		missing.Path = "checkout/none"
		return subject(t, server, v, offer, missing)
	})
}

// TestWhatIsNotTakenBackIsSaid takes the database away, so that Vault cannot
// remove its users.
func TestWhatIsNotTakenBackIsSaid(t *testing.T) {
	server, database, v := lender(t)
	a, w := draw(t, v, reader("lease-1"))
	user := values(t, v, w)["username"]
	sql := func(statement string) {
		t.Helper()
		if _, err := realtest.SQL(t.Context(), database, statement); err != nil {
			t.Fatal(err)
		}
	}
	sql(`create table owned (i int); alter table owned owner to "` + user + `"`) // a user that owns something cannot be dropped
	err := v.Revoke(t.Context(), a.Handle)
	fails(t, err, "unavailable", "has not yet taken back", "database/creds/reader")
	err = v.Revoke(t.Context(), a.Handle)
	fails(t, err, "unavailable", "has not yet taken back")
	sql("drop table owned")
	server.Restart(t) // it tries at once again
	until(t, "it is taken back", func() bool { return v.Revoke(t.Context(), a.Handle) == nil })
	if there(t, database, user) {
		t.Error("the user is there still")
	}
}
