package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/realtest"
)

// besideBackstage sets the server beside a real Backstage back end with the
// same entities, and compares what CPU time each takes for the same requests;
// Backstage's is that of Node and of PostgreSQL together.
func (s settings) besideBackstage(ctx context.Context, r report, dir string) error {
	r.section("Beside a real Backstage back end")
	if err := realtest.BackstageMissing(); err != nil {
		fmt.Fprintln(r.w, "  left out:", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	if s.server == "" {
		return errors.New("the part backstage needs -server")
	}
	repo, err := newRepository(ctx, filepath.Join(dir, "beside"), s.beside)
	if err != nil {
		return err
	}
	config, err := configure(filepath.Join(dir, "beside-server"), repo)
	if err != nil {
		return err
	}
	srv, err := startServer(ctx, s.server, config)
	if err != nil {
		return err
	}
	return errors.Join(s.beneath(ctx, r, srv, repo), srv.stop())
}

// beneath starts Backstage below the server's figures.
func (s settings) beneath(ctx context.Context, r report, srv *server, repo *repository) error {
	wall, cpu, err := srv.queryable(ctx, repo.entities)
	if err != nil {
		return err
	}
	database, drop, err := realtest.NewDatabase()
	if err != nil {
		return err
	}
	b, err := realtest.StartBackstage(ctx, realtest.BackstageConfig{
		Database: database, Locations: []string{filepath.Join(repo.dir, "all.yaml")}, Within: time.Hour, MCP: true, LogLevel: "info", // as it is, and as the server logs
	})
	if err != nil {
		return errors.Join(err, drop())
	}
	return errors.Join(s.pairs(ctx, r, pair{ours: srv, ourStart: [2]time.Duration{wall, cpu}, backstage: b}, repo), b.Stop(), drop())
}

// pair are the two servers.
type pair struct {
	ours      *server
	ourStart  [2]time.Duration // wall and CPU
	backstage *realtest.BackstageServer
}

// oursCPU is what the server has used so far.
func (p pair) oursCPU() (time.Duration, error) { return cpuOf(p.ours.cmd.Process.Pid) }

// cpu is what Backstage has used so far, its database with it.
func (p pair) cpu() (time.Duration, error) {
	node, err := cpuOf(p.backstage.Pid)
	if err != nil {
		return 0, err
	}
	pid, err := realtest.PostgresPid()
	if err != nil {
		return 0, err
	}
	database, err := familyCPU(pid)
	return node + database, err
}

// pairs prints what both take for each kind of request.
func (s settings) pairs(ctx context.Context, r report, p pair, repo *repository) error {
	took, err := p.cpu()
	if err != nil {
		return err
	}
	r.line(fmt.Sprintf("reading %d entities, wall / CPU", repo.entities), fmt.Sprintf("%s / %s, Backstage %s / %s",
		seconds(p.ourStart[0]), seconds(p.ourStart[1]), seconds(p.backstage.Took), seconds(took)), "")
	if _, err := p.backstage.SQL(ctx, "VACUUM ANALYZE"); err != nil { // else it does so while requests are measured
		return err
	}
	if err := s.idle(ctx, r, p); err != nil {
		return err
	}
	theirs := &server{url: p.backstage.URL, token: p.backstage.Token, client: p.ours.client}
	if err := sameKinds(ctx, p.ours, theirs); err != nil {
		return err
	}
	var twins []twin
	for _, v := range besideVisits(repo) {
		twins = append(twins, twin{v, v.next})
	}
	overMCP, err := besideMCP(ctx, p.ours, repo)
	if err != nil {
		return err
	}
	for _, t := range append(twins, overMCP...) {
		if err := s.compare(ctx, r, p, theirs, t); err != nil {
			return err
		}
	}
	return pageBytes(ctx, r, p.ours, theirs, overMCP[1])
}

// idle prints what share of a core each takes without any request.
func (s settings) idle(ctx context.Context, r report, p pair) error {
	used := func() (ours, theirs time.Duration, err error) {
		if ours, err = p.oursCPU(); err != nil {
			return 0, 0, err
		}
		theirs, err = p.cpu()
		return ours, theirs, err
	}
	a, b, err := used()
	if err != nil {
		return err
	}
	length := time.Duration(s.seconds) * time.Second / 4
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
	}
	a2, b2, err := used()
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / length.Seconds() }
	r.line("idle, share of a core", fmt.Sprintf("%.1f %%, Backstage %.1f %%", share(a2-a), share(b2-b)), "")
	return err
}

// twin is one kind of request, as the server takes it and as Backstage does.
type twin struct {
	visit
	theirs func(i int) request
}

// compare prints what both take for a kind of request.
func (s settings) compare(ctx context.Context, r report, p pair, theirs *server, t twin) error {
	length := time.Duration(s.seconds) * time.Second / 4
	ours, err := p.ours.each(ctx, length, t.next, p.oursCPU)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	other, err := theirs.each(ctx, length, t.theirs, p.cpu)
	if err != nil {
		return fmt.Errorf("%s of Backstage: %w", t.name, err)
	}
	r.line(t.name+", CPU", fmt.Sprintf("%.3f ms, Backstage %.2f ms: 1/%.0f", ours*1000, other*1000, other/max(ours, 1e-9)), t.goal)
	return nil
}

