package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // of the browser's script
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

//go:embed ui/visit.cjs
var visitScript []byte

// patience is how long a page may take.
const patience = 30 * time.Second

// uiVisit is what one visit to a page took: times in milliseconds, sizes in
// bytes.
type uiVisit struct {
	Name string
	// Content is how long it was from the beginning to what is to be read.
	Content float64
	// CPU is what the page's thread used in that time, and until that was asked.
	CPU float64
	// Server is the part of that in which an answer of the server was awaited.
	Server float64
	// Requests are those to the API, also after the content.
	Requests   int
	Size       float64 // of their answers
	Slowest    float64
	SlowestURL string
	Heap       float64
	// Asks are the requests until the content.
	Asks []uiAsk
	// Own is what the server takes for those, put again one after another: Server
	// without what the browser adds.
	Own float64
	// Failed says why the content did not come.
	Failed string
}

func (v uiVisit) String() string {
	if v.Failed != "" {
		return "failed: " + v.Failed
	}
	return fmt.Sprintf("%.0f ms, CPU %.0f ms; %.1f ms of %.1f, %d of %d, %.0f ms; %.0f kB; %.0f MB", v.Content, v.CPU, v.Own, v.Server, len(v.Asks), v.Requests, v.Slowest, v.Size/1e3, v.Heap/1e6)
}

// visit opens pages in the browser and tells of each, in turn, the middle visit by
// its name and those of its steps.
func (u *uiBench) visit(ctx context.Context, base string, pages []uiPage, tell func(uiPage, map[string]uiVisit)) error {
	order, err := json.Marshal(map[string]any{"base": base, "pages": pages, "rounds": u.rounds, "patience": patience.Milliseconds(), "profile": u.profiles})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, u.browser.Node, "-") //nolint:gosec // Node as browser.sh installed it
	cmd.Env = slices.Concat(os.Environ(), u.browser.BrowserEnv(), []string{"FAIRLEAD_VISITS=" + string(order)})
	cmd.Stdin, cmd.Stderr = bytes.NewReader(visitScript), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := json.NewDecoder(out)
	for _, p := range pages {
		var seen struct {
			Visits   []uiVisit
			Troubles []string
		}
		if err = lines.Decode(&seen); err != nil {
			break
		}
		if len(seen.Troubles) > 0 {
			fmt.Fprintf(os.Stderr, "%s: %s\n", p.Name, strings.Join(seen.Troubles, "; "))
		}
		found := middles(seen.Visits)
		if err = u.again(ctx, found); err != nil {
			break
		}
		tell(p, found)
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("the browser: %w", err)
	}
	return nil
}

// middles are the middle visits by name.
func middles(visits []uiVisit) map[string]uiVisit {
	by := map[string][]uiVisit{}
	for _, v := range visits { // one that failed is the last
		by[v.Name] = append(by[v.Name], v)
	}
	out := map[string]uiVisit{}
	for name, v := range by {
		out[name] = middle(v)
	}
	return out
}

// besides compares with a visit of the same page with Backstage.
func (v uiVisit) besides(b uiVisit) string {
	if v.Failed+b.Failed != "" {
		return v.String() + "; Backstage: " + b.String()
	}
	return fmt.Sprintf("%.0f ms of which %.1f ms, Backstage %.0f ms of which %.1f ms: 1/%.1f and 1/%.0f; slowest request %.0f ms and %.0f ms",
		v.Content, v.Own, b.Content, b.Own, b.Content/v.Content, b.Own/max(v.Own, 0.1), v.Slowest, b.Slowest)
}

// middle is the visit with the middle time to content, with the slowest request
// and the largest heap of all.
func middle(visits []uiVisit) uiVisit {
	if last := visits[len(visits)-1]; last.Failed != "" {
		return last
	}
	slices.SortFunc(visits, func(a, b uiVisit) int { return cmp.Compare(a.Content, b.Content) })
	m := visits[len(visits)/2]
	for _, v := range visits {
		m.Slowest, m.Heap = max(m.Slowest, v.Slowest), max(m.Heap, v.Heap)
	}
	return m
}

// inFrontOf serves the front end of a server with the catalog of a Backstage,
// at the URL that it gives, until it is stopped.
func inFrontOf(ctx context.Context, ours string, b *realtest.BackstageServer) (string, func(), error) {
	here, err1 := url.Parse(ours)
	there, err2 := url.Parse(b.URL)
	if err := errors.Join(err1, err2); err != nil {
		return "", nil, err
	}
	pages := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = here.Scheme, here.Host }}
	catalog := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(there)
		p.Out.Header.Set("Authorization", "Bearer "+b.Token)
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/catalog/") {
			catalog.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	}))
	stopped := context.AfterFunc(ctx, srv.CloseClientConnections)
	return srv.URL, func() { stopped(); srv.CloseClientConnections(); srv.Close() }, nil
}
