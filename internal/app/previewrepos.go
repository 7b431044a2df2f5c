package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/previews"
)

// previewFile is the largest single file of a preview's work tree, in bytes.
const previewFile = 256 << 20

// previewRepos finds the repositories of services: those of configured
// sources, and what the rules for registered locations let be read.
type previewRepos struct {
	dir, base string
	sources   []SourceConfig
	rules     *repositories
	fetches   *git.Limiter
}

func (a *App) previewRepositories() *previewRepos {
	return &previewRepos{dir: filepath.Join(a.cfg.Cache, "git", "previews"), base: a.cfg.dir, sources: a.cfg.Catalog.Sources,
		rules: &repositories{rules: a.cfg.readable()}, fetches: a.fetches}
}

// Resolve finds a commit of a service's repository.
func (p *previewRepos) Resolve(ctx context.Context, e *catalog.Entity, revision string) (previews.Checkout, error) {
	cfg, dir, err := p.of(e)
	if err != nil {
		return previews.Checkout{}, err
	}
	src, err := p.open(cfg)
	if err != nil {
		return previews.Checkout{}, err
	}
	commit, err := src.Resolve(ctx, revision)
	if err != nil {
		return previews.Checkout{}, err
	}
	if revision == "" {
		revision = cfg.Ref
	}
	if revision == "" {
		revision = "HEAD"
	}
	return previews.Checkout{Repository: p.absolute(cfg.URL), Dir: dir, Revision: revision, Commit: commit}, nil
}

// Locate is the repository that a service is in.
func (p *previewRepos) Locate(e *catalog.Entity) (previews.Checkout, error) {
	cfg, dir, err := p.of(e)
	if err != nil {
		return previews.Checkout{}, err
	}
	return previews.Checkout{Repository: p.absolute(cfg.URL), Dir: dir}, nil
}

// Revisions lists what may be named of a service's repository.
func (p *previewRepos) Revisions(ctx context.Context, e *catalog.Entity) (*previews.Refs, error) {
	cfg, _, err := p.of(e)
	if err != nil {
		return nil, err
	}
	src, err := p.open(cfg)
	if err != nil {
		return nil, err
	}
	found, err := src.Revisions(ctx)
	if err != nil {
		return nil, err
	}
	told := func(all []git.Revision) []previews.Revision {
		out := make([]previews.Revision, len(all))
		for i, r := range all {
			out[i] = previews.Revision(r)
		}
		return out
	}
	return &previews.Refs{Default: found.Default, Branches: told(found.Branches), Tags: told(found.Tags), Commits: told(found.Commits), Older: found.Older}, nil
}

// Checkout writes the files of a commit into a folder.
func (p *previewRepos) Checkout(ctx context.Context, repository, commit, dir string) error {
	cfg, err := p.at(repository)
	if err != nil {
		return err
	}
	src, err := p.open(cfg)
	if err != nil {
		return err
	}
	return src.Checkout(ctx, commit, dir)
}

func (p *previewRepos) open(cfg git.SourceConfig) (*git.Source, error) {
	cfg.Include = nil
	cfg.Limits.FileBytes = max(cfg.Limits.FileBytes, previewFile)
	sum := sha256.Sum256([]byte(cfg.URL))
	return git.NewSource("previews", cfg, filepath.Join(p.dir, hex.EncodeToString(sum[:12])), p.base, p.fetches)
}

// absolute is a repository's URL, a path on disk made absolute.
func (p *previewRepos) absolute(url string) string {
	if strings.Contains(url, ":") || filepath.IsAbs(url) {
		return url
	}
	return filepath.Join(p.base, url)
}

// of is the repository that a service is in, and its folder there: the one
// that its source-location names, if it may be read, else that of its file.
func (p *previewRepos) of(e *catalog.Entity) (cfg git.SourceConfig, dir string, err error) {
	annotations := e.Metadata().Object("annotations")
	if at, ok := strings.CutPrefix(annotations.String("backstage.io/source-location"), "url:"); ok {
		at = strings.TrimRight(at, "/")
		f, err := git.ParseFileURL(at)
		if err == nil && entity.RepositoryKey(f.WebURL) != entity.RepositoryKey(e.From.Repository) {
			_, cfg, err := p.rules.config(at)
			return cfg, below(at, f), err
		}
	}
	dir = strings.TrimPrefix(path.Dir(filepath.ToSlash(e.From.Path)), ".")
	if i := slices.IndexFunc(p.sources, func(s SourceConfig) bool { return s.Name == e.From.Source && s.Git != nil }); i >= 0 {
		return *p.sources[i].Git, dir, nil
	}
	if at, ok := strings.CutPrefix(annotations.String("backstage.io/managed-by-location"), "url:"); ok {
		_, cfg, err := p.rules.config(at)
		return cfg, dir, err
	}
	return cfg, dir, fault.New(fault.FailedPrecondition, "it is not known in which Git repository %s is", e.Ref).
		WithFix("Have the catalog read it from a Git repository, or name it by the annotation backstage.io/source-location.")
}

// at is how the repository of a URL is read.
func (p *previewRepos) at(url string) (git.SourceConfig, error) {
	for _, s := range p.sources {
		if s.Git != nil && (p.absolute(s.Git.URL) == url || onDisk(url) && entity.RepositoryKey(p.absolute(s.Git.URL)) == entity.RepositoryKey(url)) {
			return *s.Git, nil
		}
	}
	_, cfg, err := p.rules.config(strings.TrimSuffix(url, ".git") + "/blob/HEAD/catalog-info.yaml")
	return cfg, err
}

// onDisk tells of a repository on this machine.
func onDisk(url string) bool { return filepath.IsAbs(url) || strings.HasPrefix(url, "file://") }

// below is the folder that a page's URL shows.
func below(at string, f git.FileURL) string {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(at, f.WebURL), "/"), "/")
	skip := map[string]int{"gitlab": 3, "gitea": 3}[f.Forge] // -/tree/REF, src/branch/REF
	if skip == 0 {
		skip = 2 // tree/REF
	}
	return strings.Join(parts[min(skip, len(parts)):], "/")
}
