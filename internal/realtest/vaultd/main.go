// Command vaultd is a real Vault for tests: its core, its HTTP interface and
// the engines that Fairlead lends from, all of unmodified modules, over a
// folder. It starts sealed, and uninitialised in an empty folder, as every
// Vault does, and ends with its standard input.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/audit"
	"github.com/hashicorp/vault/builtin/logical/database"
	"github.com/hashicorp/vault/builtin/plugin"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/internalshared/configutil"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/file"
	"github.com/hashicorp/vault/vault"
)

// options are the flags.
type options struct {
	listen, data      string
	certificate, key  string
	defaultTTL, limit time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "host:port, of the loopback interface")
	flag.StringVar(&o.data, "data", "", "folder that keeps everything")
	flag.StringVar(&o.certificate, "tls-certificate", "", "PEM file; without it there is no TLS")
	flag.StringVar(&o.key, "tls-key", "", "PEM file")
	flag.DurationVar(&o.defaultTTL, "default-lease-ttl", 0, "0: Vault's own")
	flag.DurationVar(&o.limit, "max-lease-ttl", 0, "0: Vault's own")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "vaultd:", err)
		os.Exit(1)
	}
}

// run serves until a signal comes or standard input ends.
func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end too
		stop()
	}()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return errors.Join(fmt.Errorf("%s is not of the loopback interface", o.listen), l.Close())
	}
	core, err := newCore(o, l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	err = serve(ctx, core, l, o)
	return errors.Join(err, core.ShutdownWait())
}

// newCore opens the folder.
func newCore(o options, address string) (*vault.Core, error) {
	if o.data == "" {
		return nil, errors.New("-data is missing")
	}
	log := hclog.New(&hclog.LoggerOptions{Name: "vault", Level: hclog.Info, Output: os.Stderr})
	storage, err := file.NewFileBackend(map[string]string{"path": o.data}, log)
	if err != nil {
		return nil, err
	}
	return vault.NewCore(&vault.CoreConfig{
		Physical: storage, StorageType: "file", ClusterName: "test", RedirectAddr: scheme(o) + "://" + address,
		Logger: log, DisableMlock: true, DefaultLeaseTTL: o.defaultTTL, MaxLeaseTTL: o.limit,
		BuiltinRegistry: registry{},
		// Everything else comes out of the registry, by way of plugin.
		LogicalBackends:    map[string]logical.Factory{"plugin": plugin.Factory, "database": database.Factory},
		CredentialBackends: map[string]logical.Factory{"plugin": plugin.Factory},
		AuditBackends:      map[string]audit.Factory{"file": audit.NewFileBackend},
	})
}

func scheme(o options) string {
	if o.certificate != "" {
		return "https"
	}
	return "http"
}

// serve answers until the context ends.
func serve(ctx context.Context, core *vault.Core, l net.Listener, o options) error {
	s := &http.Server{
		Handler:           vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core, ListenerConfig: &configutil.Listener{}}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	ended := make(chan error, 1)
	go func() {
		if o.certificate != "" {
			ended <- s.ServeTLS(l, o.certificate, o.key)
		} else {
			ended <- s.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return s.Close()
	}
}
