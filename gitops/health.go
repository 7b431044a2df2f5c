package gitops

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/shelf"
)

// GetDeploymentHealthInput names a service, one of its environments, and the
// revision that is expected there.
type GetDeploymentHealthInput struct {
	Service     string `json:"service" jsonschema:"name or reference"`
	Environment string `json:"environment" jsonschema:"as its catalog entry calls it"`
	Revision    string `json:"revision,omitempty" jsonschema:"commit that should be live, of the deploy repository or the source"`
}

// The verdicts.
const (
	// HealthyVerdict says that what is wanted is live, was looked at after it was
	// deployed, and is well.
	HealthyVerdict = "healthy"
	// ProgressingVerdict says that it is on its way.
	ProgressingVerdict = "progressing"
	// DegradedVerdict says that it is not well.
	DegradedVerdict = "degraded"
	// UnknownVerdict says that nobody can tell.
	UnknownVerdict = "unknown"
)

// DeploymentHealth is how a service is doing in an environment.
type DeploymentHealth struct {
	Service     string `json:"service"`
	Environment string `json:"environment"`
	// Application is its Argo CD and the application there.
	Application string   `json:"application,omitempty"`
	Verdict     string   `json:"verdict" jsonschema:"healthy, progressing, degraded or unknown"`
	Grounds     []string `json:"grounds"`
	// Since is since when its health is what it is.
	Since      time.Time        `json:"since,omitzero"`
	ObservedAt time.Time        `json:"observedAt,omitzero" jsonschema:"when Argo CD was asked"`
	Age        string           `json:"age,omitempty" jsonschema:"how long ago that is"`
	Desired    *DeployedState   `json:"desired,omitempty"`
	Live       *DeployedState   `json:"live,omitempty"`
	Sync       *SyncState       `json:"sync,omitempty"`
	Resources  []UnwellResource `json:"resources,omitempty"`
	// Drift are the resources that somebody changed past the repository.
	Drift     []string         `json:"drift,omitempty"`
	Operation *Operation       `json:"operation,omitempty"`
	History   []PastDeployment `json:"history,omitempty"`
	SLO       []ObjectiveState `json:"slo,omitempty"`
	Alerts    []FiringAlert    `json:"alerts,omitempty"`
	Omitted   []string         `json:"omitted,omitempty"`
}

// DeployedState is a revision and its images.
type DeployedState struct {
	Revision string          `json:"revision,omitempty"`
	At       time.Time       `json:"at,omitzero"`
	Images   []DeployedImage `json:"images,omitempty"`
}

// SyncState is whether what is there is what is wanted.
type SyncState struct {
	Status     string    `json:"status" jsonschema:"Synced, OutOfSync or Unknown"`
	ComparedAt time.Time `json:"comparedAt,omitzero"`
	Automated  bool      `json:"automated"`
}

