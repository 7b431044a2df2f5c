package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// EntityOf reads an entity as the server's JSON gives it.
func EntityOf(root *entity.Object) *entity.Entity {
	e := &entity.Entity{Root: root}
	e.Ref = entity.Ref{Kind: e.Kind(), Namespace: e.Namespace(), Name: e.Name()}.Canonical()
	for _, it := range root.List("relations") {
		if r, ok := it.Value.(*entity.Object); ok {
			e.Relations = append(e.Relations, entity.Relation{Type: r.String("type"), TargetRef: r.String("targetRef")})
		}
	}
	for _, it := range root.Object("status").List("items") {
		if s, ok := it.Value.(*entity.Object); ok {
			e.Status = append(e.Status, entity.StatusItem{Type: s.String("type"), Level: s.String("level"), Message: s.String("message")})
		}
	}
	from := root.Object("source")
	e.From = entity.Provenance{Commit: from.String("commit"), VerifiedAt: instant(from, "verifiedAt")}
	if at := instant(from, "changedAt"); !at.IsZero() {
		e.From.History = &entity.History{}
		e.From.History.Know(entity.LastChange{Commit: from.String("changedIn"), At: at})
	}
	return e
}

// instant reads a time; it is zero where there is none.
func instant(o *entity.Object, key string) time.Time {
	t, err := time.Parse(time.RFC3339, o.String(key))
	if err != nil {
		return time.Time{}
	}
	return t
}

// Entities writes a list of entities, one a line.
func (p *Page) Entities(items []*entity.Entity) {
	rows := make([][]Cell, len(items))
	for i, e := range items {
		rows[i] = Texts(e.Ref.String(), e.Type(), e.Spec().String("lifecycle"), e.Owner(), cmp.Or(e.Title(), e.Description()))
	}
	p.Table([]string{"REF", "TYPE", "LIFECYCLE", "OWNER", "TITLE"}, rows)
}

// Entity writes one entity as a page.
func (p *Page) Entity(e *entity.Entity) {
	head := p.Bold(Clean(e.Ref.String()))
	if e.Title() != "" {
		head += gap + Clean(e.Title())
	}
	p.Line(head)
	if e.Description() != "" {
		p.Line(Clean(e.Description()))
	}
	p.Line()
	p.Rows(p.entityFields(e))
	if len(e.Relations) > 0 {
		p.Heading("Relations")
		p.Indented(func() { p.Rows(relationRows(e.Relations)) })
	}
	if len(e.Status) > 0 {
		p.Heading("Status")
		for _, s := range e.Status {
			p.Line("  ", p.Bad(Clean(s.Level)), gap, Clean(s.Message))
		}
	}
}

// entityFields are the labels and values that people look for.
func (p *Page) entityFields(e *entity.Entity) [][]Cell {
	var rows [][]Cell
	add := func(label, value string) {
		if value != "" {
			rows = append(rows, []Cell{{label, p.Dim}, {value, nil}})
		}
	}
	add("Type", e.Type())
	add("Lifecycle", e.Spec().String("lifecycle"))
	add("Owner", strings.Join(e.Targets("ownedBy"), ", "))
	add("System", strings.Join(e.Targets("partOf"), ", "))
	add("Tags", strings.Join(e.Metadata().Strings("tags"), ", "))
	for _, it := range e.Metadata().List("links") {
		if l, ok := it.Value.(*entity.Object); ok {
			add("Link", strings.TrimSpace(l.String("title")+" "+l.String("url")))
		}
	}
	add("Source", cmp.Or(e.Annotation("backstage.io/source-location"), e.Annotation("backstage.io/managed-by-location")))
	add("File", cmp.Or(e.Annotation("backstage.io/view-url"), e.Annotation("backstage.io/managed-by-location")))
	if e.From.Commit != "" {
		add("Commit", Short(e.From.Commit))
	}
	if c, known := e.From.History.Last(); known {
		add("Changed", p.Age(c.At)+" in "+Short(c.Commit))
	}
	if !e.From.VerifiedAt.IsZero() {
		add("Verified", p.Age(e.From.VerifiedAt))
	}
	return rows
}

// relationRows groups relations by type.
func relationRows(relations []entity.Relation) [][]Cell {
	rs := slices.Clone(relations)
	slices.SortStableFunc(rs, func(a, b entity.Relation) int { return cmp.Compare(a.Type, b.Type) })
	rows := make([][]Cell, len(rs))
	for i, r := range rs {
		label := r.Type
		if i > 0 && rs[i-1].Type == r.Type {
			label = ""
		}
		rows[i] = Texts(label, r.TargetRef)
	}
	return rows
}
