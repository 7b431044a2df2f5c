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

// installed is the folder of the cache that a script has made; pattern tells it
// from those of others.
func installed(pattern, script string) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(cache, "fairlead", pattern, "done"))
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("it is not installed; run internal/realtest/" + script)
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// ClientsOf finds what clients.sh installed.
func ClientsOf(t testing.TB) Clients {
	t.Helper()
	dir, err := installed("clients-*", "clients.sh")
	need(t, "clients from npm", err)
	return Clients{Dir: dir, Node: nodeIn(dir)}
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

// LastLines is the end of a log, which is to explain what failed.
func LastLines(file string) []byte {
	text, _ := os.ReadFile(file) // only adds to a message
	var end lastLines
	_, _ = end.Write(text) // never fails
	return end
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
