// Package app composes a server from its configuration: the program as a
// value, which tests start as they like, twice if they like.
package app

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/findings"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/internal/heap"
	"github.com/fairlead-dev/fairlead/internal/jobs"
	"github.com/fairlead-dev/fairlead/internal/keep"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/previews/argocd"
	"github.com/fairlead-dev/fairlead/previews/local"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// readingVersion is part of what decides whether kept files are read anew:
// raise it when files are read otherwise than before.
const readingVersion = 2

// shutdownGrace is how long in-flight requests may take once the server ends.
const shutdownGrace = 8 * time.Second

// App is a server that has been put together and not yet started.
type App struct {
	cfg           *Config
	telemetry     *telemetry
	store         *store.Store
	keeper        *keep.Keeper
	kept          *keep.Findings // what inference found, across restarts
	findings      *findings.Findings
	local         *store.Local // the index of documents
	localCode     *store.Local // the index of code; nil where none is searched
	code          *knowledge.Code
	knowledge     *knowledge.Service
	words         *fts.Index
	auth          *access.Authenticator
	issuers       *oidc.Verifier // of tokens that others issue; nil where none are configured
	ui            *frontEnd      // nil where none is served
	guest         *oidc.Guest    // whom the front end lets in; nil for nobody
	access        *access.Service
	catalog       *catalog.Service
	previews      *previews.Service // nil where they are not configured
	ingester      *ingest.Ingester
	moves         *moves
	hooks         map[string][]hook // by kind of forge
	forges        []writing         // where pull requests are opened
	gitops        *gitops.Service   // nil where nothing can be proposed
	secrets       *secrets.Service  // nil where nothing is lent
	vault         *vault.Vault      // nil without
	fetches       *git.Limiter
	passing       *git.Limiter  // of fetches for trying locations; nil where none can be registered
	budgets       forge.Budgets // one for each account at a forge
	reconciler    *previews.Reconciler
	pulls         *previews.PullKeeper
	polledPulls   int64 // the last turn of looking for pull requests
	localPreviews *local.Deployer
	strays        *strayMetrics
	argo          map[string]*argocd.Instance // by name
	deployments   map[string]gitops.ArgoCD
	health        *gitops.HealthService // nil without an Argo CD
	observer      *gitops.Observer      // nil without an Argo CD
	ci            *gitops.CIService     // nil without a forge
	links         *gitops.LinkService   // nil without a forge
	guards        *git.Fixed            // of previews by Argo CD; nil without
	jobs          *jobs.Queue
	jobsDB        *sql.DB        // of SQLite
	closers       []func() error // of what previews' data is made by
	listener      net.Listener
	started       func()        // called once everything has been read for the first time
	restored      chan struct{} // closed once findings and documents are back
	server        *http.Server
}

// New puts a server together and opens its state and its listening socket;
// nothing is served before Run. Logs go to logs as JSON lines.
func New(ctx context.Context, cfg *Config, logs io.Writer) (_ *App, err error) {
	a := &App{cfg: cfg, restored: make(chan struct{})}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.telemetry, err = newTelemetry(ctx, cfg.Telemetry, logs); err != nil {
		return nil, err
	}
	if err = a.openState(ctx); err != nil {
		return nil, err
	}
	if err = a.makeRooms(ctx); err != nil {
		return nil, err
	}
	a.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fault.New(fault.FailedPrecondition, "the server cannot listen at %s", cfg.Listen).
			WithFix("Stop what listens there, or choose another address with --listen.").Because(err)
	}
	handler, err := a.handler()
	if err != nil {
		return nil, err
	}
	a.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(a.telemetry.log.Handler(), slog.LevelDebug)}
	return a, nil
}

func (a *App) openState(ctx context.Context) (err error) {
	if a.store, err = store.Open(ctx, a.cfg.State); err != nil {
		return err
	}
	if _, err = a.store.Migrate(ctx); err != nil {
		return err
	}
	if !isPostgres(a.cfg.State) { // in a state of its own nobody else can be at work
		if err = a.store.LetGoOfProposals(ctx); err != nil {
			return err
		}
	}
	if a.keeper, err = keep.Open(a.cfg.Cache); err != nil {
		return err
	}
	if a.kept, err = keep.OpenFindings(a.cfg.Cache); err != nil {
		return err
	}
	if a.local, err = store.OpenKnowledge(ctx, a.cfg.Cache); err != nil || a.cfg.Knowledge.Code.Off {
		return err
	}
	a.localCode, err = store.OpenCode(ctx, a.cfg.Cache)
	return err
}

