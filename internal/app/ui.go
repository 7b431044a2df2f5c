package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// UIConfig is the front end that is served beside the doors: a Backstage app
// that was built before, as files.
type UIConfig struct {
	// Dir is the folder of the built app, which holds index.html; relative to
	// the configuration's folder.
	Dir string `yaml:"dir"`
	// Guest lets whoever opens the front end in as one user, without signing in;
	// on a loopback address only. Others sign in at a Backstage.
	Guest *access.GuestConfig `yaml:"guest"`
	// Settings are the app's own, laid over those that it was built with; where
	// the server is reached is laid over both.
	Settings map[string]any `yaml:"settings"`
}

func (c *Config) checkUI(k *checker) {
	if c.UI == nil {
		return
	}
	if c.UI.Dir == "" {
		k.add("ui.dir", "name the folder of a built front end")
	}
	if c.UI.Guest == nil {
		return
	}
	k.access(c.UI.Guest.Validate("ui.guest"))
	if !loopback(c.Listen) {
		k.add("ui.guest", "a guest is let in on a loopback address only; have people sign in at a Backstage, under auth.oidc")
	}
}

// makeGuest makes who is let in without signing in; nil for nobody.
func (c *UIConfig) makeGuest() (*oidc.Guest, error) {
	if c == nil || c.Guest == nil {
		return nil, nil //nolint:nilnil // nobody is let in, and nothing is wrong
	}
	return oidc.NewGuest(*c.Guest, nil)
}

// ServeUI has the front end in a folder be served, whatever the configuration
// says of one.
func (c *Config) ServeUI(dir string) error {
	if c.UI == nil {
		c.UI = &UIConfig{}
	}
	c.UI.Dir = dir
	k := &checker{root: c.root}
	c.checkUI(k)
	return c.refuse(k.problems)
}

// configMark is what stands before the settings in a built app's page.
const configMark = `<script type="backstage.io/config">`

// frontEnd serves a built app.
type frontEnd struct {
	root     *os.Root
	files    http.Handler
	page     []byte // index.html
	at       int    // where another layer of settings goes; 0 where it has none
	settings map[string]any
	public   string // how it is reached; "" is by the name that a browser uses
	policy   string // what it may load
}

// openUI opens the front end that is configured.
func (a *App) openUI() (*frontEnd, error) {
	cfg := a.cfg.UI
	dir := a.cfg.path(cfg.Dir)
	refuse := func(why string, err error) error {
		return fault.New(fault.FailedPrecondition, "the front end in %s cannot be served: %s", dir, why).
			WithFix("Build it by make ui, or name the folder that holds its index.html.").Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, refuse("the folder cannot be opened", err)
	}
	f := &frontEnd{root: root, settings: cfg.Settings, public: strings.TrimSuffix(a.cfg.PublicURL, "/"), files: gzhttp.GzipHandler(http.FileServerFS(root.FS()))}
	f.policy = policyOfContent(append(plainOrigins(cfg.Settings), originOf(f.public)))
	if f.page, err = root.ReadFile("index.html"); err != nil {
		return nil, errors.Join(refuse("it has no index.html", err), root.Close())
	}
	if begin := bytes.Index(f.page, []byte(configMark)); begin >= 0 {
		end := bytes.Index(f.page[begin:], []byte("</script>"))
		text := f.page[begin+len(configMark) : begin+max(end, len(configMark))]
		var layers []json.RawMessage
		if json.Unmarshal(text, &layers) != nil || len(layers) == 0 {
			return nil, errors.Join(refuse("the settings in its index.html cannot be read", nil), root.Close())
		}
		f.at = begin + len(configMark) + bytes.LastIndexByte(text, ']')
	}
	return f, nil
}

// close lets the folder go.
func (f *frontEnd) close() error {
	if f == nil {
		return nil
	}
	return f.root.Close()
}

