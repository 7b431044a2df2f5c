package descriptor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// What the placeholders of one document may read, and how large a document
// may be with placeholders filled and aliases written out.
const (
	maxPlaceholders     = 1000
	maxPlaceholderBytes = 32 << 20
	maxDocument         = 64 << 20
)

// perValue is what every value counts beside its text, in bytes.
const perValue = 16

// filler replaces the placeholders of one document by what they name.
type filler struct {
	p      *Processor
	ctx    context.Context
	base   Location
	reader Reader
	found  *findings

	// read are the locations read, in order; cache their bytes.
	read  []Location
	cache map[string][]byte
	count int
	bytes int
	size  int
	// annotations stand beside generated ones and so are never the only key
	// of their mapping.
	annotations *entity.Object
	// failed are the places of placeholders that could not be filled.
	failed map[entity.Position]struct{}
}

// root fills a whole document. What it returns shares what has not changed
// with what it was given.
func (f *filler) root(o *entity.Object) *entity.Object {
	f.annotations = o.Object("metadata").Object("annotations")
	v, _ := f.value(o, o.At)
	if f.size > maxDocument {
		f.found.add(o.At, "Use fewer aliases and smaller files.",
			"the document is larger than %d MiB once its aliases and placeholders are written out", maxDocument>>20)
	}
	if out, ok := v.(*entity.Object); ok {
		return out
	}
	return o
}

// value fills one value and tells whether that changed it. Beyond the limit
// of a document's size nothing more is looked at.
func (f *filler) value(v entity.Value, at entity.Position) (entity.Value, bool) {
	if f.size > maxDocument {
		return v, false
	}
	f.size += perValue
	switch v := v.(type) {
	case entity.List:
		return f.list(v, at)
	case *entity.Object:
		return f.object(v, at)
	case string:
		f.size += len(v)
	}
	return v, false
}

// measure counts a value that has been filled in.
func (f *filler) measure(v entity.Value) {
	if f.size > maxDocument {
		return
	}
	f.size += perValue
	switch v := v.(type) {
	case entity.List:
		for i := range v {
			f.measure(v[i].Value)
		}
	case *entity.Object:
		for i := range v.Members {
			f.size += len(v.Members[i].Key)
			f.measure(v.Members[i].Value)
		}
	case string:
		f.size += len(v)
	}
}

func (f *filler) list(l entity.List, at entity.Position) (entity.Value, bool) {
	var fresh entity.List
	for i := range l {
		v, changed := f.value(l[i].Value, place(l[i].At, at))
		if !changed {
			continue
		}
		if fresh == nil {
			fresh = append(fresh, l...)
		}
		fresh[i].Value = v
	}
	if fresh == nil {
		return l, false
	}
	return fresh, true
}

func (f *filler) object(o *entity.Object, at entity.Position) (entity.Value, bool) {
	for i := range o.Members {
		if !strings.HasPrefix(o.Members[i].Key, "$") {
			continue
		}
		if len(o.Members) != 1 || o == f.annotations {
			return o, false
		}
		return f.placeholder(o, at)
	}
	var fresh *entity.Object
	for i := range o.Members {
		f.size += len(o.Members[i].Key)
		v, changed := f.value(o.Members[i].Value, place(o.Members[i].At, at))
		if !changed && !isPrototype(o.Members[i].Key, v) {
			continue
		}
		if fresh == nil {
			fresh = shallow(o)
		}
		fresh.Members[i].Value = v
	}
	if fresh == nil {
		return o, false
	}
	fresh.Members = slices.DeleteFunc(fresh.Members, func(m entity.Member) bool { return isPrototype(m.Key, m.Value) })
	return fresh, true
}

// isPrototype tells whether a member would replace the prototype of a
// JavaScript object, which is why Backstage drops it.
func isPrototype(key string, v entity.Value) bool {
	if key != "__proto__" {
		return false
	}
	switch v.(type) {
	case *entity.Object, entity.List:
		return true
	}
	return false
}

// placeholder fills a mapping whose only key starts with "$".
// What a failure makes wrong is reported at the key above it, if at all.
func (f *filler) placeholder(o *entity.Object, above entity.Position) (entity.Value, bool) {
	at := place(o.Members[0].At, above)
	key, written := o.Members[0].Key, o.Members[0].Value
	if key != "$text" && key != "$json" && key != "$yaml" {
		return o, false
	}
	v, err := f.fill(key, written, at)
	if err != nil {
		if f.failed == nil {
			f.failed = map[entity.Position]struct{}{}
		}
		f.failed[at], f.failed[above] = struct{}{}, struct{}{}
		f.found.note(at, err.name, err.fix, "%s %s", key, err.text)
		return o, false
	}
	f.measure(v)
	return v, true
}

