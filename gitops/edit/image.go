package edit

import (
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Image sets the tag or the digest of an image wherever the file has it:
// containers, entries of a kustomization, blocks of Helm values, parameters of
// an Argo CD application. Several places that have the same image are one
// change. As with kustomize edit set image, a tag alone takes away a digest
// that was there, which named the old image, and in a kustomization an image
// that has no entry yet gets one.
type Image struct {
	// Name is the image's, as it is written in the file, or without its
	// registry; in a kustomization also the new name of its entry.
	Name string
	// Tag and Digest are what to set, one of the two or both.
	Tag, Digest string
}

// spot is a place that has an image.
type spot struct {
	doc   *document
	names []string // as written
	at    int      // offset
	set   func() error
}

// plan changes every place that fits best.
func (im Image) plan(p *plan) error {
	if err := im.check(); err != nil {
		return err
	}
	docs, err := p.documents()
	if err != nil {
		return err
	}
	s := im.search(p, docs)
	found := s.best()
	if len(found) == 0 {
		return im.absent(p)
	}
	if err := im.oneName(p, found); err != nil {
		return err
	}
	for _, it := range found {
		if err := it.set(); err != nil {
			return err
		}
	}
	return nil
}

// search finds all images of some documents.
func (im Image) search(p *plan, docs []*document) *search {
	s := &search{plan: p, image: im}
	for _, d := range docs {
		s.doc = d
		s.flux = strings.HasPrefix(d.root.text("apiVersion"), "kustomize.toolkit.fluxcd.io/")
		s.look(d.root, "")
	}
	return s
}

// best are the spots whose names fit as well as any.
func (s *search) best() []spot {
	best := 2 * fitsNot
	var out []spot
	for _, it := range s.spots {
		how := 2 * fitsNot
		for i, n := range it.names {
			if f := fit(s.image.Name, n); f < fitsNot {
				how = min(how, 2*f+min(i, 1)) // the name itself before the new name
			}
		}
		if how < best {
			best, out = how, nil
		}
		if how == best && how < 2*fitsNot {
			out = append(out, it)
		}
	}
	return out
}

// oneName refuses a name without a registry that fits images of several.
func (im Image) oneName(p *plan, found []spot) error {
	var names, where []string
	for _, it := range found {
		for _, n := range it.names {
			if fit(im.Name, n) == fitsBehindRegistry && !slices.Contains(names, n) {
				names, where = append(names, n), append(where, n+" (line "+itoa(p.file.lineOf(it.at))+")")
			}
		}
	}
	if len(names) < 2 {
		return nil
	}
	return p.file.refuse(found[0].at, "%s may be any of %s", im.Name, some(where)).WithFix("Write the name with its registry.")
}

// absent adds an entry to a kustomization, or says what images there are.
func (im Image) absent(p *plan) error {
	whole, err := read(p.file.name, p.file.text, interest{})
	if err != nil {
		return err
	}
	p.file = whole
	docs, err := p.documents()
	if err != nil {
		return err
	}
	for _, d := range docs {
		if p.file.kustomization(d) {
			return im.enter(p, d)
		}
	}
	s := im.search(p, docs)
	var names []string
	for _, it := range s.spots {
		if n := it.names[0]; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if at := whole.inText(im.Name); at >= 0 {
		return whole.refuse(at, "%s is named in a block of text alone, where nothing is changed", im.Name).WithFix("Change it by hand.")
	}
	at := nowhere
	message := "it has no image " + im.Name
	if s.templated > 0 {
		at = s.templatedAt
		message += "; images here are filled in by a template or a variable"
	}
	e := p.file.refuse(at, "%s", message)
	if len(names) == 0 {
		return e.WithFix("Name a file that has the image, or set a value by its path with --set PATH=VALUE.")
	}
	return e.WithFix("The images that it has: %s.", some(names))
}

// enter adds an entry to a kustomization.
func (im Image) enter(p *plan, d *document) error {
	entry := newMapping(newScalar("name", plain), p.file.string(im.Name))
	for key, value := range im.pairs() {
		entry.adopt(newScalar(key, plain), p.file.string(value))
	}
	images, err := p.valueOf(d.root, "images", "")
	switch {
	case err != nil:
		return err
	case images == nil:
		return p.add(d, d.root, "", "", newScalar("images", plain), newSequence(entry))
	case images.kind == sequence || images.null():
		return p.appendItem(d, images, "images", entry)
	default:
		return p.file.refuse(images.start, "images is no list").WithFix("Put the file right first.")
	}
}

// pairs are the keys of a kustomization's entry and their values.
func (im Image) pairs() func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		if im.Tag != "" && !yield("newTag", im.Tag) || im.Digest == "" {
			return
		}
		yield("digest", im.Digest)
	}
}

