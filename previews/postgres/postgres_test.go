package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/previewstest"
)

// seeds are files by path.
type seeds map[string]string

func (s seeds) File(_ context.Context, _, commit, path string) ([]byte, error) {
	text, ok := s[path]
	if !ok {
		return nil, fault.New(fault.NotFound, "commit %.12s has no file %s", commit, path)
	}
	return []byte(text), nil
}

const items = "CREATE TABLE items (id int PRIMARY KEY, name text);\nINSERT INTO items VALUES (1, 'first');\n"

var template = previews.DataTemplate{Name: "db", Kind: "postgres", Server: "main", Seed: "db/seed.sql", Env: "DATABASE_URL"}

func wish(id string) previews.Wish {
	return previews.Wish{ID: id, Service: "component:default/shop", Dir: "services/shop", Commit: strings.Repeat("ab", 20)}
}

func content(seed string) seeds { return seeds{"services/shop/db/seed.sql": seed} }

// server is a real server that keeps previews apart, seen by its superuser and
// by an administrator with no more rights than are needed.
type server struct{ super, admin string }

func startServer(t *testing.T) server {
	t.Helper()
	s := server{super: realtest.Postgres(t)}
	u, err := url.Parse(s.super)
	if err != nil {
		t.Fatal(err)
	}
	name := "admin" + strings.TrimPrefix(u.Path, "/")
	s.sql(t, fmt.Sprintf("CREATE ROLE %s LOGIN CREATEDB CREATEROLE PASSWORD 'admin''s secret';", name))
	t.Cleanup(func() { s.sql(t, "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	for _, d := range strings.Fields(s.sql(t, "SELECT datname FROM pg_database WHERE datallowconn")) {
		s.sql(t, "REVOKE CONNECT ON DATABASE "+d+" FROM PUBLIC")
	}
	s.sql(t, fmt.Sprintf("GRANT CONNECT ON DATABASE %s TO %s", strings.TrimPrefix(u.Path, "/"), name))
	u.User = url.User(name)
	s.admin = u.String()
	return s
}

// sql runs statements as the superuser.
func (s server) sql(t *testing.T, statements string) string {
	t.Helper()
	out, err := realtest.SQL(context.Background(), s.super, statements)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// there are the databases and roles of previews.
func (s server) there(t *testing.T) string {
	t.Helper()
	return s.sql(t, `SELECT 'database ' || datname FROM pg_database WHERE datname LIKE 'pv\_%' UNION SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'pv\_%' ORDER BY 1`)
}

// provider is one with the fewest rights.
func (s server) provider(t *testing.T, files seeds, change ...func(*Config)) *Provider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("admin's secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Name: "main", URL: s.admin, PasswordFile: file}
	for _, c := range change {
		c(&cfg)
	}
	p, err := New(cfg, Options{Key: access.NewSecret("a key of this test"), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func bySuperuser(s server) func(*Config) {
	return func(c *Config) { c.URL, c.PasswordFile = strings.Replace(s.super, ":any@", "@", 1), "" }
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait")) // for the real server
}

func TestContract(t *testing.T) {
	s := startServer(t)
	for name, change := range map[string]func(*Config){"administrator": func(*Config) {}, "superuser": bySuperuser(s)} {
		t.Run(name, func(t *testing.T) {
			previewstest.DataContract(t, func(t *testing.T) previewstest.DataSubject {
				provider := func() previews.Data { return s.provider(t, content(items), change) }
				return previewstest.DataSubject{Data: provider(), Restarted: provider, Wish: wish("shop-contract"), Template: template,
					Use: func(ctx context.Context, url string) error {
						out, err := realtest.SQL(ctx, url, "SELECT name FROM items; CREATE TABLE mine (a int); DROP TABLE mine;")
						if err == nil && strings.TrimSpace(out) != "first" {
							err = fmt.Errorf("read %q", out)
						}
						return err
					}}
			})
		})
	}
	if left := s.there(t); left != "" {
		t.Errorf("there is still %s", left)
	}
}

func provide(t *testing.T, p *Provider, w previews.Wish) string {
	t.Helper()
	url, err := p.Provide(t.Context(), w, template)
	if err != nil {
		t.Fatalf("%v: %+v", err, fault.From(err))
	}
	t.Cleanup(func() {
		if err := p.Remove(context.Background(), w, template); err != nil {
			t.Error(err)
		}
	})
	return url.Reveal()
}

// at is the URL of another database.
func at(t *testing.T, text, database string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + database
	return u.String()
}

// TestKeptApart has a preview try what it must not be able to do.
func TestKeptApart(t *testing.T) {
	s := startServer(t)
	p := s.provider(t, content(items), func(c *Config) { c.Limits = Limits{Connections: 2, StatementTimeout: 300 * time.Millisecond} })
	mine, theirs := provide(t, p, wish("mine-1")), provide(t, p, wish("theirs-1"))
	name := "pv_mine-1_db"
	for what, c := range map[string]struct{ url, statement, want string }{
		"another preview's database": {at(t, mine, "pv_theirs-1_db"), "SELECT 1", "permission denied"},
		"the database postgres":      {at(t, mine, "postgres"), "SELECT 1", "permission denied"},
		"the template":               {at(t, mine, "template1"), "SELECT 1", "permission denied"},
		"a program":                  {mine, "COPY items TO PROGRAM 'cat >/dev/null'", "must be superuser|permission denied"},
		"a file":                     {mine, "COPY items FROM '/etc/passwd'", "must be superuser|permission denied"},
		"a role":                     {mine, "CREATE ROLE other", "permission denied"},
		"a database":                 {mine, "CREATE DATABASE other", "permission denied"},
		"its own limit":              {mine, `ALTER ROLE "` + name + `" CONNECTION LIMIT 100`, "permission denied"},
		"its database's limit":       {mine, `ALTER DATABASE "` + name + `" CONNECTION LIMIT 100`, "must be owner"},
		"its database's label":       {mine, `COMMENT ON DATABASE "` + name + `" IS 'nobody''s'`, "must be owner"},
		"dropping its database":      {at(t, mine, name), `DROP DATABASE "` + name + `"`, "must be owner"},
		"being somebody else":        {mine, `SET ROLE "pv_theirs-1_db"`, "permission denied"},
		"ending others":              {mine, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()", "must be a|permission denied"},
		"an extension":               {mine, "CREATE EXTENSION dblink", "permission denied|not available"},
		"a long statement":           {mine, "SELECT pg_sleep(5)", "statement timeout"},
	} {
		out, err := realtest.SQL(t.Context(), c.url, c.statement)
		if err == nil || !oneOf(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", what, out, err)
		}
	}
	if _, err := realtest.SQL(t.Context(), strings.Replace(mine, "postgres://"+name+":", "postgres://"+name+":x", 1), "SELECT 1"); err == nil {
		t.Error("let in by another password")
	}
	if _, err := realtest.SQL(t.Context(), theirs, "SELECT * FROM items"); err != nil {
		t.Error(err)
	}
	hold := `SELECT count(*) FROM items; SELECT pg_sleep(0.2); \! sleep 2`
	for range 2 {
		go func() { _, _ = realtest.SQL(context.WithoutCancel(t.Context()), mine, hold) }()
	}
	deadline := time.Now().Add(10 * time.Second)
	for s.sql(t, "SELECT count(*) FROM pg_stat_activity WHERE usename = '"+name+"'") != "2" && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := realtest.SQL(t.Context(), mine, "SELECT 1"); err == nil || !strings.Contains(err.Error(), "too many connections") {
		t.Errorf("a third connection: %v", err)
	}
	if err := p.Remove(t.Context(), wish("mine-1"), template); err != nil { // whoever is connected
		t.Error(err)
	}
	if o, err := p.Observe(t.Context(), wish("mine-1"), template); err != nil || o.Exists {
		t.Errorf("there is %+v, %v", o, err)
	}
}

func oneOf(text, wants string) bool {
	for want := range strings.SplitSeq(wants, "|") {
		if strings.Contains(text, want) {
			return true
		}
	}
	return false
}
