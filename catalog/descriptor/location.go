package descriptor

import (
	"crypto/sha1" //nolint:gosec // Backstage names generated Locations by SHA-1; nothing is protected by it
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Registered is a file as a registration names it: below base, which is a URL
// or an absolute folder, with every segment of name percent-encoded where
// base is a URL. Name is relative, with forward slashes; a name that leaves
// base is an error.
func (p *Processor) Registered(base Location, name string) (Location, error) {
	if name == "" || path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") {
		return Location{}, fmt.Errorf("%s is not a path below %s", quote(name), base.Target)
	}
	if base.Type != TypeURL {
		return Location{Type: base.Type, Target: path.Join(base.Target, name)}, nil
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(base.Target, "/"))
	for segment := range strings.SplitSeq(name, "/") {
		b.WriteByte('/')
		b.WriteString(encode(segment))
	}
	return Location{Type: TypeURL, Target: b.String()}, nil
}

// Address is a file as location keys and its entities' annotations name it:
// what Registered gives, resolved as the forge does, so that a blob URL of
// GitHub says tree.
func (p *Processor) Address(base Location, name string) (Location, error) {
	at, err := p.Registered(base, name)
	if err != nil {
		return Location{}, err
	}
	if host, _, ok := plainURL(at.Target); ok && at.Type == TypeURL {
		if p.forges[host] == github {
			at.Target = githubForm(at.Target, "tree")
		}
		return at, nil
	}
	return p.Resolve(at, at.Type, at.Target), nil
}

// Resolve is the location that target, written in the file at base, means.
// Typ is the type of the target: one that differs from base's is never
// relative. What cannot be resolved stays as it is written.
func (p *Processor) Resolve(base Location, typ, target string) Location {
	out := Location{Type: typ, Target: target}
	switch {
	case typ != base.Type:
	case typ == TypeFile:
		if strings.HasPrefix(target, ".") {
			out.Target = joinFile(path.Dir(base.Target), target)
		}
	case typ == TypeURL:
		if u, err := p.resolveURL(base.Target, target); err == nil {
			out.Target = u
		}
	}
	return out
}

// resolver is Resolve for many targets of one file.
func (p *Processor) resolver(base Location, typ string) func(target string) Location {
	if b, err := p.parse(base.Target); err == nil && typ == TypeURL && base.Type == TypeURL {
		return func(target string) Location {
			if u, err := p.resolveFrom(b, target); err == nil {
				target = u
			}
			return Location{Type: typ, Target: target}
		}
	}
	return func(target string) Location { return p.Resolve(base, typ, target) }
}

// joinFile is Node's path.join: a trailing slash stays.
func joinFile(dir, name string) string {
	joined := path.Join(dir, name)
	if strings.HasSuffix(name, "/") && !strings.HasSuffix(joined, "/") {
		joined += "/"
	}
	return joined
}

// Within is the path below base that a location means; ok is false where it
// leads elsewhere. The forms blob, tree, raw and edit of a forge's URLs name
// the same file, and a fragment or a query changes nothing. A path that ends
// in "/" names a folder, "" the base itself. Patterns stay patterns.
func (p *Processor) Within(base, at Location) (name string, ok bool) {
	if base.Type != at.Type {
		return "", false
	}
	if at.Type != TypeURL {
		return withinFolder(base.Target, at.Target)
	}
	origin, root, known := p.urlParts(base.Target)
	host, full, readable := p.urlParts(at.Target)
	if !known || !readable || host != origin {
		return "", false
	}
	root, err := decode(strings.TrimSuffix(neutral(root), "/") + "/")
	if err != nil {
		return "", false
	}
	full, err = decode(neutral(full))
	if err != nil {
		return "", false
	}
	if full+"/" == root {
		return "", true
	}
	rest, ok := strings.CutPrefix(full, root)
	if !ok {
		return "", false
	}
	return cleanPath(rest)
}

