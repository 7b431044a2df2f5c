package catalog

import (
	"encoding/json"
	"time"
)

// ListEntitiesInput asks for entities in Backstage's terms.
type ListEntitiesInput struct {
	// Filter items are alternatives (OR); within an item, comma-separated
	// key=value pairs must all hold, a key alone means it exists, and one key
	// given twice means either value.
	Filter []string `json:"filter,omitempty" jsonschema:"alternatives; each is comma-separated key=value pairs that must all hold"`
	// Query is a Backstage predicate, ANDed with Filter.
	Query json.RawMessage `json:"query,omitempty" jsonschema:"a Backstage filter predicate"`
	// OrderBy orders by a search key; only the first is used, and entities
	// without that key are left out. Without it the order is by uid.
	OrderBy []OrderField `json:"orderBy,omitempty"`
	// FullText keeps entities in which a field contains the term.
	FullText *FullTextFilter `json:"fullTextFilter,omitempty"`
	// Fields narrows each entity to dotted paths; empty means all of it.
	Fields []string `json:"fields,omitempty"`
	// Limit is the page size: nil means the door's default (Backstage: 200
	// by query, no limit otherwise), 0 asks for the count alone.
	Limit *int `json:"limit,omitempty"`
	// Offset skips entities of the first page.
	Offset int `json:"offset,omitempty"`
	// Cursor continues an earlier page; everything else but Limit and Fields
	// then comes from the cursor.
	Cursor string `json:"cursor,omitempty"`
	// TotalItems is "include" (default) or "exclude".
	TotalItems string `json:"totalItems,omitempty"`
	// Cursors asks for EntityPage.Cursors.
	Cursors bool `json:"-"`
}

// OrderField is one field to order by.
type OrderField struct {
	Field string `json:"field"`
	Order string `json:"order,omitempty"` // asc (default) or desc
}

// FullTextFilter is a case-insensitive substring search.
type FullTextFilter struct {
	Term   string   `json:"term"`
	Fields []string `json:"fields,omitempty"`
}

// EntityPage is one page of entities.
type EntityPage struct {
	Items      []*Entity `json:"items"`
	TotalItems int       `json:"totalItems"`
	PageInfo   PageInfo  `json:"pageInfo"`
	// Cursors holds, if asked for, for each item the cursor that goes on after
	// it; CursorFrom turns it to what comes before.
	Cursors []string `json:"-"`
	// More tells that there are more entities in the direction asked.
	More bool `json:"-"`
}

// PageInfo holds the cursors around a page.
type PageInfo struct {
	NextCursor string `json:"nextCursor,omitempty"`
	PrevCursor string `json:"prevCursor,omitempty"`
}

// GetEntityInput names one entity.
type GetEntityInput struct {
	Ref string `json:"ref" jsonschema:"reference, for example component:default/checkout; a bare name is a component"`
	// UID finds the entity by metadata.uid instead.
	UID string `json:"uid,omitempty" jsonschema:"-"`
}

// GetEntitiesInput names several entities at once.
type GetEntitiesInput struct {
	EntityRefs []string        `json:"entityRefs"`
	Filter     []string        `json:"filter,omitempty"`
	Query      json.RawMessage `json:"query,omitempty"`
	Fields     []string        `json:"fields,omitempty"`
}

// EntityBatch answers GetEntities: same order and length as asked, nil where
// there is none.
type EntityBatch struct {
	Items []*Entity `json:"items"`
}

// SearchCatalogInput is a search in words.
type SearchCatalogInput struct {
	Query  string   `json:"query" jsonschema:"words of names, titles, descriptions, tags, owners; empty lists all that match filter"`
	Filter []string `json:"filter,omitempty" jsonschema:"Backstage filters such as kind=component,spec.type=service; items are alternatives"`
	Limit  int      `json:"limit,omitempty" jsonschema:"1 to 100, default 20"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

// SearchResults are ranked hits, best first.
type SearchResults struct {
	Hits       []SearchHit `json:"hits"`
	Total      int         `json:"total"`
	NextCursor string      `json:"nextCursor,omitempty"`
}

// SearchHit is one entity found, enough to choose by.
type SearchHit struct {
	Ref         string `json:"ref"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`
	Lifecycle   string `json:"lifecycle,omitempty"`
	Owner       string `json:"owner,omitempty"`
	System      string `json:"system,omitempty"`
}

// ListFacetsInput asks which values some keys take among matching entities.
type ListFacetsInput struct {
	Facets []string        `json:"facets" jsonschema:"search keys such as kind, spec.type, metadata.tags"`
	Filter []string        `json:"filter,omitempty"`
	Query  json.RawMessage `json:"query,omitempty"`
}

// Facets maps each key asked for to its values, sorted by value.
type Facets struct {
	Facets map[string][]FacetValue `json:"facets"`
}

// FacetValue is a value in its original case and how many entities have it.
type FacetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// GetDependenciesInput walks the graph from one entity.
type GetDependenciesInput struct {
	Ref       string `json:"ref" jsonschema:"entity reference or bare component name"`
	Direction string `json:"direction,omitempty" jsonschema:"out: what it needs (default); in: what needs it; both"`
	Depth     int    `json:"depth,omitempty" jsonschema:"1 to 5 steps, default 1"`
}

// DependencyGraph is what was reached, nearest first.
type DependencyGraph struct {
	Root  string           `json:"root"`
	Nodes []DependencyNode `json:"nodes"`
	Edges []DependencyEdge `json:"edges"`
	// Truncated tells that the graph went on past the limit of nodes.
	Truncated bool `json:"truncated,omitempty"`
}

// DependencyNode is an entity in the graph; Missing if the catalog has none
// of that name.
type DependencyNode struct {
	Ref     string `json:"ref"`
	Title   string `json:"title,omitempty"`
	Type    string `json:"type,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Depth   int    `json:"depth"`
	Missing bool   `json:"missing,omitempty"`
}

