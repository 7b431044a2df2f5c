package ingest

import (
	"context"

	"github.com/fairlead-dev/fairlead/catalog"
	"github.com/fairlead-dev/fairlead/catalog/descriptor"
	"github.com/fairlead-dev/fairlead/catalog/entity"
)

var _ catalog.Checker = (*Ingester)(nil)

// Check tells what is wrong with an entity as if it stood at a URL, by what
// holds for the files of all sources.
func (in *Ingester) Check(ctx context.Context, at string, root *entity.Object) []entity.Problem {
	return in.processor.Check(ctx, descriptor.Location{Type: descriptor.TypeURL, Target: at}, root)
}

// Forge is the software that serves a host, "" where nothing is known of it.
func (in *Ingester) Forge(host string) string { return in.processor.Forge(host) }
