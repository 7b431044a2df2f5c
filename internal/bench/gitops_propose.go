package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// proposalsInTurn is how many proposals are made, by each of both ways.
const proposalsInTurn = 30

// busy is a way to Gitea that knows how long Gitea was at work on anything.
type busy struct {
	next http.Handler

	mu       sync.Mutex
	active   int
	since    time.Time
	total    time.Duration
	requests int
}

// ServeHTTP passes a request on.
func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.count(1)
	defer b.count(-1)
	b.next.ServeHTTP(w, r)
}

func (b *busy) count(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.active += n; {
	case n > 0 && b.active == 1:
		b.since = time.Now()
	case b.active == 0:
		b.total += time.Since(b.since)
	}
	b.requests += max(n, 0)
}

// read is how long Gitea was at work, and on how many requests.
func (b *busy) read() (time.Duration, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total, b.requests
}

// gate is a real Gitea, the way to it, and a server that proposes there.
type gate struct {
	*server
	forge *realtest.Forge
	busy  *busy
	url   string
	api   string
}

// proposing measures proposals at a real Gitea: in all, what of it is Fairlead's
// own, and the same by git and curl's like.
func (s settings) proposing(ctx context.Context, r report, dir string) error {
	f, stop, err := realtest.NewGitea(ctx)
	if err != nil {
		r.section("Proposals at a real Gitea")
		r.line("left out", err.Error(), "")
		return nil
	}
	target, err := url.Parse(f.URL)
	if err != nil {
		return errors.Join(err, stop())
	}
	g := &gate{forge: f, busy: &busy{next: httputil.NewSingleHostReverseProxy(target)}, api: "/repos/acme/deploy"}
	way := httptest.NewServer(g.busy)
	defer way.Close()
	g.url = way.URL
	err = g.prepare(ctx, s.server, dir)
	if err == nil {
		r.section("Proposals of a new image at a real Gitea, one after the other: min / p50 / max")
		err = g.measure(ctx, r, dir)
	}
	if g.server != nil {
		err = errors.Join(err, g.stop())
	}
	return errors.Join(err, stop())
}

// prepare fills Gitea and starts the server.
func (g *gate) prepare(ctx context.Context, program, dir string) error {
	err := errors.Join(g.forge.Ask(ctx, http.MethodPost, "/orgs", map[string]string{"username": "acme"}, nil),
		g.forge.Ask(ctx, http.MethodPost, "/orgs/acme/repos", map[string]any{"name": "deploy", "private": true, "default_branch": "main"}, nil))
	repo := &repository{dir: filepath.Join(dir, "deploy")}
	entities := &strings.Builder{}
	for i := range 2*proposalsInTurn + 2 {
		err = errors.Join(err, repo.write(fmt.Sprintf("apps/s%03d/staging/kustomization.yaml", i), deployText(i)))
		fmt.Fprintf(entities, "---\napiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: s%03d}\nspec: {type: service, lifecycle: production, owner: bench, fairlead: {deployRepo: '%s/acme/deploy', environments: [{name: staging, path: apps/s%03d/staging}]}}\n", i, g.url, i)
	}
	if err = errors.Join(err, repo.begin(ctx), repo.git(ctx, "push", "-q", g.remote(), "main")); err != nil {
		return err
	}
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "catalog"), 0o700), os.WriteFile(filepath.Join(dir, "catalog", "catalog-info.yaml"), []byte(entities.String()), 0o600),
		os.WriteFile(filepath.Join(dir, "forge"), []byte(g.forge.Token), 0o600))
	config, configErr := configureFleets(dir, []string{"{name: local, file: {path: ./catalog}}"}, fmt.Sprintf("forges: [{name: acme, gitea: {url: %q, tokenFile: forge}}]\n", g.url))
	if err = errors.Join(err, configErr); err != nil {
		return err
	}
	if g.server, err = startServer(ctx, program, config); err == nil {
		_, _, err = g.queryable(ctx, 2*proposalsInTurn+2)
	}
	return err
}

