package vault_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// everything calls each operation, and gives the errors by name.
func everything(ctx context.Context, v *vault.Vault, held secrets.Account, w secrets.Wrapped) map[string]error {
	_, open := v.Open(ctx, reader("lease-x"))
	_, renew := v.Renew(ctx, held.Handle, time.Minute)
	_, unopened := v.Unopened(ctx, w.Accessor)
	_, unwrap := v.Unwrap(ctx, w)
	return map[string]error{"open": open, "renew": renew, "unopened": unopened, "unwrap": unwrap,
		"revoke": v.Revoke(ctx, held.Handle), "accounts": v.Accounts(ctx, func(secrets.Held) bool { return true })}
}

func TestSealedAndKilled(t *testing.T) {
	server, database, v := lender(t)
	a, w := draw(t, v, reader("lease-1"))
	server.Seal(t)
	for what, err := range everything(t.Context(), v, a, w) {
		t.Log(what, err)
		fails(t, err, fault.Unavailable, "sealed", "Unseal")
	}
	server.Unseal(t)
	server.Kill(t)
	for what, err := range everything(t.Context(), v, a, w) {
		t.Log(what, err)
		fails(t, err, fault.Unavailable, "does not answer")
	}
	server.Start(t)
	credential := values(t, v, w)
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	until(t, "the user is gone", func() bool { return !there(t, database, credential["username"]) })
}

func TestSlowVault(t *testing.T) {
	server, _, _ := lender(t)
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	v := connect(t, vault.Config{Address: "http://" + l.Addr().String(), Timeout: 200 * time.Millisecond, Auth: appRole(t, server, nil)})
	begin := time.Now()
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.Unavailable)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = v.Open(ctx, reader("lease-1"))
	if fault.CodeOf(err) != fault.Unavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestRefusalsNameWhatIsMissing(t *testing.T) {
	server, _, v := lender(t)
	for _, c := range []struct {
		name  string
		offer secrets.Offer
		code  fault.Code
		says  []string
	}{
		{"the policy does not allow it", secrets.Offer{Engine: secrets.EngineKV, Mount: "secret", Path: "payments/key"}, fault.FailedPrecondition,
			[]string{"fairlead/default/checkout", `path "secret/data/payments/key" { capabilities = ["read"] }`}},
		{"there is no such role", secrets.Offer{Engine: secrets.EngineDatabase, Mount: "database", Role: "unknown"}, fault.FailedPrecondition, []string{`no role "unknown" at database`}},
		{"nothing is mounted", secrets.Offer{Engine: secrets.EngineDatabase, Mount: "nowhere", Role: "reader"}, fault.FailedPrecondition, []string{"nowhere"}},
		{"there is no such secret", secrets.Offer{Engine: secrets.EngineKV, Mount: "secret", Path: "checkout/none"}, fault.FailedPrecondition, []string{"nothing at secret/data/checkout/none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.offer.Name = "it"
			o := offering(c.offer)
			a, err := v.Open(t.Context(), o)
			if err == nil {
				_, err = v.Draw(t.Context(), o, a)
			}
			fails(t, err, c.code, c.says...)
		})
	}
	o := reader("lease-1")
	o.Service = "component:default/nobody"
	_, err := v.Open(t.Context(), o)
	fails(t, err, fault.FailedPrecondition, `no policy "fairlead/default/nobody"`, "vault policy write")
	server.Must(t, http.MethodPost, "auth/token/roles/fairlead", m{"orphan": true, "allowed_policies_glob": "other/*"}, nil)
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.FailedPrecondition, "fairlead/default/checkout", "allowed_policies")
	server.Must(t, http.MethodPost, "auth/token/roles/fairlead", m{"orphan": false, "allowed_policies_glob": "fairlead/*"}, nil)
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.FailedPrecondition, "orphan=true")
	server.Must(t, http.MethodPost, "auth/token/roles/fairlead", m{"orphan": true, "allowed_policies_glob": "fairlead/*", "token_type": "batch", "renewable": false}, nil)
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.FailedPrecondition, "token_type=service")
	server.Must(t, http.MethodDelete, "auth/token/roles/fairlead", nil, nil)
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.FailedPrecondition, `no token role "fairlead"`, "vault write auth/token/roles/fairlead")
	server.Policy(t, "fairlead", `path "nothing" { capabilities = ["read"] }`)
	_, err = v.Open(t.Context(), reader("lease-1"))
	fails(t, err, fault.FailedPrecondition, "auth/token/create/fairlead", `capabilities = ["update"]`)
	err = v.Accounts(t.Context(), func(secrets.Held) bool { return true })
	fails(t, err, fault.FailedPrecondition, `path "auth/token/accessors" { capabilities = ["list", "sudo"] }`)
}

