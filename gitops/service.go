package gitops

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/feed"
	"github.com/fairlead-dev/fairlead/internal/record"
)

// Place is a branch of a repository, and a folder in it.
type Place struct {
	// Repository is its clone URL, or its path on disk.
	Repository string `json:"repository"`
	// Base is the branch that changes are proposed to; "" in what Locate gives
	// is the repository's default branch.
	Base string `json:"base"`
	// Dir is the folder, "" for the root.
	Dir string `json:"dir,omitempty"`
	// Forge is the name of the configured forge that it is at, Name its full
	// name there; "" where it is at none.
	Forge string `json:"forge,omitempty"`
	Name  string `json:"name,omitempty"`
}

// Repositories are the repositories that changes may go to.
type Repositories interface {
	// Locate finds the repository and folder that an entity's own files are in.
	Locate(e *catalog.Entity) (Place, error)
	// Named finds a repository by its URL or path.
	Named(repository, base string) (Place, error)
	// Open gives the newest commit of a place's branch.
	Open(ctx context.Context, at Place) (Repository, Base, error)
	// At gives the files of a commit, by its full id, whichever branch it is or
	// was on; an error that is ErrNoCommit where the repository does not give it.
	At(ctx context.Context, at Place, commit string) (Past, error)
}

// Base is a branch and the commit that it was at.
type Base struct{ Branch, Commit string }

// Files are those of one commit.
type Files interface {
	// Read gives a file; an error that is ErrNoFile where there is none.
	Read(ctx context.Context, path string) ([]byte, error)
	// List names the files in a folder, none where there is no such folder.
	List(ctx context.Context, dir string) ([]string, error)
	// Below gives everything below a folder at any depth, or the file that is
	// there itself, none where there is neither. It reads no file.
	Below(ctx context.Context, dir string) ([]Entry, error)
}

// Entry is a file as a commit has it.
type Entry struct {
	// Path is the whole one; ID tells the content apart from others.
	Path, ID string
	// Executable is a file that may be run.
	Executable bool
	// Odd is what cannot be read and written by its path: a symbolic link, a
	// submodule, or what has a name that is no UTF-8.
	Odd bool
}

// Past is an earlier commit. It is closed by who opened it.
type Past interface {
	Files
	// Close lets go of it.
	Close() error
}

// Repository is a repository at one commit of its base branch.
type Repository interface {
	Files
	// Head is the commit that a branch is at now; "" where there is none.
	Head(ctx context.Context, branch string) (string, error)
	// Push makes a commit on the base and pushes it to a branch. An error that is
	// ErrMoved says that a branch was elsewhere, one that is ErrDenied that the
	// account may not.
	Push(ctx context.Context, p Push) (commit string, err error)
}

var (
	// ErrNoFile says that there is no such file.
	ErrNoFile = errors.New("no such file")
	// ErrNoCommit says that a repository does not give a commit (any more).
	ErrNoCommit = errors.New("no such commit")
	// ErrMoved says that a branch is not where it was.
	ErrMoved = errors.New("the branch has moved")
)

// Push is a commit to make.
type Push struct {
	Files   []File
	Message string
	// Author is the person; Name and Email may not be empty.
	Author Person
	When   time.Time
	// Branch is where it goes; Expected what it has to be at, "" where it must
	// not exist.
	Branch, Expected string
	// As is the person's own account at the forge, which pushes; nil for
	// Fairlead's.
	As *Account
}

// Person is a name and an address for Git.
type Person struct{ Name, Email string }

// File is what becomes of a file.
type File struct {
	Path   string
	Data   []byte
	Delete bool
	// Executable is for a file that is new.
	Executable bool
}

// Records is where proposals are written down.
type Records interface {
	// AddProposal keeps a new one, unless one that has not ended has the same
	// key of the same person and agent, or the same Slot: then it gives that.
	// It is not_found where what r follows has ended, or what was in the way has.
	AddProposal(ctx context.Context, r Record) (Record, error)
	// ProposalOfKey is the last one with a key; not_found where there is none.
	ProposalOfKey(ctx context.Context, person, agent, key string) (Record, error)
	// ClaimProposal takes one for holder until a time; ok is false where
	// somebody else has it.
	ClaimProposal(ctx context.Context, id, holder string, now, until time.Time) (r Record, ok bool, err error)
	// SaveProposal writes down what a holder made of it; release lets it go.
	SaveProposal(ctx context.Context, r Record, holder string, release bool) error
}

