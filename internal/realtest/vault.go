package realtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// VaultServer is a real Vault of a test, over a folder: what it knows outlives
// it. It has the secrets engines aws, database (PostgreSQL), kubernetes, kv,
// pki and transit and the ways to log in approle, jwt and kubernetes, none of
// them mounted; kv of version 2 is at secret/.
type VaultServer struct {
	// Address is its URL, without a slash at the end.
	Address string
	// CAFile holds the authority of its certificate; "" where it has no TLS.
	CAFile string
	// RootToken may do everything. It has no end.
	RootToken string
	// UnsealKey unseals it.
	UnsealKey string
	// AuditFile is what its audit device writes; see Audit.
	AuditFile string

	program, dir string
	certificates *certificates
	cmd          *exec.Cmd
	stdin        io.Closer
	ended        chan struct{}
	api          *api
}

// Vault starts a Vault that is unsealed and ends with the test. Each test has
// one of its own, which takes a quarter of a second.
func Vault(t testing.TB) *VaultServer {
	t.Helper()
	return newVault(t, false)
}

// VaultTLS is Vault over TLS, with a certificate of an authority that nobody
// else knows.
func VaultTLS(t testing.TB) *VaultServer {
	t.Helper()
	return newVault(t, true)
}

func newVault(t testing.TB, secure bool) *VaultServer {
	t.Helper()
	s := &VaultServer{dir: t.TempDir()}
	need(t, "Vault", s.find())
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	s.AuditFile = filepath.Join(s.dir, "audit")
	s.Address, s.api = "http://"+loopback(port), &api{client: &http.Client{Transport: &http.Transport{}}}
	if secure {
		if s.certificates, err = newCertificates(s.dir); err != nil {
			t.Fatal(err)
		}
		s.CAFile = s.certificates.authorityFile
		s.Address, s.api.client = "https://"+loopback(port), trusting(s.certificates, (&net.Dialer{}).DialContext)
	}
	s.api.url = s.Address + "/v1/"
	s.StartSealed(t)
	t.Cleanup(s.stop)
	s.initialise(t)
	return s
}

// find finds what vault.sh built last.
func (s *VaultServer) find() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(cache, "fairlead", "vault-*", "done"))
	if err != nil {
		return err
	}
	var newest time.Time
	for _, done := range found {
		info, err := os.Stat(done)
		if err == nil && info.ModTime().After(newest) {
			newest, s.program = info.ModTime(), filepath.Join(filepath.Dir(done), "vaultd")
		}
	}
	if s.program == "" {
		return errors.New("it is not built; run internal/realtest/vault.sh")
	}
	return nil
}

// initialise makes its keys, mounts kv and has it write its audit.
func (s *VaultServer) initialise(t testing.TB) {
	t.Helper()
	var made struct {
		Keys      []string `json:"keys"`
		RootToken string   `json:"root_token"`
	}
	s.Must(t, http.MethodPut, "sys/init", map[string]any{"secret_shares": 1, "secret_threshold": 1}, &made)
	s.UnsealKey, s.RootToken, s.api.token = made.Keys[0], made.RootToken, made.RootToken
	s.Unseal(t)
	s.Must(t, http.MethodPut, "sys/audit/file", map[string]any{"type": "file", "options": map[string]any{"file_path": s.AuditFile}}, nil)
	s.Must(t, http.MethodPost, "sys/mounts/secret", map[string]any{"type": "kv", "options": map[string]any{"version": "2"}}, nil)
}

// StartSealed starts it, where it has ended, as after a reboot: sealed.
func (s *VaultServer) StartSealed(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the program has its own
	_, address, _ := strings.Cut(s.Address, "://")
	cmd := exec.Command(s.program, "-listen", address, "-data", filepath.Join(s.dir, "data")) //nolint:noctx,gosec // it ends with its standard input; a program that vault.sh built
	if s.certificates != nil {
		cmd.Args = append(cmd.Args, "-tls-certificate", s.certificates.certificateFile, "-tls-key", s.certificates.keyFile)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if s.stdin, err = cmd.StdinPipe(); err == nil { // the end of this process closes it
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its log says why
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	s.await(t, "answer", func(code int) bool { return code != 0 })
}

// Start starts it, where it has ended, and unseals it.
func (s *VaultServer) Start(t testing.TB) {
	t.Helper()
	s.StartSealed(t)
	s.Unseal(t)
}

// Kill ends it at once, as a machine that fails does.
func (s *VaultServer) Kill(t testing.TB) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
}

// Restart kills it and starts it again, unsealed.
func (s *VaultServer) Restart(t testing.TB) {
	t.Helper()
	s.Kill(t)
	s.Start(t)
}

// Seal has it refuse everything until Unseal.
func (s *VaultServer) Seal(t testing.TB) {
	t.Helper()
	s.Must(t, http.MethodPut, "sys/seal", nil, nil)
	s.await(t, "be sealed", func(code int) bool { return code == http.StatusServiceUnavailable })
}

// Unseal has it answer again, and waits until it does.
func (s *VaultServer) Unseal(t testing.TB) {
	t.Helper()
	s.Must(t, http.MethodPut, "sys/unseal", map[string]any{"key": s.UnsealKey}, nil)
	s.await(t, "be unsealed", func(code int) bool { return code == http.StatusOK })
}

// Pid is its process.
func (s *VaultServer) Pid() int { return s.cmd.Process.Pid }

// API calls it as root with a JSON body, nil for none, and gives the status;
// the answer of a success is read into out, if that is not nil. The path is
// what follows /v1/. No answer ends the test.
func (s *VaultServer) API(t testing.TB, method, path string, in, out any) (status int) {
	t.Helper()
	return s.api.must(t, method, path, jsonType, in, out)
}

// Must is API where anything but a success ends the test.
func (s *VaultServer) Must(t testing.TB, method, path string, in, out any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startWithin)
	defer cancel()
	status, err := s.api.json(ctx, method, path, jsonType, in, out)
	if err != nil {
		t.Fatalf("Vault: %v (%d)", err, status)
	}
}

// stop ends it in order.
func (s *VaultServer) stop() {
	_ = s.stdin.Close() // closed already is as good
	<-s.ended
}

// await waits until its health is such a status; 0 is none.
func (s *VaultServer) await(t testing.TB, what string, is func(code int) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startWithin)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		code, _, _ := s.api.call(ctx, http.MethodGet, "sys/health?standbyok=true", jsonType, nil) // no answer is 0
		if is(code) {
			return
		}
		select {
		case <-s.ended:
			t.Fatalf("Vault ended:\n%s", s.log())
		case <-ctx.Done():
			t.Fatalf("Vault does not %s: health %d\n%s", what, code, s.log())
		case <-tick.C:
		}
	}
}

func (s *VaultServer) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log")) // only adds to a message
	return string(text[max(0, len(text)-4096):])
}
