package forge

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

func newWire(t *testing.T, at string) (Wire, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	writeFile(t, file, "token-of-the-test")
	base, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return Wire{Base: base, Host: base.Host, Credentials: Credentials{TokenFile: file}, Budget: NewBudget(base.Host, Limits{RequestsPerMinute: 1e6}),
		Authorize: func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }}, file
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, c *http.Client, at string) (string, error) {
	t.Helper()
	resp, err := c.Get(at)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.Header.Get("X-From-Cache") != "" {
		body = append(body, " (known)"...)
	}
	return string(body), err
}

func TestKnownAnswersAreNotSentAgain(t *testing.T) {
	sent := 0
	version := "1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		if r.Header.Get("If-None-Match") == `"`+version+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		fmt.Fprint(w, "version ", version, " for ", r.Header.Get("Authorization"))
	}))
	defer server.Close()
	w, file := newWire(t, server.URL)
	c := w.Client(Background)
	for _, want := range []string{"version 1 for Bearer [secret]", "version 1 for Bearer [secret] (known)"} {
		if got, err := get(t, c, server.URL); err != nil || got != want {
			t.Errorf("%q, %v, not %q", got, err, want)
		}
	}
	version = "2"
	if got, _ := get(t, c, server.URL); got != "version 2 for Bearer [secret]" || sent != 2 {
		t.Errorf("after a change: %q", got)
	}
	writeFile(t, file, "another-token")
	if got, _ := get(t, c, server.URL); strings.Contains(got, "known") {
		t.Error("what was known with one token is told to another")
	}
	if f := w.Budget.Figures()[0]; f.Requests != 4 || f.NotModified != 1 {
		t.Errorf("%+v", f)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := newMemory()
	for i := range 100 {
		m.put(fmt.Sprint(i), &answer{etag: "x", body: make([]byte, maxKnown/10)})
	}
	m.put("large", &answer{etag: "x", body: make([]byte, maxKnown/2)})
	if m.size > maxKnown || len(m.by) != 10 || m.order.Len() != 10 {
		t.Errorf("%d bytes in %d answers", m.size, len(m.by))
	}
	if m.get("99", [32]byte{}) == nil || m.get("0", [32]byte{}) != nil || m.get("large", [32]byte{}) != nil {
		t.Error("the wrong ones were dropped")
	}
}

func TestTokenStaysAtItsHost(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host is asked, with %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/here", http.StatusMovedPermanently)
		default:
			fmt.Fprint(w, r.Header.Get("Authorization") != "")
		}
	}))
	defer server.Close()
	w, _ := newWire(t, server.URL)
	c := w.Client(Background)
	for path, want := range map[string]fault.Code{"/away": fault.FailedPrecondition, "/loop": fault.FailedPrecondition} {
		_, err := get(t, c, server.URL+path)
		if f := fault.From(w.Explain("asking", err)); f.Code != want || f.Fix == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got, err := get(t, c, server.URL+"/moved"); err != nil || got != "true" {
		t.Errorf("a redirect on the host: %q, %v", got, err)
	}
	if _, err := get(t, c, elsewhere.URL); err == nil {
		t.Error("a request to another host is sent")
	}
}

func TestSlowHostsAreGivenUp(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("the first part, and then nothing"))
		w.(http.Flusher).Flush()
		<-release
	}))
	defer server.Close()
	defer close(release)
	w, _ := newWire(t, server.URL)
	w.Limits.Timeout = 50 * time.Millisecond
	_, err := get(t, w.Client(Background), server.URL)
	if f := fault.From(w.Explain("asking", err)); f.Code != fault.Unavailable || !strings.Contains(f.Message, "in time") {
		t.Errorf("%v", f)
	}
}

func TestOnlyReadsAreRepeated(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	w, _ := newWire(t, server.URL)
	c := w.Client(Interactive)
	if _, err := c.Post(server.URL, "text/plain", strings.NewReader("make it")); err == nil || asked != 1 {
		t.Errorf("an act was sent %d times: %v", asked, err)
	}
	asked = 0
	if _, err := get(t, c, server.URL); err == nil || asked != maxTries {
		t.Errorf("a read was sent %d times: %v", asked, err)
	}
}

func TestCredentialsAreNotTold(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"two": "a b", "empty": " \n", "long": strings.Repeat("x", maxSecret+1)} {
		writeFile(t, filepath.Join(dir, name), text)
		if _, err := (Credentials{TokenFile: name}).In(dir).token(); err == nil || strings.Contains(err.Error(), "a b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("FAIRLEAD_TEST_TOKEN", "  xyz \n")
	if got, err := (Credentials{TokenEnv: "FAIRLEAD_TEST_TOKEN"}).token(); got != "xyz" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := (Credentials{}).token(); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
