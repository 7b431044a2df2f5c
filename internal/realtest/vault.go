package realtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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

// NewVault is Vault for programs that are no tests: over a folder, and with what
// ends it.
func NewVault(ctx context.Context, dir string) (s *VaultServer, stop func(), err error) {
	s = &VaultServer{dir: dir}
	if err := s.find(); err != nil {
		return nil, nil, err
	}
	if err := s.place(false); err != nil {
		return nil, nil, err
	}
	err = s.start(ctx)
	if err == nil {
		err = s.initialise(ctx)
	}
	if err != nil {
		s.stop()
		return nil, nil, err
	}
	return s, s.stop, nil
}

func newVault(t testing.TB, secure bool) *VaultServer {
	t.Helper()
	s := &VaultServer{dir: t.TempDir()}
	need(t, "Vault", s.find())
	must(t, func(context.Context) error { return s.place(secure) })
	s.StartSealed(t)
	t.Cleanup(s.stop)
	must(t, s.initialise)
	return s
}

// must does something that ends the test where it fails, and outlives it where
// it ends meanwhile.
func must(t testing.TB, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), startWithin)
	defer cancel()
	if err := do(ctx); err != nil {
		t.Fatalf("Vault: %v", err)
	}
}

// place decides where it is and how it is reached.
func (s *VaultServer) place(secure bool) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.AuditFile = filepath.Join(s.dir, "audit")
	s.Address, s.api = "http://"+loopback(port), &api{client: &http.Client{Transport: &http.Transport{}}}
	if secure {
		if s.certificates, err = newCertificates(s.dir); err != nil {
			return err
		}
		s.CAFile = s.certificates.authorityFile
		s.Address, s.api.client = "https://"+loopback(port), trusting(s.certificates, (&net.Dialer{}).DialContext)
	}
	s.api.url = s.Address + "/v1/"
	return nil
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
func (s *VaultServer) initialise(ctx context.Context) error {
	var made struct {
		Keys      []string `json:"keys"`
		RootToken string   `json:"root_token"`
	}
	if err := s.Ask(ctx, http.MethodPut, "sys/init", map[string]any{"secret_shares": 1, "secret_threshold": 1}, &made); err != nil {
		return err
	}
	s.UnsealKey, s.RootToken, s.api.token = made.Keys[0], made.RootToken, made.RootToken
	if err := s.unseal(ctx); err != nil {
		return err
	}
	return errors.Join(s.Ask(ctx, http.MethodPut, "sys/audit/file", map[string]any{"type": "file", "options": map[string]any{"file_path": s.AuditFile}}, nil),
		s.Ask(ctx, http.MethodPost, "sys/mounts/secret", map[string]any{"type": "kv", "options": map[string]any{"version": "2"}}, nil))
}

// StartSealed starts it, where it has ended, as after a reboot: sealed.
func (s *VaultServer) StartSealed(t testing.TB) {
	t.Helper()
	must(t, s.start)
}

func (s *VaultServer) start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the program has its own
	_, address, _ := strings.Cut(s.Address, "://")
	cmd := exec.Command(s.program, "-listen", address, "-data", filepath.Join(s.dir, "data")) //nolint:noctx,gosec // it ends with its standard input; a program that vault.sh built
	if s.certificates != nil {
		cmd.Args = append(cmd.Args, "-tls-certificate", s.certificates.certificateFile, "-tls-key", s.certificates.keyFile)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal does not interrupt it
	if s.stdin, err = cmd.StdinPipe(); err == nil {       // the end of this process closes it
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its log says why
		close(ended)
	}()
	s.cmd, s.ended = cmd, ended
	return s.await(ctx, "answer", func(code int) bool { return code != 0 })
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
	must(t, func(ctx context.Context) error {
		return s.await(ctx, "be sealed", func(code int) bool { return code == http.StatusServiceUnavailable })
	})
}

// Unseal has it answer again, and waits until it does.
func (s *VaultServer) Unseal(t testing.TB) {
	t.Helper()
	must(t, s.unseal)
}

func (s *VaultServer) unseal(ctx context.Context) error {
	if err := s.Ask(ctx, http.MethodPut, "sys/unseal", map[string]any{"key": s.UnsealKey}, nil); err != nil {
		return err
	}
	return s.await(ctx, "be unsealed", func(code int) bool { return code == http.StatusOK })
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
	must(t, func(ctx context.Context) error { return s.Ask(ctx, method, path, in, out) })
}

// Ask is API for programs that are no tests, where anything but a success is an
// error.
func (s *VaultServer) Ask(ctx context.Context, method, path string, in, out any) error {
	_, err := s.api.json(ctx, method, path, jsonType, in, out)
	return err
}

// stop ends it in order, where it was started.
func (s *VaultServer) stop() {
	if s.ended == nil {
		return
	}
	_ = s.stdin.Close() // closed already is as good
	<-s.ended
}

// await waits until its health is such a status; 0 is none.
func (s *VaultServer) await(ctx context.Context, what string, is func(code int) bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		code, _, _ := s.api.call(ctx, http.MethodGet, "sys/health?standbyok=true", jsonType, nil) // no answer is 0
		if is(code) {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("it ended:\n%s", s.log())
		case <-ctx.Done():
			return fmt.Errorf("it does not %s: health %d\n%s", what, code, s.log())
		case <-tick.C:
		}
	}
}

func (s *VaultServer) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log")) // only adds to a message
	return string(text[max(0, len(text)-4096):])
}
