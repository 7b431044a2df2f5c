package app

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// startApart is startVault with the server in a process of its own, at an
// address that it keeps. again kills it, has something done, and starts it anew.
func startApart(t *testing.T) (l *lending, again func(meanwhile func())) {
	t.Helper()
	l, config := setUpVault(t, "")
	var kill func()
	start := func() {
		l.url, kill = serveApart(t, config)
		l.await("the service is known", func() bool {
			return l.send("sre", http.MethodGet, "/api/catalog/entities/by-name/component/default/checkout", "").status == http.StatusOK
		})
	}
	start()
	write(t, config, strings.Replace(readFile(t, config), "127.0.0.1:0", strings.TrimPrefix(l.url, "http://"), 1))
	return l, func(meanwhile func()) {
		kill()
		meanwhile()
		start()
	}
}

// hold runs a command with a credential for so long, and gives the database
// user.
func (l *lending) hold(ttl string) (c *commandLine, user string) {
	l.t.Helper()
	args := l.exec("bash", "-c", `psql -XtA -c 'select current_user'; sleep 100`)
	c = l.launch("developer", slices.Insert(args, 4, "--ttl", ttl)...)
	l.await("psql has run", func() bool { return strings.Contains(c.out.text(), "\n") })
	if user = vaultUser.FindString(c.out.text()); user == "" {
		l.t.Fatalf("no user: %s %s", c.out.text(), c.err.text())
	}
	return c, user
}

// interrupt ends a command.
func (l *lending) interrupt(c *commandLine) {
	l.t.Helper()
	_ = c.Process.Signal(os.Interrupt)
	if code := c.ends(l.t); code == 0 {
		l.t.Errorf("it ended well: %s", c.err.text())
	}
}

// accounts are the leases of the tokens that Vault has for any.
func (l *lending) accounts() (out []string) {
	l.t.Helper()
	var list struct{ Data struct{ Keys []string } }
	l.vault.Must(l.t, "LIST", "auth/token/accessors", nil, &list)
	for _, accessor := range list.Data.Keys {
		var token struct {
			Data struct{ Meta map[string]string }
		}
		l.vault.API(l.t, http.MethodPost, "auth/token/lookup-accessor", map[string]any{"accessor": accessor}, &token) // it may have ended
		if lease := token.Data.Meta["lease"]; lease != "" {
			out = append(out, lease)
		}
	}
	return out
}

// settle waits until so many leases have ended, in the ledger and in Vault.
func (l *lending) settle(n int) {
	l.t.Helper()
	l.await("the ledger says that all is over", func() bool {
		all := l.leases("sre")
		for _, one := range all {
			if one.State != "revoked" && one.State != "expired" {
				return false
			}
		}
		return len(all) == n
	})
	if accounts, lent := l.accounts(), l.lent(); len(accounts)+len(lent) > 0 {
		l.t.Errorf("Vault has accounts of %v and leases %v", accounts, lent)
	}
}

// TestVaultFairleadKilled kills the server while credentials are in use. Who
// goes on using one when it is back gives it back as ever; one whose command
// ended meanwhile, so that nobody could say so, ends with its time.
func TestVaultFairleadKilled(t *testing.T) {
	t.Parallel()
	l, again := startApart(t)
	stays, user := l.hold("10m")
	ends, left := l.hold("30s")
	again(func() { l.interrupt(ends) })
	if !l.has(user) || !l.has(left) {
		t.Fatal("the users are not there any more, so nothing is shown")
	}
	l.interrupt(stays)
	l.gone(user, 2*time.Second)
	if code, out, errs := l.run("developer", l.exec("true")...); code != 0 {
		t.Errorf("another is not lent: %d %s %s", code, out, errs)
	}
	t.Logf("the other was gone after %s more", l.gone(left, 45*time.Second).Round(time.Second))
	l.settle(3)
}

// TestVaultVaultKilled kills Vault while credentials are in use: one is given
// back when it is there again, and one is not, which is found as soon as it is.
func TestVaultVaultKilled(t *testing.T) {
	t.Parallel()
	l := startVault(t, "")
	before, first := l.hold("10m")
	l.vault.Restart(t)
	if !l.has(first) {
		t.Fatal("the user is not there any more, so nothing is shown")
	}
	l.interrupt(before)
	l.gone(first, 5*time.Second)
	meanwhile, second := l.hold("10m")
	l.vault.Kill(t)
	l.interrupt(meanwhile)
	if all := fmt.Sprint(l.leases("sre")); !l.has(second) || !strings.Contains(all, "revoking") {
		t.Errorf("with no Vault there is %s", all)
	}
	l.vault.Start(t)
	t.Logf("gone %s after Vault was there again", l.gone(second, 45*time.Second).Round(time.Millisecond))
	l.settle(2)
}
