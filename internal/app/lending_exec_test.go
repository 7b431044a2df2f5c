package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

var vaultUser = regexp.MustCompile(`v-[A-Za-z0-9-]+`)

// TestVaultCredsExec runs real psql with a user that a real Vault makes for it,
// and holds that user to being gone when psql, or the command line, has ended.
func TestVaultCredsExec(t *testing.T) {
	l := startVault(t, "")
	t.Run("to the end", func(t *testing.T) {
		code, out, errs := l.run("developer", l.exec(psql("-c", "select current_user")...)...)
		ended := time.Now()
		user := strings.TrimSpace(out)
		if code != 0 || errs != "" || vaultUser.FindString(user) != user || user == "" {
			t.Fatalf("%d %q %s", code, out, errs)
		}
		l.gone(user, 2*time.Second)
		t.Logf("the user was gone %s after the command line ended", time.Since(ended).Round(time.Millisecond))
	})
	t.Run("that fails", func(t *testing.T) {
		code, out, errs := l.run("developer", l.exec(psql("-v", "ON_ERROR_STOP=1", "-c", `select current_user`, "-c", `select 1/0`)...)...)
		if code == 0 || !strings.Contains(errs, "division by zero") {
			t.Fatalf("%d %q %s", code, out, errs)
		}
		l.gone(vaultUser.FindString(out), 2*time.Second)
	})
	t.Run("interrupted", func(t *testing.T) {
		c := l.launch("developer", l.exec("bash", "-c", `psql -XtA -c 'select current_user'; echo next; exec psql -Xc 'select pg_sleep(100)'`)...)
		// A shell that is interrupted while it waits for a program which ends well goes on.
		l.await("the first psql has ended", func() bool { return strings.Contains(c.out.text(), "next") })
		_ = c.Process.Signal(os.Interrupt)
		if code := c.ends(t); code == 0 {
			t.Errorf("%d %s", code, c.err.text())
		}
		l.gone(vaultUser.FindString(c.out.text()), 2*time.Second)
	})
	t.Run("by a lease of an agent", func(t *testing.T) {
		r := l.tool("agent", "request_credentials", map[string]any{"service": "checkout", "name": "db-readonly", "environment": "staging", "task": "count orders"})
		var lease struct{ Lease string }
		answer{body: string(r.StructuredContent)}.decode(t, &lease)
		args := l.exec(psql("-c", "select current_user")...)
		args = append([]string{"creds", "exec", "--lease", lease.Lease}, args[6:]...)
		if code, out, errs := l.run("agent", args...); code != 3 || out != "" {
			t.Errorf("an agent uses it: %d %s %s", code, out, errs)
		}
		code, out, errs := l.run("developer", args...)
		if code != 0 || vaultUser.FindString(out) == "" {
			t.Fatalf("%d %q %s", code, out, errs)
		}
		l.gone(vaultUser.FindString(out), 2*time.Second)
		if code, _, errs = l.run("developer", args...); code != 1 || !strings.Contains(errs, "is over") {
			t.Errorf("used twice: %d %s", code, errs)
		}
	})
	t.Run("revoked meanwhile", func(t *testing.T) {
		c := l.launch("developer", l.exec("bash", "-c", `psql -XtA -c 'select current_user'; sleep 100`)...)
		l.await("psql runs", func() bool { return strings.Contains(c.out.text(), "\n") })
		if code, out, errs := l.run("sre", "creds", "revoke", "--person", "user:default/alice", "--reason", "a drill"); code != 0 || !strings.Contains(out, "1 lease revoked") {
			t.Errorf("%d %s %s", code, out, errs)
		}
		l.gone(vaultUser.FindString(c.out.text()), 2*time.Second)
		<-c.done // it says every 10s that it is there
		if c.ProcessState.ExitCode() != 128+15 || !strings.Contains(c.err.text(), "a drill") {
			t.Errorf("%v %s", c.ProcessState, c.err.text())
		}
	})
	if left := l.lent(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestVaultCommandLineKilled kills the command line: what it runs ends at once,
// and the database user when nobody has said for 90s that it is wanted.
func TestVaultCommandLineKilled(t *testing.T) {
	t.Parallel()
	l := startVault(t, "")
	c := l.launch("developer", l.exec("bash", "-c", `psql -XtA -c 'select current_user'; echo pid=$$; while :; do sleep 0.1; done`)...)
	l.await("psql has run", func() bool { return strings.Contains(c.out.text(), "pid=") })
	pid, user := pidOf(c.out.text(), "pid="), vaultUser.FindString(c.out.text())
	_ = c.Process.Kill()
	<-c.done
	l.await("what it ran ends", func() bool { return !running(pid) })
	if !l.has(user) {
		t.Fatal("the user is not there any more, so nothing is shown")
	}
	t.Logf("gone %s after the command line was killed", l.gone(user, 110*time.Second).Round(time.Second))
}

// TestVaultWrappingStolen has somebody open the wrapping before its holder can.
func TestVaultWrappingStolen(t *testing.T) {
	t.Parallel()
	l := startVault(t, "")
	thief := l.thief(t)
	l.url = thief.URL
	code, out, errs := l.run("developer", l.exec("echo", "ran")...)
	if code != 3 || out != "" || !strings.Contains(errs, "opened by somebody else") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	all := l.leases("sre")
	if len(all) != 1 || !all[0].Alarm || all[0].State != "revoked" && all[0].State != "revoking" {
		t.Errorf("leases %+v", all)
	}
	l.await("the user is gone", func() bool { return len(l.lent()) == 0 })
	if a := l.send("sre", http.MethodGet, "/api/v1/audit?limit=50", ""); !strings.Contains(a.body, "report_credentials") {
		t.Error("the alarm is not in the audit")
	}
	if !strings.Contains(l.logs.text(), "opened by somebody else") {
		t.Error("the alarm is not in the log")
	}
}

// thief is between the command line and the server, and uses what opens
// wrappings before it passes that on.
func (l *lending) thief(t *testing.T) *httptest.Server {
	t.Helper()
	target, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ModifyResponse = func(res *http.Response) error {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		res.Body = io.NopCloser(bytes.NewReader(body))
		var loan struct {
			Wrap *struct{ Token, UnwrapURL string }
		}
		if json.Unmarshal(body, &loan) != nil || loan.Wrap == nil {
			return nil
		}
		req, err := http.NewRequest(http.MethodPost, loan.Wrap.UnwrapURL, nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Vault-Token", loan.Wrap.Token)
		stolen, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer stolen.Body.Close()
		if stolen.StatusCode != http.StatusOK {
			t.Errorf("the thief got %s", stolen.Status)
		}
		return nil
	}
	srv := httptest.NewServer(pass)
	t.Cleanup(srv.Close)
	return srv
}
