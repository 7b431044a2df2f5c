package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/store"
	"github.com/fairlead-dev/fairlead/previews"
	"github.com/fairlead-dev/fairlead/secrets"
	"github.com/fairlead-dev/fairlead/secrets/vault"
)

// SecretsConfig bounds what credentials are lent for.
type SecretsConfig struct {
	// Limits are how many leases there may be at once.
	Limits secrets.Limits `yaml:"limits"`
	// TTL bounds how long they last.
	TTL secrets.TTLs `yaml:"ttl"`
	// WrapTTL is how long a credential waits to be collected, 2m by default.
	WrapTTL time.Duration `yaml:"wrapTTL"`
}

// lender is who issues credentials and keeps what is lent.
type lender interface {
	secrets.Issuer
	secrets.Custodian
}

func (c *Config) checkSecrets(k *checker) {
	if c.Vault != nil {
		for _, p := range c.Vault.Validate() {
			k.add("vault."+p.Field, "%s", p.Message)
		}
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"perAgent", c.Secrets.Limits.PerAgent}, {"perPerson", c.Secrets.Limits.PerPerson}, {"perService", c.Secrets.Limits.PerService}} {
		if f.n < 0 {
			k.add("secrets.limits."+f.name, "%d is less than nothing", f.n)
		}
	}
	ttl := c.Secrets.TTL.WithDefaults()
	for _, f := range []struct {
		name        string
		d, at, most time.Duration
	}{{"ttl.max", ttl.Max, secrets.MinTTL, 32 * 24 * time.Hour}, {"ttl.default", ttl.Default, secrets.MinTTL, ttl.Max}, {"wrapTTL", c.Secrets.WrapTTL, 0, time.Hour}} {
		if f.d < f.at || f.d > f.most {
			k.add("secrets."+f.name, "%s is not between %s and %s", f.d, f.at, f.most)
		}
	}
}

// makeSecrets opens the room of credentials, where there is somebody to issue
// them.
func (a *App) makeSecrets(ctx context.Context, guard *access.Guard) (err error) {
	from := a.cfg.lender
	if from == nil && a.cfg.Vault != nil {
		mine, err := a.store.Installation(ctx)
		if err != nil {
			return err
		}
		if a.vault, err = vault.New(*a.cfg.Vault, mine, a.telemetry.log); err != nil {
			return err
		}
		from = a.vault
	}
	if from == nil {
		return nil
	}
	a.secrets, err = secrets.New(secrets.Config{Policy: a.cfg.policy, Guard: guard, Catalog: a.catalog, Issuer: from, Custodian: from,
		Ledger: a.store, Reads: a.store, Accounts: a.store, Bindings: bindings{a, newCIJobs(a.jobsAt)}, Limits: a.cfg.Secrets.Limits, TTL: a.cfg.Secrets.TTL, WrapTTL: a.cfg.Secrets.WrapTTL,
		Observe: a.telemetry.credentials(a.store), Logger: a.telemetry.log})
	return err
}

// runSecrets takes back what is lent until ctx ends.
func (a *App) runSecrets(ctx context.Context) error {
	if a.secrets == nil {
		return nil
	}
	var loops beside.All
	defer loops.Wait()
	loops.Go(a.loop(ctx, "forgetting leases", a.forgetLeases))
	if a.vault != nil {
		loops.Go(a.loop(ctx, "staying logged in to Vault", func(ctx context.Context) { _ = a.vault.Run(ctx) })) // it gives nil
	}
	return a.secrets.Run(ctx)
}

// forgetLeasesAfter is how long leases that have ended are on record.
const forgetLeasesAfter = 30 * 24 * time.Hour

// forgetLeases forgets, once an hour, the leases that ended long ago.
func (a *App) forgetLeases(ctx context.Context) {
	for {
		if err := a.store.ForgetLeases(ctx, time.Now().Add(-forgetLeasesAfter)); err != nil && ctx.Err() == nil {
			a.telemetry.log.WarnContext(ctx, "leases that ended long ago could not be forgotten", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Hour):
		}
	}
}

