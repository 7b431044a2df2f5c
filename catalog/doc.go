// Package catalog is the room of what exists: Backstage entities read from
// Git, kept as one immutable snapshot, and every question that can be asked
// about them.
package catalog

import "github.com/fairlead-dev/fairlead/catalog/entity"

// The vocabulary of the catalog, defined in package entity.
type (
	Entity     = entity.Entity
	Ref        = entity.Ref
	Problem    = entity.Problem
	Provenance = entity.Provenance
)
