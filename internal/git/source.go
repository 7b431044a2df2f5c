package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// reader is how a repository is read, on disk or from elsewhere.
type reader interface {
	observe(ctx context.Context) (ingest.Revision, error)
	open(ctx context.Context, rev ingest.Revision) (*Tree, error)
}

// Source is a Git repository as a source of catalog files.
type Source struct {
	desc ingest.Description
	reader
}

var _ ingest.Source = (*Source)(nil)

// NewSource makes a source called name. A remote repository's objects are
// kept in dir, which is the source's alone. Relative paths in the
// configuration are relative to base; limit bounds fetches across sources and
// may be nil. Nothing is read yet: errors are those of the configuration.
func NewSource(name string, cfg SourceConfig, dir, base string, limit *Limiter) (*Source, error) {
	if ps := cfg.Validate(); len(ps) > 0 {
		return nil, fault.New(fault.Invalid, "git source %q: %s: %s", name, ps[0].Field, ps[0].Message).WithFix("Correct the configuration of the source.")
	}
	at, err := parseAddress(cfg.URL)
	if err != nil {
		return nil, fault.New(fault.Invalid, "git source %q: url: %v", name, err)
	}
	at = at.absolute(base)
	cfg.Limits = cfg.Limits.withDefaults()
	s := &Source{desc: describe(name, cfg, at)}
	if at.kind == onDisk {
		s.reader = &local{name: at.String(), path: at.path, ref: cfg.Ref, limits: cfg.Limits}
		return s, nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fault.New(fault.Invalid, "git source %q: the folder %q cannot be made absolute", name, dir).Because(err)
	}
	if limit == nil {
		limit = NewLimiter(DefaultFetches)
	}
	cfg.Credentials.TokenFile = relativeTo(base, cfg.Credentials.TokenFile)
	cfg.Credentials.SSHKeyFile = relativeTo(base, cfg.Credentials.SSHKeyFile)
	cfg.Credentials.KnownHostsFile = relativeTo(base, cfg.Credentials.KnownHostsFile)
	s.reader = &remote{cfg: cfg, at: at, dir: dir, limit: limit}
	return s, nil
}

func describe(name string, cfg SourceConfig, at address) ingest.Description {
	d := ingest.Description{Name: name, Type: "git", URL: at.String(), Repository: strings.TrimRight(cfg.WebURL, "/"), BaseType: "url", Include: slices.Clone(cfg.Include), FileBytes: cfg.Limits.FileBytes}
	if len(d.Include) == 0 {
		d.Include = DefaultInclude()
	}
	web := cfg.WebURL
	if web == "" {
		web = at.web()
		d.Repository = web
		if at.kind == onDisk {
			d.Repository = at.String()
		}
	}
	forge := cfg.Forge
	if forge == "" {
		forge = forgeOf(web)
	}
	d.Base = baseURL(web, forge, cfg.Ref)
	return d
}

// Describe says what the source is.
func (s *Source) Describe() ingest.Description { return s.desc }

// Observe gives the commit that the ref names now.
func (s *Source) Observe(ctx context.Context) (ingest.Revision, error) { return s.observe(ctx) }

// Open makes a commit readable.
func (s *Source) Open(ctx context.Context, rev ingest.Revision) (ingest.Tree, error) {
	t, err := s.open(ctx, rev)
	if err != nil {
		return nil, err // a nil *Tree must not become a Tree
	}
	return t, nil
}

// Dispose removes what was fetched of a remote repository.
func (s *Source) Dispose() error {
	if r, ok := s.reader.(*remote); ok {
		return os.RemoveAll(r.dir)
	}
	return nil
}
