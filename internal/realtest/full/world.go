package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// world is everything that the demo consists of.
type world struct {
	options
	// temporary tells that the folder is removed at the end.
	temporary bool
	// root is the checkout, whose scripts and policies are used.
	root  string
	began time.Time

	set        *demo.Set
	gitea      *realtest.Forge
	accounts   map[string]account // of Gitea, by their names
	argo       *realtest.Argo
	vault      *realtest.VaultServer
	postgres   string // the administrator's URL
	prometheus *realtest.PrometheusServer
	traffic    *traffic
	fairlead   *realtest.Program

	mu  sync.Mutex
	end []func() error
}

// atEnd has something done at the end, at once with the rest.
func (w *world) atEnd(f func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = append(w.end, f)
}

// close ends everything: Fairlead first, then the servers at once, and then
// removes the files.
func (w *world) close() error {
	var errs []error
	if w.fairlead != nil {
		errs = append(errs, w.fairlead.Stop())
	}
	w.mu.Lock()
	end := slices.Clone(w.end)
	w.mu.Unlock()
	var servers errgroup.Group
	for _, f := range end {
		servers.Go(f)
	}
	errs = append(errs, servers.Wait())
	if w.temporary {
		errs = append(errs, os.RemoveAll(w.dir))
	}
	return errors.Join(errs...)
}

// path is a file of the demo's folder.
func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// say tells how it gets on.
func (w *world) say(format string, args ...any) {
	fmt.Fprintf(w.out, "[%3.0f s] %s\n", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...))
}

// secret writes what only this user may read, and gives its path.
func (w *world) secret(name, text string) (string, error) {
	path := w.path("secrets", name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// start starts everything in the order in which it is needed.
func (w *world) start(ctx context.Context) error {
	for _, dir := range []string{"secrets", "policy", "vault", "prometheus"} {
		if err := os.MkdirAll(w.path(dir), 0o700); err != nil {
			return err
		}
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	w.say("starting Gitea, PostgreSQL and Vault, and Argo CD with Kubernetes' API server (some 1.5 GB of memory)")
	servers, at := errgroup.WithContext(ctx)
	servers.Go(func() error { return w.startArgoCD(at) })
	servers.Go(func() error { return errors.Join(w.startPostgres(at), w.startVault(at)) })
	servers.Go(func() error { return w.startGitea(at) })
	if err := servers.Wait(); err != nil {
		return err
	}
	steps := []func(context.Context) error{w.company, w.deploy, w.lend, w.measure, w.serve, w.hook}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// install builds what is missing, once, by the project's own scripts.
func (w *world) install(ctx context.Context) error {
	if w.built {
		return nil
	}
	w.say("looking for the servers' programs; what is missing is installed or built once, which may take half an hour")
	for _, script := range []string{"install.sh", "prometheus.sh", "gitea.sh", "vault.sh", "argocd.sh"} {
		cmd := exec.CommandContext(ctx, filepath.Join(w.root, "internal", "realtest", script)) //nolint:gosec // the project's own
		cmd.Stdout, cmd.Stderr = w.out, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", script, err)
		}
	}
	return nil
}

func (w *world) startPostgres(ctx context.Context) error {
	url, stop, err := realtest.NewPostgres(ctx)
	if err != nil {
		return err
	}
	w.atEnd(stop)
	w.postgres = url
	return nil
}

func (w *world) startVault(ctx context.Context) error {
	v, stop, err := realtest.NewVault(ctx, w.path("vault"))
	if err != nil {
		return err
	}
	w.atEnd(func() error { stop(); return nil })
	w.vault = v
	return nil
}

func (w *world) startArgoCD(ctx context.Context) error {
	a, stop, err := realtest.NewArgoCD(ctx)
	if err != nil {
		return err
	}
	w.atEnd(stop)
	w.argo = a
	return nil
}

func (w *world) startGitea(ctx context.Context) error {
	f, stop, err := realtest.NewGitea(ctx)
	if err != nil {
		return err
	}
	w.atEnd(stop)
	w.gitea = f
	return nil
}

// free tells whether nobody listens at an address yet.
func free(address string) error {
	l, err := net.Listen("tcp", address) //nolint:noctx // closed at once
	if err != nil {
		return fmt.Errorf("cannot serve at %s: %w\nname another address: make demo-full DEMO_LISTEN=127.0.0.1:7117", address, err)
	}
	return l.Close()
}

// checkout is the folder above this one that holds go.mod.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/fairlead-dev/fairlead\n") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no checkout of Fairlead, whose scripts are needed", dir)
		}
	}
}
