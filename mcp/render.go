package mcp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// lines collects the text of an answer.
type lines struct{ strings.Builder }

func (l *lines) add(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// field adds a line if there is something to say.
func (l *lines) field(label, value string) {
	if value != "" {
		for _, part := range []string{label, ": ", oneLine(value), "\n"} {
			l.WriteString(part)
		}
	}
}

// oneLine is a text with single spaces between its words.
func oneLine(s string) string {
	if s == "" || s[0] != ' ' && s[len(s)-1] != ' ' && !strings.Contains(s, "  ") && !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// joined puts what is not empty side by side.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// prefixed writes a label before a value if there is one.
func prefixed(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + value
}

func renderIdentity(id *access.Identity) string {
	var l lines
	who := id.Subject
	if id.Anonymous {
		who = "anonymous"
	}
	l.add("you act for %s", who)
	l.field("agent", id.Agent)
	l.field("groups", strings.Join(id.Groups, ", "))
	l.field("roles", strings.Join(id.Roles, ", "))
	for _, p := range id.Actions {
		l.add("may %s: %s", p.Action, p.On)
	}
	return l.String()
}

func renderSearch(r *catalog.SearchResults) string {
	var l lines
	l.Grow(256 * len(r.Hits)) // of an ordinary hit
	l.add("%d of %d", len(r.Hits), r.Total)
	for _, h := range r.Hits {
		l.add("%s", joined(h.Ref, oneLine(h.Title), h.Type, h.Lifecycle, prefixed("owner", h.Owner), prefixed("in", h.System), oneLine(h.Description)))
	}
	l.field("next_cursor", r.NextCursor)
	return l.String()
}

// fewerHits asks for half as many hits.
func fewerHits(in *catalog.SearchCatalogInput, out *catalog.SearchResults) bool {
	in.Limit = len(out.Hits) / 2
	return in.Limit > 0
}

func renderGraph(g *catalog.DependencyGraph) string {
	var l lines
	for _, n := range g.Nodes {
		missing := ""
		if n.Missing {
			missing = "not in the catalog"
		}
		l.add("%s%s", strings.Repeat(" ", n.Depth), joined(n.Ref, oneLine(n.Title), n.Type, prefixed("owner", n.Owner), missing))
	}
	if len(g.Edges) == 0 {
		l.add("no dependencies in this direction")
	}
	for _, e := range g.Edges {
		l.add("%s %s %s", e.From, e.Type, e.To)
	}
	if g.Truncated {
		l.add("truncated: the graph goes on; ask for fewer steps, or go on from one of its nodes")
	}
	return l.String()
}

// trimGraph drops the farther half of the nodes and the edges that they had.
func trimGraph(g *catalog.DependencyGraph) *catalog.DependencyGraph {
	if len(g.Nodes) < 2 {
		return nil
	}
	g.Nodes, g.Truncated = g.Nodes[:(len(g.Nodes)+1)/2], true
	kept := map[string]bool{}
	for _, n := range g.Nodes {
		kept[n.Ref] = true
	}
	g.Edges = slices.DeleteFunc(g.Edges, func(e catalog.DependencyEdge) bool { return !kept[e.From] || !kept[e.To] })
	return g
}

// related are the spec's fields that relations say better.
func related() []string {
	return []string{"owner", "system", "domain", "dependsOn", "dependencyOf", "providesApis", "consumesApis", "subcomponentOf", "memberOf", "members", "parent", "children"}
}

// generated are annotations that say of every entity what its source line says.
func generated() []string {
	return []string{"backstage.io/managed-by-location", "backstage.io/managed-by-origin-location", "backstage.io/view-url", "backstage.io/edit-url"}
}

func renderEntity(e *catalog.Entity) string {
	var l lines
	md, spec := e.Metadata(), e.Spec()
	l.add("%s", joined(e.Ref.String(), oneLine(e.Title()), spec.String("type"), spec.String("lifecycle")))
	l.field("description", e.Description())
	for i := 0; i < len(e.Relations); {
		typ, targets := e.Relations[i].Type, []string{}
		for ; i < len(e.Relations) && e.Relations[i].Type == typ; i++ {
			targets = append(targets, e.Relations[i].TargetRef)
		}
		l.field(typ, strings.Join(targets, ", "))
	}
	l.field("tags", strings.Join(md.Strings("tags"), ", "))
	for _, it := range md.List("links") {
		if o, ok := it.Value.(*entity.Object); ok {
			l.field("link", joined(o.String("title"), o.String("url")))
		}
	}
	for _, group := range []string{"labels", "annotations"} {
		for k, v := range md.Object(group).All() {
			if !slices.Contains(generated(), k) {
				l.field(k, plain(v))
			}
		}
	}
	for k, v := range spec.All() {
		if k == "type" || k == "lifecycle" || slices.Contains(related(), k) {
			continue
		}
		if text := plain(v); strings.Contains(strings.TrimSpace(text), "\n") {
			l.add("spec.%s:\n%s", k, strings.TrimSpace(text)) // lines mean something in it
		} else {
			l.field("spec."+k, text)
		}
	}
	for _, st := range e.Status {
		l.field(st.Level, st.Message)
	}
	l.field("omitted", strings.Join(omitted(e), "; "))
	if e.From.Path != "" {
		place := e.From.Path
		if e.From.Line > 0 {
			place += ":" + strconv.Itoa(int(e.From.Line))
		}
		changed := ""
		if c, known := e.From.History.Last(); known {
			changed = c.At.Format(time.RFC3339)
		}
		l.field("source", joined(place, e.From.Repository, e.From.Commit, prefixed("changed", changed)))
		l.field("last good state, the file has errors since", e.From.StaleSince)
	}
	return l.String()
}

// plain writes a value: texts as they are, all else as JSON.
func plain(v entity.Value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(entity.AppendJSON(nil, v))
}
