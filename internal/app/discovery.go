package app

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/internal/forge"
	"github.com/fairlead-dev/fairlead/internal/git"
)

// organization is an ingest.Provider over what a forge lists: each repository
// becomes a Git source named after the provider and the repository.
type organization struct {
	desc   ingest.Description
	lister forge.Lister
	// template is what all repositories' sources have in common.
	template git.SourceConfig
	open     func(name string, cfg git.SourceConfig) (*git.Source, error)

	mu   sync.Mutex
	made map[string]*listed
}

// listed is a repository's source, which knows what the listing told of its
// branch.
type listed struct {
	*git.Source
	cfg  git.SourceConfig
	head atomic.Value // ingest.Revision
}

// Hint is the commit that the last listing told, "" if it told none.
func (l *listed) Hint() ingest.Revision {
	head, _ := l.head.Load().(ingest.Revision)
	return head
}

// Describe says what the provider is.
func (o *organization) Describe() ingest.Description { return o.desc }

// Discover lists the repositories that have something in them.
func (o *organization) Discover(ctx context.Context) ([]ingest.Source, error) {
	repos, err := o.lister.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	made := make(map[string]*listed, len(repos))
	out := make([]ingest.Source, 0, len(repos))
	for _, r := range repos {
		if r.Empty {
			continue
		}
		l, err := o.source(r)
		if err != nil {
			return nil, fmt.Errorf("repository %s: %w", r.FullName, err)
		}
		l.head.Store(o.headOf(r))
		made[r.FullName] = l
		out = append(out, l)
	}
	o.made = made
	return out, nil
}

// headOf is what the listing tells of the ref that is read.
func (o *organization) headOf(r forge.Repository) ingest.Revision {
	if o.template.Ref != "" && o.template.Ref != r.DefaultBranch {
		return ""
	}
	return ingest.Revision(r.Head)
}

// source gives a repository's source; the one made before unless the
// repository has another address or default branch now.
func (o *organization) source(r forge.Repository) (*listed, error) {
	cfg := o.template
	cfg.URL, cfg.WebURL = r.CloneURL, r.WebURL
	if cfg.Ref == "" {
		cfg.Ref = r.DefaultBranch
	}
	if old := o.made[r.FullName]; old != nil && reflect.DeepEqual(old.cfg, cfg) {
		return old, nil
	}
	src, err := o.open(o.desc.Name+"/"+r.FullName, cfg)
	if err != nil {
		return nil, err
	}
	return &listed{Source: src, cfg: cfg}, nil
}
