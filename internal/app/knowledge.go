package app

import (
	"context"

	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

// makeKnowledge makes the room of documents over the index that openState
// opened.
func (a *App) makeKnowledge() error {
	x, err := fts.New(context.Background(), a.local.Read, a.local.Write)
	if err != nil {
		return err
	}
	if a.knowledge, err = knowledge.New(knowledge.Config{Catalog: a.catalog, Index: x, Keeper: x, Logger: a.telemetry.log}); err != nil {
		return err
	}
	a.telemetry.gauge("fairlead_documents", "Documents that can be searched.", func() float64 { return float64(a.knowledge.Documents()) })
	return nil
}
