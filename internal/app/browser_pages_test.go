package app

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/internal/demo"
	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// library is a catalog file of components that are many, and of a template.
func library() string {
	var b strings.Builder
	for i := range 24 {
		fmt.Fprintf(&b, "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: library-%02d, description: Part %d of what all build on., tags: [shared]}\nspec: {type: library, lifecycle: experimental, owner: platform, system: accounts}\n---\n", i, i)
	}
	b.WriteString("apiVersion: scaffolder.backstage.io/v1beta3\nkind: Template\nmetadata: {name: new-service, title: New service, description: Begins a service.}\nspec: {type: service, owner: platform, steps: []}\n")
	return b.String()
}

// parcel is a catalog file that nothing reads until it is registered.
const parcel = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: parcel, title: Parcel, description: Packs what was ordered.}\n" +
	"spec: {type: service, lifecycle: production, owner: fulfilment, system: delivery}\n"

// pages is the demo's data in two catalogs, each with the front end.
type pages struct {
	*testing.T
	forge  *realtest.Forge
	org    string // at the forge
	ours   *server
	theirs *server // whose catalog is a real Backstage's
	parcel string  // the URL of the file to be registered
}

// newPages puts what the demo's repositories hold, and a library, into one
// repository of a real Gitea, and has Fairlead and Backstage read it.
func newPages(t *testing.T) *pages {
	t.Helper()
	realtest.Browser(t) // or the test is skipped
	p := &pages{T: t, forge: realtest.Gitea(t), org: "pages-" + strings.ToLower(rand.Text()[:8])}
	dir := t.TempDir()
	set, err := demo.Make(t.Context(), dir, p.forge.URL+"/"+p.org)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"library/catalog-info.yaml": library()}
	files := []string{p.page(p.org, "library/catalog-info.yaml")}
	for _, r := range set.Repositories {
		p.add(texts, r.Dir)
		if r.Catalog {
			files = append(files, p.page(p.org, r.Name+"/catalog-info.yaml"))
		}
	}
	p.repository(p.org, texts)
	p.repository(p.org+"-others", map[string]string{"catalog-info.yaml": parcel})
	p.parcel = p.page(p.org+"-others", "catalog-info.yaml")
	p.serve(set)
	b := realtest.Backstage(t, realtest.BackstageConfig{Locations: files, Gitea: []string{p.forge.URL}})
	p.theirs = &server{t: t, url: besideBackstage(t, p.ours, b), tokens: map[string]string{"sre": b.Token}}
	return p
}

// serve starts Fairlead with the front end, as Alice's, without the pages of
// Fairlead's own plug-in.
func (p *pages) serve(set *demo.Set) {
	p.Helper()
	token, _ := p.forge.NewToken(p.T, "read:organization", "read:repository", "read:user")
	dir := filepath.Dir(set.Config)
	write(p.T, filepath.Join(dir, "tokens", "gitea"), token)
	write(p.T, set.Config, fmt.Sprintf("listen: 127.0.0.1:0\nstate: ./state\n%scatalog:\n  refresh: 1h\n  locations: {}\n  sources: [{name: shop, gitea: {url: %q, org: %s, tokenFile: ./tokens/gitea}}]\n", demo.Auth(), p.forge.URL, p.org))
	if err := set.ServeUI(realtest.UI(p.T, filepath.Join("..", "realtest", "ui.sh")), ""); err != nil {
		p.Fatal(err)
	}
	settings := fmt.Sprintf(`ui: {settings: {app: {packages: {exclude: ["@fairlead/backstage-plugin"]}}, integrations: {gitea: [{host: %q, baseUrl: %q}]}}, `,
		strings.TrimPrefix(p.forge.URL, "http://"), p.forge.URL)
	write(p.T, set.Config, strings.Replace(readFile(p.T, set.Config), "ui: {", settings, 1))
	p.ours = &server{t: p.T, dir: dir, tokens: set.Tokens}
	p.ours.start(set.Config)
}

// page is where the Gitea shows a file.
func (p *pages) page(org, path string) string {
	return p.forge.URL + "/" + org + "/shop/src/branch/main/" + path
}

// add adds a folder's files, below its name.
func (p *pages) add(texts map[string]string, dir string) {
	p.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(filepath.Dir(dir), path)
		texts[filepath.ToSlash(rel)] = readFile(p.T, path)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
}

// repository makes the repository shop of a new organization.
func (p *pages) repository(org string, texts map[string]string) {
	p.Helper()
	p.forge.API(p.T, http.MethodPost, "/orgs", map[string]string{"username": org}, nil)
	p.forge.API(p.T, http.MethodPost, "/orgs/"+org+"/repos", map[string]any{"name": "shop", "auto_init": true, "default_branch": "main"}, nil)
	var files []map[string]any
	for path, text := range texts {
		files = append(files, map[string]any{"operation": "create", "path": path, "content": []byte(text)})
	}
	p.forge.API(p.T, http.MethodPost, "/repos/"+org+"/shop/contents", map[string]any{"branch": "main", "message": "Describe it", "files": files}, nil)
}

// change puts one text in the place of another in a service's catalog file.
func (p *pages) change(service, old, text string) {
	p.Helper()
	path := "/repos/" + p.org + "/shop/contents/" + service + "/catalog-info.yaml"
	var was struct {
		SHA     string
		Content []byte
	}
	p.forge.API(p.T, http.MethodGet, path, nil, &was)
	if !strings.Contains(string(was.Content), old) {
		p.Fatalf("%s does not say %q", path, old)
	}
	p.forge.API(p.T, http.MethodPut, path, map[string]any{"branch": "main", "message": "Change " + service, "sha": was.SHA, "content": []byte(strings.Replace(string(was.Content), old, text, 1))}, nil)
}

// refresh has both catalogs read a service's file again, until they say so.
func (p *pages) refresh(service, until string) {
	p.Helper()
	for _, s := range []*server{p.ours, p.theirs} {
		s.send("sre", http.MethodPost, "/api/catalog/refresh", `{"entityRef":"component:default/`+service+`"}`)
		s.await("the changed file is seen", func() bool {
			return strings.Contains(s.send("sre", http.MethodGet, "/api/catalog/entities/by-name/component/default/"+service, "").body, until)
		})
	}
}

// passOn has another server answer, which is told no more of who asks than
// they say.
func passOn(t *testing.T, to string) http.Handler {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Error(err)
		return http.NotFoundHandler()
	}
	return &httputil.ReverseProxy{
		// Node ends connections that it has kept without a word.
		Transport: &http.Transport{DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // the page tells where it came from
		},
	}
}

// besideBackstage serves a server's front end, with the catalog of a real
// Backstage in the place of the server's own.
func besideBackstage(t *testing.T, s *server, b *realtest.BackstageServer) string {
	t.Helper()
	ours, theirs := passOn(t, s.url), passOn(t, b.URL)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/catalog/") {
			ours.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Authorization", "Bearer "+b.Token)
		theirs.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}
