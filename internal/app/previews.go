package app

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
	"github.com/fairlead-dev/fairlead/previews/local"
)

// PreviewsConfig lets services be previewed; without it nothing is.
type PreviewsConfig struct {
	// Deployers are those that catalog files may name.
	Deployers PreviewDeployers `yaml:"deployers"`
	// Limits are how many previews there may be at once.
	Limits previews.Limits `yaml:"limits"`
	// TTL bounds how long they live.
	TTL previews.TTLs `yaml:"ttl"`
	// Deadlines bound how long they may take.
	Deadlines previews.Deadlines `yaml:"deadlines"`
	// Cost is what reports of usage count with.
	Cost previews.Cost `yaml:"cost"`
	// Data are the servers where they are given data of their own.
	Data PreviewData `yaml:"data"`
}

// PreviewDeployers are the deployers that are configured.
type PreviewDeployers struct {
	// Local runs previews on the server's own machine.
	Local *local.Config `yaml:"local"`
	// ArgoCD runs them wherever an Argo CD of the section argocd deploys to.
	ArgoCD *argocd.Config `yaml:"argocd"`
	// GitOps does the same by commits to a repository that an Argo CD watches.
	GitOps *GitOpsPreviews `yaml:"gitops"`
}

// previewWork is what jobs call the work on previews.
const previewWork = "preview"

// sweepPreviewsEvery is how often it is looked for previews whose time has
// come.
const sweepPreviewsEvery = 500 * time.Millisecond

// forgetPreviewsAfter is how long previews that are gone are on record.
const forgetPreviewsAfter = 30 * 24 * time.Hour

// completePreviews fills in where local previews live.
func (c *Config) completePreviews() {
	if c.Previews == nil {
		return
	}
	c.completeData()
	if c.Previews.Deployers.Local == nil {
		return
	}
	l := c.Previews.Deployers.Local
	l.Dir = c.path(cmp.Or(l.Dir, filepath.Join(c.Cache, "previews")))
}

func (c *Config) checkPreviews(k *checker) {
	p := c.Previews
	if p == nil {
		return
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"perTeam", p.Limits.PerTeam}, {"perPerson", p.Limits.PerPerson}, {"perAgent", p.Limits.PerAgent}, {"queue", p.Limits.Queue}} {
		if f.n < 0 {
			k.add("previews.limits."+f.name, "%d is less than nothing", f.n)
		}
	}
	for name, d := range map[string]time.Duration{"create": p.Deadlines.Create, "repair": p.Deadlines.Repair, "remove": p.Deadlines.Remove} {
		if d < 0 {
			k.add("previews.deadlines."+name, "%s is less than nothing", d)
		}
	}
	for name, price := range p.Cost.PerHour {
		if price < 0 || math.IsNaN(price) || math.IsInf(price, 0) {
			k.add("previews.cost.perHour."+name, "%v is no price", price)
		}
	}
	if len(p.Cost.Currency) > 10 {
		k.add("previews.cost.currency", "%.20q is no currency such as EUR", p.Cost.Currency)
	}
	ttl := p.TTL.WithDefaults()
	for _, f := range []struct {
		name        string
		given, d    time.Duration
		least, most time.Duration
	}{{"default", p.TTL.Default, ttl.Default, previews.MinTTL, ttl.Max}, {"max", p.TTL.Max, ttl.Max, previews.MinTTL, ttl.HardCap}, {"hardCap", p.TTL.HardCap, ttl.HardCap, ttl.Max, 366 * 24 * time.Hour}} {
		if f.d < f.least || f.d > f.most {
			k.add("previews.ttl."+f.name, "%s is not between %s and %s", f.d, f.least, f.most)
		}
	}
	c.checkData(k)
	if l := p.Deployers.Local; l != nil {
		if isPostgres(c.State) {
			k.add("previews.deployers.local", "with the state in PostgreSQL there may be several replicas, and none would see the processes of another; keep the state in a directory, or use another deployer")
		}
		for _, problem := range l.Validate() {
			k.add("previews.deployers.local."+problem.Field, "%s", problem.Message)
		}
	}
}

