package backstage

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// generated are the annotations that say how the existing catalog came by an
// entity; Fairlead's own take their place. What says where an entity can be
// seen, edited and found (view-url, edit-url, source-location) stays true.
func generated() []string {
	return []string{"backstage.io/managed-by-location", "backstage.io/managed-by-origin-location", "backstage.io/orphan"}
}

// convert makes a catalog file of what the API gives: the entity without what
// a catalog adds to it, in JSON that is YAML as well.
func convert(raw json.RawMessage, ref string) ([]byte, error) {
	v, err := entity.ParseJSON(raw)
	o, ok := v.(*entity.Object)
	if err != nil || !ok {
		return nil, strange("what it gives for %s is no entity", ref)
	}
	meta := o.Object("metadata")
	if got := refOf(o, meta); got != ref {
		return nil, strange("for %s it gives %.200q", ref, got)
	}
	o.Delete("relations")
	o.Delete("status")
	meta.Delete("uid")
	meta.Delete("etag")
	if a := meta.Object("annotations"); a != nil {
		for _, key := range generated() {
			a.Delete(key)
		}
		if a.Len() == 0 {
			meta.Delete("annotations")
		}
	}
	return escapeYAML(entity.AppendJSON(nil, o)), nil
}

func refOf(o, meta *entity.Object) string {
	r := entity.Ref{Kind: o.String("kind"), Namespace: meta.String("namespace"), Name: meta.String("name")}
	if r.Namespace == "" {
		r.Namespace = entity.DefaultNamespace
	}
	return r.Canonical().String()
}

// escapeYAML escapes what JSON allows in strings and YAML does not.
func escapeYAML(data []byte) []byte {
	out := make([]byte, 0, len(data)+1)
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return append(out, '\n')
}
