package edit

import "strings"

// search finds the places of a file that have images.
type search struct {
	plan  *plan
	image Image
	doc   *document
	flux  bool
	spots []spot
	// templated counts images that something else fills in.
	templated, templatedAt int
}

// block is an image whose name and tag are values of their own.
type block struct {
	path                       string
	name, tag, digest          *node
	nameKey, tagKey, digestKey string
	registry                   string
	home                       *node // where a missing tag goes
	// whole says that the name may have the tag behind it: nginx:1.27.
	whole bool
}

// shapes are the keys by which charts name an image.
var shapes = []struct{ name, tag, digest, registry string }{
	{"repository", "tag", "digest", "registry"},
	{"repository", "imageTag", "imageDigest", "imageRegistry"},
	{"imageRepository", "imageTag", "imageDigest", "imageRegistry"},
	{"imageName", "imageTag", "imageDigest", "imageRegistry"},
	{"image", "tag", "digest", "registry"},
	{"image", "imageTag", "imageDigest", "imageRegistry"},
	{"name", "tag", "digest", "registry"},
}

// imageKey tells keys of images: image, initImage.
func imageKey(key string) bool {
	return len(key) >= len("image") && strings.EqualFold(key[len(key)-len("image"):], "image")
}

// look looks at a node and all below it.
func (s *search) look(n *node, path string) {
	switch n.kind {
	case mapping:
		s.mapping(n, path)
		for i := 0; i+1 < len(n.items); i += 2 {
			if v := n.items[i+1]; len(v.items) > 0 {
				s.look(v, join(path, n.items[i].value))
			}
		}
	case sequence:
		s.sequence(n, path)
		for i, it := range n.items {
			if len(it.items) > 0 {
				s.look(it, path+"["+itoa(i)+"]")
			}
		}
	}
}

// mapping looks for an image in a mapping itself.
func (s *search) mapping(m *node, path string) {
	if m.parent != nil && m.parent.kind == sequence && keyOf(m.parent) == "images" && s.isEntry(m) {
		s.entry(m, path)
		return
	}
	if v := m.get("value"); v != nil && v.kind == scalar && m.get("op") != nil && strings.HasSuffix(m.text("path"), "/image") {
		s.single(v, join(path, "value"), "")
		return
	}
	for _, k := range shapes {
		if i := m.find(k.name); i >= 0 && m.items[i+1].kind == scalar {
			b := &block{path: path, name: m.items[i+1], tag: m.get(k.tag), digest: m.get(k.digest), nameKey: k.name, tagKey: k.tag, digestKey: k.digest,
				registry: m.text(k.registry), home: m, whole: k.name == "image"}
			if b.fits(m) {
				s.block(b)
				s.others(m, path, k.name)
				return
			}
		}
	}
	s.others(m, path, "")
}

// others looks for values whose keys end in image: initImage: busybox:1.36.
func (s *search) others(m *node, path, but string) {
	for i := 0; i+1 < len(m.items); i += 2 {
		if k, v := m.items[i], m.items[i+1]; v.kind == scalar && k.value != but && imageKey(k.value) && v.shortTag() == "!!str" {
			s.single(v, join(path, k.value), "")
		}
	}
}

// fits tells whether a block is of a shape: the first that names a tag counts,
// and a bare name is one of an image only where the key above says so.
func (b *block) fits(m *node) bool {
	switch {
	case b.tag != nil || b.digest != nil:
		return b.nameKey != "name" || imageKey(keyOf(m))
	case b.nameKey == "image":
		return true
	default:
		return b.nameKey == "repository" && b.tagKey == "tag" && m.get("imageTag") == nil
	}
}

// isEntry tells whether an item of a list of images is one of Kustomize's.
func (s *search) isEntry(m *node) bool {
	return m.get("name") != nil && (m.get("newTag") != nil || m.get("newName") != nil || m.get("digest") != nil || s.flux || s.plan.file.kustomization(s.doc))
}

func (s *search) entry(m *node, path string) {
	var names []string
	for _, key := range []string{"name", "newName"} {
		if r := parseReference(m.text(key)); r.valid() {
			names = append(names, r.name)
		}
	}
	s.found(m, m.text("name")+m.text("newName"), names, func() error { return s.image.entry(s.plan, s.doc, m, path) })
}

// block notes an image of Helm values.
func (s *search) block(b *block) {
	r := parseReference(b.name.value)
	names := []string{r.name}
	if b.registry != "" && templateMark(b.registry) == "" {
		names[0] = strings.TrimSuffix(b.registry, "/") + "/" + r.name
	}
	if "@"+r.digest == pinned {
		names = append(names, names[0]+pinned)
	}
	if !r.valid() {
		names = nil
	}
	d := s.doc
	s.found(b.name, b.name.value, names, func() error { return s.image.block(s.plan, d, b) })
}

// single notes an image that is one value.
func (s *search) single(n *node, path, before string) {
	d := s.doc
	r := parseReference(strings.TrimPrefix(n.value, before))
	names := []string{r.name}
	if !r.valid() {
		names = nil
	}
	if before != "" {
		names = append([]string{strings.TrimSuffix(before, "=")}, names...)
	}
	s.found(n, n.value, names, func() error { return s.image.inline(s.plan, d, n, path, before) })
}

// found notes a place, or that something else fills it in.
func (s *search) found(n *node, written string, names []string, set func() error) {
	if templateMark(written) != "" || strings.Contains(written, "${") {
		if s.templated++; s.templated == 1 {
			s.templatedAt = n.start
		}
		return
	}
	if len(names) > 0 {
		s.spots = append(s.spots, spot{s.doc, names, n.start, set})
	}
}

// sequence looks for lists that name images: those of Argo CD's Kustomize, and
// its parameters of Helm.
func (s *search) sequence(n *node, path string) {
	switch keyOf(n) {
	case "images":
		for i, it := range n.items {
			if it.kind == scalar {
				before := ""
				if j := strings.IndexByte(it.value, '='); j >= 0 {
					before = it.value[:j+1]
				}
				s.single(it, path+"["+itoa(i)+"]", before)
			}
		}
	case "parameters":
		s.parameters(n, path)
	}
}

// parameters puts together those of one image: image.repository and image.tag.
func (s *search) parameters(n *node, path string) {
	values, paths := map[string]*node{}, map[string]string{}
	for i, it := range n.items {
		if v := it.get("value"); v != nil && v.kind == scalar {
			values[it.text("name")], paths[it.text("name")] = v, path+"["+itoa(i)+"].value"
		}
	}
	for _, it := range n.items {
		name := it.text("name")
		prefix, ok := strings.CutSuffix(name, "repository")
		switch v := values[name]; {
		case v == nil:
		case ok:
			b := &block{path: path, name: v, tag: values[prefix+"tag"], digest: values[prefix+"digest"], nameKey: name, tagKey: prefix + "tag", digestKey: prefix + "digest"}
			if r := values[prefix+"registry"]; r != nil {
				b.registry = r.value
			}
			s.block(b)
		case imageKey(name):
			s.single(v, paths[name], "")
		}
	}
}
