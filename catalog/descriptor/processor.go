package descriptor

import (
	"context"
	"slices"
	"strings"

	"github.com/nlnwa/whatwg-url/url"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// Processor reads documents by one set of Options. It is safe for concurrent
// use.
type Processor struct {
	kinds     map[string]*kind
	kindNames string
	allowed   map[string]struct{}
	forges    map[string]forge
	urls      url.Parser
}

// New makes a Processor. Names of forges that are not known count as none.
func New(opts Options) *Processor {
	p := &Processor{kinds: map[string]*kind{}, allowed: map[string]struct{}{}, forges: knownForges(), urls: newParser()}
	known := builtin()
	names := []string{"Template"}
	if opts.Template {
		known = append(known, template())
	}
	for _, name := range opts.Kinds {
		known = append(known, kind{name: name, generic: true})
	}
	for i := range known {
		k := &known[i]
		if _, dup := p.kinds[k.name]; !dup || !k.generic {
			p.kinds[k.name] = k
			names = append(names, k.name)
		}
	}
	p.kindNames = listed(p.kinds)
	if opts.Allow != nil {
		names = opts.Allow
	}
	for _, name := range names {
		p.allowed[entity.Lower(name)] = struct{}{}
	}
	for host, name := range opts.Forges {
		if slices.Contains(ForgeNames(), name) {
			p.forges[strings.ToLower(host)] = forge(name)
		}
	}
	return p
}

// listed names the kinds for messages.
func listed(kinds map[string]*kind) string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Process makes an entity of a document that has reached StageProcess: it
// fills placeholders, sorts, adds the default namespace and the generated
// annotations, checks everything there is to check, derives relations and
// resolves what a Location points to. Origin is the location by which the
// file came into the catalog. R may be nil where nothing may be read.
func (p *Processor) Process(ctx context.Context, f *File, d *Document, origin Location, r Reader) *Result {
	res := &Result{}
	if d.Stage != StageProcess || d.Raw == nil {
		return res
	}
	c := &findings{limit: limitOf(d.Index)}
	at := Location{Type: f.At.Type, Target: trimJS(f.At.Target)}
	fill := filler{p: p, ctx: ctx, base: at, reader: r, found: c}
	root := fill.root(d.Raw)
	res.Read, c.told = fill.read, fill.failed
	root = p.complete(root, f, at, origin)
	res.Edges = p.check(c, root)
	fatal := c.any()
	if root.String("kind") == "Location" {
		res.Targets = p.targets(c, at, root)
	}
	res.OK, res.Problems = !c.any(), c.problems()
	if fatal {
		res.Edges, res.Targets = nil, nil
		return res
	}
	res.Entity = sortSets(root)
	return res
}

// identity is an entity's reference as written.
func identity(root *entity.Object) entity.Ref {
	meta := root.Object("metadata")
	ref := entity.Ref{Kind: root.String("kind"), Namespace: meta.String("namespace"), Name: meta.String("name")}
	if ref.Namespace == "" {
		ref.Namespace = entity.DefaultNamespace
	}
	return ref
}

// complete gives a copy of root with everything that is added to what an
// author wrote.
func (p *Processor) complete(root *entity.Object, f *File, at, origin Location) *entity.Object {
	root = shallow(root)
	meta := shallow(root.Object("metadata"))
	if meta.Get("namespace") == nil {
		meta.Set("namespace", entity.DefaultNamespace)
	}
	annotate(meta, f.At, origin, &f.addresses)
	root.Set("metadata", meta)
	return root
}

// sortSets sorts the fields of spec that hold sets of texts.
func sortSets(root *entity.Object) *entity.Object {
	spec := root.Object("spec")
	var fresh *entity.Object
	for i := range spec.Len() {
		m := &spec.Members[i]
		l, ok := m.Value.(entity.List)
		if !ok || !isSet(m.Key) || inOrder(l) {
			continue
		}
		if fresh == nil {
			fresh = shallow(spec)
		}
		l = slices.Clone(l)
		slices.SortStableFunc(l, func(a, b entity.Item) int { return compareUTF16(a.Value.(string), b.Value.(string)) })
		fresh.Members[i].Value = l
	}
	if fresh == nil {
		return root
	}
	root = shallow(root)
	root.Set("spec", fresh)
	return root
}

// inOrder tells whether there is nothing to sort: the list is in order, or
// holds something other than texts.
func inOrder(l entity.List) bool {
	ordered, before := true, ""
	for i := range l {
		s, ok := l[i].Value.(string)
		if !ok {
			return true
		}
		if i > 0 && compareUTF16(before, s) > 0 {
			ordered = false
		}
		before = s
	}
	return ordered
}

// compareUTF16 compares texts as JavaScript does, by UTF-16 code units: it
// differs from the order of code points above U+FFFF alone.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		// Lead bytes from 0xF0 on are surrogate pairs, which sort below
		// U+E000, whose lead byte is 0xEE.
		if x >= 0xf0 && y >= 0xee && y < 0xf0 {
			return -1
		}
		if y >= 0xf0 && x >= 0xee && x < 0xf0 {
			return 1
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// check makes all checks of a completed entity and derives its relations.
func (p *Processor) check(c *findings, root *entity.Object) []entity.Edge {
	checkRoot(c, root)
	checkMetadata(c, root.Object("metadata"))
	if k := p.checkKind(c, root); k != nil {
		return edges(c, k, identity(root), root)
	}
	return nil
}
