package app

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
)

// TestTracesGoWhereTheyAreAsked holds that a request and the call within it
// are traced together where there is somebody to tell, and only there.
func TestTracesGoWhereTheyAreAsked(t *testing.T) {
	var mu sync.Mutex
	var got []byte
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, body...)
	}))
	defer collector.Close()
	for endpoint, want := range map[string]bool{collector.URL: true, "": false} {
		got = nil
		var logs bytes.Buffer
		tel, err := newTelemetry(t.Context(), TelemetryConfig{OTLP: endpoint}, &logs)
		if err != nil {
			t.Fatal(err)
		}
		tel.traced(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, end := tel.Begin(r.Context(), access.Call{Door: "rest", Operation: "get_entity"})
			end(nil)
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/catalog", http.NoBody))
		if err := tel.stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		traced := bytes.Contains(got, []byte("get_entity")) && bytes.Contains(got, []byte("/api/catalog"))
		mu.Unlock()
		if traced != want || want != bytes.Contains(logs.Bytes(), []byte(`"trace":"`)) || !bytes.Contains(logs.Bytes(), []byte(`"operation":"get_entity"`)) {
			t.Errorf("with the endpoint %q: traced %v, logged %s", endpoint, traced, &logs)
		}
	}
}
