package app

import (
	"github.com/fairlead-dev/fairlead/gitops"
)

// makeCI opens what tells of checks, where there is a forge that does.
func (a *App) makeCI(repos *proposalRepos) (err error) {
	cfg := gitops.CIConfig{Policy: a.cfg.policy, Catalog: a.catalog, Locate: repos.Locate, Forges: map[string]gitops.CI{}}
	for _, f := range a.forges {
		cfg.Forges[f.name] = f.client
	}
	if a.cfg.ci != nil {
		a.cfg.ci(&cfg)
	}
	if len(cfg.Forges) == 0 {
		return nil
	}
	if a.ci, err = gitops.NewCI(cfg); err == nil {
		a.closers = append(a.closers, a.ci.Close)
	}
	return err
}
