package vault_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

var (
	_ secrets.Issuer    = (*vault.Vault)(nil)
	_ secrets.Custodian = (*vault.Vault)(nil)
)

func TestLendsADatabaseUser(t *testing.T) {
	server, database, v := lender(t)
	begin := time.Now()
	a, w := draw(t, v, reader("lease-1"))
	if !a.Key.IsZero() {
		t.Error("the key was not wiped")
	}
	for what, at := range map[string]time.Time{"account": a.ExpiresAt, "credential": w.CredentialExpiresAt} {
		if left := at.Sub(begin); left < 58*time.Second || left > 61*time.Second {
			t.Errorf("the %s lives for %s, not for a minute", what, left)
		}
	}
	if left := w.ExpiresAt.Sub(begin); left < 28*time.Second || left > 31*time.Second {
		t.Errorf("the wrapping lives for %s, not for half a minute", left)
	}
	credential := values(t, v, w)
	if !logsIn(t, as(t, database, credential)) {
		t.Fatal("PostgreSQL does not let the user in")
	}
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	took := until(t, "the user is gone", func() bool { return !there(t, database, credential["username"]) })
	t.Logf("the user was gone %s after the revocation", took)
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Errorf("revoking what is gone: %v", err)
	}
	if _, err := v.Renew(t.Context(), a.Handle, time.Minute); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("renewing what is gone: %v", err)
	}
	told := 0
	for _, r := range server.Audit(t) {
		if r.Request.Path == "database/creds/reader" && r.Type == "response" {
			told++
			for key, want := range map[string]string{"person": "user:default/alice", "agent": "claude", "service": "component:default/checkout",
				"environment": "staging", "task": "preview p1", "lease": "lease-1", "credential": "db-readonly"} {
				if got := r.Auth.Metadata[key]; got != want {
					t.Errorf("Vault's audit has %s %q, not %q", key, got, want)
				}
			}
			if len(r.Auth.Policies) != 1 || r.Auth.Policies[0] != "fairlead/default/checkout" {
				t.Errorf("it was drawn with the policies %v", r.Auth.Policies)
			}
		}
		if strings.Contains(string(r.Line), credential["password"]) {
			t.Errorf("the password is in Vault's audit")
		}
	}
	if told != 1 {
		t.Errorf("Vault's audit tells of %d drawings", told)
	}
}

func TestWrappingOpensOnce(t *testing.T) {
	_, _, v := lender(t)
	_, w := draw(t, v, reader("lease-1"))
	if there, err := v.Unopened(t.Context(), w.Accessor); err != nil || !there {
		t.Errorf("unopened: %v, %v", there, err)
	}
	again := w
	values(t, v, w)
	if there, err := v.Unopened(t.Context(), w.Accessor); err != nil || there {
		t.Errorf("unopened when opened: %v, %v", there, err)
	}
	_, err := v.Unwrap(t.Context(), again)
	fails(t, err, fault.FailedPrecondition, "already")
}

func TestRenews(t *testing.T) {
	_, database, v := lender(t)
	a, w := draw(t, v, reader("lease-1"))
	credential := values(t, v, w)
	at, err := v.Renew(t.Context(), a.Handle, 5*time.Minute)
	if left := time.Until(at); err != nil || left < 295*time.Second || left > 300*time.Second {
		t.Errorf("renewed for %s, %v", left, err)
	}
	at, err = v.Renew(t.Context(), a.Handle, time.Hour)
	if left := time.Until(at); err != nil || left < 590*time.Second || left > 600*time.Second {
		t.Errorf("renewed beyond its limit of ten minutes for %s, %v", left, err)
	}
	if !logsIn(t, as(t, database, credential)) {
		t.Error("PostgreSQL does not let the user in")
	}
}

func TestTheTrueEndIsTold(t *testing.T) {
	server, database, v := lender(t)
	server.DatabaseRole(t, "database", "reader", 20*time.Second, time.Hour)
	o := reader("lease-1")
	o.TTL, o.MaxTTL = 30*time.Minute, time.Hour
	a, w := draw(t, v, o)
	if left := time.Until(a.ExpiresAt); left > 20*time.Second {
		t.Errorf("the account lives for %s, and the credential for 20s", left)
	}
	at, err := v.Renew(t.Context(), a.Handle, 30*time.Minute)
	if left := time.Until(at); err != nil || left > 20*time.Second {
		t.Errorf("renewed for %s, %v, and the credential lives for 20s", left, err)
	}
	credential := values(t, v, w)
	out := map[string]bool{"before": there(t, database, credential["username"])}
	if !out["before"] {
		t.Error("there is no user")
	}
}

func TestTheMountsOwnTimeCounts(t *testing.T) {
	server, _, v := lender(t)
	server.DatabaseRole(t, "database", "reader", 0, 0)
	server.Must(t, http.MethodPost, "sys/mounts/database/tune", m{"default_lease_ttl": "45s"}, nil)
	o := reader("lease-1")
	o.TTL = 5 * time.Minute
	a, err := v.Open(t.Context(), o)
	if left := time.Until(a.ExpiresAt); err != nil || left > 45*time.Second || left < 40*time.Second {
		t.Errorf("the account lives for %s, %v", left, err)
	}
}

func TestAccountEndsByItself(t *testing.T) {
	_, database, v := lender(t)
	o := reader("lease-1")
	o.TTL, o.MaxTTL = 2*time.Second, 2*time.Second
	_, w := draw(t, v, o)
	credential := values(t, v, w)
	until(t, "the user is gone", func() bool { return !there(t, database, credential["username"]) })
	if late := time.Since(w.CredentialExpiresAt); late < 0 || late > 3*time.Second {
		t.Errorf("it was gone %s after its end", late)
	}
}

func TestAccounts(t *testing.T) {
	server, _, v := lender(t)
	var mine []string
	for _, lease := range []string{"one", "two", "three"} {
		a, err := v.Open(t.Context(), reader(lease))
		if err != nil {
			t.Fatal(err)
		}
		mine = append(mine, a.Handle)
	}
	other := connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: file(t, server.RootToken)}})
	_ = other
	found := map[string]secrets.Held{}
	if err := v.Accounts(t.Context(), func(h secrets.Held) bool { found[h.Lease] = h; return true }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 {
		t.Fatalf("found %v", found)
	}
	for i, lease := range []string{"one", "two", "three"} {
		h := found[lease]
		if h.Handle != mine[i] || time.Since(h.CreatedAt) > 10*time.Second || time.Until(h.ExpiresAt) > time.Minute || time.Until(h.ExpiresAt) < 50*time.Second {
			t.Errorf("%s: %+v", lease, h)
		}
	}
	n := 0
	if err := v.Accounts(t.Context(), func(secrets.Held) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("%d after the first was enough, %v", n, err)
	}
	if err := v.Revoke(t.Context(), mine[0]); err != nil {
		t.Fatal(err)
	}
	n = 0
	if err := v.Accounts(t.Context(), func(secrets.Held) bool { n++; return true }); err != nil || n != 2 {
		t.Errorf("%d after one was revoked, %v", n, err)
	}
}
