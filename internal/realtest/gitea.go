package realtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Forge is a real Gitea. Webhooks may be sent to the loopback interface, and
// nothing is sent anywhere else.
type Forge struct {
	// URL is where it is, without a slash at the end.
	URL string
	// User and Password are those of an administrator, and Token allows
	// everything.
	User, Password, Token string

	bin, dir string
	keeper   *kept
}

// gitea is the server of this process, started by the first test that needs
// it.
var gitea = sync.OnceValues(func() (*Forge, error) { return startGitea(context.Background()) })

// Gitea gives a real Gitea, which the tests of a process share: let each name
// its own organizations.
func Gitea(t testing.TB) *Forge {
	t.Helper()
	_, err := giteaDir()
	need(t, "Gitea", err)
	f, err := gitea()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of Gitea's log:\n%s", LastLines(filepath.Join(f.dir, "log")))
		}
	})
	return f
}

// NewGitea is Gitea for programs that are no tests: one of their own, and what
// ends it.
func NewGitea(ctx context.Context) (f *Forge, stop func() error, err error) {
	if f, err = startGitea(ctx); err != nil {
		return nil, nil, err
	}
	return f, func() error { return errors.Join(f.keeper.stop(), os.RemoveAll(f.dir)) }, nil
}

// giteaDir finds what gitea.sh built.
func giteaDir() (string, error) { return installed("gitea-*", "gitea.sh") }

// API calls Gitea's API as the administrator with a JSON body, nil for none,
// and reads the answer into out, if that is not nil. A status that is no
// success ends the test.
func (f *Forge) API(t testing.TB, method, path string, in, out any) {
	t.Helper()
	if err := f.Ask(t.Context(), method, path, in, out); err != nil {
		t.Fatal(err)
	}
}

