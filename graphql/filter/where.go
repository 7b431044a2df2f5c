package filter

import (
	"encoding/json"

	"github.com/fairlead-dev/fairlead/catalog/entity"
	"github.com/fairlead-dev/fairlead/graphql/scalar"
)

// Where is the input EntityWhere.
type Where struct {
	Kind, Namespace, Name, Type, Owner, System, Lifecycle, Tag *[]string

	Text *string
}

// Conditions are the arguments that say which entities are meant.
type Conditions struct {
	Filter *Filter
	Where  *Where
	Query  *scalar.JSON
}

// Read gives the conditions in the catalog's terms; text is what EntityWhere
// says of text. The error is an invalid fault.
func (c Conditions) Read() (filter []string, query json.RawMessage, text *string, err error) {
	if filter, err = c.Filter.Strings(); err != nil {
		return nil, nil, nil, err
	}
	if c.Query != nil {
		query = c.Query.Raw
	}
	if c.Where == nil {
		return filter, query, nil, nil
	}
	all, err := c.Where.predicates()
	if err != nil {
		return nil, nil, nil, err
	}
	if query != nil {
		all = append(all, query)
	}
	if len(all) > 0 {
		query, err = json.Marshal(map[string]any{"$all": all})
	}
	return filter, query, c.Where.Text, err
}

// predicates are Backstage predicates, one for each field given.
func (w *Where) predicates() ([]any, error) {
	var out []any
	for _, f := range []struct {
		name   string
		values *[]string
	}{
		{"kind", w.Kind},
		{"namespace", w.Namespace},
		{"name", w.Name},
		{"type", w.Type},
		{"owner", w.Owner},
		{"system", w.System},
		{"lifecycle", w.Lifecycle},
		{"tag", w.Tag},
	} {
		if f.values == nil {
			continue
		}
		short := searchKeys()[f.name]
		values := make([]string, 0, len(*f.values))
		for _, v := range *f.values {
			if short.kind != "" {
				ref, err := entity.ParseRef(v, short.kind, entity.DefaultNamespace)
				if err != nil {
					return nil, badFilter("%s", err)
				}
				v = ref.String()
			}
			values = append(values, v)
		}
		out = append(out, map[string]any{short.key: map[string]any{"$in": values}})
	}
	return out, nil
}
