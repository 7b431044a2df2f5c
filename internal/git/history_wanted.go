package git

import (
	"fmt"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/git/objects"
)

// wanted is a set of files as a tree of folders, so that it can be compared
// with Git's. It is never changed; nil is the empty set. A file has no kids.
type wanted struct {
	kids map[string]*wanted
}

func wantedOf(paths []string) *wanted {
	root := &wanted{kids: make(map[string]*wanted, len(paths))}
	for _, path := range paths {
		at := root
		for name := range strings.SplitSeq(path, "/") {
			if at.kids == nil {
				at.kids = map[string]*wanted{}
			}
			if at.kids[name] == nil {
				at.kids[name] = &wanted{}
			}
			at = at.kids[name]
		}
	}
	return root
}

// each calls do with every path.
func (w *wanted) each(prefix string, do func(path string)) {
	if w == nil {
		return
	}
	for name, kid := range w.kids {
		if kid.kids == nil {
			do(prefix + name)
			continue
		}
		kid.each(prefix+name+"/", do)
	}
}

// with is the union of two sets.
func (w *wanted) with(o *wanted) *wanted {
	switch {
	case w == nil:
		return o
	case o == nil || w.kids == nil:
		return w
	}
	u := &wanted{kids: make(map[string]*wanted, len(w.kids)+len(o.kids))}
	for name, kid := range w.kids {
		u.kids[name] = kid
	}
	for name, kid := range o.kids {
		u.kids[name] = u.kids[name].with(kid)
	}
	return u
}

// compareWanted parts files of the folder now into those that the folder was
// has the same, and others. With there, both are the same folder, and it
// parts those that are there from others. Files below equal folders are not
// looked at one by one.
func compareWanted(db *objects.DB, now, was objects.ID, files *wanted, there bool) (same, differ *wanted, err error) {
	if files == nil || now == was && !there {
		return files, nil, nil
	}
	is, err := files.entries(db, now)
	if err != nil {
		return nil, nil, err
	}
	had := is
	if !there {
		if had, err = files.entries(db, was); err != nil {
			return nil, nil, err
		}
	}
	p := parting{whole: files}
	for name, kid := range files.kids {
		a, here := is[name]
		b, before := had[name]
		switch {
		case !here || !before || a.Mode != b.Mode:
			p.add(name, nil, kid)
		case kid.kids != nil && a.Mode == objects.Dir:
			same, differ, err := compareWanted(db, a.ID, b.ID, kid, there)
			if err != nil {
				return nil, nil, err
			}
			p.add(name, same, differ)
		case kid.kids != nil || a.Mode != objects.File || a.ID != b.ID:
			p.add(name, nil, kid)
		default:
			p.add(name, kid, nil)
		}
	}
	same, differ = p.parts()
	return same, differ, nil
}

// entries are the entries of a folder that have a wanted name.
func (w *wanted) entries(db *objects.DB, dir objects.ID) (map[string]objects.Entry, error) {
	kind, data, err := db.Read(dir, maxTree)
	if err != nil {
		return nil, err
	}
	if kind != objects.Tree {
		return nil, fmt.Errorf("%w: a %s in the place of a folder", objects.ErrCorrupt, kind)
	}
	out := make(map[string]objects.Entry, len(w.kids))
	for len(data) > 0 && len(out) < len(w.kids) {
		e, rest, err := objects.NextEntry(data)
		if err != nil {
			return nil, err
		}
		data = rest
		if w.kids[string(e.Name)] != nil {
			out[string(e.Name)] = e
		}
	}
	return out, nil
}

// parting collects what differs of a set. Where nothing does it copies nothing:
// most commits change none of the files that are wanted.
type parting struct {
	whole        *wanted
	same, differ map[string]*wanted // of the kids that are not the same as a whole
}

func (p *parting) add(name string, same, differ *wanted) {
	if differ == nil {
		return
	}
	if p.differ == nil {
		p.same, p.differ = map[string]*wanted{}, map[string]*wanted{}
	}
	p.same[name], p.differ[name] = same, differ
}

func (p *parting) parts() (same, differ *wanted) {
	if p.differ == nil {
		return p.whole, nil
	}
	kids := make(map[string]*wanted, len(p.whole.kids))
	for name, kid := range p.whole.kids {
		if _, parted := p.differ[name]; parted {
			kid = p.same[name]
		}
		if kid != nil {
			kids[name] = kid
		}
	}
	if len(kids) > 0 {
		same = &wanted{kids}
	}
	return same, &wanted{p.differ}
}
