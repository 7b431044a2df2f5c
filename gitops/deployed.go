package gitops

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Deployed is a revision that was deployed to an environment, as Argo CD told
// of it. Times are zero where a thing has not happened, or nobody saw it.
type Deployed struct {
	ID string
	// Service and Environment are where, Application is its Argo CD and the
	// application there.
	Service, Environment, Application string
	// Revision is what was synced, of several sources that of each.
	Revision string
	// At is when it was synced by Argo CD's own history, or, where that failed,
	// when it was tried; SeenAt is when that was written down.
	At, SeenAt time.Time
	// HealthyAt is when it was first healthy and synced after its sync had
	// ended, DegradedAt when it was first degraded, or its sync failed, and
	// RecoveredAt when it was healthy again after that.
	HealthyAt, DegradedAt, RecoveredAt time.Time
	// ReplacedAt is when another was deployed, which ReplacedBy names.
	ReplacedAt time.Time
	ReplacedBy string
	// Undone tells that it was replaced by what had been there before it: by the
	// same revision, or by the same images.
	Undone bool
	// Images are those that ran when it was first healthy or degraded.
	Images []DeployedImage
}

// How much of the record is kept: of each environment the last so many, and of
// all what is not older than that. What is deployed now is kept in any case.
const (
	KeptDeployed    = 200
	KeptDeployedFor = 400 * 24 * time.Hour
)

// DeployedRecords is where it is written down what was deployed. It is
// Fairlead's own work: nothing of it looks at who asks.
type DeployedRecords interface {
	// Deployed are the last deployments to an environment, the newest first.
	Deployed(ctx context.Context, service, environment string, most int) ([]Deployed, error)
	// NoteDeployed writes down new ones and what has become of earlier ones, all
	// or nothing, and forgets what need not be kept. What is written of a
	// deployment stays. It is a conflict where somebody else has written down
	// that one of them was replaced.
	NoteDeployed(ctx context.Context, rows []Deployed) error
	// ClaimTurn lets one holder do a work until a time, and tells whether that
	// is this one. Who has it may prolong it.
	ClaimTurn(ctx context.Context, work, holder string, now, until time.Time) (bool, error)
}

// sawOf is how many deployments of an environment are looked at when another is
// seen: as many as Argo CD remembers, and some.
const sawOf = 20

// Recorder writes down what is seen of deployments, where that is news. It is
// safe for concurrent use, also by several replicas; nil writes nothing.
type Recorder struct {
	records DeployedRecords
	log     *slog.Logger

	mu    sync.Mutex
	noted map[string]string // what was last noted, by service and environment
}

// maxNotes is how often it is tried to write down one sighting.
const maxNotes = 3

// maxNoted is of how many environments it is remembered what was last noted.
const maxNoted = 50_000

// NewRecorder makes a Recorder; a nil logger is slog.Default.
func NewRecorder(records DeployedRecords, logger *slog.Logger) *Recorder {
	if logger == nil {
		logger = slog.Default()
	}
	return &Recorder{records: records, log: logger, noted: map[string]string{}}
}

// see writes down what is new in a sighting. It asks the records only where
// something differs from what was seen last.
func (r *Recorder) see(ctx context.Context, s *sighting) error {
	if r == nil {
		return nil
	}
	key, print := s.service+"\x00"+s.environment, s.fingerprint()
	r.mu.Lock()
	known := r.noted[key] == print
	r.mu.Unlock()
	if known || print == "" {
		return nil
	}
	err := r.note(ctx, s)
	for n := 1; n < maxNotes && fault.CodeOf(err) == fault.Conflict; n++ {
		err = r.note(ctx, s) // somebody else saw it at the same moment, and perhaps less
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.noted) >= maxNoted {
		clear(r.noted)
	}
	r.noted[key] = print
	return nil
}

// note writes down what the records lack of a sighting. It is a conflict where
// somebody else writes down the same deployment.
func (r *Recorder) note(ctx context.Context, s *sighting) error {
	past, err := r.records.Deployed(ctx, s.service, s.environment, sawOf)
	if err != nil {
		return err
	}
	rows := s.next(past)
	if len(rows) == 0 {
		return nil
	}
	if err := r.records.NoteDeployed(ctx, rows); err != nil {
		return err
	}
	r.tell(ctx, past, rows)
	return nil
}

