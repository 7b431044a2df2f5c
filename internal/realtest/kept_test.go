package realtest_test

import (
	"context"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// emptyTemp has temporary files go to a folder that is empty and that other
// users pass through, and holds it to be empty when a server has ended.
func emptyTemp(t *testing.T) (check func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kept-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return func() {
		t.Helper()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v are left: %v", left, err)
		}
	}
}

// realAlone leaves a test out where servers are not asked for.
func realAlone(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() || os.Getenv("FAIRLEAD_REAL") != "1" {
		t.Skip("a real server of its own is started with FAIRLEAD_REAL=1 alone")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestPostgresOfAProgramLeavesNothing(t *testing.T) {
	ctx, check := realAlone(t), emptyTemp(t)
	url, stop, err := realtest.NewPostgres(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := realtest.SQL(ctx, url, "select 1"); err != nil || out != "1\n" {
		t.Errorf("it says %q, %v", out, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	check()
}

func TestGiteaOfAProgramLeavesNothing(t *testing.T) {
	ctx, check := realAlone(t), emptyTemp(t)
	f, stop, err := realtest.NewGitea(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Ask(ctx, http.MethodPost, "/orgs", map[string]string{"username": "acme"}, nil); err != nil {
		t.Error(err)
	}
	if err := f.Ask(ctx, http.MethodGet, "/repos/acme/none", nil, nil); err == nil {
		t.Error("what is not there is no error")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	check()
}

func TestArgoCDOfAProgramLeavesNothing(t *testing.T) {
	ctx, check := realAlone(t), emptyTemp(t)
	a, stop, err := realtest.NewArgoCD(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.AskKube(ctx, http.MethodGet, "/api/v1/namespaces/argocd", nil, nil); err != nil {
		t.Error(err)
	}
	pids := a.Pids()
	if err := stop(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("the process %d is left", pid)
		}
	}
	check()
	short, cancel := context.WithTimeout(ctx, time.Second) // it fails halfway
	defer cancel()
	if _, _, err := realtest.NewArgoCD(short); err == nil {
		t.Error("it starts within a second")
	}
	check()
}