// cleanPath refuses a path that is not plainly below its root. Doubled
// slashes count as one.
func cleanPath(rest string) (string, bool) {
	parts := strings.Split(rest, "/")
	out := parts[:0]
	for i, part := range parts {
		switch {
		case part == "." || part == ".." || strings.IndexByte(part, 0) >= 0:
			return "", false
		case part == "" && i < len(parts)-1:
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, "/"), true
}

func withinFolder(base, at string) (string, bool) {
	if !path.IsAbs(at) || strings.IndexByte(at, 0) >= 0 {
		return "", false
	}
	full, root := joinFile("/", at), strings.TrimSuffix(path.Clean(base), "/")
	if strings.TrimSuffix(full, "/") == root {
		return "", true
	}
	return strings.CutPrefix(full, root+"/")
}

// neutral puts blob in the place of the first tree, raw or edit of a path,
// so that all forms of a file's URL compare equal.
func neutral(p string) string {
	segments := strings.SplitAfter(p, "/")
	for i, s := range segments {
		if i < 2 || i == len(segments)-1 {
			continue
		}
		switch s {
		case "blob/":
			return p
		case "tree/", "raw/", "edit/", "_edit/":
			return strings.Join(segments[:i], "") + "blob/" + strings.Join(segments[i+1:], "")
		}
	}
	return p
}

// Generated is the reference of the Location that stands for a registered
// file.
func Generated(at Location) entity.Ref {
	sum := sha1.Sum([]byte(at.String())) //nolint:gosec // as above
	return entity.Ref{Kind: "location", Namespace: entity.DefaultNamespace, Name: "generated-" + hex.EncodeToString(sum[:])}
}

// Registration is the Location that stands for a registered file, as
// something to Process: its one target is the file.
func (p *Processor) Registration(at Location) (*File, *Document) {
	return p.RegistrationAs(Generated(at), at)
}

// RegistrationAs is Registration under a name of its own, as of a file that
// was registered elsewhere before.
func (p *Processor) RegistrationAs(ref entity.Ref, at Location) (*File, *Document) {
	raw := entity.Obj(
		"apiVersion", "backstage.io/v1alpha1",
		"kind", "Location",
		"metadata", entity.Obj("name", ref.Name),
		"spec", entity.Obj("type", at.Type, "target", at.Target),
	)
	d := &Document{Stage: StageProcess, Ref: ref, Raw: raw}
	return &File{At: at, Documents: []*Document{d}, addresses: p.addressesOf(at)}, d
}

// targets resolves what a Location points to. It tells whether every target
// can be read at all.
func (p *Processor) targets(c *findings, at Location, root *entity.Object) []Target {
	spec := root.Object("spec")
	typ := at.Type
	if v := spec.String("type"); v != "" {
		typ = v
	}
	if typ != at.Type && typ != TypeURL {
		c.add(spec.Position("type"), "Remove spec.type, or write url with absolute URLs.",
			"spec.type %s cannot be read from a file of type %s", quote(typ), at.Type)
		return nil
	}
	resolve := p.resolver(at, typ)
	optional := spec.String("presence") == "optional"
	var out []Target
	add := func(v entity.Value, pos entity.Position) {
		written, _ := v.(string)
		if written == "" {
			return
		}
		if typ == TypeFile && strings.HasSuffix(written, "/") {
			c.add(pos, "Name the files in it, for example "+quote(written+"*.yaml")+".", "target %s is a folder", quote(written))
			return
		}
		t := Target{Location: resolve(written), Optional: optional, At: pos, Written: written}
		if typ == TypeFile {
			// Backstage looks files up as patterns that know no escapes.
			t.Location.Target = strings.ReplaceAll(t.Location.Target, `\`, "/")
		}
		t.Glob = isGlob(t.Location)
		out = append(out, t)
	}
	add(spec.Get("target"), spec.Position("target"))
	for _, it := range spec.List("targets") {
		add(it.Value, place(it.At, spec.Position("targets")))
	}
	return out
}

// isGlob tells whether a location is a pattern: in folders by any of the
// usual signs, in URLs by a star in the path.
func isGlob(at Location) bool {
	if at.Type == TypeFile {
		return strings.ContainsAny(at.Target, "*?[{") || strings.Contains(at.Target, "!(") ||
			strings.Contains(at.Target, "+(") || strings.Contains(at.Target, "@(")
	}
	upTo := strings.IndexAny(at.Target, "?#")
	if upTo < 0 {
		upTo = len(at.Target)
	}
	return strings.IndexByte(at.Target[:upTo], '*') >= 0
}
