package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// errHostKey and the like are what goes wrong before Git is spoken.
var (
	errKeyFile    = errors.New("the private key cannot be used")
	errKnownHosts = errors.New("the list of known hosts cannot be read")
	errHostKey    = errors.New("the host's key is not known or has changed")
	errRefusedKey = errors.New("the host refuses the key")
)

// sshWire talks to git-upload-pack or git-receive-pack over ssh. The connection closes when the
// context ends.
type sshWire struct {
	client  *ssh.Client
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	stop    func() bool
}

// dialSSH connects, and runs a service, which is asked to speak version 2 if that
// is wanted: errNoPick says that the host does not let it be asked.
func dialSSH(ctx context.Context, at address, c Credentials, service string, version2 bool) (*sshWire, error) {
	cfg, err := sshConfig(at, c.SSHKeyFile, c.KnownHostsFile)
	if err != nil {
		return nil, err
	}
	port := at.url.Port()
	if port == "" {
		port = "22"
	}
	host := net.JoinHostPort(at.url.Hostname(), port)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	w := &sshWire{stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	session, channels, requests, err := ssh.NewClientConn(conn, host, cfg)
	if err != nil {
		w.stop()
		_ = conn.Close() // the error that matters is the one at hand
		return nil, sshError(err)
	}
	w.client = ssh.NewClient(session, channels, requests)
	if err := w.start(service, at.path, version2); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func sshConfig(at address, keyFile, hostsFile string) (*ssh.ClientConfig, error) {
	pem, err := readSmall(keyFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeyFile, err)
	}
	signer, err := ssh.ParsePrivateKey(pem)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeyFile, err)
	}
	if hostsFile == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errKnownHosts, err)
		}
		hostsFile = filepath.Join(home, ".ssh", "known_hosts")
	}
	check, err := knownhosts.New(hostsFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKnownHosts, err)
	}
	user := "git"
	if at.url.User != nil {
		user = at.url.User.Username()
	}
	return &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, Timeout: 15 * time.Second,
		HostKeyCallback: func(host string, remote net.Addr, key ssh.PublicKey) error {
			if err := check(host, remote, key); err != nil {
				return fmt.Errorf("%w: %w", errHostKey, err)
			}
			return nil
		},
		HostKeyAlgorithms: knownAlgorithms(check, at)}, nil
}

// knownAlgorithms are those of the keys that are known for a host, so that
// the server offers one of these; nil where none is known.
func knownAlgorithms(check ssh.HostKeyCallback, at address) []string {
	port := at.url.Port()
	if port == "" {
		port = "22"
	}
	var unknown *knownhosts.KeyError
	err := check(net.JoinHostPort(at.url.Hostname(), port), &net.TCPAddr{IP: net.IPv4zero}, noKey{})
	if !errors.As(err, &unknown) {
		return nil
	}
	var out []string
	for _, k := range unknown.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		}
		out = append(out, k.Key.Type())
	}
	return out
}

// noKey is a key that no host has.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return nil }
func (noKey) Verify([]byte, *ssh.Signature) error { return errHostKey }

// sshError tells a refused key from other troubles.
func sshError(err error) error {
	if strings.Contains(err.Error(), "unable to authenticate") {
		return fmt.Errorf("%w: %w", errRefusedKey, err)
	}
	return err
}

func (w *sshWire) start(service, path string, version2 bool) (err error) {
	if w.session, err = w.client.NewSession(); err != nil {
		return err
	}
	if version2 {
		if err := w.session.Setenv("GIT_PROTOCOL", "version=2"); err != nil {
			return errors.Join(errNoPick, err)
		}
	}
	if w.in, err = w.session.StdinPipe(); err != nil {
		return err
	}
	if w.out, err = w.session.StdoutPipe(); err != nil {
		return err
	}
	return w.session.Start(service + " '" + shellQuoted(path) + "'")
}

// shellQuoted makes a path fit for single quotes, as Git quotes it.
func shellQuoted(s string) string {
	return strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(s)
}

func (w *sshWire) advertise(context.Context) (*packp.AdvRefs, error) { return decodeAdvert(w.out) }

func (w *sshWire) exchange(_ context.Context, req *packp.UploadPackRequest) (io.ReadCloser, error) {
	if err := encode(w.in, req); err != nil {
		return nil, err
	}
	return io.NopCloser(w.out), nil
}

func (w *sshWire) close() {
	w.stop()
	_ = w.client.Close() // it may be closed already
}
