package realtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startWithin bounds making and starting a server, on a busy machine too.
const startWithin = 2 * time.Minute

// postgres is the server of this process, started by the first test that
// needs it.
var postgres = sync.OnceValues(func() (*postgresServer, error) { return startPostgres(context.Background()) })

// Postgres gives the URL of a new, empty database in a real PostgreSQL
// server. Its user is the superuser fairlead, and any password will do. The
// database is dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	_, err := postgresBin()
	need(t, "PostgreSQL", err)
	url, drop, err := NewDatabase()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("dropping the database: %v", err)
		}
	})
	return url
}

// NewDatabase is Postgres for programs that are no tests: the URL of a new
// database, and what drops it.
func NewDatabase() (url string, drop func() error, err error) {
	s, err := postgres()
	if err != nil {
		return "", nil, err
	}
	name, err := s.create()
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("postgres://fairlead:any@127.0.0.1:%d/%s?sslmode=disable", s.port, name),
		func() error { return s.client("dropdb", "--force", name) }, nil
}

// NewPostgres is a PostgreSQL server of a program's own, as the superuser
// fairlead, whom any password lets in, and what ends it.
func NewPostgres(ctx context.Context) (url string, stop func() error, err error) {
	s, err := startPostgres(ctx)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("postgres://fairlead:any@127.0.0.1:%d/postgres?sslmode=disable", s.port),
		func() error { return errors.Join(s.keeper.stop(), os.RemoveAll(s.dir)) }, nil
}

// SQL runs statements in the database of a URL and gives what they print, a
// line for each row with bars between its values.
func SQL(ctx context.Context, database, statements string) (string, error) {
	bin, err := postgresBin()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "psql"), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", database) //nolint:gosec // a program of the installation
	cmd.Stdin = strings.NewReader(statements)
	var stderr lastLines
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, stderr)
	}
	return string(out), nil
}

// PostgresPid is the process of the server that NewDatabase makes databases
// in, once there is one.
func PostgresPid() (int, error) {
	s, err := postgres()
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

type postgresServer struct {
	bin    string
	dir    string
	port   int
	keeper *kept
	mu     sync.Mutex
	made   int
}

// postgresBin finds the folder with the server's programs: Debian keeps them
// out of PATH, by version; the newest counts.
func postgresBin() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 for a folder that is no version
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("there is no initdb, neither below /usr/lib/postgresql nor in PATH; run internal/realtest/install.sh")
	}
	initdb, err = filepath.EvalSymlinks(initdb)
	return filepath.Dir(initdb), err
}

// hba lets the superuser in by any password, and other roles by theirs.
const hba = "host all fairlead 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"

func startPostgres(ctx context.Context) (*postgresServer, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := ownFolder("fairlead-postgres-", as)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), //nolint:gosec // a program of the installation
		"-U", "fairlead", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), os.RemoveAll(dir))
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range 5 { // another process may take the port first
		port, portErr := freePort()
		if portErr != nil {
			return nil, errors.Join(portErr, os.RemoveAll(dir))
		}
		var k *kept
		if k, err = runPostgres(ctx, bin, dir, port, as); err == nil {
			return &postgresServer{bin: bin, dir: dir, port: port, keeper: k}, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// runPostgres starts the server and waits until it takes connections.
func runPostgres(ctx context.Context, bin, dir string, port int, as *syscall.Credential) (*kept, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the server has its own
	k, err := keep(keeper, dir, nil, log, as, filepath.Join(bin, "postgres"), "-D", filepath.Join(dir, "data"), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "shared_buffers=128MB",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	if err != nil {
		return nil, err
	}
	if err := awaitPostgres(ctx, dir, k.ended); err != nil {
		text, _ := os.ReadFile(log.Name()) // only adds to the message
		return nil, errors.Join(fmt.Errorf("starting PostgreSQL: %w\n%s", err, text), k.stop())
	}
	return k, nil
}

// awaitPostgres waits for the line of the server's lock file that says that it
// takes connections.
func awaitPostgres(ctx context.Context, dir string, ended <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errors.New("the server ended")
		case <-tick.C:
			text, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid")) // not there yet
			if lines := strings.Split(string(text), "\n"); len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready" {
				return nil
			}
		}
	}
}

// create makes a database with a name of its own.
func (s *postgresServer) create() (string, error) {
	s.mu.Lock()
	s.made++
	name := fmt.Sprintf("test%d", s.made)
	s.mu.Unlock()
	return name, s.client("createdb", name)
}

// client runs one of the client programs against the server.
func (s *postgresServer) client(program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	args = append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "fairlead"}, args...)
	out, err := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...).CombinedOutput() //nolint:gosec // programs of the installation, arguments of ours
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return nil
}

// unprivileged is whom a server that refuses root runs as; nil is oneself.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // no other user is needed
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody")
}

// ownFolder makes a temporary folder that belongs to whom the server runs as.
func ownFolder(prefix string, as *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("", prefix)
	if err != nil || as == nil {
		return dir, err
	}
	return dir, os.Chown(dir, int(as.Uid), int(as.Gid))
}
