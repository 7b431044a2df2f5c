package vault_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

type m = map[string]any

// own are the rights that the guide gives Fairlead's own token.
const own = `
path "auth/token/create/fairlead" { capabilities = ["update"] }
path "auth/token/lookup-accessor" { capabilities = ["update"] }
path "auth/token/renew-accessor" { capabilities = ["update"] }
path "auth/token/revoke-accessor" { capabilities = ["update"] }
path "auth/token/accessors" { capabilities = ["list", "sudo"] }
path "+/roles/+" { capabilities = ["read"] }
path "sys/mounts/+/tune" { capabilities = ["read"] }
path "sys/leases/lookup" { capabilities = ["update"] }
path "sys/leases/lookup/*" { capabilities = ["list", "sudo"] }
`

// checkout are the rights of what is lent to the service checkout.
const checkout = `
path "database/creds/reader" { capabilities = ["read"] }
path "database/creds/unknown" { capabilities = ["read"] }
path "secret/data/checkout/*" { capabilities = ["read"] }
path "pki/issue/service" { capabilities = ["update"] }
path "nowhere/creds/reader" { capabilities = ["read"] }
`

// prepare makes in a Vault what the guide has operators make.
func prepare(t *testing.T, v *realtest.VaultServer) {
	t.Helper()
	v.Policy(t, "fairlead", own)
	v.Policy(t, "fairlead/default/checkout", checkout)
	v.Must(t, http.MethodPost, "auth/token/roles/fairlead", m{"orphan": true, "allowed_policies_glob": "fairlead/*", "token_type": "service"}, nil)
	v.Must(t, http.MethodPost, "sys/auth/approle", m{"type": "approle"}, nil)
}

// appRole is a way to log in by a role with a policy fairlead.
func appRole(t *testing.T, v *realtest.VaultServer, settings m) vault.Auth {
	t.Helper()
	role := m{"token_policies": "fairlead", "token_ttl": "1h", "token_max_ttl": "24h"}
	for k, s := range settings {
		role[k] = s
	}
	v.Must(t, http.MethodPost, "auth/approle/role/fairlead", role, nil)
	var id, secret struct{ Data map[string]any }
	v.Must(t, http.MethodGet, "auth/approle/role/fairlead/role-id", nil, &id)
	v.Must(t, http.MethodPost, "auth/approle/role/fairlead/secret-id", m{}, &secret)
	return vault.Auth{AppRole: &vault.AppRole{RoleID: id.Data["role_id"].(string), SecretIDFile: file(t, secret.Data["secret_id"].(string))}}
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// connect makes the adapter.
func connect(t *testing.T, c vault.Config) *vault.Vault {
	t.Helper()
	v, err := vault.New(c, installationOf(t), slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func installationOf(t *testing.T) string { return "installation-of-" + strings.ToLower(t.Name()) }

// lender is a Vault with a database reader, prepared, and the adapter over it.
func lender(t *testing.T) (server *realtest.VaultServer, database string, v *vault.Vault) {
	t.Helper()
	server = realtest.Vault(t)
	database = server.Database(t, "database")
	server.DatabaseRole(t, "database", "reader", time.Hour, 2*time.Hour)
	prepare(t, server)
	return server, database, connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil)})
}

// reader is the order of a database credential.
func reader(lease string) secrets.Order {
	return secrets.Order{Lease: lease, Offer: secrets.Offer{Name: "db-readonly", Engine: secrets.EngineDatabase, Mount: "database", Role: "reader"},
		TTL: time.Minute, MaxTTL: 10 * time.Minute, WrapTTL: 30 * time.Second,
		Person: "user:default/alice", Agent: "claude", Service: "component:default/checkout", Environment: "staging", Task: "preview p1"}
}

// draw opens an account and draws from it.
func draw(t *testing.T, v *vault.Vault, o secrets.Order) (secrets.Account, secrets.Wrapped) {
	t.Helper()
	a, err := v.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	w, err := v.Draw(t.Context(), o, a)
	if err != nil {
		t.Fatalf("drawing: %v", err)
	}
	return a, w
}

// values unwraps.
func values(t *testing.T, v *vault.Vault, w secrets.Wrapped) map[string]string {
	t.Helper()
	got, err := v.Unwrap(t.Context(), w)
	if err != nil {
		t.Fatalf("unwrapping: %v", err)
	}
	return revealed(got)
}

func revealed(fields map[string]secrets.Value) map[string]string {
	out := map[string]string{}
	for field, value := range fields {
		value.Reveal(func(secret []byte) { out[field] = string(secret) })
	}
	return out
}

// as is the URL of a database with a credential.
func as(t *testing.T, database string, credential map[string]string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(credential["username"], credential["password"])
	return u.String()
}

// logsIn tells whether a database lets somebody in.
func logsIn(t *testing.T, url string) bool {
	t.Helper()
	_, err := realtest.SQL(t.Context(), url, "select 1")
	return err == nil
}

// until waits until something holds, at most 10s, and gives how long it took.
func until(t *testing.T, what string, holds func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("in vain waited for: %s", what)
		case <-tick.C:
		}
	}
	return time.Since(begin)
}

// there tells whether PostgreSQL has a user.
func there(t *testing.T, database, user string) bool {
	t.Helper()
	out, err := realtest.SQL(t.Context(), database, fmt.Sprintf("select count(*) from pg_roles where rolname = '%s'", user))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out) == "1"
}

// fails holds an error to a code and to what its message and fix say.
func fails(t *testing.T, err error, code fault.Code, says ...string) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Errorf("the code is %q and not %q: %v", fault.CodeOf(err), code, err)
		return
	}
	f := fault.From(err)
	if f.Fix == "" {
		t.Errorf("no fix: %v", err)
	}
	for _, s := range says {
		if !strings.Contains(f.Message+"\n"+f.Fix, s) {
			t.Errorf("it does not say %q: %s (fix: %s)", s, f.Message, f.Fix)
		}
	}
}

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
