package descriptor

import (
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// What formats ask for, in words.
const (
	fixObjectName = "Use letters and digits with - _ . between them, at most 63 characters."
	fixNamespace  = "Use lower-case letters and digits with - between them, at most 63 characters."
	fixKey        = "Use letters and digits with - _ . between them, at most 63 characters, optionally after a lower-case DNS name and one /."
	fixTag        = "Use lower-case letters, digits and : + # with single - between them, at most 63 characters."
	fixURL        = "Write an absolute URL, for example https://example.org/page."
)

// checkEnvelope checks what gives a document its reference: without it the
// whole file is refused.
func checkEnvelope(c *findings, root *entity.Object) {
	envelopeText(c, root, "", "apiVersion", "Add apiVersion: backstage.io/v1alpha1 to the document.")
	envelopeText(c, root, "", "kind", "Add a kind, for example kind: Component.")
	v, there := root.Lookup("metadata")
	if !there {
		c.add(root.At, "Add metadata with a name.", "metadata is missing")
		return
	}
	meta, ok := v.(*entity.Object)
	if !ok {
		c.add(root.Position("metadata"), "Write a mapping with a name.", "metadata is %s, not a mapping", show(v))
		return
	}
	envelopeText(c, meta, "metadata.", "name", "Add a name: "+fixObjectName)
	if _, there := meta.Lookup("namespace"); there {
		envelopeText(c, meta, "metadata.", "namespace", "")
	}
	annotations := meta.Get("annotations")
	if _, ok := annotations.(*entity.Object); !ok && truthy(annotations) {
		c.add(meta.Position("annotations"), "Write a mapping of keys to texts.",
			"metadata.annotations is %s, not a mapping", show(annotations))
	}
}

func envelopeText(c *findings, o *entity.Object, prefix, name, missing string) {
	v, there := o.Lookup(name)
	if !there {
		c.add(o.At, missing, "%s%s is missing", prefix, name)
		return
	}
	s, ok := v.(string)
	switch {
	case !ok:
		c.add(o.Position(name), textFix(v), "%s%s is %s, not a text", prefix, name, show(v))
	case s == "":
		c.add(o.Position(name), "Give it a value.", "%s%s is empty", prefix, name)
	}
}

// truthy is JavaScript's notion of a value that counts as there.
func truthy(v entity.Value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0 && v == v
	case string:
		return v != ""
	default:
		return true
	}
}

// checkRoot checks the root's fields and their formats.
func checkRoot(c *findings, root *entity.Object) {
	for i := range root.Members {
		switch m := &root.Members[i]; m.Key {
		case "apiVersion":
			if s, _ := m.Value.(string); !isAPIVersion(s) {
				c.add(m.At, "Write it as backstage.io/v1alpha1 is written.", "apiVersion %s is not valid", quote(s))
			}
		case "kind":
			if s, _ := m.Value.(string); !isKind(s) {
				c.add(m.At, "Use a letter, then letters and digits, at most 63 characters.", "kind %s is not valid", quote(s))
			}
		case "metadata":
		case "spec":
			if _, ok := m.Value.(*entity.Object); !ok {
				c.add(m.At, "Write a mapping, or remove it.", "spec is %s, not a mapping", show(m.Value))
			}
		default:
			c.add(m.At, "Move it into metadata or spec, or remove it.",
				"%s is not a field of an entity: only apiVersion, kind, metadata and spec are", quote(m.Key))
		}
	}
}

// checkMetadata checks the fields of metadata and their formats.
func checkMetadata(c *findings, meta *entity.Object) {
	for i := range meta.Members {
		m := &meta.Members[i]
		switch m.Key {
		case "name":
			checkFormat(c, m, isObjectName, fixObjectName)
		case "namespace":
			checkFormat(c, m, isDNSLabel, fixNamespace)
		case "uid", "etag", "title":
			checkText(c, m.At, m.Value, where{parent: "metadata", key: m.Key})
		case "description":
			if _, ok := m.Value.(string); !ok {
				c.add(m.At, textFix(m.Value), "metadata.description is %s, not a text", show(m.Value))
			}
		case "labels":
			checkPairs(c, m, "metadata.labels", isLabelValue)
		case "annotations":
			checkPairs(c, m, "metadata.annotations", nil)
		case "tags":
			checkTags(c, m)
		case "links":
			checkLinks(c, m)
		}
	}
}

