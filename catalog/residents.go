package catalog

import (
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxPath is the longest path inside a repository that is looked at, in bytes.
const maxPath = 4096

// home is where a component lives: the key of its repository and the folder
// in it.
type home struct{ repository, dir string }

// residents knows which components live in which repository, whoever may see
// them, so that a brief need not look through the whole catalog.
type residents struct {
	mu sync.RWMutex // guards what follows
	// own are the components that live in the repository of their catalog file,
	// guests those that live in another, both by where they live; filed are all
	// by where their catalog files are.
	own, guests, filed map[string]folders
	at                 map[string][2]home
}

// move notes what a publication changes.
func (r *residents) move(changes []index.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.own, r.guests, r.filed, r.at = map[string]folders{}, map[string]folders{}, map[string]folders{}, map[string][2]home{}
	}
	for _, c := range changes {
		if !strings.HasPrefix(c.Ref, "component:") {
			continue
		}
		if old, ok := r.at[c.Ref]; ok {
			r.settle(c.Ref, old, folders.remove)
			delete(r.at, c.Ref)
		}
		if c.Record == nil {
			continue
		}
		e := c.Record.Entity
		now := [2]home{homeOf(e), {entity.RepositoryKey(e.From.Repository), folderOf(e.From.Path)}}
		r.settle(c.Ref, now, folders.add)
		r.at[c.Ref] = now
	}
}

// settle lets a component move in or out where it lives and where its file is.
func (r *residents) settle(ref string, homes [2]home, move func(f folders, dir, ref string)) {
	lives := r.own
	if homes[0].repository != homes[1].repository {
		lives = r.guests
	}
	for i, in := range []map[string]folders{lives, r.filed} {
		key := homes[i].repository
		if key == "" {
			continue
		}
		if in[key] == nil {
			in[key] = folders{}
		}
		if move(in[key], homes[i].dir, ref); len(in[key]) == 0 {
			delete(in, key)
		}
	}
}

// alone tells whether a repository has one component at most.
func (r *residents) alone(key string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	own := r.own[key].count(2)
	return own == 1 || own == 0 && r.guests[key].count(2) <= 1
}

// of are the components of a repository, sorted.
func (r *residents) of(key string) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []string
	for _, c := range r.in(key) {
		out = append(out, c.refs()...)
	}
	slices.Sort(out)
	return out
}

// any tells whether a component of a repository passes a test.
func (r *residents) any(key string, test func(ref string) bool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range r.in(key) {
		if c.any(test) {
			return true
		}
	}
	return false
}

// above are the components of the folder that is nearest above a path of a
// repository, less those that keep leaves out, sorted; a folder of which it
// leaves out all counts for nothing.
func (r *residents) above(key, at string, keep func(ref string) bool) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for in := r.in(key); len(in) > 0; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
		if out := in[at].kept(keep); len(out) > 0 || at == "" {
			return out
		}
	}
	return nil
}

// highest are the components of the folder that is nearest to the root of a
// repository, as above has them.
func (r *residents) highest(key string, keep func(ref string) bool) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	in := r.in(key)
	if out := in[""].kept(keep); len(out) > 0 {
		return out
	}
	var best []string
	least := math.MaxInt
	for dir, c := range in {
		depth := strings.Count(dir, "/")
		if depth > least {
			continue
		}
		some := c.kept(keep)
		switch {
		case len(some) == 0:
		case depth < least:
			best, least = some, depth
		default:
			best = append(best, some...)
		}
	}
	slices.Sort(best)
	return best
}

// in are the folders of the components of a repository, or of the one that a
// page or folder is in; those of catalog files where nobody lives there. Of
// what is above a URL only what speaks for itself counts. Anybody may write
// that a component of theirs lives in a repository; where it speaks for itself
// that does not count, lest it be taken for what the repository holds. It is
// called under the lock.
func (r *residents) in(key string) folders {
	for k := key; strings.Contains(k, "/"); k = path.Dir(k) {
		switch {
		case len(r.own[k]) > 0:
			return r.own[k]
		case k == key && len(r.guests[k]) > 0:
			return r.guests[k]
		case len(r.filed[k]) > 0:
			return r.filed[k]
		}
		if k == "/" {
			break
		}
	}
	return nil
}

// homeOf is where a component lives.
func homeOf(e *Entity) home {
	repo := (&factory{e: e}).repository()
	if repo == nil {
		return home{}
	}
	at, dir := splitLocation(repo.Value)
	key, own := entity.RepositoryKey(at), entity.RepositoryKey(e.From.Repository)
	if key == own && at == strings.TrimSuffix(repo.Value, "/") { // no folder is named
		dir = folderOf(e.From.Path)
	}
	return home{key, dir}
}

// insidePath checks a path inside a repository, "" for its root.
func insidePath(p string) (string, error) {
	if len(p) > maxPath || strings.ContainsRune(p, 0) {
		return "", fault.New(fault.Invalid, "path: it is longer than %d bytes or has a byte that no path has", maxPath).WithFix("Give the path of a file or folder inside the repository.")
	}
	clean := strings.TrimLeft(p, "/")
	clean = strings.TrimPrefix(path.Clean("./"+clean), "./")
	switch {
	case clean == ".":
		return "", nil
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", fault.New(fault.Invalid, "path: %.200q leads out of the repository", p).WithFix("Give a path relative to the root of the repository.")
	}
	return clean, nil
}

// below tells whether a path is a folder or in it; everything is in "".
func below(p, dir string) bool { return dir == "" || p == dir || strings.HasPrefix(p, dir+"/") }

// ofRepository finds the component whose folder is nearest above a path in a
// repository; without a path, the one whose folder is nearest to the root. The
// path that it gives is the whole one, what the URL says of a folder included.
func (s *Service) ofRepository(r reading, repository, at string) (*Entity, string, error) {
	root, dir := splitLocation(repository)
	at = strings.TrimPrefix(path.Join(dir, at), "/")
	key := entity.RepositoryKey(root)
	seen := func(ref string) bool { return r.Get(r.scope, ref) != nil }
	var best []string
	if at == "" {
		best = s.residents.highest(key, seen)
	} else {
		best = s.residents.above(key, at, seen)
	}
	switch len(best) {
	case 0:
		refs := slices.DeleteFunc(s.residents.of(key), func(ref string) bool { return !seen(ref) })
		if len(refs) == 0 {
			return nil, "", fault.New(fault.NotFound, "no component is in repository %q", repository).
				WithFix("Check the URL, or add a catalog-info.yaml to the repository.")
		}
		return nil, "", fault.New(fault.NotFound, "no component of repository %q has a folder above %.200q", repository, at).
			WithFix("It holds %s: ask for one of them by name.", shortList(refs)).WithDetail("refs", refs[:min(100, len(refs))])
	case 1:
		return r.Get(r.scope, best[0]), at, nil
	}
	return nil, "", fault.New(fault.Conflict, "%d components of repository %q are equally near: %s", len(best), repository, shortList(best)).
		WithFix("Give the path inside the repository, or ask for one of them by name.").WithDetail("refs", best[:min(100, len(best))])
}

func shortList(refs []string) string {
	text := strings.Join(refs[:min(20, len(refs))], ", ")
	if len(refs) > 20 {
		text += ", …"
	}
	return text
}