// TestWhatEnginesSayGoesNoFurther has an engine fail with what it connects with
// in its words.
func TestWhatEnginesSayGoesNoFurther(t *testing.T) {
	server, database, v := lender(t)
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	server.Must(t, http.MethodPost, "database/config/broken", m{"plugin_name": "postgresql-database-plugin", "allowed_roles": "*", "verify_connection": false,
		"username": "nobody", "password": "canary-of-config", "connection_url": "postgresql://{{username}}:{{password}}@" + at.Host + "/canary-of-url?sslmode=disable"}, nil)
	server.Must(t, http.MethodPost, "database/roles/reader", m{"db_name": "broken", "creation_statements": "canary-of-statement"}, nil)
	o := reader("lease-1")
	a, err := v.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Draw(t.Context(), o, a)
	fails(t, err, fault.Unavailable, "db-readonly", "database")
	for _, text := range []string{fmt.Sprintf("%v %+v", err, fault.From(err)), fmt.Sprintf("%#v", err)} {
		if strings.Contains(text, "canary") {
			t.Errorf("it says %s", text)
		}
	}
}

func TestPathsAreNames(t *testing.T) {
	server := realtest.Vault(t)
	prepare(t, server)
	server.Policy(t, "fairlead/default/checkout", `path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }`)
	v := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil)})
	hostile := []string{"..", ".", "../../sys/raw", "a/../b", "a//b", "/a", "a/", "", "a%2fb", "%2e%2e", "a\nb", "a b", "a\x00", "a?b=c", "a#b", "a*", "+", "a\\b", "ä", "a;b", "{{x}}", "a\r\nX-Vault-Token: b", strings.Repeat("a", 129), strings.Repeat("a/", 20) + "a"}
	before := len(server.Audit(t))
	for _, h := range hostile {
		for what, o := range map[string]secrets.Offer{
			"mount":     {Engine: secrets.EngineDatabase, Mount: h, Role: "reader"},
			"role":      {Engine: secrets.EngineDatabase, Mount: "database", Role: h},
			"path":      {Engine: secrets.EngineKV, Mount: "secret", Path: h},
			"param":     {Engine: secrets.EnginePKI, Mount: "pki", Role: "r", Params: map[string]string{"commonName": h}},
			"alt":       {Engine: secrets.EnginePKI, Mount: "pki", Role: "r", Params: map[string]string{"commonName": "a", "altNames": "b," + h}},
			"namespace": {Engine: secrets.EngineKubernetes, Mount: "kubernetes", Role: "r", Params: map[string]string{"namespace": h}},
			"unknown":   {Engine: secrets.EngineDatabase, Mount: "database", Role: "r", Params: map[string]string{h: "x"}},
			"engine":    {Engine: h, Mount: "database", Role: "r"},
		} {
			o.Name = "it"
			order := offering(o)
			order.TTL = time.Hour
			if _, err := v.Open(t.Context(), order); fault.CodeOf(err) != fault.Invalid {
				t.Errorf("%s %q: %v", what, h, err)
			}
		}
	}
	for _, mount := range []string{"sys", "auth", "identity", "cubbyhole", "SYS", "auth/token", "sys/raw"} {
		if _, err := v.Open(t.Context(), offering(secrets.Offer{Name: "it", Engine: secrets.EngineGeneric, Mount: mount, Role: "r"})); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("mount %q: %v", mount, err)
		}
	}
	for _, service := range []string{"", "..", "component:default/a/b", "component:de fault/x", "a\nb"} {
		o := reader("x")
		o.Service = service
		if _, err := v.Open(t.Context(), o); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("service %q: %v", service, err)
		}
	}
	if after := len(server.Audit(t)); after != before {
		t.Errorf("Vault was asked %d times", after-before)
	}
}
