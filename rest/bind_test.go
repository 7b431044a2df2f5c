package rest

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// fuzzBinding binds a query and a body: it fails by a fault of the caller's or
// not at all.
func fuzzBinding(t *testing.T, query, body string) {
	t.Helper()
	typ := reflect.TypeFor[catalog.ListEntitiesInput]()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r := &http.Request{Method: method, URL: &url.URL{Path: "/x", RawQuery: query}, Header: http.Header{}, Body: http.NoBody, ContentLength: int64(len(body))}
		if method == http.MethodPost {
			r.URL.RawQuery = ""
			r.Body = readCloser{strings.NewReader(body)}
		}
		var in catalog.ListEntitiesInput
		if err := bind(r, paramsOf(typ, method, "/x"), reflect.ValueOf(&in).Elem()); err != nil && fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", method, err)
		}
	}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

func TestNearest(t *testing.T) {
	known := []string{"limit", "filter", "cursor", "max_tokens"}
	for given, want := range map[string]string{"limt": "limit", "Limit": "limit", "filters": "filter", "maxTokens": "max_tokens", "zebra": "", "": ""} {
		if got := nearest(given, known); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}
