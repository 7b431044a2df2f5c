package external_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/external"
)

// outside is a provider that remembers what it received.
type outside struct {
	*httptest.Server
	mu       sync.Mutex
	received []string
	answer   http.HandlerFunc
}

func serve(t *testing.T, answer http.HandlerFunc) *outside {
	t.Helper()
	o := &outside{answer: answer}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.received = append(o.received, fmt.Sprint(r.URL, r.Header))
		o.mu.Unlock()
		o.answer(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *outside) got() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.received
}

func (o *outside) host() string { return strings.TrimPrefix(o.URL, "http://") }

func (o *outside) config() external.Config {
	return external.Config{Name: "docs", URL: o.URL + "/search?q={query}", Items: "data.results", Fields: external.Fields{URL: "link", Text: "more.snippet"}, Allow: []string{o.host()}}
}

func says(media, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = w.Write([]byte(text))
	}
}

func ask(t *testing.T, c external.Config, query string) (*knowledge.ExternalHits, error) {
	t.Helper()
	return asker(t, c).Ask(t.Context(), "docs", query)
}

func asker(t *testing.T, c external.Config) *external.Providers {
	t.Helper()
	if ps := external.Validate([]external.Config{c}); len(ps) > 0 {
		t.Fatal(ps)
	}
	return external.New([]external.Config{c}, t.TempDir(), slog.New(slog.DiscardHandler))
}

const found = `{"data":{"results":[
 {"title":"Pods\u001b[31m\u202e <b>","link":"/pods","more":{"snippet":"a\nb ghp_0123456789abcdef0123"}},
 {"title":"Evil","link":"javascript:alert(1)"}, {"title":7,"link":{}}, 3, null,
 {"title":"User","link":"https://me:pw@docs.example.com/"}]}}`

func TestHitsAreCleaned(t *testing.T) {
	o := serve(t, says("application/json; charset=utf-8", found))
	out, err := ask(t, o.config(), "  what   are&pods? ")
	if err != nil {
		t.Fatal(err)
	}
	want := []knowledge.ExternalHit{{Title: "Pods [31m <b>", URL: o.URL + "/pods", Text: "a b [secret]"}, {Title: "Evil"}, {Title: "User"}}
	if fmt.Sprint(out.Hits) != fmt.Sprint(want) || out.Cached || time.Since(out.FetchedAt) > time.Minute {
		t.Errorf("%+v", out)
	}
	if got := o.got(); len(got) != 1 || !strings.HasPrefix(got[0], "/search?q=what+are%26pods%3F") {
		t.Error(got)
	}
	o.answer = says("application/json", `{"data":{"results":[`+strings.Repeat(`{"title":"é`+strings.Repeat("é", 400)+`","more":{"snippet":"`+strings.Repeat("ü", 900)+`"}},`, 30)+`{}]}}`)
	if out, err = ask(t, o.config(), "much"); err != nil || len(out.Hits) != 10 || len(out.Hits[0].Title) > 200 || len(out.Hits[0].Text) > 600 || !strings.HasSuffix(out.Hits[0].Text, "ü…") {
		t.Errorf("%v %+v", err, out)
	}
}

func TestSecretsStay(t *testing.T) {
	o := serve(t, says("application/json", found))
	p := asker(t, o.config())
	for _, query := range []string{"why ghp_0123456789abcdef0123", "login password=hunter22", "g\u200bhp_0123456789abcdef0123", "AKIA0123456789ABCDEF", "https://bob:pw@host/", "\u200b", "Bearer abcdefgh12345678"} {
		if _, err := p.Ask(t.Context(), "docs", query); fault.CodeOf(err) != fault.Invalid || strings.Contains(err.Error(), query) && query != "\u200b" {
			t.Errorf("%q: %v", query, err)
		}
	}
	if got := o.got(); len(got) > 0 {
		t.Errorf("received %q", got)
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	elsewhere := serve(t, says("application/json", found))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		why    string
	}{
		"a redirect off the list": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/?"+r.URL.RawQuery, http.StatusFound)
		}, "redirects"},
		"a redirect to metadata": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/x", http.StatusTemporaryRedirect)
		}, "redirects"},
		"a circle": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) }, "redirects"},
		"huge":     {says("application/json", `{"data":"`+strings.Repeat("x", 1<<20)+`"}`), "1 MiB"},
		"HTML":     {says("text/html", found), "no JSON"},
		"not JSON": {says("application/json", found[:90]), "no JSON"},
		"two":      {says("application/json", found+found), "no JSON"},
		"deep":     {says("application/json", strings.Repeat("[", 500_000)), "no JSON"},
		"no list":  {says("application/json", `{"data":[]}`), "items"},
		"empty":    {says("application/json", ""), "no JSON"},
		"an error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }, "503"},
		"slow":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "too long"},
		"slow at the end": {func(w http.ResponseWriter, r *http.Request) {
			says("application/json", "{")(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "too long"},
		"gone": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := serve(t, c.answer).config()
			if strings.HasPrefix(name, "slow") {
				cfg.Timeout = 50 * time.Millisecond
			}
			_, err := ask(t, cfg, "theQuery")
			if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "theQuery") {
				t.Error(err)
			}
		})
	}
	if got := elsewhere.got(); len(got) > 0 {
		t.Errorf("elsewhere received %q", got)
	}
}

