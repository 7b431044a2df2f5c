package catalog

import (
	"cmp"
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
	// in are the folders of components by repository and reference, files the
	// same by where their catalog files are.
	in, files map[string]map[string]string
	at        map[string][2]home
}

// move notes what a publication changes.
func (r *residents) move(changes []index.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.in, r.files, r.at = map[string]map[string]string{}, map[string]map[string]string{}, map[string][2]home{}
	}
	for _, c := range changes {
		if !strings.HasPrefix(c.Ref, "component:") {
			continue
		}
		if old, ok := r.at[c.Ref]; ok {
			settle(r.in, c.Ref, old[0], false)
			settle(r.files, c.Ref, old[1], false)
			delete(r.at, c.Ref)
		}
		if c.Record == nil {
			continue
		}
		e := c.Record.Entity
		now := [2]home{homeOf(e), {entity.RepositoryKey(e.From.Repository), folderOf(e.From.Path)}}
		settle(r.in, c.Ref, now[0], true)
		settle(r.files, c.Ref, now[1], true)
		r.at[c.Ref] = now
	}
}

func settle(in map[string]map[string]string, ref string, h home, moves bool) {
	all := in[h.repository]
	switch {
	case h.repository == "":
	case !moves:
		if delete(all, ref); len(all) == 0 {
			delete(in, h.repository)
		}
	case all == nil:
		in[h.repository] = map[string]string{ref: h.dir}
	default:
		all[ref] = h.dir
	}
}

// alone tells whether a repository has one component at most.
func (r *residents) alone(key string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	own := 0
	for ref := range r.in[key] {
		if _, here := r.files[key][ref]; here {
			if own++; own > 1 {
				return false
			}
		}
	}
	return own == 1 || len(r.in[key]) <= 1
}

// resident is a component and its folder.
type resident struct{ ref, dir string }

// of are the components of a repository.
func (r *residents) of(key string) []resident {
	return r.among(key, func(string) bool { return true })
}

// among are the components of a repository that keep chooses by their folders, or
// of the repository that a page or folder is in; those whose catalog files are
// there where nobody lives there. Of what is above a URL only what speaks for
// itself counts.
func (r *residents) among(key string, keep func(dir string) bool) []resident {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for k := key; strings.Contains(k, "/"); k = path.Dir(k) {
		speaks := r.speaks(k)
		for _, in := range []map[string]string{r.in[k], r.files[k]} {
			var out []resident
			lives := false
			for ref, dir := range in {
				if _, here := r.files[k][ref]; !here && (speaks || k != key) {
					continue
				}
				lives = true
				if keep(dir) {
					out = append(out, resident{ref, dir})
				}
			}
			if lives {
				return out
			}
		}
		if k == "/" {
			break
		}
	}
	return nil
}

// speaks tells whether a component lives in a repository that holds its catalog
// file. Anybody may write that a component of theirs lives in a repository;
// where it speaks for itself that does not count, lest it be taken for what the
// repository holds. It is called under the lock.
func (r *residents) speaks(key string) bool {
	for ref := range r.in[key] {
		if _, here := r.files[key][ref]; here {
			return true
		}
	}
	return false
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
	best := r.nearest(s.residents.among(key, func(dir string) bool { return at == "" || below(at, dir) }), at)
	switch len(best) {
	case 0:
		refs := sortedRefs(r.visible(s.residents.of(key)))
		if len(refs) == 0 {
			return nil, "", fault.New(fault.NotFound, "no component is in repository %q", repository).
				WithFix("Check the URL, or add a catalog-info.yaml to the repository.")
		}
		return nil, "", fault.New(fault.NotFound, "no component of repository %q has a folder above %.200q", repository, at).
			WithFix("It holds %s: ask for one of them by name.", shortList(refs)).WithDetail("refs", refs[:min(100, len(refs))])
	case 1:
		return r.Get(r.scope, best[0].ref), at, nil
	}
	refs := sortedRefs(best)
	return nil, "", fault.New(fault.Conflict, "%d components of repository %q are equally near: %s", len(refs), repository, shortList(refs)).
		WithFix("Give the path inside the repository, or ask for one of them by name.").WithDetail("refs", refs[:min(100, len(refs))])
}

// visible are those that the caller may see.
func (r reading) visible(all []resident) []resident {
	return slices.DeleteFunc(all, func(c resident) bool { return r.Get(r.scope, c.ref) == nil })
}

// nearest are those of the folder that is nearest above a path, or to the root
// where there is no path; all are above it.
func (r reading) nearest(all []resident, at string) []resident {
	near := func(c resident) int { return -len(c.dir) }
	if at == "" {
		near = func(c resident) int { return strings.Count("/"+c.dir, "/") + min(len(c.dir), 1) }
	}
	var best []resident
	for _, c := range r.visible(all) {
		d := 0
		if len(best) > 0 {
			d = cmp.Compare(near(c), near(best[0]))
		}
		switch {
		case d < 0:
			best = []resident{c}
		case d == 0:
			best = append(best, c)
		}
	}
	return best
}

func sortedRefs(all []resident) []string {
	var refs []string
	for _, c := range all {
		refs = append(refs, c.ref)
	}
	slices.Sort(refs)
	return refs
}

func shortList(refs []string) string {
	text := strings.Join(refs[:min(20, len(refs))], ", ")
	if len(refs) > 20 {
		text += ", …"
	}
	return text
}