// DependencyEdge reads "From Type To": component:default/a dependsOn resource:default/b.
type DependencyEdge struct {
	From string `json:"from"`
	Type string `json:"type"`
	To   string `json:"to"`
}

// GetAncestryInput names the entity whose origin is asked for.
type GetAncestryInput struct {
	Ref string `json:"ref"`
}

// Ancestry tells which entities emitted an entity, up to the roots.
type Ancestry struct {
	RootEntityRef string         `json:"rootEntityRef"`
	Items         []AncestryItem `json:"items"`
}

// AncestryItem is an entity and what emitted it.
type AncestryItem struct {
	Entity           *Entity  `json:"entity"`
	ParentEntityRefs []string `json:"parentEntityRefs"`
}

// RefreshEntityInput asks for a source to be read again now.
type RefreshEntityInput struct {
	EntityRef string `json:"entityRef,omitempty" jsonschema:"refresh the source that this entity came from"`
	Source    string `json:"source,omitempty" jsonschema:"refresh this source"`
}

// RefreshResult is what the reading found.
type RefreshResult struct {
	Source  string `json:"source"`
	Commit  string `json:"commit,omitempty"`
	Changed int    `json:"changed"` // entities added, changed or removed
}

// ListIngestionErrorsInput narrows the report of problems.
type ListIngestionErrorsInput struct {
	Source string `json:"source,omitempty"`
	Owner  string `json:"owner,omitempty" jsonschema:"full reference of an owner, for example group:default/payments"`
	Limit  int    `json:"limit,omitempty" jsonschema:"1 to 500, default 100"`
	Cursor string `json:"cursor,omitempty"`
}

// ListProblemsInput narrows the report of problems further.
type ListProblemsInput struct {
	ListIngestionErrorsInput
	Severity string `json:"severity,omitempty" jsonschema:"only error or only warning"`
	Class    string `json:"class,omitempty" jsonschema:"only those of this name, for example ConflictError"`
}

// IngestionErrors is a page of problems, by source, file and line.
type IngestionErrors struct {
	Items      []IngestionError `json:"items"`
	Total      int              `json:"total"`
	NextCursor string           `json:"nextCursor,omitempty"`
}

// IngestionError is one problem of a catalog file or of a whole source.
type IngestionError struct {
	Problem
	Source string `json:"source"`
	// Owner is the owner of the entity concerned, else of the other entities
	// that the file holds or held; "" where nobody is known.
	Owner     string   `json:"owner,omitempty"`
	FirstSeen Sighting `json:"firstSeen"`
	LastSeen  Sighting `json:"lastSeen"`
}

// Sighting is when something was seen, and at which commit.
type Sighting struct {
	Commit string    `json:"commit,omitempty"`
	At     time.Time `json:"at"`
}

// ListSourcesInput asks for the state of all sources.
type ListSourcesInput struct{}

// Sources is the state of each source, in configured order.
type Sources struct {
	Items []SourceStatus `json:"items"`
}

// SourceStatus is how one source is doing.
type SourceStatus struct {
	Name string `json:"name"`
	Type string `json:"type"` // git, file, …
	URL  string `json:"url"`
	// State is pending (never read), ok, or failing (last good served).
	State    string   `json:"state"`
	Commit   string   `json:"commit,omitempty"`
	Error    string   `json:"error,omitempty"`
	Fix      string   `json:"fix,omitempty"`
	Checked  Sighting `json:"checked"`
	Changed  Sighting `json:"changed"`
	Files    int      `json:"files"`
	Entities int      `json:"entities"`
	Problems int      `json:"problems"`
	// Print is other where the problems are others, though as many.
	Print uint64 `json:"-"`
}

// ListLocationsInput asks for the registered locations.
type ListLocationsInput struct{}

// Locations are the registered locations and the configured roots, as
// Backstage names them.
type Locations struct {
	Items []LocationItem `json:"items"`
	// Registrable tells that locations can be registered.
	Registrable bool `json:"-"`
}

// LocationItem is one location.
type LocationItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Target string `json:"target"`
	// EntityRef is the Location that stands for a registered location; "" for
	// a configured root.
	EntityRef string `json:"entityRef,omitempty"`
	// Registered tells a registered location from a configured root.
	Registered bool `json:"-"`
	// Source is the source whose root it is; "" for a registered location.
	Source string `json:"-"`
}