// tell logs what was written down.
func (r *Recorder) tell(ctx context.Context, past, rows []Deployed) {
	last := rows[len(rows)-1]
	what := "a deployment has changed"
	if len(past) == 0 || past[0].ID != last.ID {
		what = "a deployment was seen"
	}
	r.log.InfoContext(ctx, what, "service", last.Service, "environment", last.Environment, "revision", short(last.Revision), "application", last.Application,
		"healthy", !last.HealthyAt.IsZero(), "degraded", !last.DegradedAt.IsZero() && last.RecoveredAt.IsZero())
}

// sighting is what was seen of an application at a time.
type sighting struct {
	service, environment, application string
	app                               *Application
	images                            []DeployedImage
	at                                time.Time
	// compared tells that Argo CD compared it for this look.
	compared bool
}

// fingerprint tells what is seen apart from what was seen before; "" where
// there is nothing to write down.
func (s *sighting) fingerprint() string {
	all := s.deployments(true)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if len(s.app.History) == 0 {
		last = PastDeployment{} // it is known once
	}
	state, since := s.state()
	return fmt.Sprint(s.application, " ", last.Revision, " ", last.At.UnixMicro(), " ", state, " ", since.UnixMicro())
}

// failed tells that the last sync was not done.
func (s *sighting) failed() bool {
	op := s.app.Operation
	return op != nil && !op.FinishedAt.IsZero() && op.Phase != OperationSucceeded && op.Revision != "" && s.app.Sync != "Synced"
}

// deployments are the revisions that were synced, oldest first, and the one
// whose sync failed last. Where nothing ever was, because all was there
// already, it is the revision that is live, if first is true.
//
// What Argo CD has merely compared with is none: in a repository of many
// applications that is another commit whenever anybody commits anything.
func (s *sighting) deployments(first bool) (out []PastDeployment) {
	for _, p := range s.app.History {
		if n := len(out); p.Revision != "" && (n == 0 || out[n-1].Revision != p.Revision) {
			out = append(out, p)
		}
	}
	if op := s.app.Operation; s.failed() {
		if n := len(out); n == 0 || out[n-1].Revision != op.Revision && out[n-1].At.Before(op.FinishedAt) {
			out = append(out, PastDeployment{Revision: op.Revision, At: op.FinishedAt, By: op.By})
		}
	}
	if len(out) == 0 && first && s.app.Sync == "Synced" && len(s.app.Revisions) > 0 {
		out = append(out, PastDeployment{Revision: strings.Join(s.app.Revisions, ", "), At: s.at})
	}
	return out
}

// state is whether what is deployed is healthy or degraded, and since when; ""
// while it is neither, or nobody has looked since it was deployed.
func (s *sighting) state() (state string, since time.Time) {
	a := s.app
	op := a.Operation
	switch {
	case a.Deleting, a.Pending, a.ComparedAt.IsZero(), op != nil && op.FinishedAt.IsZero():
		return "", since
	case s.failed():
		return DegradedVerdict, op.FinishedAt
	case s.unseen():
		return "", since
	case a.Health == "Degraded", a.Health == "Missing":
		return DegradedVerdict, a.HealthSince
	case a.Health == "Healthy" && a.Sync == "Synced":
		return HealthyVerdict, a.HealthSince
	}
	return "", since
}

// unseen tells that Argo CD has not compared since the last sync ended, or that
// nobody can tell.
func (s *sighting) unseen() bool {
	op := s.app.Operation
	return op != nil && (s.app.ComparedAt.Before(op.FinishedAt) || !s.compared && s.app.ComparedAt.Equal(op.FinishedAt))
}

// record has what was looked at noted, where it is news. That it cannot be
// noted is in nobody's way.
func (s *HealthService) record(ctx context.Context, q *question, e *evidence) {
	if s.cfg.Recorder == nil || e.err != nil {
		return
	}
	seen := &sighting{service: q.d.Entity.Ref.String(), environment: q.d.Environment.Name, application: q.instance + "/" + q.at.Name, app: e.app, at: e.at.UTC().Truncate(time.Microsecond), compared: e.compared}
	if e.running != nil {
		seen.images = e.running.Images
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.cfg.Recorder.see(ctx, seen); err != nil && fault.CodeOf(err) != fault.Conflict {
		s.cfg.Recorder.log.WarnContext(ctx, "what is deployed could not be written down", "service", seen.service, "environment", seen.environment, "error", err)
	}
}
