package index

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxUnits is the length, in UTF-16 units, beyond which a key is dropped and
// a value is kept as null.
const maxUnits = 200

// sentinel is the one value that Backstage cannot store: it stands for null
// in its own comparisons.
const sentinel = "\x01"

// Row is one search row of an entity: a key and a value in lower case, and
// the value as written. Null rows make a key exist without a value.
type Row struct {
	Key      string
	Original string
	Value    string
	Null     bool
}

// Rows are the search rows that Backstage writes for an entity, less the one
// of metadata.uid, which is the catalog's to give. The error is Backstage's
// for keys that differ only in case: such an entity never becomes visible.
func Rows(root *entity.Object, relations []entity.Relation) ([]Row, error) {
	w := newWalker()
	if err := w.walk(root, relations); err != nil {
		return nil, err
	}
	out := make([]Row, 0, len(w.rows))
	for _, r := range w.rows {
		if r.key.name != "metadata.uid" {
			out = append(out, Row{Key: r.key.name, Original: r.orig, Value: r.value, Null: r.null})
		}
	}
	return out, nil
}

// key is one search key in lower case, with what happens to its column.
type key struct {
	name    string
	tooLong bool
	delta   delta

	// Of the entity being walked:
	turn  uint32 // when the key was last used
	item  bool   // a list item made it
	path  string // the path that used it first
	other []string
	first int                 // the first row of this key
	many  int                 // how many rows there are
	seen  map[string]struct{} // their values, kept only where there are several
}

// path is one place in a descriptor, remembered so that its text is built
// once for all entities.
type path struct {
	text     string
	key      *key
	special  bool
	children map[string]*path
}

type walkedRow struct {
	key         *key
	value, orig string
	null        bool
}

// walker makes search rows of one entity after another.
type walker struct {
	root   *path
	keys   map[string]*key
	lowers map[string]string
	kept   map[string]string
	rows   []walkedRow
	turn   uint32
	broken []string // keys that differ only in case
}

func newWalker() *walker {
	w := &walker{keys: map[string]*key{}, lowers: map[string]string{}, kept: map[string]string{}}
	w.root = &path{key: w.key(""), children: map[string]*path{}}
	for _, p := range []string{"attachments", "relations", "status"} {
		w.child(w.root, p).special = true
	}
	meta := w.child(w.root, "metadata")
	for _, p := range []string{"name", "namespace", "uid", "etag"} {
		w.child(meta, p).special = true
	}
	return w
}

func (w *walker) key(name string) *key {
	k := w.keys[name]
	if k == nil {
		k = &key{name: name, tooLong: units(name) > maxUnits}
		w.keys[name] = k
	}
	return k
}

func (w *walker) child(p *path, name string) *path {
	if c := p.children[name]; c != nil {
		return c
	}
	c := &path{text: name}
	if p.text != "" {
		c.text = p.text + "." + name
	}
	c.key = w.key(entity.Lower(c.text))
	if p.children == nil {
		p.children = map[string]*path{}
	}
	p.children[name] = c
	return c
}

// walk fills w.rows with the rows of one entity.
func (w *walker) walk(root *entity.Object, relations []entity.Relation) error {
	w.turn++
	w.rows, w.broken = w.rows[:0], nil
	w.object(w.root, root)
	meta := w.child(w.root, "metadata")
	md := root.Object("metadata")
	w.value(w.child(meta, "name"), md.Get("name"))
	w.value(w.child(meta, "namespace"), md.Get("namespace"))
	if uid, ok := md.Lookup("uid"); ok {
		w.value(w.child(meta, "uid"), uid)
	}
	if falsy(md.Get("namespace")) {
		w.value(w.child(meta, "namespace"), entity.DefaultNamespace)
	}
	rel := w.child(w.root, "relations")
	for _, r := range relations {
		w.value(w.child(rel, r.Type), r.TargetRef)
	}
	if len(w.broken) > 0 {
		return fault.New(fault.Invalid, "Entity has duplicate keys that vary only in casing, '%s'", strings.Join(w.broken, "', '")).
			WithFix("Keep one spelling of each key.")
	}
	return nil
}

func falsy(v entity.Value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0 || math.IsNaN(v)
	default:
		return false
	}
}

func (w *walker) object(p *path, o *entity.Object) {
	if o == nil {
		return
	}
	for i := range o.Members {
		w.visit(w.child(p, o.Members[i].Key), o.Members[i].Value)
	}
}

func (w *walker) visit(p *path, v entity.Value) {
	if p.special {
		return
	}
	switch v := v.(type) {
	case *entity.Object:
		w.object(p, v)
	case entity.List:
		for i := range v {
			w.visit(p, v[i].Value)
			if s, ok := v[i].Value.(string); ok {
				w.item(w.child(p, s))
			}
		}
	default:
		w.value(p, v)
	}
}

// use notes that a path has a row and finds paths that differ only in case.
func (w *walker) use(p *path) *key {
	k := p.key
	if k.turn != w.turn {
		k.turn, k.item, k.path, k.other, k.first, k.many, k.seen = w.turn, false, p.text, nil, 0, 0, nil
		return k
	}
	if k.path == p.text {
		return k
	}
	for _, o := range k.other {
		if o == p.text {
			return k
		}
	}
	k.other = append(k.other, p.text)
	w.broken = append(w.broken, k.name)
	return k
}

// item adds the row that says that a list holds a string; of spellings that
// differ in case the first counts.
func (w *walker) item(p *path) {
	if p.key.turn == w.turn && p.key.item {
		return
	}
	k := w.use(p)
	k.item = true
	w.add(k, "true", "true", false)
}

func (w *walker) value(p *path, v entity.Value) {
	k := w.use(p)
	orig, ok := text(v)
	if !ok {
		w.add(k, "", "", true)
		return
	}
	value := w.lower(orig)
	if units(value) > maxUnits {
		w.add(k, "", "", true)
		return
	}
	w.add(k, value, orig, false)
}

// text is a scalar as JavaScript's String() writes it after a round trip
// through JSON; false for null.
func text(v entity.Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false
		}
		return entity.FormatNumber(v), true
	default:
		return "", false
	}
}

// add appends a row unless the entity has it already.
func (w *walker) add(k *key, value, orig string, null bool) {
	if k.tooLong || value == sentinel || orig == sentinel {
		return
	}
	probe := value
	if null {
		probe = sentinel
	}
	if k.many > 0 && w.known(k, probe) {
		return
	}
	if k.many == 0 {
		k.first = len(w.rows)
	}
	k.many++
	if k.seen != nil {
		k.seen[probe] = struct{}{}
	}
	w.rows = append(w.rows, walkedRow{key: k, value: value, orig: orig, null: null})
}

func (w *walker) known(k *key, probe string) bool {
	if k.seen == nil {
		f := &w.rows[k.first]
		k.seen = map[string]struct{}{f.value: {}}
		if f.null {
			k.seen = map[string]struct{}{sentinel: {}}
		}
	}
	_, ok := k.seen[probe]
	return ok
}

// lower is entity.Lower with one copy kept of each short result.
func (w *walker) lower(s string) string {
	if len(s) > 48 {
		return entity.Lower(s)
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			l, ok := w.lowers[s]
			if !ok {
				l = entity.Lower(s)
				w.lowers[s] = l
			}
			return l
		}
	}
	return s
}

// units is the length of s in UTF-16 units.
func units(s string) int {
	if len(s) <= maxUnits {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
