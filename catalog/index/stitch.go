package index

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Backstage's etag is a SHA-1; nothing is protected by it
	"encoding/hex"
	"strings"

	"github.com/google/uuid"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// RejectedURL replaces the view and edit URLs that would run a script.
const RejectedURL = "https://backstage.io/annotation-rejected-for-security-reasons"

// SafeURLs gives the descriptor with view-url and edit-url annotations that
// are javascript: URLs replaced by RejectedURL, as Backstage does when it
// stitches. A descriptor without any is returned as it is; root is never
// changed.
func SafeURLs(root *entity.Object) *entity.Object {
	md := root.Object("metadata")
	ann := md.Object("annotations")
	var safe *entity.Object
	for _, k := range []string{"backstage.io/view-url", "backstage.io/edit-url"} {
		if !runsScript(ann.String(k)) {
			continue
		}
		if safe == nil {
			safe = shallow(ann)
		}
		safe.Set(k, RejectedURL)
	}
	if safe == nil {
		return root
	}
	root, md = shallow(root), shallow(md)
	md.Set("annotations", safe)
	root.Set("metadata", md)
	return root
}

// runsScript tells whether a browser would read s as a javascript: URL.
func runsScript(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r <= ' ' })
	const scheme = "javascript:"
	matched := 0
	for i := 0; i < len(s) && matched < len(scheme); i++ {
		c := s[i]
		if matched > 0 && (c == '\r' || c == '\n' || c == '\t') {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != scheme[matched] {
			return false
		}
		matched++
	}
	return matched == len(scheme)
}

func shallow(o *entity.Object) *entity.Object {
	return &entity.Object{Members: append(make([]entity.Member, 0, len(o.Members)+2), o.Members...), At: o.At}
}

// namespace is the UUID namespace of Fairlead's entity uids.
var namespace = uuid.MustParse("5f1e0d3c-8a47-5c2b-9d66-fa171ead0001")

// UID is the metadata.uid of an entity: a UUIDv5 of its reference, so that it
// stays the same wherever and whenever the entity is read.
func UID(ref string) string { return uuid.NewSHA1(namespace, []byte(ref)).String() }

// noEtag holds an etag's place until the content is known.
const noEtag = "0000000000000000000000000000000000000000"

// stitch makes the entity as served: safe URLs, uid, relations, and an etag
// that is the SHA-1 of the JSON without it. buf is scratch; it is returned for
// use again.
func stitch(rec *Record, uid string, relations []entity.Relation, buf []byte) (*entity.Entity, []byte) {
	root := shallow(SafeURLs(rec.Entity.Root))
	root.Delete("relations")
	root.Delete("status")
	md := shallow(root.Object("metadata"))
	md.Set("uid", uid)
	own := md.String("etag") != ""
	if !own {
		md.Delete("etag")
		md.Set("etag", noEtag)
	}
	root.Set("metadata", md)
	e := *rec.Entity
	e.Root, e.Relations = root, relations
	buf, at := encode(buf[:0], &e)
	encoded := bytes.Clone(buf)
	if !own {
		sum := sha1.Sum(encoded) //nolint:gosec // as above
		hex.Encode(encoded[at:at+len(noEtag)], sum[:])
		md.Set("etag", string(encoded[at:at+len(noEtag)]))
	}
	return e.WithJSON(encoded), buf
}

// encode appends the entity's JSON and tells where the last member of its
// metadata, the etag, has its value.
func encode(b []byte, e *entity.Entity) ([]byte, int) {
	at := 0
	b = append(b, '{')
	for _, m := range e.Root.Members {
		b = entity.AppendString(b, m.Key)
		b = append(b, ':')
		b = entity.AppendJSON(b, m.Value)
		if m.Key == "metadata" {
			at = len(b) - len(noEtag) - len(`"}`)
		}
		b = append(b, ',')
	}
	return e.AppendTail(b), at
}