// makePreviews opens the room of previews and the jobs that look after them.
func (a *App) makePreviews(ctx context.Context, guard *access.Guard) (err error) {
	cfg := a.cfg.Previews
	if cfg == nil {
		return nil
	}
	deployers := maps.Clone(a.cfg.deployers)
	if deployers == nil {
		deployers = map[string]previews.Deployer{}
	}
	repositories := a.previewRepositories()
	if cfg.Deployers.Local != nil {
		a.localPreviews, err = local.New(*cfg.Deployers.Local, local.Options{Checkout: repositories, Port: a.port, Runner: supervisor(), Logger: a.telemetry.log})
		if err != nil {
			return err
		}
		deployers["local"] = a.localPreviews
	}
	if cfg.Deployers.ArgoCD != nil {
		if deployers["argocd"], err = a.argoPreviews(ctx, *cfg.Deployers.ArgoCD); err != nil {
			return err
		}
	}
	if cfg.Deployers.GitOps != nil {
		if deployers["gitops"], err = a.gitOpsPreviews(ctx, *cfg.Deployers.GitOps); err != nil {
			return err
		}
	}
	data, err := a.previewData(repositories)
	if err != nil {
		return err
	}
	a.reconciler = previews.NewReconciler(previews.ReconcilerConfig{Claims: a.store, Deployers: deployers, Data: data, Limits: cfg.Limits, Deadlines: cfg.Deadlines,
		Observe: a.telemetry.previews(a.store), Logger: a.telemetry.log})
	if err = a.openJobs(ctx); err != nil {
		return err
	}
	a.previews, err = previews.New(previews.Config{Policy: a.cfg.policy, Guard: guard, Catalog: a.catalog, Repositories: repositories, Wishes: a.store, Reads: a.store,
		Deployers: deployers, Data: data, Wake: a.wakePreview, Limits: cfg.Limits, TTL: cfg.TTL, Cost: cfg.Cost,
		Deadlines: cfg.Deadlines, Logger: a.telemetry.log})
	if err != nil {
		return err
	}
	a.closers = append([]func() error{a.previews.Close}, a.closers...) // before what it asks
	a.makePulls()
	a.strays = a.telemetry.strays()
	a.telemetry.registry.MustRegister(&backlog{jobs: a.jobs})
	return nil
}

// supervisor is the program that runs local previews: the small one beside this
// program where it is there, nil for this one itself.
func supervisor() []string {
	if program := neighbour("fairlead-supervisor"); program != "" {
		return []string{program}
	}
	return nil
}

// neighbour is a program in the folder of this one, "" where there is none.
func neighbour(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	program := filepath.Join(filepath.Dir(self), name)
	if f, err := os.Stat(program); err != nil || !f.Mode().IsRegular() || f.Mode()&0o111 == 0 {
		return ""
	}
	return program
}

// openJobs opens the queue of jobs. In a state of its own nobody else can be
// at work, so what a dead server held is free.
func (a *App) openJobs(ctx context.Context) (err error) {
	cfg := jobs.Config{Logger: a.telemetry.log, Timeout: previews.TurnTimeout + 5*time.Second, Works: map[string]jobs.Work{
		previewWork: func(ctx context.Context, t jobs.Task) (time.Duration, error) {
			return a.reconciler.Turn(ctx, previews.Turn{ID: t.Key, Number: t.Number})
		},
		pullWork: a.keepPull,
		pollWork: a.pollPulls,
	}}
	if isPostgres(a.cfg.State) {
		a.jobs, err = jobs.OverPostgres(ctx, a.cfg.State, cfg)
		return err
	}
	if a.jobsDB, err = store.OpenJobs(a.cfg.State); err != nil {
		return err
	}
	if a.jobs, err = jobs.OverSQLite(ctx, a.jobsDB, cfg); err != nil {
		return err
	}
	return a.store.LetGoOfPreviews(ctx)
}

// wakePreview has a turn done soon, and the credentials taken back that are
// bound to a preview that was just ended. Where that fails, the next sweep finds
// the preview.
func (a *App) wakePreview(ctx context.Context, t previews.Turn) {
	if a.secrets != nil {
		if over, err := (bindings{app: a}).Over(ctx, "preview", t.ID); err == nil && over {
			a.ended(context.WithoutCancel(ctx), "preview:"+t.ID)
		}
	}
	if err := a.jobs.Add(context.WithoutCancel(ctx), jobs.Task{What: previewWork, Key: t.ID, Number: t.Number}); err != nil {
		a.telemetry.log.WarnContext(ctx, "a preview is looked after later than it should be", "preview", t.ID, "error", err)
	}
}

// runPreviews looks after previews until ctx ends.
func (a *App) runPreviews(ctx context.Context) error {
	if a.jobs == nil {
		return nil
	}
	var loops beside.All
	loops.Go(a.loop(ctx, "sweeping previews", a.sweepPreviews))
	loops.Go(a.loop(ctx, "counting strays of previews", a.countStrays))
	err := a.jobs.Run(ctx)
	loops.Wait()
	return err
}

// closePreviews lets go of what makePreviews opened.
func (a *App) closePreviews() error {
	var errs []error
	if a.jobs != nil {
		a.jobs.Close()
	}
	if a.jobsDB != nil {
		errs = append(errs, a.jobsDB.Close())
	}
	if a.localPreviews != nil {
		errs = append(errs, a.localPreviews.Close())
	}
	for _, c := range a.closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// frontPreviews answers for the hosts of local previews.
func (a *App) frontPreviews(next http.Handler) http.Handler {
	if a.localPreviews == nil {
		return next
	}
	return a.localPreviews.Front(next)
}

// Supervise runs what local previews start of this very program; ran tells
// whether the arguments ask for that, and code is then what to exit with.
func Supervise(args []string) (code int, ran bool) { return local.Main(args) }
