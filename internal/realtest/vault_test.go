package realtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// answer is what Vault answers with.
type answer struct {
	LeaseID string `json:"lease_id"`
	Data    map[string]any
}

// borrow has Vault make a user of a database, and gives the URL with it.
func borrow(t *testing.T, v *realtest.VaultServer, database string) (lease, user, as string) {
	t.Helper()
	var a answer
	v.Must(t, http.MethodGet, "database/creds/reader", nil, &a)
	user = fmt.Sprint(a.Data["username"])
	u := parse(t, database)
	u.User = url.UserPassword(user, fmt.Sprint(a.Data["password"]))
	return a.LeaseID, user, u.String()
}

// users counts the users of a name in PostgreSQL.
func users(t *testing.T, database, name string) string {
	t.Helper()
	n, err := realtest.SQL(t.Context(), database, "select count(*) from pg_roles where rolname = '"+name+"'")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(n)
}

func TestVaultLendsDatabaseUsers(t *testing.T) {
	v := realtest.Vault(t)
	database := v.Database(t, "database")
	v.DatabaseRole(t, "database", "reader", time.Minute, time.Hour)
	lease, user, as := borrow(t, v, database)
	if out, err := realtest.SQL(t.Context(), as, "select current_user"); err != nil || strings.TrimSpace(out) != user {
		t.Fatalf("logged in as %q, %v", out, err)
	}
	v.Must(t, http.MethodPut, "sys/leases/revoke", map[string]any{"lease_id": lease, "sync": true}, nil)
	if n := users(t, database, user); n != "0" {
		t.Errorf("after revocation there are %s", n)
	}
	if _, err := realtest.SQL(t.Context(), as, "select 1"); err == nil {
		t.Error("the user still logs in")
	}
}

func TestVaultKeepsLeasesWhenKilled(t *testing.T) {
	v := realtest.Vault(t)
	database := v.Database(t, "database")
	v.DatabaseRole(t, "database", "reader", time.Minute, time.Hour)
	lease, user, as := borrow(t, v, database)
	v.Kill(t)
	if _, err := realtest.SQL(t.Context(), as, "select 1"); err != nil {
		t.Errorf("the user went with Vault: %v", err)
	}
	v.StartSealed(t)
	if status := v.API(t, http.MethodGet, "database/creds/reader", nil, nil); status != http.StatusServiceUnavailable {
		t.Errorf("sealed, it answers %d", status)
	}
	v.Unseal(t)
	v.Must(t, http.MethodPut, "sys/leases/revoke", map[string]any{"lease_id": lease, "sync": true}, nil)
	if n := users(t, database, user); n != "0" {
		t.Errorf("after revocation there are %s", n)
	}
}

func TestVaultSealsAndTellsItsAudit(t *testing.T) {
	v := realtest.VaultTLS(t)
	v.Must(t, http.MethodPost, "secret/data/team/key", map[string]any{"data": map[string]any{"key": "canary-of-kv"}}, nil)
	v.Seal(t)
	if status := v.API(t, http.MethodGet, "secret/data/team/key", nil, nil); status != http.StatusServiceUnavailable {
		t.Errorf("sealed, it answers %d", status)
	}
	v.Unseal(t)
	var got struct {
		Data struct{ Data map[string]string }
	}
	v.Must(t, http.MethodGet, "secret/data/team/key", nil, &got)
	if got.Data.Data["key"] != "canary-of-kv" {
		t.Errorf("it gives %v", got)
	}
	reads := 0
	for _, r := range v.Audit(t) {
		if r.Request.Path == "secret/data/team/key" && r.Request.Operation == "read" && r.Type == "response" {
			reads++
		}
		if strings.Contains(string(r.Line), "canary-of-kv") || strings.Contains(string(r.Line), v.RootToken) {
			t.Errorf("a secret is in the audit: %s", r.Line)
		}
	}
	if reads != 1 {
		t.Errorf("the audit tells of %d reads", reads)
	}
}

func TestVaultEngines(t *testing.T) {
	v := realtest.Vault(t)
	for _, engine := range []string{"pki", "transit", "kubernetes", "aws"} {
		v.Must(t, http.MethodPost, "sys/mounts/"+engine, map[string]any{"type": engine}, nil)
	}
	for _, way := range []string{"approle", "jwt", "kubernetes"} {
		v.Must(t, http.MethodPost, "sys/auth/"+way, map[string]any{"type": way}, nil)
	}
	v.Must(t, http.MethodPost, "pki/root/generate/internal", map[string]any{"common_name": "test", "key_type": "ec"}, nil)
	v.Must(t, http.MethodPost, "pki/roles/service", map[string]any{"allowed_domains": "example.com", "allow_subdomains": true, "key_type": "ec"}, nil)
	var a answer
	v.Must(t, http.MethodPost, "pki/issue/service", map[string]any{"common_name": "a.example.com", "ttl": "1m"}, &a)
	if !strings.Contains(fmt.Sprint(a.Data["certificate"]), "BEGIN CERTIFICATE") {
		t.Error("pki gives no certificate")
	}
	v.Must(t, http.MethodPost, "transit/keys/key", map[string]any{}, nil)
	v.Must(t, http.MethodPost, "transit/encrypt/key", map[string]any{"plaintext": "aGk="}, &a)
	v.Must(t, http.MethodPost, "transit/decrypt/key", map[string]any{"ciphertext": a.Data["ciphertext"]}, &a)
	if a.Data["plaintext"] != "aGk=" {
		t.Errorf("transit gives %v", a.Data)
	}
	v.Must(t, http.MethodPost, "auth/approle/role/service", map[string]any{"token_ttl": "1m"}, nil)
	var id, secret answer
	v.Must(t, http.MethodGet, "auth/approle/role/service/role-id", nil, &id)
	v.Must(t, http.MethodPost, "auth/approle/role/service/secret-id", map[string]any{}, &secret)
	v.Must(t, http.MethodPost, "auth/approle/login", map[string]any{"role_id": id.Data["role_id"], "secret_id": secret.Data["secret_id"]}, nil)
}

func TestVaultEndsWithItsTest(t *testing.T) {
	var address string
	t.Run("one", func(t *testing.T) { address = realtest.Vault(t).Address })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/sys/health", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Errorf("it still answers: %s", resp.Status)
	}
}
