// Command bench measures how fast the catalog starts, follows changes and
// answers, and how much memory it takes, on a made-up catalog in a local Git
// repository, what reading many repositories and very large ones costs, and how
// fast documents are indexed and searched. It prints figures beside their
// goals, which are meant for two idle cores, and judges none.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// settings are the command line's.
type settings struct {
	components   int
	edits        int
	server       string
	seconds      int
	profiles     string
	parts        string
	repositories int
	sweeps       int
	requests     int
	beside       int
	docs         int
	files        int
	frontEnd     string
	rounds       int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if os.Getenv(taskEnv) != "" {
		return perform(ctx, os.Stdin)
	}
	var s settings
	flag.IntVar(&s.components, "components", 10_000, "components of the made-up company")
	flag.IntVar(&s.edits, "edits", 20, "changes to time")
	flag.StringVar(&s.server, "server", "", "the server program to measure; none without it")
	flag.IntVar(&s.seconds, "seconds", 10, "how long each kind of request that has a goal is sent; others half as long")
	flag.StringVar(&s.profiles, "profiles", "", "a folder for CPU and heap profiles; none are made without it")
	flag.StringVar(&s.parts, "parts", "catalog,server,many,knowledge,code,previews", "what to measure; server, previews, credentials, which starts a real Vault and PostgreSQL, gitops, which starts a real Gitea, and much of many need -server, as do million, which takes minutes, and backstage, which sets real Backstage beside the server, and ui, which opens pages of the front end in a browser, with -components by the server alone and with -beside by a real Backstage as well, 0 for neither; argocd starts a real Argo CD and is run in the repository")
	flag.IntVar(&s.repositories, "repositories", 1000, "repositories of the part many")
	flag.IntVar(&s.sweeps, "sweeps", 100, "looks at many repositories of which none has changed")
	flag.IntVar(&s.requests, "requests", 1_000_000, "requests of the part million")
	flag.IntVar(&s.beside, "beside", 1000, "components of the part backstage, of which Backstage reads about fifteen a second")
	flag.IntVar(&s.docs, "documents", 50_000, "documents of the part knowledge")
	flag.IntVar(&s.files, "files", 60_000, "files of the part code")
	flag.StringVar(&s.frontEnd, "ui", "", "the folder of a built front end for the part ui; built by internal/realtest/ui.sh without it")
	flag.IntVar(&s.rounds, "visits", 5, "visits to each page of the part ui, after two that fill the browser's cache")
	flag.Parse()
	return s.measure(ctx)
}

// wants tells whether a part is to be measured.
func (s settings) wants(part string) bool {
	return slices.Contains(strings.Split(s.parts, ","), part)
}

func (s settings) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "fairlead-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := report{os.Stdout}
	fmt.Fprintf(r.w, "%s, %d cores, load %s; the goals are for two idle cores\n", runtime.Version(), runtime.NumCPU(), loadAverage())
	if s.wants("catalog") || s.wants("server") {
		if err := s.company(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("many") {
		if err := s.many(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("knowledge") {
		if err := s.documents(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("previews") && (s.server != "" || s.parts == "previews") {
		if err := s.previews(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("credentials") {
		if err := s.credentials(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("gitops") {
		if err := s.gitops(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("argocd") {
		if err := s.argoCD(ctx, r); err != nil {
			return err
		}
	}
	if s.wants("code") {
		if err := s.code(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("million") {
		if err := s.million(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("ui") {
		if err := s.ui(ctx, r, dir); err != nil {
			return err
		}
	}
	if s.wants("backstage") {
		return s.besideBackstage(ctx, r, dir)
	}
	return nil
}

// company measures a company's catalog in one repository.
func (s settings) company(ctx context.Context, r report, dir string) error {
	start := time.Now()
	large, err := newRepository(ctx, filepath.Join(dir, "large"), s.components)
	if err != nil {
		return err
	}
	small, err := newRepository(ctx, filepath.Join(dir, "small"), s.components/10)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.w, "catalogs of %d entities in %d files and of %d in %d made in %s\n", large.entities, len(large.files), small.entities, len(small.files), seconds(time.Since(start)))
	if s.wants("catalog") {
		if err := s.inside(ctx, r, dir, large, small); err != nil {
			return err
		}
	}
	if s.server == "" || !s.wants("server") {
		return nil
	}
	return s.outside(ctx, r, dir, large)
}

// inside measures the catalog without a server around it.
func (s settings) inside(ctx context.Context, r report, dir string, large, small *repository) error {
	cold, err := apart(ctx, s.job(dir, "cold", large))
	if err != nil {
		return err
	}
	if cold.Entities != large.entities {
		return fmt.Errorf("%d entities of %d came through", cold.Entities, large.entities)
	}
	j := s.job(dir, "kept", large)
	j.Edits = s.edits
	kept, err := apart(ctx, j)
	if err != nil {
		return err
	}
	if _, err := apart(ctx, s.job(dir, "small", small)); err != nil {
		return err
	}
	j = s.job(dir, "small-kept", small)
	j.Edits = s.edits
	few, err := apart(ctx, j)
	if err != nil {
		return err
	}
	r.section("The catalog alone, in a process of its own")
	r.line("cold start to everything queryable, wall", seconds(cold.Wall), "2 s")
	r.line("cold start to everything queryable, CPU", seconds(cold.CPU), "3 s")
	r.line("cold start until the state is kept as well, CPU", seconds(cold.Whole), "")
	r.line("start from kept state, wall", seconds(kept.Wall), "0.5 s")
	r.line("start from kept state, CPU", seconds(kept.CPU), "")
	r.line("heap held after a cold start", megabytes(cold.Heap), "")
	r.line("heap held after a kept start", megabytes(kept.Heap), "")
	r.line("resident after a cold start, settled / peak", megabytes(cold.Resident)+" / "+megabytes(cold.Peak), "250 MB")
	r.line("resident after a kept start, settled / peak", megabytes(kept.Resident)+" / "+megabytes(kept.Peak), "250 MB")
	r.line("a change is seen after, min / median / max", spread(kept.Edits), "1 s")
	r.line("the same in a catalog of a tenth the size", spread(few.Edits), "no growth with size")
	return nil
}

// job is a measurement of one repository; kept ones use the state of the
// cold one of the same repository.
func (s settings) job(dir, name string, repo *repository) job {
	j := job{Repository: repo.dir, State: filepath.Join(dir, "state-"+filepath.Base(repo.dir)), Components: repo.size}
	if s.profiles != "" {
		j.Profile = filepath.Join(s.profiles, name)
	}
	return j
}
