package rest

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// listEntities answers GET /entities. Without limit, offset and after it is
// by-query without pages; with one of them it has an order of its own.
func listEntities(c *call) (answer, error) {
	q := c.query
	order, err := orders(q["order"])
	if err != nil {
		return answer{}, err
	}
	if !q.Has("limit") && !q.Has("offset") && !q.Has("after") {
		in := catalog.ListEntitiesInput{Filter: q["filter"], OrderBy: order, Fields: q["fields"], TotalItems: "exclude"}
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
	in := catalog.ArrangeEntitiesInput{Filter: q["filter"], OrderBy: order, Fields: q["fields"], Limit: w.Limit}
	if w.Offset != nil {
		in.Offset = *w.Offset
	}
	list, err := listed(c, "list_entities", "", in, c.door.Catalog.ArrangeEntities)
	if err != nil {
		return answer{}, err
	}
	a := answer{value: list.Items}
	if list.More {
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
			return nil, fault.New(fault.Invalid, `Invalid order parameter "%s", expected "<asc or desc>:<field name>"`, clipped(o)).
				WithFix("Write asc:field or desc:field, for example asc:metadata.name.")
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
	if w.Limit != nil && *w.Limit <= 0 {
		return w, fault.New(fault.Invalid, "Invalid limit, must be greater than zero")
	}
	if q.Has("after") {
		return w, w.after(q.Get("after"))
	}
	return w, nil
}

const afterFix = "Follow the link header of the page before."

// after goes on from a cursor, which holds a window as JSON.
func (w *window) after(cursor string) error {
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(cursor, "="))
	var held map[string]any
	if err != nil || json.Unmarshal(data, &held) != nil {
		return fault.New(fault.Invalid, "Malformed after cursor, could not be parsed").WithFix(afterFix)
	}
	for _, part := range []struct {
		name, what string
		into       **int
	}{{"limit", "an number", &w.Limit}, {"offset", "a number", &w.Offset}} {
		v, there := held[part.name]
		if !there {
			continue
		}
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return fault.New(fault.Invalid, "Malformed after cursor, %s was not %s", part.name, part.what).WithFix(afterFix)
		}
		whole := int(n)
		*part.into = &whole
	}
	return nil
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
	return "</entities?" + withAfter(at.RawQuery, base64.StdEncoding.EncodeToString(cursor)) + `>; rel="next"`
}

// withAfter writes a query again without offset and with another cursor, in
// the place of the one before or at the end.
func withAfter(raw, cursor string) string {
	var out []string
	set := false
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.QueryUnescape(name)
		value, err2 := url.QueryUnescape(value)
		if pair == "" || name == "offset" || name == "after" && set || err1 != nil || err2 != nil {
			continue
		}
		if name == "after" {
			value, set = cursor, true
		}
		out = append(out, formEscape(name)+"="+formEscape(value))
	}
	if !set {
		out = append(out, "after="+formEscape(cursor))
	}
	return strings.Join(out, "&")
}

// formEscape escapes as browsers do in forms.
func formEscape(s string) string {
	return strings.NewReplacer("~", "%7E", "%2A", "*").Replace(url.QueryEscape(s))
}
