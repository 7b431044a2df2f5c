package catalog

// GetCoverageInput narrows the report of what is known of services.
type GetCoverageInput struct {
	Service string `json:"service,omitempty" jsonschema:"only this service, a reference or a bare name"`
	Owner   string `json:"owner,omitempty" jsonschema:"only services of this owner, a reference; a bare name is a group in the namespace default"`
	Type    string `json:"type,omitempty" jsonschema:"only components of this spec.type, for example service"`
	// Missing lists services that lack something; totals are of all of them.
	Missing string `json:"missing,omitempty" jsonschema:"list only services that lack this: owner, build, test, slo, runbook, oncall, deploy, or any"`
	Limit   int    `json:"limit,omitempty" jsonschema:"services per page, 1 to 500, default 100"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the page before"`
}

// CoverageState is how a thing is known.
type CoverageState string

// The states: stated in the catalog file, found in a repository, not known,
// and not to be expected of what only others run, such as a library.
const (
	CoverageDeclared CoverageState = "declared"
	CoverageInferred CoverageState = "inferred"
	CoverageMissing  CoverageState = "missing"
	CoverageNone     CoverageState = "none"
)

// Coverage is what is known of services: totals of all that were asked for, by
// team, and a page of the services by owner and name.
type Coverage struct {
	All        CoverageTotal     `json:"all"`
	Teams      []CoverageTotal   `json:"teams"`
	Items      []ServiceCoverage `json:"items"`
	Total      int               `json:"total"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// CoverageTotal counts the things that are to be known of the services of one
// owner, or of all.
type CoverageTotal struct {
	// Owner is the owner's reference, "" for all, and for services without one.
	Owner    string `json:"owner,omitempty"`
	Services int    `json:"services"`
	// Things is how many facts there should be: Declared, Inferred and Missing.
	Things   int `json:"things"`
	Declared int `json:"declared"`
	Inferred int `json:"inferred"`
	Missing  int `json:"missing"`
	// Stale is how many of those that are known may no longer hold.
	Stale int `json:"stale"`
	// Percent is how many in a hundred are known, rounded down.
	Percent int `json:"percent"`
}

// ServiceCoverage is what is known of one service.
type ServiceCoverage struct {
	Ref    string          `json:"ref"`
	Owner  string          `json:"owner,omitempty"`
	Type   string          `json:"type,omitempty"`
	Things []CoverageThing `json:"things"`
	// Add is what would declare all that is missing.
	Add []Addition `json:"add,omitempty"`

	entity *Entity
}

// CoverageThing is one thing that is to be known of a service: owner, build,
// test, slo, runbook, oncall or deploy.
type CoverageThing struct {
	Name  string        `json:"name"`
	State CoverageState `json:"state"`
	// Stale says why it may no longer hold.
	Stale string `json:"stale,omitempty"`
}

// Addition is what to add to a catalog file. Its values are examples: they are
// to be replaced by those that hold.
type Addition struct {
	// Things are what it declares.
	Things []string `json:"things"`
	Repo   string   `json:"repo,omitempty"`
	File   string   `json:"file,omitempty"`
	// Line is the line behind which Lines go, 0 where it is not known. With a
	// Column, Lines go into that line instead, in front of that column, for
	// what is written in braces.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Lines are the text to add, indented as the file is.
	Lines string `json:"lines"`
}
