package app

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestPagesOfConfiguredOriginsMayCallEveryDoor(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "catalog"), 0o700); err != nil {
		t.Fatal(err)
	}
	cfg, err := ParseConfig([]byte(`{cors: ["https://portal.example.com"], auth: {anonymous: read}, catalog: {sources: [{name: local, file: {path: ./catalog}}]}}`), "fairlead.yaml", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.ListenAt("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for _, path := range []string{"/api/v1/entities", "/api/catalog/entities", "/graphql", "/mcp"} {
		for origin, want := range map[string]string{"https://portal.example.com": "https://portal.example.com", "http://portal.example.com": "", "https://evil.example.com": ""} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, a.URL()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", http.MethodPost)
			got := &headers{header: http.Header{}}
			a.server.Handler.ServeHTTP(got, r)
			if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != want {
				t.Errorf("%s lets pages of %s: %q, want %q", path, origin, allowed, want)
			}
		}
	}
}

// headers keeps the headers of an answer.
type headers struct{ header http.Header }

func (h *headers) Header() http.Header         { return h.header }
func (h *headers) WriteHeader(int)             {}
func (h *headers) Write(p []byte) (int, error) { return len(p), nil }

func TestTheLogTellsCauses(t *testing.T) {
	var logs bytes.Buffer
	tel, err := newTelemetry(t.Context(), TelemetryConfig{}, &logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []fault.Code{fault.Unavailable, fault.Internal} {
		logs.Reset()
		_, end := tel.Begin(t.Context(), access.Call{Door: "rest", Operation: "list_audit"})
		end(fault.New(code, "the audit could not be read").Because(errors.New("the disk is gone")))
		if text := logs.String(); !strings.Contains(text, "the disk is gone") || !strings.Contains(text, "the audit could not be read") {
			t.Errorf("%s is logged as %s", code, text)
		}
	}
}
