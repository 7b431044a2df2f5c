package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
)

const builtPage = `<!doctype html><html><head><script type="backstage.io/config">[
  {"context": "app-config.yaml", "data": {"app": {"title": "Built"}}}
]</script></head><body><div id="root"></div></body></html>`

// startUI serves the demo with a front end of a page and a script.
func startUI(t *testing.T, more string) *server {
	t.Helper()
	dir := t.TempDir()
	set, err := demo.Prepare(t.Context(), dir, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ui := filepath.Join(dir, "ui")
	if err := os.MkdirAll(filepath.Join(ui, "static"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(ui, "index.html"), builtPage)
	write(t, filepath.Join(ui, "static", "main.0123.js"), strings.Repeat("console.log(1);\n", 1000))
	write(t, filepath.Join(ui, "static", "main.0123.js.map"), "{}")
	write(t, filepath.Join(dir, "secret"), "secret")
	if err := os.Symlink(filepath.Join(dir, "secret"), filepath.Join(ui, "link.js")); err != nil {
		t.Fatal(err)
	}
	write(t, set.Config, withoutPreviews(readFile(t, set.Config))+"ui:\n  dir: "+ui+"\n"+more)
	s := &server{t: t, dir: dir, tokens: set.Tokens}
	s.start(set.Config)
	return s
}

// layersOf are the layers of settings in a page.
func layersOf(t *testing.T, page string) (layers []struct {
	Context string
	Data    map[string]map[string]any
}) {
	t.Helper()
	_, text, _ := strings.Cut(page, configMark)
	text, _, _ = strings.Cut(text, "</script>")
	if err := json.Unmarshal([]byte(text), &layers); err != nil {
		t.Fatalf("%v: %s", err, page)
	}
	return layers
}

func TestFrontEndIsServedWithoutNode(t *testing.T) {
	s := startUI(t, "  settings: {app: {title: '</script><b>'}}\n  guest: {subject: user:default/alice, groups: [group:default/storefront], roles: [developer]}\n")
	for _, path := range []string{"/", "/catalog/default/component/checkout", "/settings?x=1"} {
		a := s.send("", http.MethodGet, path, "")
		layers := layersOf(t, a.body)
		if a.status != http.StatusOK || len(layers) != 3 || layers[1].Data["app"]["title"] != "</script><b>" || layers[2].Data["backend"]["baseUrl"] != s.url || layers[2].Data["fairlead"]["url"] != s.url || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %+v", path, a.status, a.header, layers)
		}
	}
	script := s.send("", http.MethodGet, "/static/main.0123.js", "", "Accept-Encoding", "gzip")
	if script.status != http.StatusOK || script.header.Get("Content-Encoding") != "gzip" || !strings.Contains(script.header.Get("Cache-Control"), "immutable") || len(script.body) > 1000 {
		t.Errorf("the script: %d %v, %d bytes", script.status, script.header, len(script.body))
	}
	for path, status := range map[string]int{"/static/main.0123.js.map": 404, "/static/none.js": 404, "/link.js": 404, "/api/none": 404, "/api/v1/entities/none": 401} {
		if a := s.send("", http.MethodGet, path, ""); a.status != status || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %d %.100s", path, a.status, a.body)
		}
	}
	if a := s.send("", http.MethodPost, "/catalog", "{}"); a.status != http.StatusNotFound {
		t.Errorf("a page takes a POST: %d", a.status)
	}
	token := s.guestToken()
	me := s.send(token, http.MethodGet, "/api/v1/whoami", "").body
	for _, text := range []string{`"user:default/alice"`, `"group:default/storefront"`, `"developer"`} {
		if !strings.Contains(me, text) {
			t.Errorf("the guest is %s", me)
		}
	}
	forged := token[:len(token)-8] + "AAAAAAAA"
	if a := s.send(forged, http.MethodGet, "/api/v1/whoami", ""); a.status != http.StatusUnauthorized {
		t.Errorf("a forged token of the guest's: %d %s", a.status, a.body)
	}
}

func TestFrontEndMayAskWhomItsSettingsName(t *testing.T) {
	for target, want := range map[string]string{
		"'http://auth.test:7007/api/{{pluginId}}'": "http://auth.test:7007", "https://auth.test/api/auth": "",
		"{internal: 'http://in.test', external: 'http://out.test/api/auth'}": "http://out.test", "'http://a;script-src *'": "", "7": "",
	} {
		s := startUI(t, "  settings: {discovery: {endpoints: [{target: "+target+", plugins: [auth]}]}}\n")
		if got := s.send("", http.MethodGet, "/", "").header.Get("Content-Security-Policy"); !strings.HasSuffix(got, strings.TrimSpace("connect-src 'self' ws: wss: https: "+want)) {
			t.Errorf("%s: %s", target, got)
		}
	}
}

func TestNobodyIsLetInWithoutAGuest(t *testing.T) {
	s := startUI(t, "")
	if a := s.send("", http.MethodGet, "/api/auth/guest/refresh", ""); a.status != http.StatusNotFound || !strings.Contains(a.body, "NotFoundError") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestFrontEndsThatCannotBeServed(t *testing.T) {
	empty := t.TempDir()
	for config, text := range map[string]string{
		"listen: 0.0.0.0:1\nui: {dir: x, guest: {subject: 'user:default/a'}}\n": "loopback",
		"ui: {guest: {subject: 'group:default/a', groups: ['user:x']}}\n":       "no reference of a user",
		"ui: {}\n": "name the folder",
	} {
		file := filepath.Join(t.TempDir(), "fairlead.yaml")
		write(t, file, config)
		if _, err := LoadConfig(file); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", config, err)
		}
	}
	for dir, text := range map[string]string{empty: "no index.html", filepath.Join(empty, "none"): "cannot be opened"} {
		a := &App{cfg: &Config{UI: &UIConfig{Dir: dir}}}
		if _, err := a.openUI(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
