package realtest

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// RedisServer is a real Redis server of a test. It keeps its keys when it is
// started again, and not its users.
type RedisServer struct {
	// Address is host:port, and Password that of its user default.
	Address, Password string

	program, libraries, dir string
	keeper                  *kept
}

// Redis starts a Redis server that ends with the test.
func Redis(t testing.TB) *RedisServer {
	t.Helper()
	s := &RedisServer{Password: "password-of-default", dir: t.TempDir()}
	need(t, "Redis", s.find())
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	s.Address = loopback(port)
	s.Start(t)
	t.Cleanup(s.Stop)
	return s
}

// find finds the program that redis.sh unpacked, or the machine's.
func (s *RedisServer) find() (err error) {
	if s.program, err = exec.LookPath("redis-server"); err == nil {
		return nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	root := filepath.Join(cache, "fairlead", "etcd-redis", "root", "usr")
	s.program = filepath.Join(root, "bin", "redis-server")
	if _, err := os.Stat(s.program); err != nil {
		return errors.New("there is no redis-server; run internal/realtest/redis.sh")
	}
	libraries, err := filepath.Glob(filepath.Join(root, "lib", "*-linux-gnu"))
	s.libraries = strings.Join(libraries, ":")
	return err
}

// Start starts the server, again after Stop, and waits until it answers.
func (s *RedisServer) Start(t testing.TB) {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	if s.libraries != "" {
		env = append(os.Environ(), "LD_LIBRARY_PATH="+s.libraries)
	}
	s.keeper, err = keep(plainKeeper, s.dir, env, nil, nil, s.program, "--bind", "127.0.0.1", "--port", port,
		"--dir", s.dir, "--logfile", filepath.Join(s.dir, "log"), "--save", "", "--appendonly", "yes", "--requirepass", s.Password)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(startWithin)
	for s.ping() != nil {
		select {
		case <-s.keeper.ended:
			deadline = time.Time{}
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // only adds to the message
			t.Fatalf("Redis does not answer: %v\n%s", s.ping(), log)
		}
	}
}

// Stop ends the server and waits until it has ended.
func (s *RedisServer) Stop() {
	_ = s.keeper.stop() // its log says why
}

func (s *RedisServer) ping() error {
	conn, err := net.DialTimeout("tcp", s.Address, time.Second) //nolint:noctx // bounded
	if err != nil {
		return err
	}
	defer shut(conn)
	if err = conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(conn, "AUTH %s\r\nPING\r\n", s.Password); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	for _, want := range []string{"+OK", "+PONG"} {
		line, err := r.ReadString('\n')
		if err != nil || strings.TrimSpace(line) != want {
			return errors.Join(err, fmt.Errorf("it says %q", line))
		}
	}
	return nil
}
