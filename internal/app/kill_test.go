package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/cmd/fairlead/command"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// TestMain runs a server instead of the tests where the environment says so:
// tests that kill one need a process of its own.
func TestMain(m *testing.M) {
	if code, ran := Supervise(os.Args[1:]); ran {
		os.Exit(code)
	}
	if os.Getenv(asCommandLine) != "" {
		os.Unsetenv(asCommandLine)
		os.Exit(command.Main(os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Environ: os.Environ, Version: "test"}))
	}
	config := os.Getenv("FAIRLEAD_TEST_SERVE")
	if config == "" {
		os.Exit(m.Run())
	}
	cfg, err := LoadConfig(config)
	if err == nil {
		var a *App
		if a, err = New(context.Background(), cfg, io.Discard); err == nil {
			fmt.Println(a.URL())
			err = a.Run(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serveApart serves a configuration in a process of its own.
func serveApart(t *testing.T, config string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "FAIRLEAD_TEST_SERVE="+config)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

func names(t *testing.T, url, token, version string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/catalog/entities/by-query?limit=0&filter=metadata.labels.version="+version, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var n struct{ TotalItems int }
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer{status: res.StatusCode, body: string(body)}.decode(t, &n)
	return n.TotalItems
}

// TestKilledWhileReading kills the server at moments spread over the reading
// of a changed repository. Whenever it comes back it serves one whole state,
// at once, before it has read anything.
func TestKilledWhileReading(t *testing.T) {
	const files = 300
	dir, token := t.TempDir(), "token-of-the-kill-test-0123456789"
	version := func(v string) map[string]string {
		out := map[string]string{}
		for i := range files {
			out[fmt.Sprintf("s%03d/catalog-info.yaml", i)] = fmt.Sprintf("apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: s%03d, labels: {version: %s}}\nspec: {type: service, lifecycle: production, owner: shop}\n", i, v)
		}
		return out
	}
	repo := filepath.Join(dir, "repo")
	if err := git.Create(repo, version("v0"), git.Commit{Message: "First", Author: "Test", Email: "test@shop.test", When: time.Now()}); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "fairlead.yaml")
	write(t, filepath.Join(dir, "token"), token)
	write(t, config, "listen: 127.0.0.1:0\nauth: {tokens: [{name: t, tokenFile: ./token, subject: user:default/t, roles: [sre]}]}\ncatalog: {refresh: 1s, sources: [{name: repo, git: {url: ./repo}}]}\n")
	url, kill := serveApart(t, config)
	waitFor(t, func() bool { return names(t, url, token, "v0") == files })
	served := "v0"
	for round := range 6 {
		next := fmt.Sprintf("v%d", round+1)
		for path, text := range version(next) {
			write(t, filepath.Join(repo, path), text)
		}
		if out, err := exec.CommandContext(t.Context(), "git", "-C", repo, "-c", "user.name=T", "-c", "user.email=t@shop.test", "commit", "-qam", next).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		refreshFor(t, url, token, time.Duration(round)*15*time.Millisecond)
		kill()
		url, kill = serveApart(t, config)
		old, now := names(t, url, token, served), names(t, url, token, next)
		if old != files && now != files {
			t.Fatalf("round %d: %d of %s and %d of %s are served", round, old, served, now, next)
		}
		waitFor(t, func() bool { return names(t, url, token, next) == files })
		served = next
	}
}

// refreshFor has the repository read and gives up on the answer after d.
func refreshFor(t *testing.T, url, token string, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d+time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/v1/refresh", strings.NewReader(`{"source":"repo"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain waited")
		}
	}
}
