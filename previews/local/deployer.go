package local

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
	"github.com/fairlead-dev/fairlead/previews"
)

// Checkout writes the files of a commit into a folder that is empty.
type Checkout interface {
	Checkout(ctx context.Context, repository, commit, dir string) error
}

// Options are what a Deployer is given by its surroundings.
type Options struct {
	// Checkout brings the files of a revision.
	Checkout Checkout
	// Port tells the port that Fairlead listens at, for URLs. It is asked when
	// a URL is told, and may give 0 while that is not known.
	Port func() int
	// Runner is the program that supervises, with its arguments so far; what
	// Main reads is added. Default this program itself, whose main function
	// must then begin with Main.
	Runner []string
	// Logger takes what cannot be told to a caller; none if nil.
	Logger *slog.Logger
}

// Deployer deploys previews on this machine. Several may work on one folder,
// in one process or in several.
type Deployer struct {
	cfg       Config
	opts      Options
	log       *slog.Logger
	transport *http.Transport
	isolation func() (isolation, error)
	children  beside.All
	disks     disks
	cageless  bool // for tests of what is done where there are no control groups
}

var (
	_ previews.Deployer = (*Deployer)(nil)
	_ previews.Sweeper  = (*Deployer)(nil)
	_ previews.Meter    = (*Deployer)(nil)
	_ previews.Carrier  = (*Deployer)(nil)
)

// Carries tells that what is given to a preview is in its environment.
func (d *Deployer) Carries(previews.Wish) error { return nil }

// isolation is what Config.Isolation comes down to on this machine.
type isolation struct {
	mode, bwrap string
}

// New makes a deployer; nothing is started. Errors are those of the
// configuration, or of a system that it does not run on.
func New(cfg Config, opts Options) (*Deployer, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "local previews: %s: %s", ps[0].Field, ps[0].Message).WithFix("Correct the configuration of previews.")
	}
	if !supported {
		return nil, fault.New(fault.FailedPrecondition, "local previews run on Linux alone").WithFix("Run Fairlead on Linux, or leave local previews out of its configuration.")
	}
	cfg = cfg.withDefaults()
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fault.New(fault.Invalid, "local previews: the folder %q cannot be made absolute", cfg.Dir).Because(err)
	}
	cfg.Dir = dir
	if cfg.Path == "" {
		cfg.Path = os.Getenv("PATH")
	}
	if len(opts.Runner) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fault.New(fault.Internal, "Fairlead does not find its own program").Because(err)
		}
		opts.Runner = []string{self}
	}
	if opts.Port == nil {
		opts.Port = func() int { return 0 }
	}
	d := &Deployer{cfg: cfg, opts: opts, log: opts.Logger, transport: newTransport()}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	d.isolation = sync.OnceValues(d.isolate)
	return d, nil
}

// Isolation tells how previews are kept apart from this machine: bubblewrap,
// namespaces or none. The first call tries out what works.
func (d *Deployer) Isolation() (string, error) {
	i, err := d.isolation()
	return i.mode, err
}

// isolate chooses how previews are kept apart.
func (d *Deployer) isolate() (isolation, error) {
	want := d.cfg.Isolation
	if want == None {
		return isolation{mode: None}, nil
	}
	var why error
	if want == Auto || want == Bubblewrap {
		path, err := exec.LookPath("bwrap")
		if err == nil {
			err = tryBubblewrap(path)
		}
		if err == nil {
			return isolation{Bubblewrap, path}, nil
		}
		why = errors.Join(why, err)
	}
	if want == Auto || want == Namespaces {
		err := tryNamespaces()
		if err == nil {
			return isolation{mode: Namespaces}, nil
		}
		why = errors.Join(why, err)
	}
	if want == Auto {
		d.log.Warn("previews run among the other processes of this machine: neither bubblewrap nor user namespaces work", "error", why)
		return isolation{mode: None}, nil
	}
	return isolation{}, fault.New(fault.FailedPrecondition, "previews are to be isolated by %s, which does not work on this machine", want).
		WithFix("Install bubblewrap (the package bubblewrap), let unprivileged users make user namespaces, or set isolation to auto.").Because(why)
}

// Close lets go of connections. Previews go on.
func (d *Deployer) Close() error {
	d.transport.CloseIdleConnections()
	return nil
}

// label is what a preview's id must be, to be part of a host's name and of a path.
var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// folder is where a preview is kept.
func (d *Deployer) folder(id string) (folder, error) {
	if !label.MatchString(id) {
		return "", fault.New(fault.Invalid, "%q is no id of a preview", id).WithFix("Use lower-case letters, digits and hyphens, at most 63.")
	}
	return folder(filepath.Join(d.cfg.Dir, id)), nil
}

// broken reports what this machine did not let us do for a preview.
func broken(step, id string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Unavailable, "%s of preview %s did not work on this machine", step, id).
		WithFix("Look at Fairlead's log; check the space and the rights of the folder of previews.").Because(err)
}
