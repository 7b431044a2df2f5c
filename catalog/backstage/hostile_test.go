package backstage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/backstage"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

const listOfOne = `{"items":[{"kind":"Component","metadata":{"namespace":"default","name":"a","etag":"1"}}],"totalItems":1,"pageInfo":{}}`

// stranger serves the list and the entities as told.
func stranger(t *testing.T, list, refs http.HandlerFunc) *backstage.Source {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/catalog/entities/by-query", list)
	if refs != nil {
		mux.HandleFunc("POST /api/catalog/entities/by-refs", refs)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return sourceAt(t, server.URL, backstage.Limits{Entities: 5000, EntityBytes: 1 << 10})
}

func sourceAt(t *testing.T, at string, limits backstage.Limits) *backstage.Source {
	t.Helper()
	t.Setenv("FAIRLEAD_TEST_TOKEN", token)
	s, err := backstage.New("existing", backstage.Config{URL: at, Credentials: backstage.Credentials{TokenEnv: "FAIRLEAD_TEST_TOKEN"}, Limits: limits}, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, text)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "no: "+r.Header.Get("Authorization"), code)
	}
}

// explained checks that an error is one for people and tells no token, also
// to logs.
func explained(t *testing.T, err error, code fault.Code, want string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != code || f.Fix == "" || !strings.Contains(f.Message+" "+f.Fix, want) {
		t.Errorf("got %v, want %s with %q", err, code, want)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(fmt.Sprintf("%v %+v", e, e.Error()), token) {
			t.Errorf("the token is told: %v", e)
		}
	}
}

func TestStrangeLists(t *testing.T) {
	pages := func(next func(n int) string, item func(n int) string, total int) http.HandlerFunc {
		n := 0
		return func(w http.ResponseWriter, r *http.Request) {
			n++
			says(fmt.Sprintf(`{"items":[%s],"totalItems":%d,"pageInfo":{"nextCursor":%q}}`, item(n), total, next(n)))(w, r)
		}
	}
	item := func(n int) string {
		return fmt.Sprintf(`{"kind":"Component","metadata":{"name":"n%d","etag":"1"}}`, n)
	}
	thousand := func(n int) string {
		var all []string
		for i := range 1000 {
			all = append(all, item(1000*n+i))
		}
		return strings.Join(all, ",")
	}
	count := func(n int) string { return fmt.Sprint(n) }
	cases := map[string]struct {
		list http.HandlerFunc
		code fault.Code
		want string
	}{
		"no access":         {status(401), fault.FailedPrecondition, "externalAccess"},
		"forbidden":         {status(403), fault.FailedPrecondition, "FAIRLEAD_TEST_TOKEN"},
		"not there":         {status(404), fault.NotFound, "not a Backstage catalog"},
		"bad filter":        {status(400), fault.FailedPrecondition, "filter"},
		"down":              {status(503), fault.Unavailable, "HTTP 503"},
		"pages":             {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>sign in") }, fault.FailedPrecondition, "not JSON"},
		"broken JSON":       {says(`{"items":[}`), fault.FailedPrecondition, "JSON"},
		"cut off":           {says(`{"items":[`), fault.Unavailable, "broke"},
		"another JSON":      {says(`{"data":1}`), fault.FailedPrecondition, "no items"},
		"other types":       {says(`{"items":{"a":1}}`), fault.FailedPrecondition, "JSON"},
		"no etag":           {says(`{"items":[{"kind":"A","metadata":{"name":"a"}}],"totalItems":1,"pageInfo":{}}`), fault.FailedPrecondition, "etag"},
		"a lie of the size": {says(`{"items":[],"totalItems":1000,"pageInfo":{}}`), fault.FailedPrecondition, "ends after 0 of 1000"},
		"the same cursor":   {pages(func(int) string { return "x" }, item, 9), fault.FailedPrecondition, "circles"},
		"the same page":     {pages(count, func(int) string { return item(1) }, 9), fault.FailedPrecondition, "circles"},
		"empty pages":       {pages(count, func(int) string { return "" }, 9), fault.FailedPrecondition, "circles"},
		"no end":            {pages(count, thousand, 9), fault.FailedPrecondition, "5000 entities"},
		"a huge cursor":     {pages(func(int) string { return strings.Repeat("x", 10_000) }, item, 9), fault.FailedPrecondition, "cursor"},
		"a huge answer":     {says(`{"items":[` + strings.Repeat(" ", 17<<20)), fault.FailedPrecondition, "exceeds"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := stranger(t, c.list, nil).Observe(t.Context())
			explained(t, err, c.code, c.want)
		})
	}
}

