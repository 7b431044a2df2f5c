package vault_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

func TestVaultThatNobodyPrepared(t *testing.T) {
	server := realtest.Vault(t)
	database := server.Database(t, "database")
	server.DatabaseRole(t, "database", "reader", time.Hour, 2*time.Hour)
	v := connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: file(t, server.RootToken)}})
	a, w := draw(t, v, reader("first"))
	got := values(t, v, w)
	if !logsIn(t, as(t, database, got)) {
		t.Fatal("what was lent does not log in")
	}
	accessor, _, _ := strings.Cut(a.Handle, "@")
	var looked struct {
		Data struct {
			Policies []string
			Orphan   bool
			Meta     map[string]string
		}
	}
	server.Must(t, http.MethodPost, "auth/token/lookup-accessor", m{"accessor": accessor}, &looked)
	if len(looked.Data.Policies) != 1 || !looked.Data.Orphan || looked.Data.Meta["person"] != "user:default/alice" {
		t.Fatalf("the account: %+v", looked.Data)
	}
	var policy struct{ Data struct{ Policy string } }
	server.Must(t, http.MethodGet, "sys/policies/acl/"+looked.Data.Policies[0], nil, &policy)
	if want := "path \"database/creds/reader\" {\n  capabilities = [\"read\"]\n  min_wrapping_ttl = \"1s\"\n}\n"; policy.Data.Policy != want {
		t.Errorf("the policy is %q", policy.Data.Policy)
	}
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	until(t, "the user is gone", func() bool { return !there(t, database, got["username"]) })

	// Somebody clears up, or another process takes over.
	server.Must(t, http.MethodDelete, "sys/policies/acl/"+looked.Data.Policies[0], nil, nil)
	_, w = draw(t, v, reader("second"))
	if !logsIn(t, as(t, database, values(t, v, w))) {
		t.Error("what was lent after the policy was removed does not log in")
	}
}

func TestOnlyWhatIsNotConfiguredIsPrepared(t *testing.T) {
	server := realtest.Vault(t)
	server.Database(t, "database")
	server.DatabaseRole(t, "database", "reader", time.Hour, 2*time.Hour)
	root := vault.Auth{TokenFile: file(t, server.RootToken)}
	for name, c := range map[string]vault.Config{"role": {Address: server.Address, Auth: root, TokenRole: "lender"}, "policies": {Address: server.Address, Auth: root, Policies: []string{"fairlead/all"}}} {
		_, err := connect(t, c).Open(t.Context(), reader(name))
		fails(t, err, fault.FailedPrecondition, "Vault has no")
	}
	server.Policy(t, "fairlead", own)
	server.Must(t, http.MethodPost, "sys/auth/approle", m{"type": "approle"}, nil)
	_, err := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil)}).Open(t.Context(), reader("small"))
	fails(t, err, fault.FailedPrecondition, "Vault has no token role", "orphan=true")
}
