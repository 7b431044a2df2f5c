// Package findings keeps what inference found in the repositories of the
// catalog's sources, true to the revision that is served: of a new revision it
// reads the files that changed, and of those only the ones that say something.
package findings

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/infer"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
)

// Format changes whenever the same files are read otherwise than before, so
// that what was kept by an earlier program is read anew.
const Format = 5

// Kept is what is kept of one source across restarts.
type Kept struct {
	Format   int
	Revision ingest.Revision
	Info     ingest.CommitInfo
	// FileBytes is the size that a file might have to be read.
	FileBytes int64
	// URL is the source's repository, IDs are the contents that were read or
	// that decided something, Readings what they say, by path.
	URL      string
	IDs      map[string]string
	Readings map[string]infer.Reading
	// Sizes are how many bytes were read, by path.
	Sizes map[string]int
	// Files are the paths that decide whether a command still works.
	Files []string
}

// Keeper keeps findings across restarts, one record for each source.
type Keeper interface {
	// Each calls f with every record, with several at a time. A record that
	// cannot be read is left out.
	Each(ctx context.Context, f func(source string, k *Kept)) error
	// Save puts a record in place of an earlier one.
	Save(ctx context.Context, source string, k *Kept) error
	// Forget removes a record, if there is one.
	Forget(ctx context.Context, source string) error
}

// Findings are the findings of all sources. It is an ingest.Follower.
type Findings struct {
	keeper Keeper

	mu     sync.RWMutex // guards what follows
	of     map[string]*Kept
	found  map[string]*catalog.Finding
	byRepo map[string][]string // names of sources by repository key, sorted
	naming map[string][]string // names of sources by the service that they name, sorted
	// generation counts what was put and removed.
	generation uint64
}

var (
	_ ingest.Follower = (*Findings)(nil)
	_ ingest.Dater    = (*Findings)(nil)
)

// Generation changes whenever something else is found.
func (f *Findings) Generation() uint64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.generation
}

// New makes Findings that are kept by keeper; nil keeps nothing.
func New(keeper Keeper) *Findings {
	return &Findings{keeper: keeper, of: map[string]*Kept{}, found: map[string]*catalog.Finding{}, byRepo: map[string][]string{}, naming: map[string][]string{}}
}

// Restore brings back what was kept.
func (f *Findings) Restore(ctx context.Context) error {
	if f.keeper == nil {
		return nil
	}
	return f.keeper.Each(ctx, func(source string, k *Kept) {
		if k.Format == Format {
			f.put(source, k, infer.NewRepository(k.Readings, k.Files))
		}
	})
}

// Followed is the revision of a source that was read last.
func (f *Findings) Followed(source ingest.Description) ingest.Revision {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if k := f.of[source.Name]; k != nil && k.FileBytes == source.FileBytes {
		return k.Revision
	}
	return ""
}

// Dates tells whether inference takes anything from a file of this path.
func (f *Findings) Dates(path string) bool { return infer.Tells(path) }

// Follow reads what differs of a revision.
func (f *Findings) Follow(ctx context.Context, v ingest.View) error {
	f.mu.RLock()
	old := f.of[v.Source.Name]
	f.mu.RUnlock()
	next := &Kept{Format: Format, Revision: v.Revision, Info: v.Info, FileBytes: v.Source.FileBytes, URL: v.Source.Repository,
		IDs: map[string]string{}, Readings: map[string]infer.Reading{}, Sizes: map[string]int{}}
	if old == nil || old.FileBytes != next.FileBytes {
		old = &Kept{}
	}
	if err := read(ctx, v, old, next); err != nil {
		return err
	}
	repo := infer.NewRepository(next.Readings, slices.Collect(maps.Keys(v.Files)))
	next.Files = repo.Files()
	for _, at := range next.Files {
		next.IDs[at] = v.Files[at]
	}
	if f.keeper != nil {
		if err := f.keeper.Save(ctx, v.Source.Name, next); err != nil {
			return err
		}
	}
	f.put(v.Source.Name, next, repo)
	return nil
}

func (f *Findings) put(source string, k *Kept, repo *infer.Repository) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remove(source)
	f.generation++
	f.of[source] = k
	f.found[source] = &catalog.Finding{Repository: repo, Source: source, URL: k.URL, Commit: k.Info.Commit, Contents: k.IDs}
	if key := entity.RepositoryKey(k.URL); key != "" {
		insert(f.byRepo, key, source)
	}
	for _, service := range repo.Names() {
		insert(f.naming, service, source)
	}
}

// remove takes a source out; the caller holds the lock.
func (f *Findings) remove(source string) {
	k := f.of[source]
	if k == nil {
		return
	}
	f.generation++
	for _, service := range f.found[source].Names() {
		erase(f.naming, service, source)
	}
	erase(f.byRepo, entity.RepositoryKey(k.URL), source)
	delete(f.of, source)
	delete(f.found, source)
}

func insert(m map[string][]string, key, source string) {
	names := append(slices.Clone(m[key]), source)
	slices.Sort(names)
	m[key] = names
}

func erase(m map[string][]string, key, source string) {
	names := slices.DeleteFunc(slices.Clone(m[key]), func(n string) bool { return n == source })
	if len(names) == 0 {
		delete(m, key)
		return
	}
	m[key] = names
}

// Drop forgets a source that is gone.
func (f *Findings) Drop(ctx context.Context, source string) error {
	f.mu.Lock()
	f.remove(source)
	f.mu.Unlock()
	if f.keeper == nil {
		return nil
	}
	return f.keeper.Forget(ctx, source)
}

// Of is what is known of a source, nil while nothing is.
func (f *Findings) Of(source string) *catalog.Finding {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.found[source]
}

// In is what is known of a repository by its URL in any form, nil if it is
// that of no source.
func (f *Findings) In(repository string) *catalog.Finding {
	key := entity.RepositoryKey(repository)
	f.mu.RLock()
	defer f.mu.RUnlock()
	if names := f.byRepo[key]; len(names) > 0 {
		return f.found[names[0]]
	}
	return nil
}

// Naming are the findings that name a service, by source.
func (f *Findings) Naming(service string) []*catalog.Finding {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var out []*catalog.Finding
	for _, source := range f.naming[strings.ToLower(service)] {
		out = append(out, f.found[source])
	}
	return out
}
