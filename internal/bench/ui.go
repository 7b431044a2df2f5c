package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// ui measures pages of the front end in a real browser that has been there
// before: of the server with a whole company, and beside a real Backstage back
// end with a smaller one.
func (s settings) ui(ctx context.Context, r report, dir string) error {
	r.section("Pages of the front end in a browser: median to content, CPU of the page's thread; what the server takes for the page's requests until then, of the time in which they were waited for, their number of all, and the slowest; JSON; heap")
	browser, err := realtest.FindBrowser()
	if err != nil {
		fmt.Fprintln(r.w, "  left out:", err)
		return nil
	}
	if s.server == "" {
		return errors.New("the part ui needs -server")
	}
	built := s.frontEnd
	if built == "" {
		if built, err = realtest.BuildUI(ctx, "internal/realtest/ui.sh"); err != nil {
			return err
		}
	}
	u := &uiBench{settings: s, report: r, browser: browser, built: built}
	if s.components > 0 {
		if err := u.alone(ctx, filepath.Join(dir, "ui"), s.components); err != nil {
			return err
		}
	}
	if s.beside == 0 {
		return nil
	}
	return u.besides(ctx, filepath.Join(dir, "ui-beside"), s.beside)
}

// uiBench is what pages are measured with.
type uiBench struct {
	settings
	report
	browser realtest.Clients
	built   string
}

// serve starts a server with the front end and a crowded catalog.
func (u *uiBench) serve(ctx context.Context, dir string, components int) (*server, *repository, error) {
	repo, err := newCrowdedRepository(ctx, filepath.Join(dir, "repository"), components)
	if err != nil {
		return nil, nil, err
	}
	config, err := configureSource(filepath.Join(dir, "server"), fmt.Sprintf("{name: %s, git: {url: %q, include: [all.yaml, %s], limits: {fileBytes: %d}}}", sourceName, repo.dir, crowdFile, 64<<20))
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, nil, err
	}
	text = fmt.Appendf(text, "ui: {dir: %q, guest: {subject: %q, groups: [%q], roles: [sre]}}\n", u.built, "user:default/"+repo.users[0], "group:default/"+repo.teams[0])
	if err := os.WriteFile(config, text, 0o600); err != nil { //nolint:gosec // below the program's own temporary folder
		return nil, nil, err
	}
	srv, err := startServer(ctx, u.server, config)
	if err != nil {
		return nil, nil, err
	}
	if _, _, err := srv.queryable(ctx, repo.entities); err != nil {
		return nil, nil, errors.Join(err, srv.stop())
	}
	return srv, repo, nil
}

// alone prints what pages take with the server and nothing else.
func (u *uiBench) alone(ctx context.Context, dir string, components int) error {
	srv, repo, err := u.serve(ctx, dir, components)
	if err != nil {
		return err
	}
	fmt.Fprintf(u.w, "  %d entities, load %s\n", repo.entities, loadAverage())
	err = u.visit(ctx, srv.url, uiPages(repo), func(p uiPage, seen map[string]uiVisit) {
		for _, name := range p.names() {
			u.line(name, seen[name].String(), p.Goal)
		}
	})
	return errors.Join(err, srv.stop())
}

// besides prints what the same pages take with either back end.
func (u *uiBench) besides(ctx context.Context, dir string, components int) (err error) {
	if missing := realtest.BackstageMissing(); missing != nil {
		fmt.Fprintln(u.w, "  left out beside Backstage:", strings.ReplaceAll(missing.Error(), "\n", "; "))
		return nil
	}
	srv, repo, err := u.serve(ctx, dir, components)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	database, drop, err := realtest.NewDatabase()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, drop()) }()
	b, err := realtest.StartBackstage(ctx, realtest.BackstageConfig{Database: database, Within: time.Hour, LogLevel: "info",
		Locations: []string{filepath.Join(repo.dir, "all.yaml"), filepath.Join(repo.dir, crowdFile)}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Stop()) }()
	if _, err := b.SQL(ctx, "VACUUM ANALYZE"); err != nil {
		return err
	}
	return u.pairs(ctx, srv, b, repo)
}

// pairs prints the pages of both as ratios.
func (u *uiBench) pairs(ctx context.Context, srv *server, b *realtest.BackstageServer, repo *repository) error {
	front, stop, err := inFrontOf(ctx, srv.url, b)
	if err != nil {
		return err
	}
	defer stop()
	u.section("The same beside a real Backstage back end, %d entities, load %s: to content, of which the server takes for the requests until then", repo.entities, loadAverage())
	for _, p := range uiPages(repo) {
		one := []uiPage{p}
		var ours, theirs map[string]uiVisit
		err := errors.Join(
			u.visit(ctx, srv.url, one, func(_ uiPage, seen map[string]uiVisit) { ours = seen }),
			u.visit(ctx, front, one, func(_ uiPage, seen map[string]uiVisit) { theirs = seen }))
		if err != nil {
			return err
		}
		for _, name := range p.names() {
			u.line(name, ours[name].besides(theirs[name]), "")
		}
	}
	return nil
}
