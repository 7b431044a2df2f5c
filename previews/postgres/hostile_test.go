package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
)

func TestSeeds(t *testing.T) {
	s := startServer(t)
	for name, c := range map[string]struct{ seed, message, fix string }{
		"wrong":         {items + "\nINSERT INTO nowhere VALUES (1);\n", "services/shop/db/seed.sql:4 of commit abababababab does not fill a database: relation \"nowhere\" does not exist", "Correct"},
		"not SQL":       {items + "-- ä\nSELEKT 1;", "seed.sql:4 of commit abababababab does not fill a database: syntax error", "Correct"},
		"psql":          {items + "\\copy items from '/etc/passwd'\n", "seed.sql:3 ", "backslash"},
		"psql's shell":  {"\\! touch /tmp/owned\n", "seed.sql:1 ", "backslash"},
		"copying":       {items + "COPY items FROM stdin;\n2\ttwo\n\\.\n", "seed.sql:4 ", ""},
		"copying none":  {items + "COPY items FROM stdin;", "seed.sql of commit", "INSERT"},
		"copying files": {items + "COPY items FROM '/etc/passwd';", "SQLSTATE 42501", "no superuser"},
		"outside":       {items + "CREATE INDEX CONCURRENTLY x ON items (name);", "", "transaction"},
		"zero byte":     {items + "\x00", "seed.sql:3 of commit abababababab does not fill a database: a zero byte", "Correct"},
		"never ends":    {"SELECT pg_sleep(60);", "statement timeout", "Correct"},
		"too large":     {strings.Repeat("-- nothing\n", 200), "has 2200 bytes, more than the limit of 2000", "smaller"},
		"not text":      {"SELECT '\xff\xfe';", "invalid byte sequence", "Correct"},
		"becomes":       {"SET ROLE postgres;", "does not exist", "Correct"},
		"raises rights": {"ALTER ROLE CURRENT_USER SUPERUSER;", "must be superuser", "no superuser"},
	} {
		t.Run(name, func(t *testing.T) {
			p := s.provider(t, content(c.seed), func(c *Config) { c.Limits = Limits{SeedBytes: 2000, StatementTimeout: time.Second} })
			w := wish("seeds")
			_, err := p.Provide(t.Context(), w, template)
			f := fault.From(err)
			if f == nil || f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("%+v", f)
			}
			if o, err := p.Observe(t.Context(), w, template); err != nil || o.Ready {
				t.Errorf("there is %+v, %v", o, err)
			}
			if name != "wrong" {
				if err := p.Remove(t.Context(), w, template); err != nil {
					t.Error(err)
				}
				return
			}
			p = s.provider(t, content(items)) // corrected
			if out, err := realtest.SQL(t.Context(), provide(t, p, w), "SELECT count(*) FROM items"); err != nil || strings.TrimSpace(out) != "1" {
				t.Errorf("corrected, it has %s, %v", out, err)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		if _, err := s.provider(t, seeds{}).Provide(t.Context(), wish("seeds"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "has no file services/shop/db/seed.sql") {
			t.Error(err)
		}
	})
	t.Run("large results", func(t *testing.T) {
		p := s.provider(t, content(items+"SELECT repeat('x', 1000) FROM generate_series(1, 100000); COPY items TO STDOUT;"))
		provide(t, p, wish("results"))
	})
	if left := s.there(t); left != "" {
		t.Errorf("there is still %s", left)
	}
}

// TestAnotherCommit fills a database anew only where what fills it has
// changed.
func TestAnotherCommit(t *testing.T) {
	s := startServer(t)
	w := wish("commits")
	url := provide(t, s.provider(t, content(items)), w)
	if _, err := realtest.SQL(t.Context(), url, "INSERT INTO items VALUES (2, 'written')"); err != nil {
		t.Fatal(err)
	}
	count := func() string {
		out, err := realtest.SQL(t.Context(), url, "SELECT count(*) FROM items")
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(out)
	}
	w.Commit = strings.Repeat("cd", 20)
	if provide(t, s.provider(t, content(items)), w); count() != "2" {
		t.Errorf("filled anew from the same: %s", count())
	}
	w.Commit = strings.Repeat("ef", 20)
	if provide(t, s.provider(t, content(items+"-- otherwise\n")), w); count() != "1" {
		t.Errorf("not filled anew: %s", count())
	}
}

// TestInterrupted ends calls at any time and has another process go on.
func TestInterrupted(t *testing.T) {
	s := startServer(t)
	w := wish("interrupted")
	for i := range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*i)*time.Millisecond)
		_, err := s.provider(t, content(items)).Provide(ctx, w, template)
		cancel()
		p := s.provider(t, content(items))
		if i%2 == 0 {
			url, again := p.Provide(t.Context(), w, template)
			if again != nil {
				t.Fatalf("after %v: %v", err, again)
			}
			if out, err := realtest.SQL(t.Context(), url.Reveal(), "SELECT count(*) FROM items"); err != nil || strings.TrimSpace(out) != "1" {
				t.Errorf("%s items, %v", out, err)
			}
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Duration(i)*3*time.Millisecond)
		_ = p.Remove(ctx, w, template)
		cancel()
		if err := p.Remove(t.Context(), w, template); err != nil {
			t.Fatal(err)
		}
		if o, err := p.Observe(t.Context(), w, template); err != nil || o.Exists {
			t.Errorf("there is %+v, %v", o, err)
		}
		if left := s.there(t); left != "" {
			t.Fatalf("there is still %s", left)
		}
	}
}