// bindings are what leases end with: previews, proposals and jobs of CI.
type bindings struct {
	app  *App
	jobs *ciJobs
}

// May tells why a caller may not bind a lease to something. See
// secrets.Bindings.
func (b bindings) May(ctx context.Context, who access.Caller, kind, id string) error {
	over := false
	switch kind {
	case "preview":
		p, err := b.app.previews.Get(ctx, who, previews.GetInput{ID: id})
		if err != nil {
			return err
		}
		over = p.Phase == previews.Deleting || p.Phase == previews.Gone
	case "proposal":
		p, err := b.app.gitops.GetProposal(ctx, who, gitops.GetProposalInput{ID: id})
		if err != nil {
			return err
		}
		over = p.State == gitops.Merged || p.State == gitops.Closed
	default:
		return fault.New(fault.Invalid, "nothing is bound to a %q", kind).WithFix("Bind it to session, job, preview:ID or proposal:ID.")
	}
	if over {
		return fault.New(fault.FailedPrecondition, "%s %s is over", kind, id).WithFix("Leave boundTo out, or bind it to something that is under way.")
	}
	return nil
}

// Over tells whether something has come to its end. See secrets.Bindings.
func (b bindings) Over(ctx context.Context, kind, id string) (over bool, err error) {
	switch kind {
	case "preview":
		var r previews.Record
		r, err = b.app.store.Preview(ctx, id)
		over = r.Phase == previews.Deleting || r.Phase == previews.Gone || !r.EndedAt.IsZero()
	case "proposal":
		var r gitops.Record
		r, err = b.app.store.Proposal(ctx, id)
		over = !r.EndedAt.IsZero()
	case secrets.Job:
		return b.jobs.over(ctx, id)
	default:
		return true, nil
	}
	if fault.CodeOf(err) == fault.NotFound {
		return true, nil
	}
	return over, err
}

// credentials makes the metrics of leases and gives what counts what happens
// to them.
func (t *telemetry) credentials(s *store.Store) func(secrets.Happening) {
	total := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_credentials_total",
		Help: "What happened to credentials on loan: lent, revoked, retried, stray, lost."}, []string{"happened"})
	alarms := prometheus.NewCounter(prometheus.CounterOpts{Name: "fairlead_credentials_alarms_total", Help: "Wrappings that somebody other than their holders opened."})
	for _, h := range []secrets.Happening{secrets.HappenedLent, secrets.HappenedRevoked, secrets.HappenedRetried, secrets.HappenedStray, secrets.HappenedLost} {
		total.WithLabelValues(string(h)) // alerts are to see the first one, too
	}
	t.registry.MustRegister(total, alarms, &leaseGauges{store: s,
		leases:  gauge("fairlead_leases", "Leases that have not ended, by state.", "state"),
		overdue: gauge("fairlead_leases_overdue", "Leases that are over for a minute and whose issuer has not taken them back.")})
	return func(h secrets.Happening) {
		if h == secrets.HappenedAlarm {
			alarms.Inc()
			return
		}
		total.WithLabelValues(string(h)).Inc()
	}
}

// leaseGauges tell how leases are doing when they are asked.
type leaseGauges struct {
	store           *store.Store
	leases, overdue *prometheus.Desc
}

// Describe names the figures.
func (g *leaseGauges) Describe(ch chan<- *prometheus.Desc) {
	ch <- g.leases
	ch <- g.overdue
}

// Collect reads them.
func (g *leaseGauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	f, err := g.store.LeaseFigures(ctx, time.Now())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.leases, err)
		return
	}
	for state, n := range map[secrets.State]int{secrets.Issuing: f.Issuing, secrets.Live: f.Live, secrets.Revoking: f.Revoking} {
		ch <- prometheus.MustNewConstMetric(g.leases, prometheus.GaugeValue, float64(n), string(state))
	}
	ch <- prometheus.MustNewConstMetric(g.overdue, prometheus.GaugeValue, float64(f.Overdue))
}
