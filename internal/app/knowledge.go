package app

import (
	"context"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/catalog/ingest"
	"github.com/fairlead-dev/fairlead/knowledge"
	"github.com/fairlead-dev/fairlead/knowledge/external"
	"github.com/fairlead-dev/fairlead/knowledge/fts"
)

// KnowledgeConfig says what is searched beside the catalog.
type KnowledgeConfig struct {
	// Code bounds the search for code.
	Code knowledge.CodeConfig `yaml:"code"`
	// External are the providers outside that callers may have asked; none
	// are if it is left out.
	External []external.Config `yaml:"external"`
}

func (c *Config) checkKnowledge(k *checker) {
	for _, p := range c.Knowledge.Code.Validate() {
		k.add("knowledge.code."+p.Field, "%s", p.Message)
	}
	for _, p := range external.Validate(c.Knowledge.External) {
		k.add("knowledge.external"+p.Field, "%s", p.Message)
	}
}

// makeKnowledge makes the room of documents and code over the indexes that
// openState opened.
func (a *App) makeKnowledge(ctx context.Context, guard *access.Guard) error {
	var err error
	a.words, err = fts.New(ctx, a.local.Read, a.local.Write, a.local.Scratch)
	if err != nil {
		return err
	}
	log := a.telemetry.log
	if a.localCode != nil {
		y, err := fts.NewCode(ctx, a.localCode.Read, a.localCode.Write)
		if err != nil {
			return err
		}
		a.code = knowledge.NewCode(a.cfg.Knowledge.Code, y, y, log)
		a.telemetry.gauge("fairlead_code_files", "Files of code that can be searched.", func() float64 { n, _ := a.code.Files(); return float64(n) })
		a.telemetry.gauge("fairlead_code_bytes", "Bytes of code that can be searched.", func() float64 { _, n := a.code.Files(); return float64(n) })
	}
	c := knowledge.Config{Catalog: a.catalog, Index: a.words, Keeper: a.words, Code: a.code, Guard: guard, Logger: log}
	if len(a.cfg.Knowledge.External) > 0 {
		c.External = external.New(a.cfg.Knowledge.External, a.cfg.dir, log)
	}
	if a.knowledge, err = knowledge.New(c); err != nil {
		return err
	}
	a.telemetry.gauge("fairlead_documents", "Documents that can be searched.", func() float64 { return float64(a.knowledge.Documents()) })
	return nil
}

// followers read more of sources than their catalog files.
func (a *App) followers() []ingest.Follower {
	out := []ingest.Follower{a.findings, a.knowledge}
	if a.code != nil {
		out = append(out, a.code)
	}
	return out
}

// keepWarm reads common words of documents before anybody asks.
func (a *App) keepWarm(ctx context.Context) error {
	if err := a.words.KeepWarm(ctx); err != nil {
		a.telemetry.log.WarnContext(ctx, "common words of documents could not be read ahead: the first question with one takes longer", "error", err)
	}
	return nil
}

// restoreKnowledge brings back what was kept of documents and code.
func (a *App) restoreKnowledge(ctx context.Context) error {
	if err := a.knowledge.Restore(ctx); err != nil || a.code == nil {
		return err
	}
	return a.code.Restore(ctx)
}
