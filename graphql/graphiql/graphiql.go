// Package graphiql serves GraphiQL, the page that explores a GraphQL API in a
// browser, with everything that it needs. The files under assets are GraphiQL
// and React as published; update.sh fetches them.
package graphiql

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed index.html page.js page.css assets/*.gz assets/LICENSES.txt
var files embed.FS

// policy lets the page load and connect to nothing but its own server. Styles
// may be inline because CodeMirror and React set them so.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is the page and its files.
type page struct {
	index []byte
}

// Handler serves the page, and its files to requests with the parameter
// asset. They are the same for everybody and need no caller.
func Handler() (http.Handler, error) {
	index, err := files.ReadFile("index.html")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, name := range []string{"page.js", "page.css", "assets/graphiql.js.gz", "assets/graphiql.css.gz", "assets/react.js.gz", "assets/react-dom.js.gz"} {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sum.Write(data)
	}
	version := hex.EncodeToString(sum.Sum(nil))[:12]
	return &page{bytes.ReplaceAll(index, []byte("{{version}}"), []byte(version))}, nil
}

// ServeHTTP answers with the page or one of its files.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	name := r.URL.Query().Get("asset")
	if name == "" {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(p.index) // the client is gone if this fails
		return
	}
	data, zipped := asset(name)
	if data == nil {
		http.NotFound(w, r)
		return
	}
	h.Set("Content-Type", map[string]string{".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}[path.Ext(name)]+"; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	switch {
	case !zipped:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(data) //nolint:gosec // as above, and it is an embedded file
	default:
		unzip(w, data)
	}
}

// asset is a file by name, and whether it is compressed; nil if there is none.
func asset(name string) (data []byte, zipped bool) {
	for _, f := range []string{name, "assets/" + name} {
		if data, err := files.ReadFile(f); err == nil && name != "index.html" && !strings.Contains(name, "/") {
			return data, false
		}
	}
	data, err := files.ReadFile("assets/" + name + ".gz")
	return data, err == nil
}

func unzip(w io.Writer, data []byte) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return // what is embedded was compressed by update.sh, and is tested
	}
	_, _ = io.Copy(w, r) //nolint:gosec // our own files, of known size
}