// TestServerEndsConnections has connections that are kept die.
func TestServerEndsConnections(t *testing.T) {
	s := startServer(t)
	p := s.provider(t, content(items))
	provide(t, p, wish("kept"))
	s.sql(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fairlead previews'")
	if o, err := p.Observe(t.Context(), wish("kept"), template); err != nil || !o.Ready {
		t.Errorf("there is %+v, %v", o, err)
	}
}

func TestOutgrown(t *testing.T) {
	s := startServer(t)
	p := s.provider(t, content(items), func(c *Config) { c.Limits.SizeBytes = 16 << 20 })
	w := wish("large")
	url := provide(t, p, w)
	if _, err := realtest.SQL(t.Context(), url, "CREATE TABLE big AS SELECT repeat(md5(n::text), 8) FROM generate_series(1, 60000) n"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o, err := p.Observe(t.Context(), w, template); err != nil || !o.Failed || !strings.Contains(o.Reason, "more than the limit of 16777216, and was closed") {
			t.Errorf("there is %+v, %v", o, err)
		}
	}
	if _, err := realtest.SQL(t.Context(), url, "SELECT 1"); err == nil {
		t.Error("it is open")
	}
}

// TestOpenServers refuses servers that do not keep previews apart.
func TestOpenServers(t *testing.T) {
	s := startServer(t)
	s.sql(t, "CREATE DATABASE opendb")
	t.Cleanup(func() { s.sql(t, "DROP DATABASE opendb") })
	w := wish("open")
	p := s.provider(t, content(items))
	_, err := p.Provide(t.Context(), w, template)
	if f := fault.From(err); f == nil || f.Code != fault.FailedPrecondition || !strings.Contains(f.Message, "everybody may connect to opendb") || !strings.Contains(f.Fix, `REVOKE CONNECT ON DATABASE "opendb" FROM PUBLIC;`) {
		t.Errorf("%+v", f)
	}
	provide(t, s.provider(t, content(items), func(c *Config) { c.Open = []string{"opendb"} }), w)

	was := s.sql(t, "SELECT pg_read_file(current_setting('hba_file'))")
	hba := func(text string) {
		s.sql(t, "COPY (SELECT line FROM regexp_split_to_table("+literal(text)+", E'\\n') line) TO "+literal(s.sql(t, "SHOW hba_file"))+"; SELECT pg_reload_conf();")
		time.Sleep(300 * time.Millisecond) // nothing tells when it is read
	}
	t.Cleanup(func() { hba(was) })
	hba("host all all 127.0.0.1/32 trust")
	s.sql(t, "REVOKE CONNECT ON DATABASE opendb FROM PUBLIC")
	p = s.provider(t, content(items))
	if _, err := p.Provide(t.Context(), wish("trusted"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "lets roles in whatever their password") {
		t.Error(err)
	}
	if err := p.Remove(t.Context(), wish("trusted"), template); err != nil {
		t.Error(err)
	}
	hba("host all fairlead 127.0.0.1/32 trust\nhost all " + strings.Split(strings.TrimPrefix(s.admin, "postgres://"), "@")[0] + " 127.0.0.1/32 scram-sha-256")
	p = s.provider(t, content(items))
	if _, err := p.Provide(t.Context(), wish("locked"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(err.Error(), "does not let the roles of previews in") {
		t.Error(err)
	}
	if err := p.Remove(t.Context(), wish("locked"), template); err != nil {
		t.Error(err)
	}
}

func TestAdministratorsRefused(t *testing.T) {
	s := startServer(t)
	for what, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"wrong password": {func(c *Config) { c.PasswordFile, c.PasswordEnv = "", "PATH" }, "does not let Fairlead's administrator in"},
		"no file":        {func(c *Config) { c.PasswordFile = "/nowhere" }, "cannot be read from its file"},
		"no server":      {func(c *Config) { c.URL = "postgres://admin@127.0.0.1:1/x?sslmode=disable" }, "cannot be reached"},
	} {
		p := s.provider(t, content(items), c.change)
		_, err := p.Provide(t.Context(), wish("refused"), template)
		if f := fault.From(err); f == nil || f.Code != fault.Unavailable || !strings.Contains(f.Message, c.want) || f.Fix == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v", what, f)
		}
		if _, err := p.Observe(t.Context(), wish("refused"), template); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.sql(t, "CREATE ROLE powerless LOGIN PASSWORD 'admin''s secret'; GRANT CONNECT ON DATABASE "+strings.TrimPrefix(s.super[strings.LastIndex(s.super, "/"):strings.Index(s.super, "?")], "/")+" TO powerless")
	t.Cleanup(func() { s.sql(t, "DROP OWNED BY powerless; DROP ROLE powerless") })
	p := s.provider(t, content(items), func(c *Config) { c.URL = "postgres://powerless" + c.URL[strings.Index(c.URL, "@"):] })
	if _, err := p.Provide(t.Context(), wish("refused"), template); fault.CodeOf(err) != fault.FailedPrecondition || !strings.Contains(fault.From(err).Fix, "CREATEDB CREATEROLE") {
		t.Error(err)
	}
}

func TestStrays(t *testing.T) {
	s := startServer(t)
	p := s.provider(t, content(items))
	for _, id := range []string{"stray", "known"} {
		provide(t, p, wish(id))
	}
	s.sql(t, `DROP DATABASE "pv_stray_db"`) // as after a crash
	cache := previews.DataTemplate{Name: "more", Kind: "postgres", Env: "MORE"}
	if _, err := p.Provide(t.Context(), wish("stray"), cache); err != nil {
		t.Fatal(err)
	}
	other, err := New(Config{Name: "main", URL: strings.Replace(s.super, ":any@", "@", 1)}, Options{Key: access.NewSecret("another Fairlead's"), Files: content(items)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	provide(t, other, wish("of-another"))
	known := func(id string) bool { return id == "known" }
	found, err := p.Strays(t.Context(), known)
	if err != nil || len(found) != 1 || found[0].ID != "stray" || found[0].Wish.Service != "component:default/shop" || found[0].Bytes == 0 ||
		!slices.Equal(found[0].What, []string{"role pv_stray_db of PostgreSQL server main", "role pv_stray_more of PostgreSQL server main", "database pv_stray_more"}) {
		t.Errorf("strays %+v, %v", found, err)
	}
	for range 2 {
		if err := p.RemoveStray(t.Context(), "stray"); err != nil {
			t.Error(err)
		}
	}
	if err := p.RemoveStray(t.Context(), "of-another"); err != nil {
		t.Error(err)
	}
	if found, err = p.Strays(t.Context(), known); err != nil || len(found) > 0 {
		t.Errorf("strays %+v, %v", found, err)
	}
	if there := s.there(t); there != "database pv_known_db\ndatabase pv_of-another_db\nrole pv_known_db\nrole pv_of-another_db" {
		t.Errorf("there is %s", there)
	}
}

func TestNames(t *testing.T) {
	long := wish(strings.Repeat("a", 63))
	name := nameOf(long, template)
	if other := nameOf(long, previews.DataTemplate{Name: "other"}); len(name) != maxName || other == name || len(other) != maxName {
		t.Errorf("%s and %s", name, other)
	}
	if a, b := nameOf(wish("a-b"), previews.DataTemplate{Name: "c"}), nameOf(wish("a"), previews.DataTemplate{Name: "b-c"}); a == b {
		t.Errorf("%s for both", a)
	}
	for field, c := range map[string]Config{
		"name": {Name: "A b", URL: "postgres://a@b/c"}, "url": {Name: "a", URL: "https://a@b/c"}, "passwordEnv": {Name: "a", URL: "postgres://a@b/c", PasswordEnv: "A", PasswordFile: "b"},
		"limits.sizeBytes": {Name: "a", URL: "postgres://a@b/c", Limits: Limits{SizeBytes: 1}}, "previewURL": {Name: "a", URL: "postgres://a@b/c", PreviewURL: "postgres://a:secret@b/"},
	} {
		if ps := c.Validate(); len(ps) != 1 || ps[0].Field != field || strings.Contains(ps[0].Message, "secret") {
			t.Errorf("%s: %+v", field, ps)
		}
	}
	if ps := (&Config{Name: "a", URL: "postgres://a:secret@b/c"}).Validate(); len(ps) != 1 || strings.Contains(fmt.Sprint(ps), "secret") {
		t.Error(ps)
	}
}