// remote is the repository with who may write to it.
func (g *gate) remote() string {
	return strings.Replace(g.forge.URL, "://", "://"+g.forge.User+":"+g.forge.Token+"@", 1) + "/acme/deploy.git"
}

// measure proposes by both ways, in turn, so that both meet the same machine.
func (g *gate) measure(ctx context.Context, r report, dir string) error {
	var all, own, theirs, alone []time.Duration
	requests := 0
	bare := &repository{dir: filepath.Join(dir, "deploy")}
	if err := errors.Join(g.propose(ctx, 2*proposalsInTurn), g.barely(ctx, bare, 2*proposalsInTurn+1)); err != nil { // the first fetch, and the first label
		return err
	}
	for i := range proposalsInTurn {
		before, n := g.busy.read()
		start := time.Now()
		if err := g.propose(ctx, i); err != nil {
			return err
		}
		took := time.Since(start)
		after, m := g.busy.read()
		all, theirs, own, requests = append(all, took), append(theirs, after-before), append(own, took-(after-before)), requests+m-n
		start = time.Now()
		if err := g.barely(ctx, bare, proposalsInTurn+i); err != nil {
			return err
		}
		alone = append(alone, time.Since(start))
	}
	r.line("in all, from the call to its answer", spread(all), "400 ms")
	r.line(fmt.Sprintf("of that Gitea, in %d requests each", requests/proposalsInTurn), spread(theirs), "")
	r.line("of that Fairlead's own", spread(own), "50 ms")
	r.line("the same by the git command and bare calls", spread(alone), "")
	return nil
}

// propose has Fairlead propose a new image of a service.
func (g *gate) propose(ctx context.Context, i int) error {
	_, err := g.ask(ctx, request{method: http.MethodPost, path: "/api/v1/proposals", header: jsonBody(), holds: `"open"`,
		body: fmt.Sprintf(`{"service":"s%03d","environment":"staging","change":{"image":{"tag":"2.0.0"}},"reason":"bench"}`, i)})
	return err
}

// barely does the same as a script would: a commit on the newest base, pushed to
// a branch, a pull request with a label, and its checks and reviews read.
func (g *gate) barely(ctx context.Context, repo *repository, i int) error {
	branch, file := fmt.Sprintf("bare-%d", i), fmt.Sprintf("apps/s%03d/staging/kustomization.yaml", i)
	err := errors.Join(repo.git(ctx, "fetch", "-q", g.remote(), "main"), repo.git(ctx, "checkout", "-q", "-B", branch, "FETCH_HEAD"),
		repo.write(file, strings.Replace(deployText(i), "1.4.0", "2.0.0", 1)), repo.git(ctx, "commit", "-q", "-am", "A new image"), repo.git(ctx, "push", "-q", g.remote(), branch))
	if err != nil {
		return err
	}
	var labels []struct {
		ID   int64
		Name string
	}
	if err := g.forge.Ask(ctx, http.MethodGet, g.api+"/labels", nil, &labels); err != nil {
		return err
	}
	ids := []int64{}
	for _, l := range labels {
		ids = append(ids, l.ID)
	}
	var pull struct {
		Number int64
		Head   struct{ SHA string }
	}
	if err := g.forge.Ask(ctx, http.MethodPost, g.api+"/pulls", map[string]any{"title": branch, "head": branch, "base": "main", "labels": ids}, &pull); err != nil {
		return err
	}
	var any json.RawMessage
	return errors.Join(g.forge.Ask(ctx, http.MethodGet, fmt.Sprintf("%s/pulls/%d", g.api, pull.Number), nil, &any),
		g.forge.Ask(ctx, http.MethodGet, g.api+"/commits/"+pull.Head.SHA+"/status", nil, &any), g.forge.Ask(ctx, http.MethodGet, fmt.Sprintf("%s/pulls/%d/reviews", g.api, pull.Number), nil, &any))
}
