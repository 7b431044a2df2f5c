package knowledge

import (
	"path"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// maxServices is how many services a document names at most; one that is near
// more of them is about none in particular.
const maxServices = 5

// folder is where documents are; one that has several is one value.
type folder struct{ source, dir string }

// place is who lives where documents are, for one caller.
type place struct {
	refs    []string // those whom the caller sees
	visible bool
	// near is how near the place is to the service asked about, 1 or more.
	near float64
}

// place finds who lives above a document or a file of code.
func (r *reading) place(c *Card) place {
	if p, known := r.places[c.folder]; known {
		return p
	}
	all := r.catalog.Inhabitants(r.repositoryOf(c.folder.source), c.folder.dir)
	none := len(all) == 0
	p := place{refs: slices.DeleteFunc(all, func(ref string) bool { return !r.Sees(ref) })}
	p.visible = r.All() || len(p.refs) > 0 || none && r.Source(c.Source)
	p.near = r.nearness(c.Source, p.refs)
	r.places[c.folder] = p
	return p
}

// repositoryOf is the key of a source's repository, "" for a folder.
func (r *reading) repositoryOf(source string) string {
	if s := r.library.shelf(source); s != nil {
		return s.key
	}
	if s := r.code.shelf(source); s != nil {
		return s.key
	}
	return ""
}

// nearness tells how near some services are to the one asked about.
func (r *reading) nearness(source string, refs []string) float64 {
	switch {
	case r.ref == "":
		return 1
	case slices.Contains(refs, r.ref):
		return 4
	}
	best := 1.0
	if source == r.source {
		best = 1.8
	}
	for _, ref := range refs {
		e := r.Entity(ref)
		switch {
		case e == nil:
		case r.system != "" && systemOf(e) == r.system:
			best = max(best, 1.5)
		case r.owner != "" && e.Owner() == r.owner:
			best = max(best, 1.3)
		}
	}
	return best
}

func systemOf(e *entity.Entity) string {
	for _, t := range e.Targets("partOf") {
		if strings.HasPrefix(t, "system:") {
			return t
		}
	}
	return ""
}

// shows tells whether the caller may see anything of a source: most see
// nothing of most sources, and then it does not matter who lives where.
func (r *reading) shows(source string) bool {
	seen, known := r.shown[source]
	if !known {
		seen = r.Source(source) || r.catalog.Inhabited(r.repositoryOf(source), r.Sees)
		r.shown[source] = seen
	}
	return seen
}

// visible tells whether the caller may see a document.
func (r *reading) visible(c *Card) bool {
	if r.All() {
		return true
	}
	if !r.shows(c.Source) || !r.place(c).visible {
		return false
	}
	there := false
	for _, ref := range c.refs {
		if r.Sees(ref) {
			return true
		}
		there = there || r.There(ref)
	}
	return !there
}

// serviceRef is the full reference of a service that front matter names.
func serviceRef(name string) string {
	ref, err := entity.ParseRef(name, "component", entity.DefaultNamespace)
	if err != nil {
		return ""
	}
	return ref.Canonical().String()
}

// services are those that a document is about, as far as the caller sees them:
// those that it names, else those that live above it, and of several those
// whose name is in its path.
func (r *reading) services(c *Card) []string {
	var out []string
	for _, ref := range c.refs {
		if r.Sees(ref) && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	if len(out) > 0 {
		return out[:min(len(out), maxServices)]
	}
	refs := r.place(c).refs
	if len(refs) <= 1 {
		return refs
	}
	for _, ref := range refs {
		if inPath(ref[strings.LastIndexByte(ref, '/')+1:], c.Path) {
			out = append(out, ref)
		}
	}
	switch {
	case len(out) > 0:
		return out[:min(len(out), maxServices)]
	case len(refs) > maxServices:
		return nil
	default:
		return refs
	}
}

// inPath tells whether a name is a folder of a path, or begins its file's.
func inPath(name, at string) bool {
	at = strings.ToLower(at)
	for part := range strings.SplitSeq(path.Dir(at), "/") {
		if part == name {
			return true
		}
	}
	rest, ok := strings.CutPrefix(path.Base(at), name)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], ".-_ "))
}

// nearTo is how near a document is to the service asked about.
func (r *reading) nearTo(c *Card) float64 {
	if r.ref == "" {
		return 1
	}
	near := r.place(c).near
	if len(c.AppliesTo) == 0 && near < 4 {
		return near
	}
	if slices.Contains(r.services(c), r.ref) {
		return 4
	}
	return min(near, 2)
}