func (a *App) makeRooms(ctx context.Context) (err error) {
	log := a.telemetry.log
	if a.guest, err = a.cfg.UI.makeGuest(); err != nil {
		return err
	}
	if a.issuers = a.cfg.issuers(log, a.guest); a.issuers != nil {
		a.auth, err = a.cfg.authenticator(log, a.issuers)
	} else {
		a.auth, err = a.cfg.authenticator(log, nil)
	}
	if err != nil {
		return err
	}
	if a.access, err = access.NewService(a.cfg.policy, a.store); err != nil {
		return err
	}
	guard, err := access.NewGuard(access.GuardConfig{Policy: a.cfg.policy, Log: a.store, Quota: a.store, Limits: a.cfg.Policy.Limits, Judge: a.cfg.judge, Approvals: a.store, Logger: log})
	if err != nil {
		return err
	}
	a.access.AttachApprovals(a.store, guard)
	if a.catalog, err = catalog.New(catalog.Config{Policy: a.cfg.policy, Guard: guard}); err != nil {
		return err
	}
	sources, providers, err := a.sources()
	if err != nil {
		return err
	}
	if err = a.makeForges(); err != nil {
		return err
	}
	a.findings = findings.New(a.kept)
	if err = a.makeKnowledge(ctx, guard); err != nil {
		return err
	}
	a.moves = newMoves()
	a.ingester = ingest.New(ingest.Config{
		Followers: a.followers(), Restored: a.restored,
		Sources: sources, Providers: providers, Registered: a.registered(), Processor: a.processor(), Publish: a.catalog.Publish, Keeper: a.keeper,
		Fingerprint: a.cfg.fingerprint(), Refresh: a.cfg.Catalog.Refresh, Log: log, Observe: a.telemetry.ingested, Moved: a.moves.add, Settled: func() { a.started() },
	})
	a.catalog.Attach(a.ingester)
	a.catalog.AttachFindings(a.findings)
	a.register()
	if err = a.openArgoCD(); err != nil {
		return err
	}
	if err = a.makePreviews(ctx, guard); err != nil {
		return err
	}
	if err = a.makeHealth(); err != nil {
		return err
	}
	if err = a.makeProposals(guard); err != nil {
		return err
	}
	if err = a.makeSecrets(ctx, guard); err != nil {
		return err
	}
	a.telemetry.registry.MustRegister(newForgeMetrics(&a.budgets))
	a.telemetry.gauge("fairlead_entities", "Entities in the catalog.", func() float64 { return float64(a.catalog.Snapshot().Len()) })
	a.telemetry.gauge("fairlead_ingestion_problems", "Open problems of catalog files and sources.", func() float64 { return float64(len(a.ingester.Problems())) })
	return nil
}

func (a *App) processor() *descriptor.Processor {
	return descriptor.New(descriptor.Options{Kinds: a.cfg.Catalog.Kinds, Template: true, Forges: a.cfg.software()})
}

// fingerprint changes with whatever makes files read otherwise.
func (c *Config) fingerprint() string {
	enc, err := json.Marshal([]any{readingVersion, c.Catalog.Kinds, c.software()})
	if err != nil {
		return "" // a configuration is always marshallable; "" never matches what was kept
	}
	sum := sha256.Sum256(enc)
	return hex.EncodeToString(sum[:])
}

// Addr is the address that is listened at, which tells the port when the
// configuration left it open.
func (a *App) Addr() net.Addr { return a.listener.Addr() }

// URL is how clients on this machine reach the server.
func (a *App) URL() string { return "http://" + a.listener.Addr().String() }

// Catalog is the catalog room, for tests and tools that share the process.
func (a *App) Catalog() *catalog.Service { return a.catalog }

