package gitops

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/internal/shelf"
)

// CI is a forge, as far as it tells how the checks of commits went.
// Repositories are named in full, "acme/shop".
type CI interface {
	// Gate tells what is asked of commits before they get onto a repository's
	// default branch.
	Gate(ctx context.Context, repository string) (*Gate, error)
	// FindCommit gives the id of the commit that a branch, a tag or the beginning
	// of an id names; not_found where there is none.
	FindCommit(ctx context.Context, repository, revision string) (string, error)
	// CommitChecks are what ran on a commit, in any order.
	CommitChecks(ctx context.Context, repository, commit string) (*CommitChecks, error)
}

// Gate is what is asked of commits.
type Gate struct {
	// Branch is the default branch; "" in a repository without commits.
	Branch string
	// Required are the names of checks that have to pass; an asterisk stands for
	// any letters. All says that every check has to.
	Required []string
	All      bool
}

// CommitChecks are what ran on a commit.
type CommitChecks struct {
	Checks []CheckRun
	// Blind tells what could not be read, though the rest was.
	Blind []string
}

// CheckRun is a status, a job, or a run of which no job is known.
type CheckRun struct {
	Name  string `json:"name"`
	State string `json:"state" jsonschema:"passed, failed or pending"`
	// Result is the forge's word where it says more than the state: cancelled.
	Result string `json:"result,omitempty"`
	// Required tells that the default branch takes nothing without it.
	Required bool `json:"required,omitempty"`
	// Optional tells that it may fail.
	Optional   bool      `json:"optional,omitempty"`
	URL        string    `json:"url,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
	Duration   string    `json:"duration,omitempty"`
	// Failed are the steps that failed.
	Failed []string `json:"failed,omitempty"`
	// Detail are annotations, or the last lines of the log, of what failed.
	Detail []string `json:"detail,omitempty"`
	// Run is the page of the run that it belongs to.
	Run string `json:"-"`
}

// GetCIStatusInput names a service and a commit of its own repository.
type GetCIStatusInput struct {
	Service  string `json:"service" jsonschema:"name or reference"`
	Revision string `json:"revision,omitempty" jsonschema:"commit, branch or tag; default head of the default branch"`
}

// CIConfig is what a CIService is made of. Policy, Catalog, Locate and at least
// one of Forges are needed.
type CIConfig struct {
	Policy  *access.Policy
	Catalog *catalog.Service
	// Locate finds the repository that an entity's own files are in.
	Locate func(e *catalog.Entity) (Place, error)
	// Forges are those that tell of checks, by name.
	Forges map[string]CI
	// Keep is how long an answer serves others, 3 s by default; one that says
	// that all is over ten times as long.
	Keep time.Duration
	// Patience is how long a forge may take, 15 s by default; what takes longer
	// is not known.
	Patience time.Duration
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// CIService tells how the checks of commits went; nil refuses all.
type CIService struct {
	cfg   CIConfig
	gates *shelf.Shelf[*gateLook]
	looks *shelf.Shelf[*checksLook]
}

// What is kept longer than other answers, and how many times: what is asked of
// commits, and that every check of one has ended.
const keepGate, keepOver = 20, 10

// NewCI makes a CIService; Close ends it.
func NewCI(cfg CIConfig) (*CIService, error) {
	if cfg.Policy == nil || cfg.Catalog == nil || cfg.Locate == nil || len(cfg.Forges) == 0 {
		return nil, errors.New("gitops: Policy, Catalog, Locate and Forges are needed")
	}
	if cfg.Keep == 0 {
		cfg.Keep = 3 * time.Second
	}
	if cfg.Patience == 0 {
		cfg.Patience = 15 * time.Second
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &CIService{cfg: cfg, gates: shelf.New[*gateLook](cfg.Keep, cfg.Patience, cfg.Now), looks: shelf.New[*checksLook](cfg.Keep, cfg.Patience, cfg.Now)}
	s.gates.Longer = func(l *gateLook) int { return map[bool]int{true: keepGate}[l.err == nil] }
	s.looks.Longer = func(l *checksLook) int { return map[bool]int{true: keepOver}[l.over()] }
	return s, nil
}

// Close ends what is under way and waits for it.
func (s *CIService) Close() error {
	s.looks.Close()
	s.gates.Close()
	return nil
}

// gateLook and checksLook are what one look has found; err says why not.
type gateLook struct {
	gate Gate
	err  error
}

type checksLook struct {
	at       time.Time
	revision string // what it was looked for by
	commit   string
	gate     Gate
	gateErr  error
	found    CommitChecks
	// none says that there is no such commit, err why it is not known.
	none, err error
}

// GetCIStatus tells how the checks of a commit of a service's own repository
// went: statuses, runs and jobs as one answer. A forge that does not answer
// makes it unknown and is no fault. Faults: invalid (revision), not_found (the
// service, the commit), failed_precondition (its repository is at no forge that
// is configured).
func (s *CIService) GetCIStatus(ctx context.Context, who access.Caller, in GetCIStatusInput) (*CIStatus, error) {
	if s == nil {
		return nil, fault.New(fault.FailedPrecondition, "this server knows of no forge to ask").WithFix("Have the operators add the section forges to the configuration.")
	}
	if err := checkRevision(in.Revision); err != nil {
		return nil, err
	}
	e, err := s.cfg.Catalog.GetEntity(ctx, who, catalog.GetEntityInput{Ref: in.Service})
	if err != nil {
		return nil, err
	}
	if !s.cfg.Policy.Scope(who, access.ReadChecks).Allows(index.AttributesOf(e)) {
		return nil, fault.New(fault.NotFound, "no checks of %s that you may read", e.Ref).WithFix("Ask its owner, or those who keep the policy for a rule that allows %s.", access.ReadChecks)
	}
	at, err := s.cfg.Locate(e)
	if err != nil {
		return nil, err
	}
	forge := s.cfg.Forges[at.Forge]
	if forge == nil {
		return nil, fault.New(fault.FailedPrecondition, "the repository of %s, %s, is at no forge that is configured", e.Ref, access.Redact(at.Repository)).
			WithFix("Have the operators add its forge under forges.")
	}
	key := strings.Join([]string{at.Forge, at.Name, in.Revision}, "\x00")
	l, err := s.looks.Book(key, func(ctx context.Context) *checksLook { return s.look(ctx, forge, at, in.Revision) }).Wait(ctx)
	if err != nil {
		return nil, err
	}
	if l.none != nil {
		return nil, l.none
	}
	out := l.tell(e.Ref.String(), at.Name, s.cfg.Now())
	out.fit(maxCITokens)
	return out, nil
}

// checkRevision refuses what can be the name of no commit.
func checkRevision(revision string) error {
	bad := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	if len(revision) > 250 || strings.HasPrefix(revision, "-") || strings.Contains(revision, "..") || strings.ContainsFunc(revision, bad) {
		return fault.New(fault.Invalid, "revision: %.80q is no name of a commit, branch or tag", revision).WithFix("Give a commit's id, in full or at least %d characters of it, or the name of a branch or tag.", minRevision)
	}
	return nil
}

// look asks a forge about a revision.
func (s *CIService) look(ctx context.Context, forge CI, at Place, revision string) *checksLook {
	l := &checksLook{revision: revision}
	defer func() { l.at = s.cfg.Now() }()
	var both beside.All
	gate := s.gates.Book(at.Forge+"\x00"+at.Name, func(ctx context.Context) *gateLook {
		g, err := forge.Gate(ctx, at.Name)
		if err != nil {
			return &gateLook{err: err}
		}
		return &gateLook{gate: *g}
	})
	both.Go(func() {
		g, err := gate.Wait(ctx)
		if err == nil {
			l.gate, err = g.gate, g.err
		}
		l.gateErr = err
	})
	if revision == "" {
		both.Wait()
		if l.err = l.gateErr; l.err == nil && l.gate.Branch == "" {
			l.none = fault.New(fault.NotFound, "there is no commit in %s", at.Name).WithFix("Push one.")
		}
		l.revision = l.gate.Branch
	}
	if l.err == nil && l.none == nil {
		l.read(ctx, forge, at.Name)
	}
	both.Wait()
	l.err, l.gateErr = timedOut(l.err, "asking "+at.Forge), timedOut(l.gateErr, "asking "+at.Forge)
	if errors.Is(l.err, context.Canceled) { // the server ends
		l.err = fault.New(fault.Unavailable, "the server is ending").WithFix("Try again.")
	}
	return l
}

// read finds the commit and what ran on it.
func (l *checksLook) read(ctx context.Context, forge CI, repository string) {
	if l.commit, l.err = forge.FindCommit(ctx, repository, l.revision); l.err != nil {
		if fault.CodeOf(l.err) == fault.NotFound {
			l.none, l.err = l.err, nil
		}
		return
	}
	found, err := forge.CommitChecks(ctx, repository, l.commit)
	if err != nil {
		l.err = err
		return
	}
	l.found = *found
}

// over tells that every check has ended.
func (l *checksLook) over() bool {
	state, _ := l.judge()
	return state == CheckPassed || state == CheckFailed && l.pending() == 0
}
