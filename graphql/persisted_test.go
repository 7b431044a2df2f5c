package graphql_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestPersistedQueries(t *testing.T) {
	s := serveShop(t)
	const query = `{ whoami { subject } }`
	sum := sha256.Sum256([]byte(query))
	ext := fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":"%s"}}`, hex.EncodeToString(sum[:]))
	get := func() *answer {
		return s.send(http.MethodGet, "?extensions="+url.QueryEscape(ext), "reader", mediaResponse, "")
	}
	if a := get(); len(a.Errors) != 1 || a.Errors[0].Message != "PersistedQueryNotFound" {
		t.Fatal(a.raw)
	}
	body := func(query, ext string) string { return fmt.Sprintf(`{"query":%q,"extensions":%s}`, query, ext) }
	for name, wrong := range map[string]string{
		"another document": body(`{ __typename }`, ext),
		"another version":  body(query, strings.Replace(ext, ":1", ":2", 1)),
		"no hash":          body(query, `{"persistedQuery":{"version":1}}`),
		"no object":        body(query, `{"persistedQuery":1}`),
	} {
		if a := s.send(http.MethodPost, "", "reader", mediaResponse, wrong); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	if a := get(); a.Data != nil {
		t.Error("a refused document was kept")
	}
	if a := s.send(http.MethodPost, "", "reader", mediaResponse, body(query, ext)); a.status != http.StatusOK || len(a.Errors) > 0 {
		t.Fatal(a.raw)
	}
	if a := get(); a.status != http.StatusOK || !strings.Contains(a.raw, "user:default/rolf") {
		t.Error(a.raw)
	}
	// Another caller has not sent it, and cannot tell that somebody has.
	if a := s.send(http.MethodGet, "?extensions="+url.QueryEscape(ext), "stranger", mediaResponse, ""); len(a.Errors) != 1 || a.Errors[0].Message != "PersistedQueryNotFound" {
		t.Error(a.raw)
	}
	for i := range 300 {
		q := fmt.Sprintf("query Q%d { __typename }", i)
		h := sha256.Sum256([]byte(q))
		s.send(http.MethodPost, "", "stranger", mediaResponse, body(q, fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":"%s"}}`, hex.EncodeToString(h[:]))))
	}
	if a := get(); a.Data == nil {
		t.Error("another caller pushed the document out")
	}
	for i := range 300 {
		q := fmt.Sprintf("query Q%d { __typename }", i)
		h := sha256.Sum256([]byte(q))
		s.send(http.MethodPost, "", "reader", mediaResponse, body(q, fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":"%s"}}`, hex.EncodeToString(h[:]))))
	}
	if a := get(); a.Data != nil {
		t.Error("documents are kept without end")
	}
}