// Reads is where proposals are looked up.
type Reads interface {
	// Proposal is one; not_found where there is none.
	Proposal(ctx context.Context, id string) (Record, error)
	// Proposals are those that a query selects, newest first.
	Proposals(ctx context.Context, q Query) ([]Record, error)
	// DueProposals are those that nobody is at work on and whose FollowAt has
	// come, the earliest first.
	DueProposals(ctx context.Context, now time.Time, most int) ([]Record, error)
	// TellProposals notes that there is news of a branch of a repository: of one
	// that is proposed, or of one that was merged into.
	TellProposals(ctx context.Context, forge, name, branch string) error
}

// Query selects proposals; a zero field selects all.
type Query struct {
	Service, Person, Agent, State, Kind, PlanHash string
	// ChangedSince leaves out what has not changed since.
	ChangedSince time.Time
	// Before and BeforeID are where a page goes on.
	Before   time.Time
	BeforeID string
	Limit    int
}

// Config is what a Service is made of; all but Accounts, Fleets, Health, Follow,
// Lives, Renderer and Now is needed.
type Config struct {
	Policy       *access.Policy
	Guard        *access.Guard
	Catalog      *catalog.Service
	Repositories Repositories
	Forges       map[string]Forge
	Records      Records
	Reads        Reads
	// Figures is what figures are read from; nil has none.
	Figures FigureReads
	// Health tells what is deployed, for rollbacks; nil where nothing does.
	Health *HealthService
	// Lives tells what Argo CD deploys from; nil where there is none.
	Lives Lives
	// Renderer renders manifests; nil leaves it.
	Renderer Renderer
	// Accounts are those that persons have linked; nil where none can be.
	Accounts Accounts
	// Mail makes the address of somebody whom the catalog knows none of, by
	// their name.
	Mail func(name string) string
	// Follow is how proposals are followed.
	Follow FollowConfig
	// Fleets is what changes of many services need; nil refuses those.
	Fleets *FleetConfig
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// Service proposes changes and tells what has become of them; nil refuses all.
type Service struct {
	cfg  Config
	feed *feed.Feed[Record]
	// planning has a slot for each fleet that is planned at once.
	planning chan struct{}
}

// New makes a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Policy == nil || cfg.Guard == nil || cfg.Catalog == nil || cfg.Repositories == nil || cfg.Records == nil || cfg.Reads == nil || cfg.Mail == nil {
		return nil, errors.New("gitops: Policy, Guard, Catalog, Repositories, Records, Reads and Mail are needed")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := cfg.Follow.complete(); err != nil {
		return nil, err
	}
	return &Service{cfg: cfg, feed: watched(cfg.Reads), planning: make(chan struct{}, 2)}, nil
}

func (s *Service) there() error {
	if s == nil {
		return fault.New(fault.FailedPrecondition, "nothing can be proposed on this server").
			WithFix("Have the operators add the section proposals to the configuration.")
	}
	return nil
}

// about is what policy looks at: the service as it is, or as it was when it is
// not in the catalog any more.
func (s *Service) about(r *Record) access.Attributes {
	if a, ok := s.cfg.Catalog.Snapshot().Attributes(r.Service); ok {
		return a
	}
	return r.About
}

// readable finds a proposal that the caller may see.
func (s *Service) readable(ctx context.Context, who access.Caller, id string) (Record, error) {
	if err := s.there(); err != nil {
		return Record{}, err
	}
	scope := s.cfg.Policy.Scope(who, access.ReadProposals)
	missing := fault.New(fault.NotFound, "there is no proposal %q", clip(id, 80)).WithFix("List the proposals to see their ids.")
	if scope.None() || !record.IsID(id) {
		return Record{}, missing
	}
	r, err := s.cfg.Reads.Proposal(ctx, id)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return r, missing
	case err != nil:
		return r, err
	case !scope.Allows(s.about(&r)):
		return r, missing
	}
	return r, nil
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