// each sends requests one after the other for a while, after a tenth of it as
// a warm-up, and gives the CPU time for each in seconds.
func (s *server) each(ctx context.Context, length time.Duration, next func(int) request, cpu func() (time.Duration, error)) (float64, error) {
	i := 0
	run := func(length time.Duration) error {
		for end := time.Now().Add(length); time.Now().Before(end); i++ {
			if _, err := s.ask(ctx, next(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(length / 10); err != nil {
		return 0, err
	}
	before, err := cpu()
	if err != nil {
		return 0, err
	}
	from := i
	if err := run(length); err != nil {
		return 0, err
	}
	after, err := cpu()
	return (after - before).Seconds() / float64(max(1, i-from)), err
}

// sameKinds checks that both have the same entities, but for the Location that
// Backstage makes for the file itself.
func sameKinds(ctx context.Context, ours, theirs *server) error {
	count := func(s *server) (map[string]int, error) {
		var out struct {
			Facets map[string][]struct {
				Value string
				Count int
			}
		}
		data, err := s.ask(ctx, request{method: http.MethodGet, path: "/api/catalog/entity-facets?facet=kind", holds: "Component"})
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return nil, err
		}
		kinds := map[string]int{}
		for _, v := range out.Facets["kind"] {
			kinds[v.Value] = v.Count
		}
		return kinds, nil
	}
	a, err1 := count(ours)
	b, err2 := count(theirs)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b["Location"]--
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Errorf("the entities differ: %v here, %v in Backstage", a, b)
	}
	return nil
}

// besideVisits are the requests that both are sent.
func besideVisits(repo *repository) []visit {
	const query = "/api/catalog/entities/by-query?limit=20&filter=kind=component"
	get := func(name, goal, path, holds string) visit {
		return visit{name, goal, func(int) request { return request{method: http.MethodGet, path: path, holds: holds} }}
	}
	one := func(i int) named { return repo.components[i*7919%len(repo.components)] }
	name := func(i int) string {
		return "/api/catalog/entities/by-name/component/" + one(i).namespace + "/" + one(i).name
	}
	return []visit{
		get("by-query page", "1/100", query, `"items":[{`),
		get("by-query page, ordered", "1/100", query+"&orderField=metadata.name,asc", `"items":[{`),
		get("by-query page, full text", "1/100", query+"&orderField=metadata.name,asc&fullTextFilterTerm=er&fullTextFilterFields=metadata.name,metadata.title", `"items":[{`),
		{"by-query page, a team's", "1/100", func(i int) request {
			return request{method: http.MethodGet, path: query + url.QueryEscape(",relations.ownedBy=group:default/"+repo.teams[i*31%len(repo.teams)]), holds: `"items":[`}
		}},
		get("facets: kind", "1/100", "/api/catalog/entity-facets?facet=kind", "Component"),
		get("facets: type and tags of components", "1/100", "/api/catalog/entity-facets?facet=spec.type&facet=metadata.tags&filter=kind=component", "service"),
		{"by-name", "1/20", func(i int) request { return request{method: http.MethodGet, path: name(i), holds: one(i).name} }},
		{"by-refs of 100", "1/20", func(i int) request {
			refs := make([]string, 100)
			for j := range refs {
				refs[j] = strconv.Quote(one(i*100 + j).ref())
			}
			return request{method: http.MethodPost, path: "/api/catalog/entities/by-refs", header: jsonBody(),
				body: `{"entityRefs":[` + strings.Join(refs, ",") + `]}`, holds: one(i * 100).name}
		}},
		get("by-query page of 500", "", "/api/catalog/entities/by-query?limit=500&filter=kind=component", `"items":[{`),
		get("entities, page of 500 by name", "", "/api/catalog/entities?limit=500&order=asc:metadata.name", `[{`),
		{"ancestry", "", func(i int) request {
			return request{method: http.MethodGet, path: name(i) + "/ancestry", holds: one(i).name}
		}},
	}
}

// familyCPU is the CPU time of a process and of all its children, those that
// have ended included.
func familyCPU(pid int) (time.Duration, error) {
	total, err := cpuTimes(pid, 4)
	if err != nil {
		return 0, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil || parentOf(child) != pid {
			continue
		}
		if d, err := cpuTimes(child, 2); err == nil { // it may end meanwhile
			total += d
		}
	}
	return total, nil
}

// statOf are the fields of a process's stat after its name.
func statOf(pid int) []string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // none for what has ended
	return strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
}

func parentOf(pid int) int {
	f := statOf(pid)
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1]) // always a number
	return parent
}

// cpuTimes sums the first of utime, stime, cutime and cstime.
func cpuTimes(pid, fields int) (time.Duration, error) {
	f := statOf(pid)
	if len(f) < 11+fields {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	var ticks int64
	for _, field := range f[11 : 11+fields] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}