// HealthConfig is what a HealthService is made of. Policy, Catalog and at least
// one of Instances are needed.
type HealthConfig struct {
	Policy  *access.Policy
	Catalog *catalog.Service
	// Instances are the Argo CDs by name.
	Instances map[string]Deployments
	// Metrics are those that objectives and alerts are read from; nil without.
	Metrics Metrics
	// Origins tells what images were built from; nil without.
	Origins Origins
	// Runbook finds the runbook for an alert of a service that the caller may
	// read, "" where there is none; nil without.
	Runbook func(ctx context.Context, who access.Caller, alert, service string) string
	// Recorder notes what is seen of deployments; nil without.
	Recorder *Recorder
	// Keep is how long an answer serves others, 2 s by default.
	Keep time.Duration
	// Patience is how long an Argo CD may take, 5 s by default; what takes
	// longer is not known.
	Patience time.Duration
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// HealthService tells how services are doing where they are deployed; nil
// refuses all.
type HealthService struct {
	cfg      HealthConfig
	apps     *shelf.Shelf[*evidence]
	anew     *shelf.Shelf[*evidence] // compared anew, which is kept longer
	measured *shelf.Shelf[*measures]
	sources  *shelf.Shelf[namedApp]
	slow     slow
}

// NewHealth makes a HealthService; Close ends it.
func NewHealth(cfg HealthConfig) (*HealthService, error) {
	if cfg.Policy == nil || cfg.Catalog == nil || len(cfg.Instances) == 0 {
		return nil, errors.New("gitops: Policy, Catalog and Instances are needed")
	}
	if cfg.Keep == 0 {
		cfg.Keep = 2 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = 5 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &HealthService{cfg: cfg, apps: shelf.New[*evidence](cfg.Keep, cfg.Patience, cfg.Now), anew: shelf.New[*evidence](5*cfg.Keep, cfg.Patience, cfg.Now), measured: shelf.New[*measures](cfg.Keep, cfg.Patience, cfg.Now), sources: shelf.New[namedApp](liveKeep, min(cfg.Patience, livePatience), cfg.Now)}, nil
}

// Close ends what is under way and waits for it.
func (s *HealthService) Close() error {
	s.apps.Close()
	s.anew.Close()
	s.measured.Close()
	s.sources.Close()
	return nil
}

// GetDeploymentHealth tells how a service is doing in an environment: what is
// wanted and what is live there, whether that is well, and on what grounds one
// can say so. An Argo CD that does not answer, or does not know the application,
// makes it unknown and is no fault. Faults: invalid (a field), not_found (the
// service, the environment), failed_precondition (it is not said where it is
// deployed), unavailable (the application cannot be looked for).
func (s *HealthService) GetDeploymentHealth(ctx context.Context, who access.Caller, in GetDeploymentHealthInput) (*DeploymentHealth, error) {
	q, err := s.ask(ctx, who, in)
	if err != nil {
		return nil, err
	}
	h, _, err := s.answer(ctx, who, q)
	return h, err
}

// ask finds where to look.
func (s *HealthService) ask(ctx context.Context, who access.Caller, in GetDeploymentHealthInput) (*question, error) {
	if s == nil {
		return nil, fault.New(fault.FailedPrecondition, "this server knows of no deployments").WithFix("Have the operators add the section argocd to the configuration.")
	}
	if err := checkHealthInput(&in); err != nil {
		return nil, err
	}
	d, err := s.deployment(ctx, who, in)
	if err != nil {
		return nil, err
	}
	instance, err := s.instance(d)
	if err != nil {
		return nil, err
	}
	at := AppName{Name: d.App, Namespace: d.Namespace}
	if d.Selector != "" {
		if at.Name, err = s.selected(ctx, instance, d); err != nil {
			return nil, err
		}
	}
	return &question{instance: instance, at: at, d: d, asked: in.Revision, now: s.cfg.Now}, nil
}

// question is what is asked, as far as it is known where to look.
type question struct {
	instance string
	at       AppName
	d        *catalog.Deployment
	asked    string
	now      func() time.Time
}

// answer looks, where nobody has just done so, and judges.
func (s *HealthService) answer(ctx context.Context, who access.Caller, q *question) (*DeploymentHealth, *evidence, error) {
	key := q.instance + "\x00" + q.at.Namespace + "\x00" + q.at.Name
	app := s.apps.Book(key, func(ctx context.Context) *evidence { return s.look(ctx, q.instance, q.at, false) })
	measured := s.measured.Book(q.measureKey(), func(ctx context.Context) *measures { return s.measure(ctx, q.d) })
	e, err := app.Wait(ctx)
	if err != nil {
		return nil, nil, err
	}
	if q.asked != "" && e.err == nil && !e.compared && !e.isLive(q.asked) && !e.isDesired(q.asked) { // it may be newer than what Argo CD has compared
		anew, err := s.anew.Book(key, func(ctx context.Context) *evidence { return s.look(ctx, q.instance, q.at, true) }).Wait(ctx)
		if err != nil {
			return nil, nil, err
		}
		if anew.at.After(e.at) { // else it is kept from before this look
			e = anew
		}
	}
	s.record(ctx, q, e)
	m, err := measured.Wait(ctx)
	if err != nil {
		return nil, nil, err
	}
	h := q.tell(e, m)
	for i := range h.Alerts {
		if a := &h.Alerts[i]; s.cfg.Runbook != nil {
			a.Runbook = cmp.Or(s.cfg.Runbook(ctx, who, a.Name, h.Service), a.Runbook)
		}
	}
	h.fit(maxHealthTokens)
	return h, e, nil
}

func checkHealthInput(in *GetDeploymentHealthInput) error {
	for field, text := range map[string]*string{"service": &in.Service, "environment": &in.Environment, "revision": &in.Revision} {
		*text = strings.TrimSpace(*text)
		switch {
		case len(*text) > 300 || strings.ContainsFunc(*text, unicode.IsControl):
			return fault.New(fault.Invalid, "%s is longer than 300 bytes or holds control characters", field).WithFix("Correct %s.", field)
		case *text == "" && field != "revision":
			return fault.New(fault.Invalid, "%s is missing", field).WithFix("Name a service and one of its environments; get_service_brief lists them.")
		}
	}
	if n := len(in.Revision); n > 0 && n < minRevision {
		return fault.New(fault.Invalid, "revision: %q is too short to name a commit", in.Revision).WithFix("Give at least %d characters of it.", minRevision)
	}
	return nil
}

// deployment finds where a service is deployed; what the caller may not read of
// is not there.
func (s *HealthService) deployment(ctx context.Context, who access.Caller, in GetDeploymentHealthInput) (*catalog.Deployment, error) {
	d, err := s.cfg.Catalog.DescribeDeployment(ctx, who, catalog.DescribeDeploymentInput{Service: in.Service, Environment: in.Environment})
	if d == nil && fault.CodeOf(err) == fault.NotFound {
		return nil, err
	}
	ref := ""
	if d != nil {
		ref = d.Entity.Ref.String()
	} else if e, getErr := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service}); getErr == nil {
		ref = e.Ref.String()
	}
	about, _ := s.cfg.Catalog.Snapshot().Attributes(ref)
	if ref != "" && !s.cfg.Policy.Scope(who, access.ReadHealth).Allows(about) {
		return nil, fault.New(fault.NotFound, "no deployment of %s that you may read of", ref).WithFix("Ask its owner, or those who keep the policy for a rule that allows %s.", access.ReadHealth)
	}
	return d, err
}

