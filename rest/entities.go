package rest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/catalog/index"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// listEntities answers GET /entities. Without limit, offset and after it is
// by-query without pages; with one of them it has an order of its own, in
// which entities without the field come last.
func listEntities(c *call) (answer, error) {
	q, err := queryOf(c.Request)
	if err != nil {
		return answer{}, err
	}
	order, err := orders(q["order"])
	if err != nil {
		return answer{}, err
	}
	in := catalog.ListEntitiesInput{Filter: q["filter"], TotalItems: "exclude"}
	if !q.Has("limit") && !q.Has("offset") && !q.Has("after") {
		in.OrderBy, in.Fields = order, q["fields"]
		page, err := listed(c, "list_entities", "", in, c.door.Catalog.ListEntities)
		if err != nil {
			return answer{}, err
		}
		return answerOf(page.Items, nil)
	}
	w, err := windowOf(q)
	if err != nil {
		return answer{}, err
	}
	fields, err := index.NewProjection(q["fields"])
	if err != nil {
		return answer{}, err
	}
	all, err := listed(c, "list_entities", "", in, c.door.Catalog.ListEntities)
	if err != nil {
		return answer{}, err
	}
	arrange(all.Items, order)
	items, more := w.cut(all.Items)
	for i, e := range items {
		items[i] = fields.Apply(e)
	}
	a := answer{value: items}
	if more {
		a.header = http.Header{"Link": {w.link(c.URL)}}
	}
	return a, nil
}

// orders reads asc:field and desc:field.
func orders(given []string) ([]catalog.OrderField, error) {
	var out []catalog.OrderField
	for _, o := range given {
		order, field, _ := strings.Cut(o, ":")
		if order != "asc" && order != "desc" || field == "" {
			return nil, fault.New(fault.Invalid, "invalid order parameter %s", clip(o)).WithFix("Write asc:field or desc:field, for example asc:metadata.name.")
		}
		out = append(out, catalog.OrderField{Field: field, Order: order})
	}
	return out, nil
}

// window is the part of a list that is asked for; Limit nil is all of it.
type window struct {
	Limit  *int `json:"limit,omitempty"`
	Offset *int `json:"offset,omitempty"`
}

func windowOf(q url.Values) (w window, err error) {
	if w.Limit, err = number(q, "limit"); err != nil {
		return w, err
	}
	if w.Offset, err = number(q, "offset"); err != nil {
		return w, err
	}
	if q.Has("after") {
		data, err := base64.StdEncoding.DecodeString(q.Get("after"))
		if err != nil || json.Unmarshal(data, &w) != nil {
			return w, fault.New(fault.Invalid, "malformed after cursor %s", clip(q.Get("after"))).WithFix("Follow the link header of the page before.")
		}
	}
	if w.Limit != nil && *w.Limit <= 0 {
		return w, fault.New(fault.Invalid, "invalid limit %d: it must be greater than zero", *w.Limit)
	}
	if w.Offset != nil && *w.Offset < 0 {
		return w, fault.New(fault.Invalid, "invalid offset %d: it must be zero or greater", *w.Offset)
	}
	return w, nil
}

// cut is the window's part of a list, and whether there is more after it.
func (w window) cut(all []*catalog.Entity) ([]*catalog.Entity, bool) {
	if w.Offset != nil {
		all = all[min(*w.Offset, len(all)):]
	}
	if w.Limit == nil || *w.Limit >= len(all) {
		return all, false
	}
	return all[:*w.Limit], true
}

// link names the next page, in the form that Backstage's back end gives.
func (w window) link(at *url.URL) string {
	next := *w.Limit
	if w.Offset != nil {
		next += *w.Offset
	}
	cursor, err := json.Marshal(window{Limit: w.Limit, Offset: &next})
	if err != nil {
		return "" // two numbers are always JSON
	}
	q := at.Query()
	q.Del("offset")
	q.Set("after", base64.StdEncoding.EncodeToString(cursor))
	return "</entities?" + q.Encode() + `>; rel="next"`
}

// arrange puts entities, which are in the order of their uids, in the order
// asked for: by reference without one, else by the fields' values, entities
// without a value last.
func arrange(es []*catalog.Entity, order []catalog.OrderField) {
	type keyed struct {
		e    *catalog.Entity
		keys []*string
	}
	all := make([]keyed, len(es))
	for i, e := range es {
		all[i] = keyed{e, keysOf(e, order)}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		for j := range a.keys {
			if d := compare(a.keys[j], b.keys[j], len(order) > 0 && order[j].Order == "desc"); d != 0 {
				return d
			}
		}
		return 0
	})
	for i := range all {
		es[i] = all[i].e
	}
}

// keysOf are what an entity is ordered by; nil where it has no value.
func keysOf(e *catalog.Entity, order []catalog.OrderField) []*string {
	if len(order) == 0 {
		ref := e.Ref.String()
		return []*string{&ref}
	}
	out := make([]*string, len(order))
	for i, o := range order {
		out[i] = value(e.Root, entity.Lower(o.Field))
	}
	return out
}

func compare(a, b *string, down bool) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(boolean(a == nil), boolean(b == nil))
	case down:
		return strings.Compare(*b, *a)
	default:
		return strings.Compare(*a, *b)
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// value is what stands at a path, as the index writes it; nil for nothing
// and for what has no single value. Keys may hold dots.
func value(v entity.Value, path string) *string {
	var s string
	switch v := v.(type) {
	case *entity.Object:
		for _, m := range v.Members {
			key := entity.Lower(m.Key)
			if key == path {
				if _, nested := m.Value.(*entity.Object); !nested {
					return value(m.Value, "")
				}
			}
			if rest, ok := strings.CutPrefix(path, key+"."); ok {
				if found := value(m.Value, rest); found != nil {
					return found
				}
			}
		}
		return nil
	case string:
		s = entity.Lower(v)
	case bool:
		s = map[bool]string{true: "true", false: "false"}[v]
	case float64:
		s = entity.FormatNumber(v)
	default:
		return nil
	}
	if path != "" {
		return nil
	}
	return &s
}
