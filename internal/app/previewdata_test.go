package app

import (
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/postgres"
)

// previewDatabases is a real server for previews' data.
type previewDatabases struct {
	t          *testing.T
	url, admin string // with and without the password that is not needed
}

func startDatabases(t *testing.T) *previewDatabases {
	t.Helper()
	d := &previewDatabases{t: t, url: realtest.Postgres(t)}
	d.admin = strings.Replace(d.url, ":any@", "@", 1)
	for _, name := range strings.Fields(d.sql("SELECT datname FROM pg_database WHERE datallowconn")) {
		d.sql("REVOKE CONNECT ON DATABASE " + name + " FROM PUBLIC")
	}
	return d
}

func (d *previewDatabases) sql(statements string) string {
	d.t.Helper()
	out, err := realtest.SQL(d.t.Context(), d.url, statements)
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// there are the databases and roles of previews.
func (d *previewDatabases) there() string {
	return d.sql(`SELECT datname FROM pg_database WHERE datname LIKE 'pv\_%' UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'pv\_%' ORDER BY 1`)
}

// visit asks a local preview through Fairlead.
func (s *server) visit(p previews.Preview, path string) string {
	s.t.Helper()
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" {
		s.t.Fatalf("the URL is %q, %v", p.URL, err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = u.Host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(body)
}

// awaitPhase waits for a phase, in the patience of a busy machine.
func (s *server) awaitPhase(id string, want previews.Phase) (p previews.Preview) {
	s.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for p = s.preview("sre", id); p.Phase != want; p = s.preview("sre", id) {
		if time.Now().After(deadline) || p.Phase == previews.Failed {
			s.t.Fatalf("not %s: %+v", want, p)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return p
}

// holds lists the files below a folder that hold a text.
func holds(t *testing.T, dir, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // what vanishes meanwhile holds nothing
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), text) {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return out
}

var passwordInEnvironment = regexp.MustCompile(`DATABASE_URL=postgres://pv_[^:]+:([^@\x00]+)@`)

// passwordOf finds the password in the environments of processes, where alone
// it may be.
func passwordOf(t *testing.T, id string) (password string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if m := passwordInEnvironment.FindSubmatch(data); m != nil && strings.Contains(string(data), "pv_"+id+"_") {
			return string(m[1])
		}
	}
	t.Fatal("no process of the preview has the URL of its database")
	return ""
}

// TestPreviewDataPostgres has the demo's preview read its own database, of
// which at its end nothing is left.
func TestPreviewDataPostgres(t *testing.T) {
	d := startDatabases(t)
	dir := t.TempDir()
	set, err := demo.PrepareWith(t.Context(), dir, "127.0.0.1:0", demo.Postgres{URL: d.admin})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	s.start(set.Config)
	var p previews.Preview
	s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"orders","ttl":"45s"}`).decode(t, &p)
	s.awaitPhase(p.ID, previews.Ready)
	p = s.preview("sre", p.ID)
	if got := s.visit(p, "/orders"); got != `{"orders": [{"id": 1, "item": "A kettle", "state": "paid"}, {"id": 2, "item": "Two mugs", "state": "delivered"}]}`+"\n" {
		t.Errorf("it serves %s", got)
	}
	if there := d.there(); there != "pv_"+p.ID+"_db\npv_"+p.ID+"_db" {
		t.Errorf("there is %s", there)
	}
	password := passwordOf(t, p.ID)
	if found := holds(t, dir, password); len(found) > 0 {
		t.Errorf("the password is in %v", found)
	}
	if found := holds(t, d.sql("SHOW data_directory"), password); len(found) > 0 {
		t.Errorf("the password is in %v", found)
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, c := range commands {
		if data, _ := os.ReadFile(c); strings.Contains(string(data), password) {
			t.Errorf("the password is among arguments: %s", c)
		}
	}
	answers := s.send("sre", http.MethodGet, "/api/v1/previews/"+p.ID, "").body + s.send("sre", http.MethodGet, "/api/v1/previews/"+p.ID+"/logs", "").body +
		s.send("sre", http.MethodGet, "/api/v1/audit?limit=500", "").body + s.send("", http.MethodGet, "/metrics", "").body + s.logs.text()
	if strings.Contains(answers, password) || !strings.Contains(answers, p.ID) || !strings.Contains(answers, "its data is being made: db (postgres at main)") {
		t.Error("what is told has the password, or nothing of its data")
	}
	s.awaitPhase(p.ID, previews.Gone)
	if there := d.there(); there != "" {
		t.Errorf("there is still %s", there)
	}
	sweepsData(t, s, d)
}

// sweepsData has a database that no preview has be found and removed.
func sweepsData(t *testing.T, s *server, d *previewDatabases) {
	key := strings.TrimSpace(readFile(t, filepath.Join(s.dir, "state", "previews.key")))
	maker, err := postgres.New(postgres.Config{Name: "main", URL: d.admin}, postgres.Options{Key: access.NewSecret(key), Files: &previewRepos{}})
	if err != nil {
		t.Fatal(err)
	}
	defer maker.Close()
	if _, err := maker.Provide(t.Context(), previews.Wish{ID: "left-behind", Service: "component:default/orders"}, previews.DataTemplate{Name: "db", Kind: "postgres"}); err != nil {
		t.Fatal(err)
	}
	if a := s.send("sre", http.MethodGet, "/api/v1/previews/strays", ""); !strings.Contains(a.body, `"deployer":"postgres/main"`) || !strings.Contains(a.body, "database pv_left-behind_db") {
		t.Errorf("strays: %s", a.body)
	}
	if a := s.send("sre", http.MethodPost, "/api/v1/previews/sweep", `{"ids":["left-behind"]}`); !strings.Contains(a.body, `"removed":["left-behind"]`) || d.there() != "" {
		t.Errorf("swept: %s; there is %s", a.body, d.there())
	}
}

// TestPreviewDataPostgresKilled kills the server at any step of a preview with
// data, again and again: it ends, and nothing is left.
func TestPreviewDataPostgresKilled(t *testing.T) {
	d := startDatabases(t)
	dir := t.TempDir()
	set, err := demo.PrepareWith(t.Context(), dir, "127.0.0.1:0", demo.Postgres{URL: d.admin})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	var kill func()
	s.url, kill = serveApart(t, set.Config)
	s.await("the service is known", func() bool {
		return s.send("sre", http.MethodGet, "/api/catalog/entities/by-name/component/default/orders", "").status == http.StatusOK
	})
	var p previews.Preview
	s.send("agent", http.MethodPost, "/api/v1/previews", `{"service":"orders","ttl":"5m"}`).decode(t, &p)
	again := func(after time.Duration) {
		time.Sleep(after) // at no step in particular
		kill()
		s.url, kill = serveApart(t, set.Config)
	}
	for i := range 8 {
		again(time.Duration(i*i) * 10 * time.Millisecond)
	}
	s.awaitPhase(p.ID, previews.Ready)
	p = s.preview("sre", p.ID)
	if got := s.visit(p, "/orders"); strings.Count(got, "A kettle") != 1 {
		t.Errorf("it serves %s", got)
	}
	if a := s.send("agent", http.MethodDelete, "/api/v1/previews/"+p.ID, ""); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	for i := range 5 {
		again(time.Duration(i*i) * 10 * time.Millisecond)
	}
	s.awaitPhase(p.ID, previews.Gone)
	if there := d.there(); there != "" {
		t.Errorf("there is still %s", there)
	}
}
