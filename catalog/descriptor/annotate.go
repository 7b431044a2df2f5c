package descriptor

import (
	"strings"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// The annotations that every entity gets.
const (
	annotationLocation = "backstage.io/managed-by-location"
	annotationOrigin   = "backstage.io/managed-by-origin-location"
	annotationView     = "backstage.io/view-url"
	annotationEdit     = "backstage.io/edit-url"
	annotationSource   = "backstage.io/source-location"
)

// addresses are the annotations that a file gives to its entities.
type addresses struct{ view, edit, source string }

// addressesOf works out where a file can be seen, edited and found.
func (p *Processor) addressesOf(at Location) addresses {
	if at.Type != TypeURL {
		return addresses{}
	}
	if host, _, ok := plainURL(at.Target); ok {
		switch f := p.forges[host]; f {
		case "":
			return addresses{view: at.Target}
		case github, gitlab:
			return p.plainAddresses(f, at.Target)
		}
	}
	a := addresses{view: at.Target}
	u, err := p.parse(at.Target)
	if err != nil {
		return a
	}
	f := p.forgeOf(u)
	if f == "" {
		return a
	}
	if source, err := p.resolveFrom(u, "./"); err == nil {
		a.source = TypeURL + ":" + source
	}
	if !namesCommit(at.Target) {
		a.edit = p.editURL(f, u, at.Target)
	}
	return a
}

// plainAddresses is addressesOf for a URL that needs no parser, on a forge
// whose URLs differ by a word alone.
func (p *Processor) plainAddresses(f forge, target string) addresses {
	a := addresses{view: target, source: TypeURL + ":" + target[:strings.LastIndexByte(target, '/')+1]}
	if f == github {
		a.source = githubForm(a.source, "tree")
	}
	if !namesCommit(target) {
		a.edit = p.editURL(f, nil, target)
	}
	return a
}

// namesCommit tells whether a URL holds a commit id: forty or more lower-case
// hexadecimal digits that stand as a word.
func namesCommit(s string) bool {
	run, word := 0, true
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (isAlnum(s[i]) || s[i] == '_') {
			run++
			word = word && (isDigit(s[i]) || 'a' <= s[i] && s[i] <= 'f')
			continue
		}
		if word && run >= 40 {
			return true
		}
		run, word = 0, true
	}
	return false
}

// annotate gives root the generated annotations; what the author wrote for
// view, edit and source stays. Root and its metadata may be changed, what
// they hold may not.
func annotate(meta *entity.Object, at Location, origin Location, a *addresses) {
	var written []entity.Member
	if o := meta.Object("annotations"); o != nil {
		written = o.Members
	}
	o := &entity.Object{Members: make([]entity.Member, len(written), len(written)+5), At: meta.Position("annotations")}
	copy(o.Members, written)
	o.Set(annotationLocation, at.String())
	o.Set(annotationOrigin, origin.String())
	for _, m := range []struct{ key, value string }{{annotationView, a.view}, {annotationEdit, a.edit}, {annotationSource, a.source}} {
		if _, there := o.Lookup(m.key); !there && m.value != "" {
			o.Members = append(o.Members, entity.Member{Key: m.key, Value: m.value, At: o.At})
		}
	}
	meta.Set("annotations", o)
}

// shallow copies an object's members, not what they hold.
func shallow(o *entity.Object) *entity.Object {
	c := &entity.Object{Members: make([]entity.Member, len(o.Members), len(o.Members)+2), At: o.At}
	copy(c.Members, o.Members)
	return c
}
