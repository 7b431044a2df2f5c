package vault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/realtest"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// TestTheEnvironmentMeansNothing sets all that Vault's own programs read, to
// what would lead elsewhere or fail.
func TestTheEnvironmentMeansNothing(t *testing.T) {
	server, _, _ := lender(t)
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(elsewhere.Close)
	for name, text := range map[string]string{
		"VAULT_ADDR": elsewhere.URL, "VAULT_AGENT_ADDR": elsewhere.URL, "VAULT_TOKEN": "canary-token", "VAULT_NAMESPACE": "elsewhere", "VAULT_SKIP_VERIFY": "true",
		"VAULT_CACERT": "/none", "VAULT_CAPATH": "/none", "VAULT_CLIENT_CERT": "/none", "VAULT_CLIENT_KEY": "/none", "VAULT_TLS_SERVER_NAME": "elsewhere",
		"VAULT_HEADERS": "no JSON", "VAULT_RATE_LIMIT": "no number", "VAULT_MAX_RETRIES": "no number", "VAULT_CLIENT_TIMEOUT": "no time",
		"VAULT_HTTP_PROXY": elsewhere.URL, "VAULT_PROXY_ADDR": elsewhere.URL, "VAULT_WRAP_TTL": "1h", "VAULT_SRV_LOOKUP": "true", "VAULT_DISABLE_REDIRECTS": "no bool",
	} {
		t.Setenv(name, text)
	}
	v := connect(t, vault.Config{Address: server.Address, Auth: appRole(t, server, nil)})
	t.Setenv("VAULT_WRAP_TTL", "1h") // asked for at each request
	t.Setenv("VAULT_TOKEN", "canary-token")
	_, w := draw(t, v, reader("lease-1"))
	if got := values(t, v, w); got["username"] == "" {
		t.Errorf("it gives %v", got)
	}
	if asked {
		t.Error("it went elsewhere")
	}
	if _, there := os.LookupEnv("VAULT_ADDR"); there {
		t.Error("children still get VAULT_ADDR")
	}
}

func TestTLS(t *testing.T) {
	server := realtest.VaultTLS(t)
	server.Must(t, http.MethodPost, "sys/mounts/database", m{"type": "database"}, nil)
	prepare(t, server)
	auth := appRole(t, server, nil)
	open := func(c vault.Config) error {
		c.Address, c.Auth = server.Address, auth
		o := reader("lease-1")
		o.Offer.Engine, o.Offer.Role, o.Offer.Mount, o.Offer.Path = "kv", "", "secret", "checkout/key"
		_, err := connect(t, c).Open(t.Context(), o)
		return err
	}
	if err := open(vault.Config{CAFile: server.CAFile}); err != nil {
		t.Errorf("with its authority: %v", err)
	}
	if err := open(vault.Config{CAFile: server.CAFile, ServerName: "localhost"}); err != nil {
		t.Errorf("with its other name: %v", err)
	}
	t.Setenv("VAULT_SKIP_VERIFY", "true")
	fails(t, open(vault.Config{}), fault.Unavailable, "certificate is trusted")
	fails(t, open(vault.Config{CAFile: server.CAFile, ServerName: "vault.example.com"}), fault.Unavailable)
	other := realtest.VaultTLS(t)
	fails(t, open(vault.Config{CAFile: other.CAFile}), fault.Unavailable)
}

// TestNamespaces looks at what is sent, since namespaces are not in the Vault
// that everybody has; it goes on to a real one, which overlooks them.
func TestNamespaces(t *testing.T) {
	server, _, _ := lender(t)
	at, err := url.Parse(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	sent := map[string]int{}
	proxy := httputil.NewSingleHostReverseProxy(at)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent[r.Header.Get("X-Vault-Namespace")]++
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(between.Close)
	v := connect(t, vault.Config{Address: between.URL + "/", Namespace: "org/team-a/", Auth: appRole(t, server, nil)})
	a, w := draw(t, v, reader("lease-1"))
	if w.Namespace != "org/team-a" || w.URL != between.URL+"/v1/sys/wrapping/unwrap" {
		t.Errorf("it is opened at %s in %q", w.URL, w.Namespace)
	}
	values(t, v, w)
	if _, err := v.Renew(t.Context(), a.Handle, time.Minute); err != nil {
		t.Error(err)
	}
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 1 || sent["org/team-a"] < 6 {
		t.Errorf("sent %v", sent)
	}
}

// TestWhatIsNoVault has others answer: with a page, with what is too long, and
// with JSON of another kind.
func TestWhatIsNoVault(t *testing.T) {
	server, _, _ := lender(t)
	auth := appRole(t, server, nil)
	for what, answer := range map[string]func(w http.ResponseWriter){
		"a page":       func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>canary</html>")) },
		"nothing":      func(http.ResponseWriter) {},
		"other JSON":   func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"auth": "canary"}`)) },
		"no token":     func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"data": {"canary": 1}}`)) },
		"without end":  func(w http.ResponseWriter) { endless(w) },
		"another page": func(w http.ResponseWriter) { http.Error(w, "<html>canary</html>", http.StatusBadGateway) },
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		v := connect(t, vault.Config{Address: other.URL, Auth: auth})
		_, err := v.Open(t.Context(), reader("lease-1"))
		t.Log(what, err)
		fails(t, err, fault.Unavailable)
		if strings.Contains(fmt.Sprintf("%v %+v", err, fault.From(err)), "canary") {
			t.Errorf("%s: it says %v", what, err)
		}
		other.Close()
	}
}

// endless writes JSON for as long as somebody reads.
func endless(w http.ResponseWriter) {
	for text := []byte(`{"data": {"a": "` + strings.Repeat("a", 1<<20)); ; text = text[len(text)/2:] {
		if _, err := w.Write(text); err != nil {
			return
		}
		if len(text) < 4096 {
			text = []byte(strings.Repeat("a", 1<<20))
		}
	}
}