// entry sets the tag and the digest of a kustomization's entry.
func (im Image) entry(p *plan, d *document, m *node, path string) error {
	after := "name"
	if m.get("newName") != nil {
		after = "newName"
	}
	if old := m.get("newTag"); old != nil && m.get("digest") == nil && im.Tag != "" && im.Digest != "" && strings.Contains(old.value, "@") {
		return p.set(d, old, join(path, "newTag"), p.file.instead(old, im.Tag+"@"+im.Digest, true)) // as it is written there
	}
	var fresh []*node
	for key, value := range im.pairs() {
		old, err := p.valueOf(m, key, path)
		if err != nil {
			return err
		}
		if old == nil {
			fresh = append(fresh, newScalar(key, plain), p.file.fresh(m, key, value, true))
		} else if err := p.set(d, old, join(path, key), p.file.instead(old, value, false)); err != nil {
			return err
		} else {
			after = key
		}
	}
	if len(fresh) > 0 {
		if err := p.add(d, m, path, after, fresh...); err != nil {
			return err
		}
	}
	for key, value := range map[string]string{"newTag": im.Tag, "digest": im.Digest} {
		if value == "" && m.get(key) != nil {
			return p.remove(d, m, key, join(path, key))
		}
	}
	return nil
}

// inline rewrites an image that is one value; before is what stands in the
// value before it.
func (im Image) inline(p *plan, d *document, n *node, path, before string) error {
	r := parseReference(strings.TrimPrefix(n.value, before))
	r.tag, r.digest = im.Tag, im.Digest
	want := text(before+r.String(), n.style, p.file.habits().quotes, inFlow(n))
	want.tag = n.tag
	return p.set(d, n, path, want)
}

// block sets the tag and the digest of Helm values.
func (im Image) block(p *plan, d *document, b *block) error {
	r := parseReference(b.name.value)
	switch {
	case b.tag != nil && len(b.tag.items) > 0 || b.digest != nil && len(b.digest.items) > 0:
		return p.file.refuse(b.name.start, "%s has no tag that is one value", b.path).WithFix("Change it by hand.")
	case r.digest != "" && "@"+r.digest == pinned && b.tag != nil:
		return im.pair(p, d, b)
	case (r.tag != "" || r.digest != "") && b.tag != nil && b.tag.value != "":
		return p.file.refuse(b.name.start, "%s names a tag, and so does %s beside it", b.path+"."+b.nameKey, b.tagKey).WithFix("Keep one of the two.")
	case r.tag != "" || r.digest != "" || b.tag == nil && b.digest == nil && b.whole:
		return im.inline(p, d, b.name, join(b.path, b.nameKey), "")
	}
	return im.fields(p, d, b)
}

// fields sets the tag and the digest that stand beside the name. Without a
// field for it the digest goes behind the tag, where every chart that puts a
// name and a tag together has it.
func (im Image) fields(p *plan, d *document, b *block) error {
	tag, digest := im.Tag, im.Digest
	if b.digest == nil && digest != "" {
		if tag == "" && b.tag != nil {
			tag, _, _ = strings.Cut(b.tag.value, "@")
		}
		if tag == "" {
			return p.file.refuse(b.name.start, "%s has neither a digest nor a tag to put it behind", b.path).WithFix("Give the tag, too: NAME=TAG@DIGEST.")
		}
		tag, digest = tag+"@"+digest, ""
	}
	if b.digest != nil && (digest != "" || b.digest.value != "" && tag != "") {
		want := text(digest, b.digest.style, p.file.habits().quotes, inFlow(b.digest))
		if err := p.set(d, b.digest, join(b.path, b.digestKey), want); err != nil {
			return err
		}
	}
	switch {
	case tag == "":
		return nil
	case b.tag != nil:
		return p.set(d, b.tag, join(b.path, b.tagKey), p.file.instead(b.tag, tag, false))
	case b.home == nil:
		return p.file.refuse(b.name.start, "there is no %s beside %s", b.tagKey, b.nameKey).WithFix("Add the parameter by hand.")
	}
	return p.add(d, b.home, b.path, b.nameKey, newScalar(b.tagKey, plain), p.file.fresh(b.home, b.tagKey, tag, true))
}

// pair sets a digest that stands in tag, beside a repository that ends in
// @sha256.
func (im Image) pair(p *plan, d *document, b *block) error {
	digits, ok := strings.CutPrefix(im.Digest, "sha256:")
	if !ok && hexForm.MatchString(im.Tag) && im.Digest == "" {
		digits, ok = im.Tag, true
	}
	switch {
	case ok:
		return p.set(d, b.tag, join(b.path, b.tagKey), p.file.instead(b.tag, digits, false))
	case im.Digest != "" || strings.HasSuffix(im.Name, pinned):
		return fault.New(fault.FailedPrecondition, "%s: %s is named by its sha256 digest, and %q is none", p.file.place(b.tag.start), b.name.value, im.Tag).
			WithFix("Give the digest: NAME=TAG@sha256:DIGEST.")
	}
	name := text(strings.TrimSuffix(b.name.value, pinned), b.name.style, p.file.habits().quotes, inFlow(b.name))
	if err := p.set(d, b.name, join(b.path, b.nameKey), name); err != nil {
		return err
	}
	return p.set(d, b.tag, join(b.path, b.tagKey), p.file.instead(b.tag, im.Tag, false))
}
