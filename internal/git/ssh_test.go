package git

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// sshServer is an ssh server that runs git-upload-pack and git-receive-pack, and
// nothing else.
type sshServer struct {
	addr    string
	hosts   string // the file of known hosts
	keyFile string // the key that it accepts
}

func newKey(t *testing.T, name string) (ssh.Signer, string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	os.WriteFile(file, pem.EncodeToMemory(block), 0o600)
	return signer, file
}

func serveSSH(t *testing.T, env bool) *sshServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := newKey(t, "host")
	client, keyFile := newKey(t, "client")
	s := &sshServer{addr: listener.Addr().String(), keyFile: keyFile, hosts: filepath.Join(t.TempDir(), "known_hosts")}
	os.WriteFile(s.hosts, []byte(knownhosts.Line([]string{s.addr}, host.PublicKey())+"\n"), 0o600)
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(client.PublicKey().Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	cfg.AddHostKey(host)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { handleSSH(conn, cfg, env) })
		}
	})
	t.Cleanup(func() { listener.Close(); wg.Wait() })
	return s
}

// handleSSH serves one connection; env tells whether clients may choose the
// version of the protocol.
func handleSSH(conn net.Conn, cfg *ssh.ServerConfig, env bool) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, cfg)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		protocol := "version=0"
		for req := range requests {
			switch req.Type {
			case "env":
				req.Reply(env, nil)
				if env {
					protocol = "version=2"
				}
			case "exec":
				req.Reply(true, nil)
				runGitService(channel, string(req.Payload[4:]), protocol)
				channel.Close()
			}
		}
	}
}

func runGitService(channel ssh.Channel, command, protocol string) {
	if !strings.HasPrefix(command, "git-upload-pack '") && !strings.HasPrefix(command, "git-receive-pack '") {
		return
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Env = append(os.Environ(), "GIT_PROTOCOL="+protocol)
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	go func() { io.Copy(in, channel); in.Close() }()
	code := byte(0)
	if cmd.Wait() != nil {
		code = 128
	}
	channel.SendRequest("exit-status", false, []byte{0, 0, 0, code})
}

func TestSSH(t *testing.T) {
	r := newRemoteRepo(t)
	quoted := filepath.Join(filepath.Dir(r.dir), "it's")
	os.Rename(r.dir, quoted)
	r.dir = quoted
	r.write("a.yaml", "one")
	first := r.commit("first")
	s := serveSSH(t, true)
	cfg := SourceConfig{URL: "ssh://git@" + s.addr + r.dir, Credentials: Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}}
	src := r.source(cfg)
	check(t, "revision", observe(t, src), first)
	check(t, "content", read(t, open(t, src), "a.yaml"), "one")
	r.write("a.yaml", "two")
	r.commit("second")
	tree := open(t, src)
	got, incremental := changed(t, tree, first)
	check(t, "changes", []any{got, incremental}, []any{[]string{"a.yaml"}, true})
	check(t, "content", read(t, tree, "a.yaml"), "two")
}

func TestSSHProblems(t *testing.T) {
	r := newRemoteRepo(t)
	r.write("a.yaml", "one")
	r.commit("first")
	s := serveSSH(t, true)
	_, stranger := newKey(t, "stranger")
	empty := filepath.Join(t.TempDir(), "empty")
	os.WriteFile(empty, nil, 0o600)
	none := filepath.Join(t.TempDir(), "none")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for words, c := range map[string]struct {
		host, path string
		Credentials
		code fault.Code
	}{
		"refuses the key":         {s.addr, r.dir, Credentials{SSHKeyFile: stranger, KnownHostsFile: s.hosts}, fault.FailedPrecondition},
		"host's key is not known": {s.addr, r.dir, Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: empty}, fault.FailedPrecondition},
		"list of known hosts":     {s.addr, r.dir, Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: none}, fault.FailedPrecondition},
		"private key cannot":      {s.addr, r.dir, Credentials{SSHKeyFile: empty, KnownHostsFile: s.hosts}, fault.FailedPrecondition},
		"no such repository":      {s.addr, r.dir + "/nowhere", Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}, fault.NotFound},
		"took longer than":        {silent.Addr().String(), r.dir, Credentials{SSHKeyFile: s.keyFile, KnownHostsFile: s.hosts}, fault.Unavailable},
	} {
		limits := Limits{}
		if c.code == fault.Unavailable { // the others are to be told however long they take
			limits.Timeout = 500 * time.Millisecond
		}
		src := r.source(SourceConfig{URL: "ssh://git@" + c.host + c.path, Credentials: c.Credentials, Limits: limits})
		_, err := src.Observe(context.Background())
		wantFault(t, err, c.code, words)
	}
}
