package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheBareAddressListsWhatIsServed(t *testing.T) {
	cfg, err := ParseConfig([]byte("auth: {anonymous: read}"), "fairlead.yaml", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.ListenAt("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), cfg, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for path, want := range map[string]struct {
		status int
		text   string
	}{"/": {200, "/graphql"}, "/nope": {404, "listed at /"}, "/apis": {404, "listed at /"}} {
		w := httptest.NewRecorder()
		a.server.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
}
