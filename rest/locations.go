package rest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// defaultLocations is how many locations by-query gives when not told.
const defaultLocations = 1000

// allLocations are those that Backstage's API tells: what is registered or,
// where nothing can be, the configured roots.
func allLocations(c *call) ([]catalog.LocationItem, error) {
	out, err := invoke(c, "list_locations", access.ReadCatalog, "", catalog.ListLocationsInput{}, c.door.Catalog.ListLocations)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out.Items, func(l catalog.LocationItem) bool { return out.Registrable && !l.Registered }), nil
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
	ref := strings.ToLower(pathRef(c))
	e, err := listed(c, "get_entity", ref, catalog.GetEntityInput{Ref: ref}, c.door.Catalog.GetEntity)
	if fault.CodeOf(err) == fault.NotFound {
		return answer{}, fault.New(fault.NotFound, "found no entity for ref %s", ref).WithFix("%s", fault.From(err).Fix)
	}
	if err != nil {
		return answer{}, err
	}
	origin := e.Annotation("backstage.io/managed-by-origin-location")
	typ, target, _ := strings.Cut(origin, ":")
	return locationOf(c, "Found no location with type "+typ+" and target "+target, func(l catalog.LocationItem) bool {
		return l.Type == typ && l.Target == target
	})
}

// bodyLocation reads what a location is to be.
func bodyLocation(c *call) (typ, target string, err error) {
	var body struct {
		Type     string `json:"type"`
		Target   string `json:"target"`
		Presence string `json:"presence"`
	}
	if err := decode(c, &body); err != nil {
		return "", "", err
	}
	if body.Type == "" { // it may be left out of Fairlead's own API alone
		return "", "", fault.New(fault.Invalid, "Registered locations must be of an allowed type [\"url\"]").WithFix("Send {\"type\": \"url\", \"target\": \"https://…\"}.")
	}
	return body.Type, body.Target, nil
}

// registerLocation registers a location, or tries what it would give.
func registerLocation(c *call) (answer, error) {
	q, err := queryOf(c.Request)
	if err != nil {
		return answer{}, err
	}
	in := catalog.RegisterLocationInput{DryRun: yes(q.Get("dryRun")), OnConflict: q.Get("onConflict")}
	if in.Type, in.Target, err = bodyLocation(c); err != nil {
		return answer{}, err
	}
	out, err := invoke(c, "register_location", access.RegisterCatalog, in.Target, in, c.door.Catalog.RegisterLocation)
	a, err := answerOf(out, err)
	a.status = http.StatusCreated
	return a, err
}

// yes tells whether a flag is set, in the words that Backstage takes for it.
func yes(s string) bool {
	return slices.Contains([]string{"y", "yes", "t", "true", "1", "on"}, strings.ToLower(strings.TrimSpace(s)))
}

// moveLocation gives a registered location another target.
func moveLocation(c *call) (answer, error) {
	in := catalog.MoveLocationInput{ID: c.PathValue("id")}
	var err error
	if in.Type, in.Target, err = bodyLocation(c); err != nil {
		return answer{}, err
	}
	return answerOf(invoke(c, "move_location", access.UnregisterCatalog, in.ID, in, c.door.Catalog.MoveLocation))
}

// unregisterLocation takes a registered location back.
func unregisterLocation(c *call) (answer, error) {
	in := catalog.UnregisterLocationInput{ID: c.PathValue("id")}
	_, err := invoke(c, "unregister_location", access.UnregisterCatalog, in.ID, in, c.door.Catalog.UnregisterLocation)
	return answer{status: http.StatusNoContent}, err
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
		Cursor *string         `json:"cursor"`
		Limit  *float64        `json:"limit"`
		Query  json.RawMessage `json:"query"`
	}
	if err := decode(c, &body); err != nil {
		return answer{}, err
	}
	at := locationCursor{Limit: defaultLocations, Query: body.Query}
	switch {
	case body.Cursor != nil:
		if err := at.read(*body.Cursor); err != nil {
			return answer{}, err
		}
	case body.Limit != nil:
		if at.Limit = int(*body.Limit); float64(at.Limit) != *body.Limit || at.Limit < 1 {
			return answer{}, fault.New(fault.Invalid, "Limit must be a positive integer >= 1")
		}
	}
	var query any
	if len(at.Query) > 0 && json.Unmarshal(at.Query, &query) != nil {
		return answer{}, fault.New(fault.Invalid, "query is not valid JSON")
	}
	if err := weighed(query); err != nil {
		return answer{}, err
	}
	all, err := allLocations(c)
	if err != nil {
		return answer{}, err
	}
	matching := make([]catalog.LocationItem, 0, len(all))
	for _, l := range all {
		fits := true
		if query != nil {
			if fits, err = locationFits(l, query, 0); err != nil {
				return answer{}, err
			}
		}
		if fits {
			matching = append(matching, l)
		}
	}
	slices.SortFunc(matching, func(a, b catalog.LocationItem) int { return strings.Compare(a.ID, b.ID) })
	return answerOf(at.page(matching), nil)
}

// read takes a cursor apart.
func (at *locationCursor) read(cursor string) error {
	if cursor == "" {
		return fault.New(fault.Invalid, "Cursor cannot be empty").WithFix("Leave it out to begin at the first page.")
	}
	data, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil || !json.Valid(data) {
		return fault.New(fault.Invalid, "Malformed cursor, unknown encoding").WithFix("Use the cursor as the page before gave it.")
	}
	*at = locationCursor{}
	if json.Unmarshal(data, at) != nil || at.Limit < 1 {
		return fault.New(fault.Invalid, "Malformed cursor: limit must be a positive integer").WithFix("Use the cursor as the page before gave it.")
	}
	return nil
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