// read reads the one entity of a stranger.
func read(t *testing.T, s *backstage.Source) ([]byte, error) {
	t.Helper()
	rev, err := s.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := s.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	changes, _, err := tree.Changes(t.Context(), "")
	if err != nil || len(changes) != 1 {
		t.Fatalf("%v %v", changes, err)
	}
	return tree.Read(t.Context(), changes[0].Path)
}

func TestStrangeEntities(t *testing.T) {
	cases := map[string]struct {
		refs http.HandlerFunc
		code fault.Code
		want string
	}{
		"another entity": {says(`{"items":[{"kind":"Component","metadata":{"name":"b"}}]}`), fault.FailedPrecondition, "component:default/b"},
		"too many":       {says(`{"items":[null,null]}`), fault.FailedPrecondition, "more entities"},
		"too few":        {says(`{"items":[]}`), fault.FailedPrecondition, "0 entities where 1"},
		"no items":       {says(`{"entities":[]}`), fault.FailedPrecondition, "no items"},
		"no entity":      {says(`{"items":["a"]}`), fault.FailedPrecondition, "no entity"},
		"metadata":       {says(`{"items":[{"kind":"Component","metadata":[]}]}`), fault.FailedPrecondition, "reading"},
		"cut off":        {says(`{"items":[{"kind":`), fault.Unavailable, "broke"},
		"nested":         {says(`{"items":[` + strings.Repeat("[", 20_000)), fault.FailedPrecondition, "JSON"},
		"refused":        {status(403), fault.FailedPrecondition, "externalAccess"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, stranger(t, says(listOfOne), c.refs))
			explained(t, err, c.code, c.want)
		})
	}
	for name, text := range map[string]string{"large": strings.Repeat("x", 2<<10), "endless": strings.Repeat("x", 1<<20)} {
		s := stranger(t, says(listOfOne), says(`{"items":[{"kind":"`+text+`"}]}`))
		s.Bound(64 << 10)
		_, err := read(t, s)
		if !errors.Is(err, ingest.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := read(t, stranger(t, says(listOfOne), says(`{"items":[null]}`))); !errors.Is(err, ingest.ErrNotFound) {
		t.Errorf("an entity that is gone: %v", err)
	}
}

func TestHangingServer(t *testing.T) {
	release := make(chan struct{})
	hang := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	server := httptest.NewServer(http.HandlerFunc(hang))
	t.Cleanup(func() { close(release); server.Close() })
	_, err := sourceAt(t, server.URL, backstage.Limits{Timeout: 50 * time.Millisecond}).Observe(t.Context())
	explained(t, err, fault.Unavailable, "within 50ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sourceAt(t, server.URL, backstage.Limits{}).Observe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was followed", r.URL) }))
	t.Cleanup(other.Close)
	away := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/?"+token, http.StatusFound)
	}
	_, err := stranger(t, away, nil).Observe(t.Context())
	explained(t, err, fault.FailedPrecondition, other.URL)
	around := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }
	_, err = stranger(t, around, nil).Observe(t.Context())
	explained(t, err, fault.FailedPrecondition, "redirects")
	here := func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("here") {
			http.Redirect(w, r, r.URL.Path+"?here=1", http.StatusTemporaryRedirect)
			return
		}
		says(listOfOne)(w, r)
	}
	if _, err := stranger(t, here, nil).Observe(t.Context()); err != nil {
		t.Errorf("a redirect on the same host: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	secure := httptest.NewUnstartedServer(says(listOfOne))
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	_, err := sourceAt(t, secure.URL, backstage.Limits{}).Observe(t.Context())
	explained(t, err, fault.FailedPrecondition, "certificate is not trusted")
	plain := httptest.NewServer(says(listOfOne))
	_, err = sourceAt(t, strings.Replace(plain.URL, "http:", "https:", 1), backstage.Limits{}).Observe(t.Context())
	explained(t, err, fault.FailedPrecondition, "does not speak TLS")
	plain.Close()
	_, err = sourceAt(t, plain.URL, backstage.Limits{}).Observe(t.Context())
	explained(t, err, fault.Unavailable, "cannot be reached")
}

func TestReadingThatIsGivenUp(t *testing.T) {
	asked, release := make(chan struct{}, 100), make(chan struct{})
	s := stranger(t, says(listOfOne), func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	rev, err := s.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := s.Open(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := tree.Read(ctx, "component/default/a"); !errors.Is(err, context.Canceled) {
		t.Errorf("a reading that is given up: %v", err)
	}
	if err := errors.Join(tree.Close(), tree.Close()); err != nil {
		t.Error(err)
	}
	for range 50 {
		if _, err := tree.Read(t.Context(), "component/default/a"); err == nil {
			t.Fatal("a closed tree can be read")
		}
	}
	if n := len(asked); n > 0 {
		t.Errorf("a closed tree has asked %d times", n)
	}
}
