package realtest

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Browser finds what browser.sh installed: Node, and a folder with
// playwright-core.
func Browser(t testing.TB) Clients {
	t.Helper()
	dir, err := installed("browser-*", "browser.sh")
	if err == nil {
		_, err = exec.LookPath("chromium")
	}
	need(t, "the browser", err)
	return Clients{Dir: dir, Node: nodeIn(dir)}
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
