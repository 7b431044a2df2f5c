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
)

// label is what a preview's id must be, to be part of a namespace's name.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,41}[a-z0-9])?$`)

// New makes a deployer; nobody is asked anything.
func New(cfg Config, opts Options) (*Deployer, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "previews by Argo CD: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct the configuration of previews.")
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
