package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// mayFairlead is what Fairlead's own token may do in Vault, as docs/vault.md
// says.
const mayFairlead = `
path "auth/token/create/fairlead"  { capabilities = ["update"] }
path "auth/token/lookup-accessor"  { capabilities = ["update"] }
path "auth/token/renew-accessor"   { capabilities = ["update"] }
path "auth/token/revoke-accessor"  { capabilities = ["update"] }
path "auth/token/accessors"        { capabilities = ["list", "sudo"] }
path "+/roles/+"                   { capabilities = ["read"] }
path "sys/mounts/+/tune"           { capabilities = ["read"] }
path "sys/leases/lookup"           { capabilities = ["update"] }
path "sys/leases/lookup/*"         { capabilities = ["list", "sudo"] }
`

// shopData is what the shop's database holds. Those that previews are given are
// theirs alone because nobody else is let into the others.
const shopData = `REVOKE CONNECT ON DATABASE postgres, template1, shop FROM PUBLIC;
GRANT CONNECT ON DATABASE shop TO pg_read_all_data;
CREATE TABLE orders (id integer PRIMARY KEY, item text NOT NULL, state text NOT NULL);
INSERT INTO orders VALUES (1, 'A kettle', 'paid'), (2, 'Two mugs', 'delivered'), (3, 'A teapot', 'paid');`

// database is a database of the server, by its name.
func (w *world) database(name string) (*url.URL, error) {
	u, err := url.Parse(w.postgres)
	if err == nil {
		u.Path = "/" + name
	}
	return u, err
}

// lend makes the shop's database, and has Vault lend users of it.
func (w *world) lend(ctx context.Context) error {
	at, err := w.database(organization)
	if err != nil {
		return err
	}
	if _, err := realtest.SQL(ctx, w.postgres, "CREATE DATABASE "+organization); err != nil {
		return err
	}
	if _, err := realtest.SQL(ctx, at.String(), shopData); err != nil {
		return err
	}
	if err := w.vault.MountDatabase(ctx, "database", at.String()); err != nil {
		return err
	}
	for _, s := range demo.Services() {
		if !s.Database {
			continue
		}
		role := s.Name + "-ro"
		err = errors.Join(err, w.vault.AddDatabaseRole(ctx, "database", role, time.Hour, 2*time.Hour),
			w.rules(ctx, "fairlead/default/"+s.Name, fmt.Sprintf("path %q { capabilities = [\"read\"] }", "database/creds/"+role)))
	}
	return errors.Join(err, w.logIn(ctx))
}

func (w *world) rules(ctx context.Context, name, rules string) error {
	return w.vault.Ask(ctx, http.MethodPut, "sys/policies/acl/"+name, map[string]any{"policy": rules}, nil)
}

// logIn makes what Fairlead logs in with, as docs/vault.md says.
func (w *world) logIn(ctx context.Context) error {
	for _, made := range []struct {
		path string
		of   map[string]any
	}{
		{"auth/token/roles/fairlead", map[string]any{"orphan": true, "allowed_policies_glob": "fairlead/*", "token_type": "service"}},
		{"sys/auth/approle", map[string]any{"type": "approle"}},
		{"auth/approle/role/fairlead", map[string]any{"token_policies": "fairlead", "token_ttl": "4h", "token_max_ttl": "24h"}},
	} {
		if err := w.vault.Ask(ctx, http.MethodPost, made.path, made.of, nil); err != nil {
			return err
		}
	}
	var id, secret struct {
		Data struct {
			RoleID   string `json:"role_id"`
			SecretID string `json:"secret_id"`
		}
	}
	err := errors.Join(w.rules(ctx, "fairlead", mayFairlead), w.vault.Ask(ctx, http.MethodGet, "auth/approle/role/fairlead/role-id", nil, &id),
		w.vault.Ask(ctx, http.MethodPost, "auth/approle/role/fairlead/secret-id", map[string]any{}, &secret))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"vault-role-id": id.Data.RoleID, "vault-secret-id": secret.Data.SecretID, "vault-root.token": w.vault.RootToken, "vault-unseal.key": w.vault.UnsealKey} {
		_, failure := w.secret(name, strings.TrimSpace(text))
		err = errors.Join(err, failure)
	}
	return err
}