func checkFormat(c *findings, m *entity.Member, ok func(string) bool, fix string) {
	if !checkText(c, m.At, m.Value, where{parent: "metadata", key: m.Key}) {
		return
	}
	if s, _ := m.Value.(string); !ok(s) {
		c.add(m.At, fix, "metadata.%s %s is not valid", m.Key, quote(s))
	}
}

// checkPairs checks labels and annotations; value is nil where any text does.
func checkPairs(c *findings, m *entity.Member, name string, value func(string) bool) {
	o, ok := m.Value.(*entity.Object)
	if !ok {
		c.add(m.At, "Write a mapping of keys to texts, or remove it.", "%s is %s, not a mapping", name, show(m.Value))
		return
	}
	for i := range o.Members {
		e := &o.Members[i]
		at := place(e.At, m.At)
		if !isKey(e.Key) {
			c.add(at, fixKey, "%s has the key %s, which is not valid", name, quote(e.Key))
		}
		s, ok := e.Value.(string)
		switch {
		case !ok:
			c.add(at, textFix(e.Value), "%s is %s, not a text", field(name, e.Key), show(e.Value))
		case value != nil && !value(s):
			c.add(at, fixObjectName, "%s has the value %s, which is not valid", field(name, e.Key), quote(s))
		}
	}
}

func checkTags(c *findings, m *entity.Member) {
	l, ok := m.Value.(entity.List)
	if !ok {
		c.add(m.At, "Write a list of texts, or remove it.", "metadata.tags is %s, not a list", show(m.Value))
		return
	}
	for i := range l {
		at := place(l[i].At, m.At)
		s, ok := l[i].Value.(string)
		switch {
		case !ok:
			c.add(at, textFix(l[i].Value), "metadata.tags[%d] is %s, not a text", i, show(l[i].Value))
		case !isTag(s):
			c.add(at, fixTag, "metadata.tags[%d] %s is not valid", i, quote(s))
		}
	}
}

func checkLinks(c *findings, m *entity.Member) {
	l, ok := m.Value.(entity.List)
	if !ok {
		c.add(m.At, "Write a list of mappings with a url each, or remove it.", "metadata.links is %s, not a list", show(m.Value))
		return
	}
	for i := range l {
		at := place(l[i].At, m.At)
		o, ok := l[i].Value.(*entity.Object)
		if !ok {
			c.add(at, "Write a mapping with url and, if you like, title, icon and type.",
				"metadata.links[%d] is %s, not a mapping", i, show(l[i].Value))
			continue
		}
		checkLink(c, o, at, i)
	}
}

func checkLink(c *findings, o *entity.Object, at entity.Position, i int) {
	if _, there := o.Lookup("url"); !there {
		c.add(at, "Add a url, or remove the link.", "metadata.links[%d] has no url", i)
	}
	for j := range o.Members {
		m := &o.Members[j]
		switch m.Key {
		case "url", "title", "icon", "type":
		default:
			continue
		}
		s, ok := m.Value.(string)
		if !ok || s == "" {
			checkText(c, place(m.At, at), m.Value, where{parent: index("metadata.links", i), key: m.Key})
			continue
		}
		switch {
		case m.Key == "url" && !isURL(s):
			c.add(place(m.At, at), fixURL, "metadata.links[%d].url %s is not a URL", i, quote(s))
		case (m.Key == "title" || m.Key == "icon") && isBlank(s):
			c.add(place(m.At, at), "Give it a value or remove it.", "metadata.links[%d].%s is blank", i, m.Key)
		}
	}
}
