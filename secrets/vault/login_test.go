package vault_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// opens tells whether an account can be opened.
func opens(t *testing.T, v *vault.Vault) error {
	t.Helper()
	_, err := v.Open(t.Context(), reader("lease-1"))
	return err
}

// issuer signs tokens as an identity provider does.
type issuer struct{ key *rsa.PrivateKey }

// newIssuer makes one that a Vault knows at auth/jwt.
func newIssuer(t *testing.T, server *realtest.VaultServer) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	server.Must(t, http.MethodPost, "sys/auth/jwt", m{"type": "jwt"}, nil)
	server.Must(t, http.MethodPost, "auth/jwt/config", m{"jwt_validation_pubkeys": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}, nil)
	return &issuer{key}
}

func (i *issuer) token(t *testing.T, subject string, lasts time.Duration) string {
	t.Helper()
	part := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	now := time.Now()
	signed := part(m{"alg": "RS256", "typ": "JWT"}) + "." + part(m{"sub": subject, "aud": "fairlead", "iat": now.Unix() - 1, "exp": now.Add(lasts).Unix()})
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestLogsInByJWT(t *testing.T) {
	server, _, _ := lender(t)
	idp := newIssuer(t, server)
	server.Must(t, http.MethodPost, "auth/jwt/role/fairlead", m{"role_type": "jwt", "user_claim": "sub", "bound_audiences": "fairlead", "bound_subject": "fairlead",
		"token_policies": "fairlead", "token_ttl": "1h"}, nil)
	token := file(t, idp.token(t, "fairlead", time.Minute))
	v := connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{JWT: &vault.JWT{Role: "fairlead", TokenFile: token}}})
	if err := opens(t, v); err != nil {
		t.Error(err)
	}
	other := file(t, idp.token(t, "somebody", time.Minute))
	v = connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{JWT: &vault.JWT{Role: "fairlead", TokenFile: other}}})
	fails(t, opens(t, v), fault.Unavailable, "does not accept Fairlead's login", "vault.auth")
}

func TestLogsInByTokenFile(t *testing.T) {
	server, _, _ := lender(t)
	var made struct {
		Auth struct {
			ClientToken string `json:"client_token"`
		}
	}
	create := func() string {
		server.Must(t, http.MethodPost, "auth/token/create", m{"policies": []string{"fairlead"}, "ttl": "1h", "no_parent": true}, &made)
		return made.Auth.ClientToken
	}
	first := create()
	name := file(t, first)
	v := connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: name}})
	if err := opens(t, v); err != nil {
		t.Fatal(err)
	}
	server.Must(t, http.MethodPost, "auth/token/revoke", m{"token": first}, nil)
	fails(t, opens(t, v), fault.Unavailable, "vault.auth.tokenFile")
	if err := os.WriteFile(name, []byte(create()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := opens(t, v); err != nil {
		t.Errorf("with another token in the file: %v", err)
	}
	for what, content := range map[string]string{"nothing": "", "two": "a b", "lines": "a\nb", "what is no text": "\x01"} {
		v = connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: file(t, content)}})
		t.Log(what)
		fails(t, opens(t, v), fault.Unavailable, "one token alone")
	}
	v = connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: name + "-none"}})
	fails(t, opens(t, v), fault.Unavailable, "cannot be read")
	v = connect(t, vault.Config{Address: server.Address, Auth: vault.Auth{TokenFile: file(t, server.RootToken)}})
	if err := opens(t, v); err != nil {
		t.Errorf("with the root token: %v", err)
	}
}

func TestLogsInAnew(t *testing.T) {
	server, database, _ := lender(t)
	v := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, m{"token_ttl": "4s", "token_max_ttl": "6s"})})
	o := reader("lease-1")
	a, w := draw(t, v, o)
	if left := time.Until(a.ExpiresAt); left > 4*time.Second {
		t.Errorf("the account lives for %s, and whom it was made by for four seconds", left)
	}
	credential := values(t, v, w)
	until(t, "it is over with the login", func() bool { return !there(t, database, credential["username"]) })
	if err := opens(t, v); err != nil {
		t.Errorf("after the login has expired: %v", err)
	}
	revoke := func() {
		server.Must(t, http.MethodPost, "sys/leases/revoke-prefix/auth/approle/login", m{}, nil)
	}
	revoke()
	if err := opens(t, v); err != nil {
		t.Errorf("after the login was revoked: %v", err)
	}
	revoke()
	if err := v.Accounts(t.Context(), func(secrets.Held) bool { return true }); err != nil {
		t.Errorf("after the login was revoked: %v", err)
	}
}