// instance is the Argo CD that a deployment is at.
func (s *HealthService) instance(d *catalog.Deployment) (string, error) {
	names := make([]string, 0, len(s.cfg.Instances))
	for name := range s.cfg.Instances {
		names = append(names, name)
	}
	slices.Sort(names)
	switch {
	case d.Instance == "" && len(names) == 1:
		return names[0], nil
	case d.Instance == "":
		return "", fault.New(fault.FailedPrecondition, "the catalog does not say at which Argo CD %s is in %s", d.Entity.Ref, d.Environment.Name).
			WithFix("Add argocd: {instance: NAME} to the environment; there is %s.", strings.Join(names, ", "))
	case s.cfg.Instances[d.Instance] == nil:
		return "", fault.New(fault.FailedPrecondition, "the catalog says that %s is at the Argo CD %.80q in %s, which this server does not know", d.Entity.Ref, d.Instance, d.Environment.Name).
			WithFix("Correct the environment's argocd, or have the operators add the instance to the section argocd; there is %s.", strings.Join(names, ", "))
	}
	return d.Instance, nil
}

// selected is the application that labels pick.
func (s *HealthService) selected(ctx context.Context, instance string, d *catalog.Deployment) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Patience)
	defer cancel()
	found, err := s.cfg.Instances[instance].Find(ctx, d.Selector, d.Namespace)
	if err != nil {
		return "", fault.From(timedOut(err, "finding the application at Argo CD "+instance))
	}
	if len(found) != 1 {
		return "", fault.New(fault.FailedPrecondition, "%d applications at Argo CD %s are labelled %.100q, and it takes one", len(found), instance, d.Selector).
			WithFix("Name the application by argocd/app-name, or each environment's under spec.fairlead.environments.")
	}
	return found[0], nil
}

// timedOut is an error that says so where time ran out.
func timedOut(err error, doing string) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Unavailable, "%s took too long", doing).WithFix("Try again; if it stays so, check that Argo CD is well.").Because(err)
	}
	return err
}
