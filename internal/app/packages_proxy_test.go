package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// startProxied serves the demo to a real Backstage, whose proxy passes requests
// on to it, and whose users' tokens it takes.
func startProxied(t *testing.T) (*server, *realtest.TokenIssuer) {
	t.Helper()
	at := realtest.FreeAddress(t)
	b := realtest.BackstageTokens(t, false, fmt.Sprintf("proxy: {endpoints: {/fairlead: {target: 'http://%s', credentials: forward}}}\n", at))
	s, set := newDemo(t, at)
	write(t, set.Config, strings.Replace(readFile(t, set.Config), "auth:\n", fmt.Sprintf("auth:\n  oidc: {backstage: [{url: %q, roles: {developer: [%q]}}]}\n", b.URL, realtest.GuestGroup), 1))
	s.start(set.Config)
	return s, b
}

// byProxy is an answer of Fairlead that Backstage's proxy passes on.
func byProxy(t *testing.T, b *realtest.TokenIssuer, token, query string) (status int, body string) {
	t.Helper()
	text, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	a := (&server{t: t, url: b.URL}).send(token, http.MethodPost, "/api/proxy/fairlead/graphql", string(text))
	return a.status, a.body
}

// TestPackagesByProxy asks Fairlead by the proxy of a real Backstage, as the user
// whose token Backstage issued. Sockets do not get through, which is told at
// once and hides nothing.
func TestPackagesByProxy(t *testing.T) {
	s, b := startProxied(t)
	user := b.User()
	for query, want := range map[string]string{
		"{ whoami { subject groups roles } }":                                         `{"data":{"whoami":{"subject":"user:default/alice","groups":["group:default/payments"],"roles":["developer"]}}}`,
		`{ entity(ref: "component:default/checkout") { ref } }`:                       `"component:default/checkout"`,
		`mutation { createPreviewEnvironment(service: "nonesuch", key: "k") { id } }`: `"code":"not_found"`,
	} {
		if status, body := byProxy(t, b, user, query); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	if status, body := byProxy(t, b, "", "{ whoami { subject } }"); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, body := byProxy(t, b, s.tokens["sre"], "{ whoami { subject } }"); status != http.StatusUnauthorized {
		t.Errorf("with a token that is not Backstage's: %d %s", status, body)
	}
	began := time.Now()
	conn, resp, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(b.URL, "http")+"/api/proxy/fairlead/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err == nil {
		_ = conn.CloseNow()
		t.Fatal("a socket gets through Backstage's proxy: pages may have live changes there, and docs/backstage.md says otherwise")
	}
	if resp == nil || time.Since(began) > 10*time.Second {
		t.Errorf("a socket is refused by %v after %v", err, time.Since(began))
		return
	}
	t.Logf("a socket is refused with status %d", resp.StatusCode)
}

// inFront serves a built app, and passes what it asks on: for the catalog to
// Fairlead, for all else to a Backstage.
func inFront(t *testing.T, ui, catalog, backstage string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/api/", passOn(t, backstage))
	mux.Handle("/api/catalog/", passOn(t, catalog))
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	page := readFile(t, filepath.Join(ui, "index.html"))
	begin := strings.Index(page, configMark)
	end := begin + strings.Index(page[begin:], "</script>")
	last := strings.LastIndex(page[:end], "]")
	page = page[:last] + fmt.Sprintf(`,{"context":"test","data":{"app":{"baseUrl":%[1]q},"backend":{"baseUrl":%[1]q}}}`, front.URL) + page[last:]
	files := http.FileServer(http.Dir(ui))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if info, err := os.Stat(filepath.Join(ui, filepath.FromSlash(r.URL.Path))); err == nil && info.Mode().IsRegular() {
			files.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	})
	return front.URL
}

// TestPackagesPagesByProxy opens a page that reaches Fairlead by the proxy alone:
// it follows changes by asking again, and does not fill the console with the
// socket that does not come about.
func TestPackagesPagesByProxy(t *testing.T) {
	realtest.Browser(t)
	s, b := startProxied(t)
	ui := realtest.UI(t, filepath.Join("..", "realtest", "ui.sh"))
	got := realtest.Walk(t, inFront(t, ui, s.url, b.URL), filepath.Join("testdata", "browser", "proxied.cjs"), map[string]string{"server": s.url, "token": s.tokens["developer"]})
	var out struct{ Sockets int }
	if err := json.Unmarshal(got.Out, &out); err != nil {
		t.Fatal(err)
	}
	if out.Sockets == 0 || out.Sockets > 8 {
		t.Errorf("the console tells %d times that there is no socket", out.Sockets)
	}
}