// Ask is API for programs that are no tests, where a status that is no success
// is an error.
func (f *Forge) Ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, f.URL+"/api/v1"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.SetBasicAuth(f.User, f.Password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return errors.Join(fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text), err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// Merge merges a pull request, named by its path, such as
// /repos/acme/deploy/pulls/1, as soon as it can be: while Gitea finds out
// whether it can, which it does anew each time the base or the branch moves, it
// asks for patience. Any other answer that is no success ends the test.
func (f *Forge) Merge(t testing.TB, pull string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := f.Ask(t.Context(), http.MethodPost, pull+"/merge", map[string]any{"Do": "merge"}, nil)
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "Please try again later") || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// NewToken makes an access token of the administrator's with scopes such as
// read:repository, and gives it and the function that revokes it.
func (f *Forge) NewToken(t testing.TB, scopes ...string) (token string, revoke func()) {
	t.Helper()
	var made struct {
		ID   int64
		SHA1 string
	}
	path := "/users/" + f.User + "/tokens"
	f.API(t, http.MethodPost, path, map[string]any{"name": rand.Text(), "scopes": scopes}, &made)
	return made.SHA1, func() {
		t.Helper()
		f.API(t, http.MethodDelete, fmt.Sprintf("%s/%d", path, made.ID), nil, nil)
	}
}

func startGitea(ctx context.Context) (*Forge, error) {
	from, err := giteaDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fairlead-gitea-")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for range 5 { // another process may take the port first
		port, portErr := freePort()
		if portErr != nil {
			return nil, errors.Join(portErr, os.RemoveAll(dir))
		}
		f := &Forge{URL: fmt.Sprintf("http://127.0.0.1:%d", port), User: "root1", Password: rand.Text(), bin: filepath.Join(from, "gitea"), dir: dir}
		if err = f.start(ctx, filepath.Join(from, "static"), port); err == nil {
			return f, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// start prepares the database and the administrator where they are not there
// yet, and runs the server.
func (f *Forge) start(ctx context.Context, static string, port int) error {
	conf := filepath.Join(f.dir, "custom", "conf")
	if err := os.MkdirAll(conf, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(conf, "app.ini"), []byte(f.config(static, port)), 0o600); err != nil {
		return err
	}
	if f.Token == "" {
		if err := f.prepare(ctx); err != nil {
			return err
		}
	}
	return f.run(ctx)
}

func (f *Forge) prepare(ctx context.Context) error {
	if _, err := f.command(ctx, "migrate"); err != nil {
		return err
	}
	if _, err := f.command(ctx, "admin", "user", "create", "--admin", "--username", f.User, "--password", f.Password,
		"--email", "root1@example.invalid", "--must-change-password=false"); err != nil {
		return err
	}
	out, err := f.command(ctx, "admin", "user", "generate-access-token", "--username", f.User, "--token-name", rand.Text(), "--scopes", "all", "--raw")
	if err != nil {
		return err
	}
	// The log, in which root is warned, comes before or after it.
	if f.Token = regexp.MustCompile(`(?m)^[0-9a-f]{40}$`).FindString(out); f.Token == "" {
		return fmt.Errorf("gitea gave no token, but said:\n%s", out)
	}
	return nil
}

func (f *Forge) environment() []string {
	return append(os.Environ(), "HOME="+f.dir, "GITEA_WORK_DIR="+f.dir, "GITEA_CUSTOM="+filepath.Join(f.dir, "custom"))
}

// command runs one of the server's own commands.
func (f *Forge) command(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, f.bin, args...) //nolint:gosec // a program that gitea.sh built, arguments of ours
	cmd.Dir, cmd.Env = f.dir, f.environment()
	var stderr lastLines
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("gitea %s: %w\n%s\n%s", args[0], err, out, stderr)
	}
	return string(out), nil
}

func (f *Forge) run(ctx context.Context) error {
	log, err := os.Create(filepath.Join(f.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own
	if f.keeper, err = keep(keeper, f.dir, f.environment(), log, nil, f.bin, "web"); err != nil {
		return err
	}
	if err := f.await(ctx, f.keeper.ended); err != nil {
		return errors.Join(fmt.Errorf("starting Gitea: %w\n%s", err, LastLines(log.Name())), f.keeper.stop())
	}
	return nil
}

// await waits until the server answers.
func (f *Forge) await(ctx context.Context, ended <-chan struct{}) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended:
			return errors.New("the server ended")
		case <-tick.C:
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+"/api/v1/version", http.NoBody)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue
			}
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// config is the server's configuration: all in its folder, loopback alone, no
// mail, no jobs, cheap passwords.
func (f *Forge) config(static string, port int) string {
	sections := [][2]string{
		{"", "APP_NAME = test forge\nRUN_MODE = prod\nI_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\nWORK_PATH = " + f.dir},
		{"server", fmt.Sprintf("PROTOCOL = http\nHTTP_ADDR = 127.0.0.1\nHTTP_PORT = %d\nROOT_URL = %s/\nLOCAL_ROOT_URL = %s/\nSTATIC_ROOT_PATH = %s\nDISABLE_SSH = true\nOFFLINE_MODE = true\nLFS_START_SERVER = false", port, f.URL, f.URL, static)},
		{"database", "DB_TYPE = sqlite3\nPATH = " + filepath.Join(f.dir, "gitea.db") + "\nSQLITE_JOURNAL_MODE = WAL\nLOG_SQL = false"},
		{"security", "INSTALL_LOCK = true\nPASSWORD_HASH_ALGO = pbkdf2$1000$50\nSECRET_KEY = " + rand.Text() + "\nINTERNAL_TOKEN = " + rand.Text() + rand.Text()},
		{"oauth2", "JWT_SECRET = " + jwtSecret()},
		{"service", "DISABLE_REGISTRATION = true"},
		{"repository", "ROOT = " + filepath.Join(f.dir, "repos") + "\nDEFAULT_BRANCH = main"},
		{"webhook", "ALLOWED_HOST_LIST = loopback\nDELIVER_TIMEOUT = 5"},
		{"indexer", "ISSUE_INDEXER_TYPE = db"},
		{"queue", "TYPE = channel"},
		// Where the same comes again and again, a channel of its may take it for
		// waiting for good: it notes what it has sent after it was received.
		{"queue.pr_patch_checker", "TYPE = level"},
		{"queue.actions_ready_job", "TYPE = level"},
		{"session", "PROVIDER = memory"},
		{"cache", "ADAPTER = memory"},
		{"log", "MODE = console\nLEVEL = warn"},
		{"cron", "ENABLED = false"},
		{"mailer", "ENABLED = false"},
		{"actions", "ENABLED = true"},
		{"packages", "ENABLED = false"},
	}
	var b strings.Builder
	for _, s := range sections {
		if s[0] != "" {
			fmt.Fprintf(&b, "[%s]\n", s[0])
		}
		b.WriteString(s[1] + "\n")
	}
	return b.String()
}

func jwtSecret() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // documented never to fail
	return base64.RawURLEncoding.EncodeToString(secret)
}
