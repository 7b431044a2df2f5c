package argocd

import (
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/previews"
)

// Options are what a Deployer is given by its surroundings.
type Options struct {
	// Instances are the Argo CDs there are, by name.
	Instances map[string]*Instance
	// Guards tells where Argo CD reads the guards of previews, a repository's
	// URL and a commit, unless the configuration does.
	Guards func() (repository, commit string)
	// Mark is the value of a label that tells what this deployer of this
	// Fairlead has made from what others have in the same Argo CD. Required,
	// and always the same.
	Mark string
	// Logger takes what cannot be told to a caller; none if nil.
	Logger *slog.Logger
	// Now is the time; nil is time.Now.
	Now func() time.Time
}

// Deployer deploys previews by Argo CD. It keeps nothing: whatever it needs to
// know is in Argo CD.
type Deployer struct {
	cfg  Config
	opts Options
}

var (
	_ previews.Deployer = (*Deployer)(nil)
	_ previews.Forcer   = (*Deployer)(nil)
	_ previews.Sweeper  = (*Deployer)(nil)
	_ previews.Carrier  = (*Deployer)(nil)
)

// label is what a preview's id must be, to be part of a namespace's name.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,41}[a-z0-9])?$`)

// mark is what a mark must be, to be the value of a label.
var mark = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// New makes a deployer; nobody is asked anything.
func New(cfg Config, opts Options) (*Deployer, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "previews by Argo CD: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct the configuration of previews.")
	}
	if !mark.MatchString(opts.Mark) {
		return nil, fault.New(fault.Invalid, "previews by Argo CD: %q is no mark of what is made", opts.Mark).WithFix("Use at most 63 lower-case letters, digits, dots and hyphens.")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	d := &Deployer{cfg.withDefaults(), opts}
	if d.cfg.Instance == "" && len(opts.Instances) == 1 {
		d.cfg.Instance = slices.Collect(maps.Keys(opts.Instances))[0]
	}
	return d, nil
}

// instance finds an Argo CD by its name.
func (d *Deployer) instance(name string) (*Instance, *fault.Error) {
	if i := d.opts.Instances[name]; i != nil {
		return i, nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(d.opts.Instances)), ", ")
	if name == "" {
		return nil, fault.New(fault.FailedPrecondition, "it is not said which Argo CD it is; there are %s", names).
			WithFix("Add instance to spec.fairlead.preview, or have the operators set previews.deployers.argocd.instance.")
	}
	return nil, fault.New(fault.FailedPrecondition, "no Argo CD is called %q here; there are %s", name, names).
		WithFix("Name one of them, or have the operators add it to the section argocd of the configuration.")
}
