package realtest

import (
	"context"
	"encoding/json"
	"fmt"
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
	c, err := FindBrowser()
	need(t, "the browser", err)
	return c
}

// FindBrowser is Browser for programs that are no tests; an error tells what is
// missing.
func FindBrowser() (Clients, error) {
	dir, err := installed("browser-*", "browser.sh")
	if err == nil {
		_, err = exec.LookPath("chromium")
	}
	return Clients{Dir: dir, Node: nodeIn(dir)}, err
}

// BrowserEnv is what a script needs of its environment to launch the browser by
// playwright-core: FAIRLEAD_BROWSER holds options of launchPersistentContext.
func (c Clients) BrowserEnv() []string {
	options := `{"executablePath": "/usr/bin/chromium", "args": ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"], "viewport": {"width": 1400, "height": 1000}}`
	return []string{"FAIRLEAD_BROWSER=" + options, "NODE_PATH=" + filepath.Join(c.Dir, "node_modules")}
}

// UI gives the folder of the front end as ui.sh builds it of this checkout's
// files, which is done at most once for each state of them.
func UI(t testing.TB, script string, args ...string) string {
	t.Helper()
	dir, err := BuildUI(t.Context(), script, args...)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// BuildUI is UI for programs that are no tests.
func BuildUI(ctx context.Context, script string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, script, args...) //nolint:gosec // a script of this repository
	var stderr lastLines
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s\n%s", script, err, out, stderr)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}

// Walked is what a script saw in a browser.
type Walked struct {
	// Pages are the milliseconds until the last text of each page that was
	// opened could be read.
	Pages map[string]int
	// Out is what the script says besides.
	Out json.RawMessage
}

// Walk has a script, as lib.cjs beside those of internal/app tells, use the pages
// of the server at url; given is what it gets besides. That it got to its end, and
// that the browser had nothing to complain of, is held. Screenshots go to a folder
// of the script's name in FAIRLEAD_SHOTS.
func Walk(t testing.TB, url, script string, given any) Walked {
	t.Helper()
	browser := Browser(t)
	path, err := filepath.Abs(script)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	env := append(browser.BrowserEnv(), "FAIRLEAD_SERVER="+url, "FAIRLEAD_GIVEN="+string(data))
	if shots := os.Getenv("FAIRLEAD_SHOTS"); shots != "" {
		env = append(env, "FAIRLEAD_SHOTS="+filepath.Join(shots, strings.TrimSuffix(filepath.Base(script), ".cjs")))
	}
	var seen struct {
		Walked
		Failed   string
		Troubles []string
	}
	out := browser.Run(t, env, path)
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if seen.Failed != "" {
		t.Errorf("the browser got no further than %v: %s", seen.Pages, seen.Failed)
	}
	if len(seen.Troubles) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(seen.Troubles, "\n"))
	}
	t.Logf("milliseconds to the last text of each page: %v", seen.Pages)
	return seen.Walked
}