// trouble is why a placeholder cannot be filled.
type trouble struct{ name, text, fix string }

func (f *filler) fill(key string, written entity.Value, at entity.Position) (entity.Value, *trouble) {
	target, ok := written.(string)
	if !ok {
		return nil, &trouble{inputError, "names " + show(written) + ", not a file", "Write the relative path of a file, or a URL."}
	}
	data, err := f.fetch(target)
	if err != nil {
		return nil, err
	}
	switch key {
	case "$text":
		return decodeText(data), nil
	case "$json":
		v, err := entity.ParseJSON([]byte(decodeText(data)))
		if err != nil {
			return nil, &trouble{inputError, fmt.Sprintf("names %s, which is not valid JSON: %v", quote(target), err), "Put the file right, or use $text."}
		}
		return locate(v, at), nil
	default:
		return yamlValue(target, data, at)
	}
}

// decodeText reads UTF-8; what is broken becomes U+FFFD, one for every
// maximal broken part, as decoders of the web do.
func decodeText(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	out, err := unicode.UTF8.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), "\ufffd")
	}
	return string(out)
}

// fetch reads what a placeholder names.
func (f *filler) fetch(target string) ([]byte, *trouble) {
	if f.count++; f.count > maxPlaceholders {
		return nil, &trouble{inputError, fmt.Sprintf("is one of more than %d placeholders in the document", maxPlaceholders), "Use fewer placeholders."}
	}
	resolved, err := f.p.resolveURL(f.base.Target, target)
	if err != nil {
		return nil, f.unresolved(target)
	}
	u, err := f.p.parse(resolved)
	if err != nil {
		return nil, f.unresolved(target)
	}
	if b, err := f.p.parse(f.base.Target); err == nil && !f.p.sameRepository(u, b) {
		return nil, &trouble{inputError, fmt.Sprintf("names %s, which is not in the same repository as the entity", quote(target)),
			"Copy the file into the repository of the catalog file."}
	}
	if data, done := f.cache[resolved]; done {
		return data, f.weigh(target, data)
	}
	at := Location{Type: TypeURL, Target: resolved}
	f.read = append(f.read, at)
	if f.reader == nil {
		return nil, &trouble{notFoundError, fmt.Sprintf("names %s, and nothing can be read here", quote(target)), "Write the value itself."}
	}
	data, err := f.reader.Read(f.ctx, at)
	if err != nil {
		return nil, unread(target, err)
	}
	if f.cache == nil {
		f.cache = map[string][]byte{}
	}
	f.cache[resolved] = data
	return data, f.weigh(target, data)
}

// weigh counts what placeholders bring in: the same file twice counts twice.
func (f *filler) weigh(target string, data []byte) *trouble {
	if f.bytes += len(data); f.bytes > maxPlaceholderBytes {
		return &trouble{inputError, fmt.Sprintf("names %s, with which the document's placeholders read more than %d MiB", quote(target), maxPlaceholderBytes>>20),
			"Use fewer or smaller files."}
	}
	return nil
}

func (f *filler) unresolved(target string) *trouble {
	fix := "Write the relative path of a file, or a URL."
	if f.base.Type == TypeFile {
		fix = "Placeholders with relative paths work in catalog files that are read from a repository, not from a folder."
	}
	return &trouble{inputError, fmt.Sprintf("names %s, of which no URL can be made", quote(target)), fix}
}

func unread(target string, err error) *trouble {
	if errors.Is(err, ErrNotFound) {
		return &trouble{notFoundError, fmt.Sprintf("names %s, which is not there", quote(target)), "Correct the path, or add the file."}
	}
	text := err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		text = f.Message // its cause is for logs alone
	}
	return &trouble{inputError, fmt.Sprintf("names %s, which could not be read: %s", quote(target), text),
		"Name a file of the same repository that can be read."}
}

// locate gives everything in a value one place: that of the placeholder it
// has come from.
func locate(v entity.Value, at entity.Position) entity.Value {
	switch v := v.(type) {
	case *entity.Object:
		o := &entity.Object{Members: make([]entity.Member, 0, len(v.Members)), At: at}
		for _, m := range v.Members {
			if !isPrototype(m.Key, m.Value) {
				o.Members = append(o.Members, entity.Member{Key: m.Key, Value: locate(m.Value, at), At: at})
			}
		}
		return o
	case entity.List:
		l := make(entity.List, len(v))
		for i := range v {
			l[i] = entity.Item{Value: locate(v[i].Value, at), At: at}
		}
		return l
	default:
		return v
	}
}