// TestRedirectsWithinTheList follows them, without the token for others and
// without telling where the query was.
func TestRedirectsWithinTheList(t *testing.T) {
	t.Setenv("DOCS_TOKEN", "a-token-of-docs")
	there := serve(t, says("application/json", found))
	here := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, there.URL+"/two", http.StatusFound) })
	c := here.config()
	c.Allow, c.TokenEnv = append(c.Allow, there.host()), "DOCS_TOKEN"
	out, err := ask(t, c, "pods")
	if err != nil || out.Hits[0].URL != there.URL+"/pods" {
		t.Errorf("%v %+v", err, out)
	}
	if got := here.got(); len(got) != 1 || !strings.Contains(got[0], "Bearer a-token-of-docs") {
		t.Error(got)
	}
	if got := there.got(); len(got) != 1 || strings.Contains(got[0], "Bearer") || strings.Contains(got[0], "q=pods") {
		t.Error(got)
	}
}

func TestPrivateAddresses(t *testing.T) {
	o := serve(t, says("application/json", found))
	_, port, _ := strings.Cut(o.host(), ":")
	// A name that is allowed may lead anywhere: this machine's own to itself.
	hosts := map[string]string{"127.1": "", "2130706433": ""}
	if name, err := os.Hostname(); err == nil {
		if found, err := net.DefaultResolver.LookupHost(t.Context(), name); err == nil && len(found) > 0 {
			hosts[strings.ToLower(name)] = "not a public one"
		}
	}
	for host, why := range hosts {
		_, err := ask(t, external.Config{Name: "docs", URL: "https://" + host + ":" + port + "/?q={query}", Allow: []string{host + ":" + port}}, "pods")
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if got := o.got(); len(got) > 0 {
		t.Errorf("received %q", got)
	}
}

func TestTokenFile(t *testing.T) {
	o := serve(t, says("application/json", found))
	c := o.config()
	c.TokenFile = filepath.Join(t.TempDir(), "token")
	p := asker(t, c)
	if _, err := p.Ask(t.Context(), "docs", "pods"); fault.CodeOf(err) != fault.Unavailable || len(o.got()) > 0 {
		t.Errorf("%v %v", err, o.got())
	}
	if err := os.WriteFile(c.TokenFile, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ask(t.Context(), "docs", "pods"); err != nil || !strings.Contains(o.got()[0], "[Bearer abc]") {
		t.Errorf("%v %v", err, o.got())
	}
}

// TestCallersShareAnswers has many ask the same at once, some of whom hang up.
func TestCallersShareAnswers(t *testing.T) {
	release := make(chan struct{})
	o := serve(t, func(w http.ResponseWriter, r *http.Request) { <-release; says("application/json", found)(w, r) })
	p := asker(t, o.config())
	first, hangUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 20 {
		ctx := t.Context()
		if i%2 == 0 {
			ctx = first
		}
		wg.Go(func() {
			if out, err := p.Ask(ctx, "docs", "pods"); err != nil || len(out.Hits) != 3 {
				t.Errorf("%v %+v", err, out)
			}
		})
	}
	hangUp()
	close(release)
	wg.Wait()
	out, err := p.Ask(t.Context(), "docs", " pods ")
	if err != nil || !out.Cached || len(o.got()) != 1 {
		t.Errorf("%v %+v; asked %d times", err, out, len(o.got()))
	}
	out.Hits[0].Title = "changed"
	if out, _ = p.Ask(t.Context(), "docs", "pods"); out.Hits[0].Title == "changed" {
		t.Error("a caller changed what is kept")
	}
	for i := range 1000 { // the first is the oldest, and makes room
		if _, err := p.Ask(t.Context(), "docs", fmt.Sprint("other ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err = p.Ask(t.Context(), "docs", "pods"); err != nil || out.Cached {
		t.Errorf("%v: more than 1,000 answers are kept", err)
	}
	c := o.config()
	c.Cache = time.Nanosecond
	p = asker(t, c)
	for range 2 {
		if out, err := p.Ask(t.Context(), "docs", "pods"); err != nil || out.Cached {
			t.Errorf("%v %+v", err, out)
		}
	}
}

func TestConfigs(t *testing.T) {
	good := external.Config{Name: "docs", URL: "https://docs.example.com/s?q={query}", Allow: []string{"docs.example.com"}}
	for field, change := range map[string]func(*external.Config){
		"[0].name":      func(c *external.Config) { c.Name = "The Docs" },
		"[0].allow":     func(c *external.Config) { c.Allow = nil; c.URL = good.URL },
		"[0].allow[0]":  func(c *external.Config) { c.Allow = []string{"*.example.com"} },
		"[0].tokenFile": func(c *external.Config) { c.TokenFile, c.TokenEnv = "a", "B" },
		"[0].cache":     func(c *external.Config) { c.Cache = -1 },
		"[0].timeout":   func(c *external.Config) { c.Timeout = time.Minute },
	} {
		c := good
		change(&c)
		if ps := external.Validate([]external.Config{c}); len(ps) == 0 || ps[0].Field != field {
			t.Errorf("%s: %+v", field, ps)
		}
	}
	for _, u := range []string{"", "docs.example.com", "http://docs.example.com/?q={query}", "https://other.example.com/?q={query}", "https://docs.example.com:8443/?q={query}", "https://docs.example.com/{query}",
		"https://{query}.example.com/?q={query}", "https://docs.example.com/?q=x", "https://me:pw@docs.example.com/?q={query}", "https://docs.example.com/?q={query}#x", "https://docs.example.com.evil.org/?q={query}"} {
		c := good
		c.URL = u
		if ps := external.Validate([]external.Config{c}); len(ps) != 1 || ps[0].Field != "[0].url" || strings.Contains(ps[0].Message, "pw") {
			t.Errorf("%s: %+v", u, ps)
		}
	}
	if ps := external.Validate([]external.Config{good, good}); len(ps) != 1 || ps[0].Field != "[1].name" {
		t.Error(ps)
	}
	if _, err := external.New([]external.Config{good}, "", slog.New(slog.DiscardHandler)).Ask(t.Context(), "none", "x"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
}
