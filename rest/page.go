package rest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

// encode writes an operation's answer as JSON. Entities carry their JSON with
// them, which is copied and not made anew.
func encode(v any) ([]byte, error) {
	switch v := v.(type) {
	case *catalog.Entity:
		return appendEntity(nil, v), nil
	case *catalog.EntityPage:
		return encodePage(v)
	case *catalog.EntityBatch:
		b := append(appendEntities([]byte(`{"items":`), v.Items), '}')
		return b, nil
	case []*catalog.Entity:
		return appendEntities(nil, v), nil
	case *catalog.Ancestry:
		return encodeAncestry(v), nil
	default:
		return marshal(v)
	}
}

// marshal writes JSON without escaping what is harmless in it.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// appendEntity appends an entity's JSON, null where there is none.
func appendEntity(b []byte, e *catalog.Entity) []byte {
	if e == nil {
		return append(b, "null"...)
	}
	return e.AppendJSON(b)
}

func appendEntities(b []byte, es []*catalog.Entity) []byte {
	b = append(b, '[')
	for i, e := range es {
		if i > 0 {
			b = append(b, ',')
		}
		before := len(b)
		b = appendEntity(b, e)
		if i == 0 { // the others will be about as large
			b = slices.Grow(b, (len(b)-before+1)*len(es))
		}
	}
	return append(b, ']')
}

func encodePage(p *catalog.EntityPage) ([]byte, error) {
	b := appendEntities([]byte(`{"items":`), p.Items)
	rest, err := marshal(struct {
		TotalItems int              `json:"totalItems"`
		PageInfo   catalog.PageInfo `json:"pageInfo"`
	}{p.TotalItems, p.PageInfo})
	return append(append(b, ','), rest[1:]...), err
}

func encodeAncestry(a *catalog.Ancestry) []byte {
	b := entity.AppendString([]byte(`{"rootEntityRef":`), a.RootEntityRef)
	b = append(b, `,"items":[`...)
	for i, it := range a.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendEntity(append(b, `{"entity":`...), it.Entity)
		b = append(b, `,"parentEntityRefs":[`...)
		for j, p := range it.ParentEntityRefs {
			if j > 0 {
				b = append(b, ',')
			}
			b = entity.AppendString(b, p)
		}
		b = append(b, "]}"...)
	}
	return append(b, "]}"...)
}
