package graphiql_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/graphql/graphiql"
)

func get(t *testing.T, url string, header ...string) (*http.Response, string) {
	t.Helper()
	h, err := graphiql.Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, url, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	resp := w.Result()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// TestPage: everything that the page needs comes from its own address, and
// the browser is told to fetch nothing from elsewhere.
func TestPage(t *testing.T) {
	resp, html := get(t, "/graphql")
	policy := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy without %s: %s", want, policy)
		}
	}
	if strings.Contains(html, "//") || strings.Contains(html, "{{") {
		t.Errorf("the page names another address or has a gap:\n%s", html)
	}
	refs := regexp.MustCompile(`(?:src|href)="(\?asset=[^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(refs) != 6 {
		t.Fatalf("%d files, want 6", len(refs))
	}
	for _, ref := range refs {
		url := "/graphql" + strings.ReplaceAll(ref[1], "&amp;", "&")
		resp, plain := get(t, url)
		if resp.StatusCode != http.StatusOK || len(plain) < 100 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %s, %d bytes", url, resp.Status, len(plain))
		}
		if media := resp.Header.Get("Content-Type"); strings.HasSuffix(strings.Split(url, "&")[0], ".js") != strings.HasPrefix(media, "text/javascript") {
			t.Errorf("%s is %s", url, media)
		}
		zipped, body := get(t, url, "Accept-Encoding", "br, gzip")
		if zipped.Header.Get("Content-Encoding") != "gzip" {
			continue
		}
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := io.ReadAll(z); err != nil || string(unzipped) != plain {
			t.Errorf("%s differs when compressed: %v", url, err)
		}
	}
}

func TestNoOtherFiles(t *testing.T) {
	for _, name := range []string{"index.html", "graphiql.go", "../graphiql.go", "assets/graphiql.js", "assets/graphiql.js.gz", "nonesuch", "%2e%2e%2fgraphiql.go"} {
		if resp, _ := get(t, "/graphql?asset="+name); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	if resp, text := get(t, "/graphql?asset=LICENSES.txt"); resp.StatusCode != http.StatusOK || !strings.Contains(text, "MIT License") {
		t.Error("the licences are not served")
	}
}
