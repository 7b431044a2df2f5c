package previews

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// services are those that are previewed for a pull request: their templates
// ask for it, they are in its repository, and it changes something in their
// folders.
func (k *PullKeeper) services(ctx context.Context, r *PullRecord) ([]string, error) {
	repositories := map[string]bool{}
	for _, u := range r.State.CloneURLs {
		repositories[entity.RepositoryKey(u)] = true
	}
	dirs := map[string]string{}
	for e, at := range k.asking() {
		if repositories[entity.RepositoryKey(at.Repository)] {
			dirs[e.Ref.String()] = at.Dir
		}
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	paths, all, err := k.forges.ChangedFiles(ctx, r.PullRef)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(dirs, func(_, dir string) bool {
		return all && dir != "" && !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, dir+"/") })
	})
	return slices.Sorted(maps.Keys(dirs)), nil
}

// asking are the services whose templates ask for previews of pull requests,
// and where they are.
func (k *PullKeeper) asking() iter.Seq2[*catalog.Entity, Checkout] {
	return func(yield func(*catalog.Entity, Checkout) bool) {
		scope := k.service.cfg.Policy.Scope(access.System(pullWork), access.ReadCatalog)
		for e := range k.service.cfg.Catalog.Snapshot().Kind(scope, "component") {
			if t, err := templateOf(e); err != nil || !t.PullRequests {
				continue
			}
			if at, err := k.service.cfg.Repositories.Locate(e); err == nil && !yield(e, at) {
				return
			}
		}
	}
}

// Poll finds pull requests that no webhook told of: those that are open and
// were not known, or at another commit, and those that are open no more.
func (k *PullKeeper) Poll(ctx context.Context) error {
	repositories := map[string]string{}
	for _, at := range k.asking() {
		repositories[entity.RepositoryKey(at.Repository)] = at.Repository
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(repositories)) {
		if err := k.poll(ctx, repositories[key]); fault.CodeOf(err) != fault.NotFound {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (k *PullKeeper) poll(ctx context.Context, repository string) error {
	at, open, err := k.forges.OpenPulls(ctx, repository)
	if err != nil {
		return err
	}
	known, err := k.notes.PullHeads(ctx, at)
	if err != nil {
		return err
	}
	var errs []error
	tell := func(n int64) {
		at.Number = n
		errs = append(errs, k.notes.TellPull(ctx, at, k.service.cfg.Now()))
	}
	for n, head := range open {
		if seen, ok := known[n]; !ok || seen != head {
			tell(n)
		}
	}
	for n := range known {
		if _, ok := open[n]; !ok {
			tell(n)
		}
	}
	return errors.Join(errs...)
}
