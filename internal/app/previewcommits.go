package app

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/previews/argocd"
	"github.com/fairlead-dev/fairlead/previews/gitops"
)

// GitOpsPreviews are previews by commits.
type GitOpsPreviews struct {
	// CommitTo is the repository that applications are written to, with ref the
	// branch and credentials that may push to it; repository is where manifests
	// are, as of the deployer argocd.
	CommitTo git.SourceConfig `yaml:"commitTo"`
	// Config is what the deployer takes besides.
	gitops.Config `yaml:",inline"`
}

// check adds what is wrong with the repository.
func (g *GitOpsPreviews) check(k *checker) {
	const at = "previews.deployers.gitops.commitTo"
	for _, p := range g.CommitTo.Validate() {
		k.add(at+"."+p.Field, "%s", p.Message)
	}
	if g.CommitTo.Ref == "" {
		k.add(at+".ref", "the branch that Argo CD watches is missing; write for example main")
	}
}

// gitOpsPreviews makes the deployer that previews by commits. Argo CD is read
// for what becomes of them.
func (a *App) gitOpsPreviews(ctx context.Context, cfg GitOpsPreviews) (*argocd.Deployer, error) {
	src, err := git.NewSource("previews", cfg.CommitTo, filepath.Join(a.cfg.Cache, "git", "gitops-previews"), a.cfg.dir, a.fetches)
	if err != nil {
		return nil, err
	}
	files := src.Files(cfg.CommitTo.Ref, git.Signature{Name: "Fairlead", Email: "fairlead@localhost"})
	instances := make(map[string]*argocd.Instance, len(a.argo))
	for name, i := range a.argo {
		by := *i
		by.Applications = gitops.Over(files, cmp.Or(cfg.Folder, "previews"), cmp.Or(cfg.Namespace, "argocd"), i.Applications)
		instances[name] = &by
	}
	return a.argoDeployer(ctx, "gitops", cfg.Config.Config, instances)
}