// port is the port that is listened at, 0 while there is none.
func (a *App) port() int {
	if a.listener == nil {
		return 0
	}
	if tcp, ok := a.listener.Addr().(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// Ready tells whether every source has been read, restored or tried once, and
// what was found beside the catalog is back.
func (a *App) Ready() bool {
	select {
	case <-a.restored:
		return a.ingester.Ready()
	default:
		return false
	}
}

// restore brings back what was found beside the catalog, which is served
// meanwhile.
func (a *App) restore(ctx context.Context) error {
	both, each := beside.WithContext(ctx)
	both.Go(func() error { return a.findings.Restore(each) })
	both.Go(func() error { return a.restoreKnowledge(each) })
	err := both.Wait()
	if err == nil {
		close(a.restored)
	}
	if ctx.Err() != nil { // the server ends before it was needed
		err = nil
	}
	return err
}

// Run serves until ctx ends, then lets in-flight requests finish for up to
// eight seconds and closes everything that New opened.
func (a *App) Run(ctx context.Context) error {
	defer a.close()
	a.started = heap.Start()
	defer a.started()
	if err := a.ingester.Restore(ctx); err != nil {
		return err
	}
	g, ctx := beside.WithContext(ctx)
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	a.server.BaseContext = func(net.Listener) context.Context { return serving }
	g.Go(a.part(ctx, "bringing back what was kept", a.restore))
	g.Go(a.part(ctx, "reading sources", a.ingester.Run))
	g.Go(a.part(ctx, "watching registered locations", a.watchLocations))
	g.Go(a.part(ctx, "keeping up with other replicas", a.keepUp))
	g.Go(a.part(ctx, "looking after previews", a.runPreviews))
	g.Go(a.part(ctx, "taking back credentials", a.runSecrets))
	g.Go(a.part(ctx, "following proposals", a.followProposals))
	g.Go(a.part(ctx, "observing deployments", a.observeDeployments))
	g.Go(a.part(ctx, "driving fleets", a.driveFleets))
	g.Go(a.part(ctx, "sweeping approvals", a.sweepApprovals))
	g.Go(a.part(ctx, "reading common words ahead", a.keepWarm))
	if a.issuers != nil {
		g.Go(a.part(ctx, "fetching the keys of issuers", func(ctx context.Context) error { a.issuers.Warm(ctx); return nil })) // one that is down is in nobody's way
	}
	g.Go(func() error {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()
		// Streams that would not end by themselves are ended after a while.
		time.AfterFunc(shutdownGrace/4, stopServing)
		if err := a.server.Shutdown(grace); err != nil {
			return a.server.Close()
		}
		return nil
	})
	a.announce(ctx)
	return g.Wait()
}

// close closes what New opened, and logs what does not close as it should.
// announce tells the log where is served, and what a configuration lacks that
// is right as it is but of no use to anybody.
func (a *App) announce(ctx context.Context) {
	log := a.telemetry.log
	log.InfoContext(ctx, "serving", "address", a.Addr().String(), "version", a.cfg.Version)
	if len(a.cfg.Catalog.Sources) == 0 {
		log.WarnContext(ctx, "the catalog has no sources", "fix", "Add some under catalog.sources.")
	}
	if a.cfg.Auth.Nobody() && a.cfg.Auth.Anonymous != access.AnonymousRead {
		log.WarnContext(ctx, "nobody can be let in", "fix", "Add auth.tokens or auth.oidc; fairlead token new makes a token.")
	}
}

func (a *App) close() {
	if a.telemetry == nil { // nothing was opened before it
		return
	}
	var errs []error
	if a.listener != nil {
		if err := a.listener.Close(); !errors.Is(err, net.ErrClosed) { // the server closes it, too
			errs = append(errs, err)
		}
	}
	for _, l := range []*git.Limiter{a.fetches, a.passing} {
		if l != nil {
			l.Close()
		}
	}
	for _, l := range []*store.Local{a.local, a.localCode} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	errs = append(errs, a.ui.close())
	if a.keeper != nil {
		errs = append(errs, a.keeper.Close())
	}
	if a.kept != nil {
		errs = append(errs, a.kept.Close())
	}
	errs = append(errs, a.closePreviews())
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := errors.Join(append(errs, a.telemetry.stop(ctx))...); err != nil {
		a.telemetry.log.WarnContext(ctx, "the server did not close as it should", "error", err)
	}
}
