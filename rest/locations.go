package rest

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// defaultLocations is how many locations by-query gives when not told.
const defaultLocations = 1000

func allLocations(c *call) ([]catalog.LocationItem, error) {
	out, err := invoke(c, "list_locations", access.ReadCatalog, "", catalog.ListLocationsInput{}, c.door.Catalog.ListLocations)
	if err != nil {
		return nil, err
	}
	return out.Items, nil
}

func locations(c *call) (answer, error) {
	all, err := allLocations(c)
	type item struct {
		Data catalog.LocationItem `json:"data"`
	}
	out := make([]item, len(all))
	for i, l := range all {
		out[i].Data = l
	}
	return answerOf(out, err)
}

// locationOf is the first location that a test holds for.
func locationOf(c *call, otherwise string, is func(catalog.LocationItem) bool) (answer, error) {
	all, err := allLocations(c)
	if err != nil {
		return answer{}, err
	}
	if i := slices.IndexFunc(all, is); i >= 0 {
		return answerOf(all[i], nil)
	}
	return answer{}, fault.New(fault.NotFound, "%s", otherwise)
}

func locationByID(c *call) (answer, error) {
	id := c.PathValue("id")
	return locationOf(c, "Found no location with ID "+id, func(l catalog.LocationItem) bool { return l.ID == id })
}

func locationByEntity(c *call) (answer, error) {
	e, err := named(c)
	if err != nil {
		return answer{}, err
	}
	origin := e.Annotation("backstage.io/managed-by-origin-location")
	typ, target, _ := strings.Cut(origin, ":")
	return locationOf(c, "Found no location with type "+typ+" and target "+target, func(l catalog.LocationItem) bool {
		return l.Type == typ && l.Target == target
	})
}

// locationCursor is where a page of locations ended.
type locationCursor struct {
	Limit   int             `json:"limit"`
	AfterID string          `json:"afterId,omitempty"`
	Query   json.RawMessage `json:"query,omitempty"`
}

// locationPage is a page of locations as Backstage gives it.
type locationPage struct {
	Items      []catalog.LocationItem `json:"items"`
	TotalItems int                    `json:"totalItems"`
	PageInfo   catalog.PageInfo       `json:"pageInfo"`
}

func locationsByQuery(c *call) (answer, error) {
	var body struct {
		Cursor string          `json:"cursor"`
		Limit  *int            `json:"limit"`
		Query  json.RawMessage `json:"query"`
	}
	if err := decode(c, &body); err != nil {
		return answer{}, err
	}
	at := locationCursor{Limit: defaultLocations, Query: body.Query}
	if body.Limit != nil {
		at.Limit = *body.Limit
	}
	if body.Cursor != "" {
		data, err := base64.StdEncoding.DecodeString(body.Cursor)
		if err != nil || json.Unmarshal(data, &at) != nil {
			return answer{}, fault.New(fault.Invalid, "malformed cursor %s", clip(body.Cursor)).WithFix("Use the cursor as the page before gave it.")
		}
	}
	if at.Limit < 1 {
		return answer{}, fault.New(fault.Invalid, "limit must be 1 or more, not %d", at.Limit)
	}
	all, err := allLocations(c)
	if err != nil {
		return answer{}, err
	}
	matching, err := at.matching(all)
	return answerOf(at.page(matching), err)
}

// matching keeps the locations that the query's plain values hold for, by id.
func (at locationCursor) matching(all []catalog.LocationItem) ([]catalog.LocationItem, error) {
	var want map[string]any
	if len(at.Query) > 0 && json.Unmarshal(at.Query, &want) != nil {
		return nil, fault.New(fault.Invalid, "query must be an object")
	}
	for k, v := range want {
		if _, plain := v.(string); !plain || !slices.Contains([]string{"id", "type", "target"}, k) {
			return nil, fault.New(fault.Invalid, "query: locations are found by id, type and target with a text each, not by %s", clip(k)).
				WithFix("Ask for all locations and choose among them.")
		}
	}
	out := slices.DeleteFunc(slices.Clone(all), func(l catalog.LocationItem) bool {
		for k, v := range map[string]string{"id": l.ID, "type": l.Type, "target": l.Target} {
			if s, asked := want[k].(string); asked && !strings.EqualFold(s, v) {
				return true
			}
		}
		return false
	})
	slices.SortFunc(out, func(a, b catalog.LocationItem) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (at locationCursor) page(all []catalog.LocationItem) locationPage {
	p := locationPage{TotalItems: len(all), Items: []catalog.LocationItem{}}
	for _, l := range all {
		if l.ID <= at.AfterID {
			continue
		}
		if len(p.Items) == at.Limit {
			at.AfterID = p.Items[at.Limit-1].ID
			next, err := json.Marshal(at)
			if err == nil {
				p.PageInfo.NextCursor = base64.StdEncoding.EncodeToString(next)
			}
			break
		}
		p.Items = append(p.Items, l)
	}
	return p
}