func TestStaysLoggedIn(t *testing.T) {
	server, _, _ := lender(t)
	v := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, m{"token_ttl": "3s", "token_max_ttl": "1h"})})
	ended := make(chan error)
	ctx, cancel := withCancel(t)
	go func() { ended <- v.Run(ctx) }()
	logins, renewals := 0, 0
	until(t, "it was renewed twice", func() bool {
		logins, renewals = 0, 0
		for _, r := range server.Audit(t) {
			if r.Type != "response" || r.Error != "" {
				continue
			}
			switch r.Request.Path {
			case "auth/approle/login":
				logins++
			case "auth/token/renew-self":
				renewals++
			}
		}
		return renewals >= 2
	})
	if logins != 1 {
		t.Errorf("it has logged in %d times", logins)
	}
	server.Seal(t)
	server.Unseal(t)
	if err := opens(t, v); err != nil {
		t.Errorf("after a seal: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestLeasesOutliveTheLoginThatMadeThem(t *testing.T) {
	server, database, v := lender(t)
	_, w := draw(t, v, reader("lease-1"))
	credential := values(t, v, w)
	server.Must(t, http.MethodPost, "sys/leases/revoke-prefix/auth/approle/login", m{}, nil)
	again := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil)})
	var held []secrets.Held
	if err := again.Accounts(t.Context(), func(h secrets.Held) bool { held = append(held, h); return true }); err != nil {
		t.Fatal(err)
	}
	if len(held) != 1 || held[0].Lease != "lease-1" || !logsIn(t, as(t, database, credential)) {
		t.Errorf("there is %v", held)
	}
}

func TestCallersAreKnownToVault(t *testing.T) {
	server, database, _ := lender(t)
	idp := newIssuer(t, server)
	server.Policy(t, "fairlead-caller", `path "auth/token/create/fairlead-callers" { capabilities = ["update"] }`)
	server.Must(t, http.MethodPost, "auth/token/roles/fairlead-callers", m{"orphan": false, "allowed_policies_glob": "fairlead/*"}, nil)
	server.Must(t, http.MethodPost, "auth/jwt/role/caller", m{"role_type": "jwt", "user_claim": "sub", "bound_audiences": "fairlead", "token_policies": "fairlead-caller",
		"token_no_default_policy": true, "token_ttl": "3m", "token_max_ttl": "1h"}, nil)
	v := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil), Callers: &vault.Callers{Role: "caller"}})
	o := reader("lease-1")
	o.TTL, o.MaxTTL = 10*time.Minute, 30*time.Minute
	o.Proof = access.NewSecret(idp.token(t, "alice@example.com", time.Minute))
	a, w := draw(t, v, o)
	if left := time.Until(a.ExpiresAt); left > 3*time.Minute {
		t.Errorf("the account lives for %s, and whom it was made by for three minutes", left)
	}
	credential := values(t, v, w)
	var entity string
	for _, r := range server.Audit(t) {
		if r.Request.Path == "auth/jwt/login" && r.Type == "response" {
			entity = r.Auth.EntityID
		}
	}
	named := false
	for _, r := range server.Audit(t) {
		if r.Request.Path == "database/creds/reader" && r.Type == "response" {
			named = entity != "" && r.Auth.EntityID == entity && r.Auth.Metadata["task"] == "preview p1"
		}
	}
	if !named {
		t.Error("Vault's audit does not name the caller")
	}
	at, err := v.Renew(t.Context(), a.Handle, 20*time.Minute)
	if left := time.Until(at); err != nil || left < 15*time.Minute {
		t.Errorf("renewed for %s, %v", left, err)
	}
	var held []secrets.Held
	if err := v.Accounts(t.Context(), func(h secrets.Held) bool { held = append(held, h); return true }); err != nil || len(held) != 1 || held[0].Handle != a.Handle {
		t.Errorf("found %v, %v", held, err)
	}
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	until(t, "the user is gone", func() bool { return !there(t, database, credential["username"]) })
	o.Proof = access.NewSecret(idp.token(t, "alice@example.com", -time.Hour))
	_, err = v.Open(t.Context(), o)
	fails(t, err, fault.Forbidden, "user:default/alice")
	o.Proof = access.Secret{}
	if _, err := v.Open(t.Context(), o); err != nil {
		t.Errorf("for a caller who has shown no such token: %v", err)
	}
}

func TestManyAtOnceLogInOnce(t *testing.T) {
	server, database, v := lender(t)
	const many = 40
	users, late := make([]string, many), make([]string, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			o := reader("lease")
			a, err := v.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			w, err := v.Draw(t.Context(), o, a)
			if err != nil {
				t.Error(err)
				return
			}
			users[i] = values(t, v, w)["username"]
			if err := v.Revoke(t.Context(), a.Handle); fault.CodeOf(err) == fault.Unavailable {
				late[i] = a.Handle // a busy Vault has not taken it back yet
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, handle := range late {
		until(t, "what was late is taken back", func() bool { return handle == "" || v.Revoke(t.Context(), handle) == nil })
	}
	for _, u := range users {
		until(t, "the user is gone", func() bool { return u == "" || !there(t, database, u) })
	}
	logins := 0
	for _, r := range server.Audit(t) {
		if r.Request.Path == "auth/approle/login" && r.Type == "response" {
			logins++
		}
	}
	if logins != 1 {
		t.Errorf("it logged in %d times", logins)
	}
}
