// Package previews is the room of preview environments: running copies of one
// service at one revision, which certainly end when their time is up.
package previews

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Wish is what a deployer is to bring about: one service at one commit.
type Wish struct {
	// ID is the preview's, unique for good and fit for a DNS label.
	ID string
	// Service is the full reference of the component.
	Service string
	// Repository is the URL of the repository that holds the service, Dir its
	// folder there, and Commit the full id of what to run.
	Repository, Dir, Commit string
	// Template is what spec.fairlead.preview declares.
	Template Template
	// Person and Agent asked for it; Owner is who owns the service.
	Person, Agent, Owner string
	// ExpiresAt is when it ends; it may be put off while it lives.
	ExpiresAt time.Time
	// Given is what the data that it asks for is reached by. It is there when
	// the wish is applied, and kept nowhere.
	Given []Given `json:"-"`
}

// Template is how a service says that it is previewed, in its catalog file
// under spec.fairlead.preview.
type Template struct {
	// Deployer names who deploys it: local, argocd or gitops.
	Deployer string
	// Command is run by the local deployer in Dir; Env is added to what it is
	// given, and Health is the path that answers 2xx once it is ready.
	Command []string
	Env     map[string]string
	Health  string
	// PullRequests has pull requests that touch the service previewed.
	PullRequests bool
	// TTL is how long it lives unless somebody asks for less; 0 leaves that to
	// policy.
	TTL time.Duration
	// Data is what it asks for of its own.
	Data []DataTemplate
	// Environment names the environment of the service that its previews use,
	// "" for none, and Protected has them need approval whatever they use.
	Environment string
	Protected   bool
	// Settings is what the deployer made of keys of its own; see Preparer.
	Settings json.RawMessage `json:",omitempty"`
}

// Observed is what there is of a preview now.
type Observed struct {
	// Exists tells that anything of it is there.
	Exists bool
	// Ready tells that it runs the commit that was wished for and answers.
	Ready bool
	// Failed tells that it will not become ready by itself.
	Failed bool
	// Stale tells that what is there is not, or not only, what the wish says
	// now: applying it again puts that right.
	Stale bool
	// Commit is what it runs, "" while nothing does.
	Commit string
	// URL is where it answers, "" while it does not.
	URL string
	// Reason says in a sentence why it is as it is.
	Reason string
	// Remains names what is still there of one that is being removed.
	Remains []string
}

// LogLine is a line that a preview wrote.
type LogLine struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Deployer brings previews about. Every method may be called again at any
// time, by another process than before, and picks up where things stand.
type Deployer interface {
	// Apply begins to bring the wish about, or puts it right; it does not wait
	// until the preview is ready.
	Apply(ctx context.Context, w Wish) error
	// Observe tells what there is.
	Observe(ctx context.Context, w Wish) (Observed, error)
	// Remove begins to remove everything of it; Observe tells when it is gone.
	Remove(ctx context.Context, w Wish) error
	// Logs are the last lines that it wrote, oldest first.
	Logs(ctx context.Context, w Wish, tail int) ([]LogLine, error)
}

// Stray is what there is of a preview that nobody keeps a record of.
type Stray struct {
	// ID is the preview's, as RemoveStray takes it.
	ID string
	// Wish is what it was made for, as far as that can be read.
	Wish Wish
	// What names what there is, for people.
	What []string
	// Since is when it was made or changed last, zero where that is not known.
	Since time.Time
	// Bytes is what it takes of a disk, 0 where that is not known.
	Bytes int64
}

// Sweeper is a Deployer that finds what this Fairlead has made and does not
// know any more. What another Fairlead has made in the same place is left
// alone.
type Sweeper interface {
	// Strays are the previews of which something is there and that known does
	// not know. known is asked after a thing was seen, so that a preview that
	// is accepted meanwhile is known. Nothing is changed.
	Strays(ctx context.Context, known func(id string) bool) ([]Stray, error)
	// RemoveStray removes everything of a preview, or begins to, by its id
	// alone; like Remove it may be called again, and Strays tells when it is
	// gone.
	RemoveStray(ctx context.Context, id string) error
}

// Resources are what a preview takes.
type Resources struct {
	// CPU is the time that its processes have used since they were started.
	CPU time.Duration
	// MemoryBytes and DiskBytes are what it takes now; Processes how many it
	// has.
	MemoryBytes, DiskBytes int64
	Processes              int
	// At is when that was so.
	At time.Time
}

// Meter is a Deployer that knows what its previews take.
type Meter interface {
	// Measure tells what a preview takes; ok is false where nothing runs.
	Measure(ctx context.Context, w Wish) (r Resources, ok bool, err error)
}

// Preparer is a deployer that reads keys of its own under
// spec.fairlead.preview.
type Preparer interface {
	// Keys are those that it reads.
	Keys() []string
	// Prepare makes of what a service says whatever the deployer wants to be
	// told with each wish, in Template.Settings. wrong says what is wrong with
	// which key, "" where nothing is.
	Prepare(e *catalog.Entity, said *entity.Object) (settings json.RawMessage, key, wrong string)
}

// Forcer is a deployer that can remove by force what does not go otherwise.
type Forcer interface {
	// Force takes away what keeps a preview from going, and names it.
	Force(ctx context.Context, w Wish) (forced []string, err error)
}
