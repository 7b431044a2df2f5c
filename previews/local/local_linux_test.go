package local

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/previews"
)

func TestMain(m *testing.M) {
	if code, ran := Main(os.Args[1:]); ran {
		os.Exit(code)
	}
	os.Exit(runTests(m))
}

// appVar names the program to preview, which is built once.
const appVar = "PREVIEWED_APP"

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "previewed")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if os.Getenv(appVar) == "" {
		app := filepath.Join(dir, "app")
		build := exec.Command("go", "build", "-o", app, "./testdata/app")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
			return 1
		}
		os.Setenv(appVar, app)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// files is a Checkout of files by path; a value that begins with -> is a link.
type files map[string]string

func (c files) Checkout(_ context.Context, _, commit, dir string) error {
	data, err := os.ReadFile(os.Getenv(appVar))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "app"), data, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("text of "+commit), 0o644); err != nil {
		return err
	}
	for name, text := range c {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// modes are those that work here.
func modes(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, mode := range []string{Bubblewrap, Namespaces, None} {
		d, err := New(Config{Dir: t.TempDir(), Isolation: mode}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Isolation(); err != nil {
			t.Logf("%s does not work here: %v", mode, err)
			continue
		}
		out = append(out, mode)
	}
	return out
}

func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	for _, mode := range modes(t) {
		t.Run(mode, func(t *testing.T) { test(t, mode) })
	}
}

func newDeployer(t *testing.T, cfg Config, content files) *Deployer {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "previews")
	}
	d, err := New(cfg, Options{Checkout: content, Port: func() int { return 7007 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		d.children.Wait()
	})
	return d
}

func wish(id string, command ...string) previews.Wish {
	if len(command) == 0 {
		command = []string{"./app", "one"}
	}
	return previews.Wish{ID: id, Service: "component:default/shop", Repository: "https://git.test/shop.git", Commit: "1111111111111111111111111111111111111111",
		Template: previews.Template{Deployer: "local", Command: command, Health: "/healthz"}, ExpiresAt: time.Now().Add(time.Hour)}
}

// apply applies, and removes at the end of the test.
func apply(t *testing.T, d *Deployer, w previews.Wish) {
	t.Helper()
	t.Cleanup(func() {
		if err := d.Remove(context.Background(), w); err != nil {
			t.Errorf("removing %s: %v", w.ID, err)
		}
	})
	if err := d.Apply(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

// until observes until a condition holds.
func until(t *testing.T, d *Deployer, w previews.Wish, what string, holds func(previews.Observed) bool) previews.Observed {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		o, err := d.Observe(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		if holds(o) {
			return o
		}
		if time.Now().After(deadline) {
			log, _ := d.Logs(context.Background(), w, 20)
			f, _ := d.folder(w.ID)
			t.Fatalf("%s is not %s: %+v; log %v; supervisor %s", w.ID, what, o, log, tailOf(f.at("supervisor.log")))
		}
	}
}

func untilReady(t *testing.T, d *Deployer, w previews.Wish) previews.Observed {
	t.Helper()
	return until(t, d, w, "ready", func(o previews.Observed) bool {
		if o.Failed {
			t.Fatalf("%s failed: %s", w.ID, o.Reason)
		}
		return o.Ready
	})
}

func untilFailed(t *testing.T, d *Deployer, w previews.Wish) previews.Observed {
	t.Helper()
	return until(t, d, w, "failed", func(o previews.Observed) bool { return o.Failed })
}

// get asks a preview through the front that Fairlead has.
func get(t *testing.T, d *Deployer, id, path string) (int, string) {
	t.Helper()
	server := httptest.NewServer(d.Front(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Fairlead") })))
	defer server.Close()
	defer d.transport.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if req.Host = "localhost"; id != "" {
		req.Host = id + ".preview.localhost:7007"
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func mustGet(t *testing.T, d *Deployer, id, path string) string {
	t.Helper()
	status, body := get(t, d, id, path)
	if status != http.StatusOK {
		t.Fatalf("%s%s answers %d %s", id, path, status, body)
	}
	return body
}

// untilGone removes and checks that nothing is left.
func untilGone(t *testing.T, d *Deployer, w previews.Wish) {
	t.Helper()
	port, _ := d.portOf(w.ID)
	if err := d.Remove(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	o, err := d.Observe(context.Background(), w)
	if err != nil || o.Exists || len(o.Remains) > 0 {
		t.Fatalf("after its removal %s is %+v, %v", w.ID, o, err)
	}
	if port != 0 && !portFree(port) {
		t.Fatalf("port %d is still taken", port)
	}
}