// policyOfContent is what the app may load: its own, and pictures from
// elsewhere; its libraries compile schemas as they run. It may ask others by
// HTTPS, and those that are given.
func policyOfContent(others []string) string {
	return strings.TrimSpace("default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; font-src 'self' data:; object-src 'none'; base-uri 'self'; frame-ancestors 'self'; connect-src 'self' ws: wss: https: " +
		strings.Join(others, " "))
}

// plainOrigins are those that discovery.endpoints names with http.
func plainOrigins(settings map[string]any) (out []string) {
	discovery, _ := settings["discovery"].(map[string]any)
	endpoints, _ := discovery["endpoints"].([]any)
	for _, e := range endpoints {
		endpoint, _ := e.(map[string]any)
		target := endpoint["target"]
		if both, ok := target.(map[string]any); ok {
			target = both["external"]
		}
		text, _ := target.(string)
		if u, err := url.Parse(text); err == nil && u.Scheme == "http" && !strings.ContainsAny(u.Host, ";, '") {
			out = append(out, "http://"+u.Host)
		}
	}
	return out
}

// ServeHTTP serves a file of the app, or its page, which finds by the path what
// is meant.
func (f *frontEnd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		nothingThere(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", f.policy)
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	info, err := f.root.Stat(name)
	switch {
	case name != "" && name != "index.html" && err == nil && info.Mode().IsRegular() && path.Ext(name) != ".map":
		w.Header().Set("Cache-Control", "no-cache")
		if strings.HasPrefix(name, "static/") { // names hold a hash of what is in them
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		f.files.ServeHTTP(w, r)
	case strings.HasPrefix(name, "static/") || name != "" && err != nil && !errors.Is(err, fs.ErrNotExist):
		nothingThere(w, r)
	default:
		f.serve(w, r)
	}
}

// serve answers the page, with where the server is.
func (f *frontEnd) serve(w http.ResponseWriter, r *http.Request) {
	at := f.public
	if at == "" {
		at = "http://" + r.Host
	}
	page := f.page
	if f.at > 0 {
		layers, err := f.layers(at)
		if err != nil {
			plain(w, http.StatusInternalServerError, "the settings of the front end cannot be written\n")
			return
		}
		page = bytes.Join([][]byte{f.page[:f.at], f.page[f.at:]}, layers)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page) //nolint:gosec // the app's own page; a client that has gone needs no answer
}

// layers are the settings that are laid over the app's own, each after a comma.
func (f *frontEnd) layers(at string) (out []byte, err error) {
	base := map[string]any{"baseUrl": at}
	for _, l := range []struct {
		name string
		data map[string]any
	}{{"settings", f.settings}, {"server", map[string]any{"app": base, "backend": base, "fairlead": map[string]any{"url": at}}}} {
		if len(l.data) == 0 {
			continue
		}
		text, err := json.Marshal(map[string]any{"context": l.name, "data": l.data}) // which escapes what would end the script
		if err != nil {
			return nil, err
		}
		out = append(append(out, ','), text...)
	}
	return out, nil
}

// guestRefresh answers what a front end asks first: who somebody is that has
// not signed in. The form is that of Backstage's auth back end.
func (a *App) guestRefresh(w http.ResponseWriter, r *http.Request) {
	if a.guest == nil || !access.CredentialOf(r).Loopback {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintln(w, `{"error":{"name":"NotFoundError","message":"nobody is let in here without signing in"},"response":{"statusCode":404}}`)
		return
	}
	token, expires, err := a.guest.Token()
	if err != nil {
		plain(w, http.StatusInternalServerError, "no token can be issued now\n")
		return
	}
	ref, ownership := a.guest.User()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"profile": map[string]any{"displayName": ref[strings.LastIndexByte(ref, '/')+1:]},
		"backstageIdentity": map[string]any{"token": token, "expiresInSeconds": int(time.Until(expires).Seconds()),
			"identity": map[string]any{"type": "user", "userEntityRef": ref, "ownershipEntityRefs": ownership}},
	})
}
