package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"
)

// Database mounts the database engine over a new, empty PostgreSQL database of
// the test's own, and gives that one's URL; see Postgres.
func (s *VaultServer) Database(t testing.TB, mount string) (database string) {
	t.Helper()
	database = Postgres(t)
	must(t, func(ctx context.Context) error { return s.MountDatabase(ctx, mount, database) })
	return database
}

// MountDatabase mounts the database engine over the database of a URL.
func (s *VaultServer) MountDatabase(ctx context.Context, mount, database string) error {
	at, err := url.Parse(database)
	if err != nil {
		return err
	}
	reach := fmt.Sprintf("postgresql://{{username}}:{{password}}@%s%s?sslmode=disable", at.Host, at.Path)
	return errors.Join(s.Ask(ctx, http.MethodPost, "sys/mounts/"+mount, map[string]any{"type": "database"}, nil),
		s.Ask(ctx, http.MethodPost, mount+"/config/postgres", map[string]any{"plugin_name": "postgresql-database-plugin", "allowed_roles": "*", "username": "fairlead", "password": "any", "connection_url": reach}, nil))
}

// DatabaseRole has Database's engine make users that may log in and read
// everything. Rights come by a role that they are in, and go with them: if they
// were granted to each user, those who take them back at once would be in each
// other's way in PostgreSQL ("tuple concurrently updated").
func (s *VaultServer) DatabaseRole(t testing.TB, mount, role string, ttl, limit time.Duration) {
	t.Helper()
	must(t, func(ctx context.Context) error { return s.AddDatabaseRole(ctx, mount, role, ttl, limit) })
}

// AddDatabaseRole is DatabaseRole for programs that are no tests.
func (s *VaultServer) AddDatabaseRole(ctx context.Context, mount, role string, ttl, limit time.Duration) error {
	return s.Ask(ctx, http.MethodPost, mount+"/roles/"+role, map[string]any{
		"db_name": "postgres", "default_ttl": ttl.Seconds(), "max_ttl": limit.Seconds(),
		"creation_statements":   `CREATE ROLE "{{name}}" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}' IN ROLE pg_read_all_data;`,
		"revocation_statements": `DROP ROLE IF EXISTS "{{name}}";`,
	}, nil)
}

// Policy makes a policy of Vault's rules.
func (s *VaultServer) Policy(t testing.TB, name, rules string) {
	t.Helper()
	s.Must(t, http.MethodPut, "sys/policies/acl/"+name, map[string]any{"policy": rules}, nil)
}

// VaultRecord is one line of Vault's audit, of a request or its response.
type VaultRecord struct {
	// Type is request or response.
	Type string
	// Error is why it was refused, if it was.
	Error string
	// Auth tells who asked.
	Auth struct {
		DisplayName string `json:"display_name"`
		EntityID    string `json:"entity_id"`
		Policies    []string
		Metadata    map[string]string
	}
	// Request tells what for. Values of secrets are hashed.
	Request struct {
		Operation, Path string
		Namespace       struct{ Path string }
		Data            map[string]any
		// WrapTTL is in seconds.
		WrapTTL int `json:"wrap_ttl"`
	}
	// Line is all of it.
	Line []byte
}

// Audit gives what Vault's audit holds so far.
func (s *VaultServer) Audit(t testing.TB) []VaultRecord {
	t.Helper()
	text, err := os.ReadFile(s.AuditFile)
	if err != nil {
		t.Fatal(err)
	}
	var out []VaultRecord
	for line := range bytes.Lines(text) {
		r := VaultRecord{Line: line}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, r)
	}
	return out
}
