package app

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/fairlead-dev/fairlead/gitops"
	"github.com/fairlead-dev/fairlead/internal/argo/instance"
	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/git"
	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// ArgoClient is one Argo CD, as the rooms ask it.
type ArgoClient interface {
	ArgoPreviews
	gitops.ArgoCD
	io.Closer
}

// ArgoPreviews is what previews by an Argo CD need of it.
type ArgoPreviews interface {
	argocd.Applications
	argocd.Resources
	argocd.Lister
}

// ArgoDialer connects to Argo CDs. The program gives it to the configuration,
// so that nothing else links Argo CD's client.
type ArgoDialer struct {
	// Dial makes a client; nothing is sent yet.
	Dial func(cfg instance.Config) (ArgoClient, error)
	// Reach makes a client of the cluster that KubeconfigFile names.
	Reach func(cfg instance.Config) (ArgoCluster, error)
}

// ArgoCluster is the cluster that one Argo CD deploys previews to.
type ArgoCluster interface {
	argocd.Cluster
	argocd.Secrets
	argocd.Finder
}

// guardsPath is where the guards of previews are served, a Git repository.
const guardsPath = "/previews/guards.git"

// completeArgoCD resolves the files of Argo CDs.
func (c *Config) completeArgoCD() {
	for i := range c.ArgoCD {
		c.ArgoCD[i].In(c.dir)
	}
}

func (c *Config) checkArgoCD(k *checker) {
	names := map[string]bool{}
	for i := range c.ArgoCD {
		at := fmt.Sprintf("argocd[%d]", i)
		for _, p := range c.ArgoCD[i].Validate() {
			k.add(at+"."+p.Field, "%s", p.Message)
		}
		if name := c.ArgoCD[i].Name; names[name] {
			k.add(at+".name", "another Argo CD is called %q", name)
		} else {
			names[name] = true
		}
	}
	if c.Previews == nil {
		return
	}
	if d := c.Previews.Deployers.ArgoCD; d != nil {
		checkArgoPreviews(k, "previews.deployers.argocd", d.Instance, d.Validate(), names)
		c.checkGuards(k, "previews.deployers.argocd", d.Guards)
	}
	if d := c.Previews.Deployers.GitOps; d != nil {
		checkArgoPreviews(k, "previews.deployers.gitops", d.Instance, d.Validate(), names)
		c.checkGuards(k, "previews.deployers.gitops", d.Guards)
		d.check(k)
	}
}

// checkArgoPreviews adds what is wrong with a deployer that previews by Argo
// CD.
func checkArgoPreviews(k *checker, at, named string, ps []argocd.Problem, names map[string]bool) {
	for _, p := range ps {
		k.add(at+"."+p.Field, "%s", p.Message)
	}
	switch {
	case len(names) == 0:
		k.add(at, "no Argo CD is configured; add the section argocd: [{name: main, server: argocd.example.com, tokenFile: …}]")
	case named != "" && !names[named]:
		k.add(at+".instance", "no Argo CD of the section argocd is called %q", named)
	}
}

// checkGuards adds where replicas would each write another place of the guards
// into the same application.
func (c *Config) checkGuards(k *checker, at string, g argocd.Guards) {
	if isPostgres(c.State) && c.PublicURL == "" && g.Repository == "" {
		k.add(at+".guards", "with the state in PostgreSQL there may be several replicas, and each would have Argo CD read the guards of previews from itself; set publicURL, by which Argo CD reaches any of them, or name a repository here: guards: {repository: …}")
	}
}

// openArgoCD makes the clients of all Argo CDs; nothing is sent.
func (a *App) openArgoCD() error {
	if len(a.cfg.ArgoCD) == 0 {
		return nil
	}
	if a.cfg.Argo == nil {
		return fault.New(fault.FailedPrecondition, "this program is built without Argo CD's client").WithFix("Use fairleadd, or leave the section argocd out of the configuration.")
	}
	a.argo, a.deployments = map[string]*argocd.Instance{}, map[string]gitops.ArgoCD{}
	for _, cfg := range a.cfg.ArgoCD {
		client, err := a.cfg.Argo.Dial(cfg)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, client.Close)
		i := &argocd.Instance{Applications: client, Resources: client, Lister: client, Project: cfg.Project, URL: cfg.URL()}
		if cfg.KubeconfigFile != "" {
			cluster, err := a.cfg.Argo.Reach(cfg)
			if err != nil {
				return err
			}
			i.Cluster, i.Secrets, i.Finder = cluster, cluster, cluster
		}
		a.argo[cfg.Name], a.deployments[cfg.Name] = i, client
	}
	return nil
}

// argoPreviews makes the deployer that previews by Argo CD.
func (a *App) argoPreviews(ctx context.Context, cfg argocd.Config) (*argocd.Deployer, error) {
	return a.argoDeployer(ctx, "argocd", cfg, a.argo)
}

// argoDeployer makes a deployer of a name over instances of Argo CD. What it
// makes is marked as this installation's, and as that deployer's: what one
// writes in Argo CD and the other in a repository is not removed the same way.
func (a *App) argoDeployer(ctx context.Context, name string, cfg argocd.Config, instances map[string]*argocd.Instance) (*argocd.Deployer, error) {
	installation, err := a.store.Installation(ctx)
	if err != nil {
		return nil, err
	}
	if a.guards == nil {
		files, err := argocd.GuardFiles()
		if err != nil {
			return nil, err
		}
		if a.guards, err = git.NewFixed(files); err != nil {
			return nil, err
		}
	}
	return argocd.New(cfg, argocd.Options{Instances: instances, Mark: installation + "." + name, Logger: a.telemetry.log, Guards: func() (string, string) {
		public := a.cfg.PublicURL
		if public == "" {
			public = a.URL()
		}
		return public + guardsPath, a.guards.Commit()
	}})
}

// serveGuards lets Argo CD read what guards previews. Nothing of it is secret:
// it is the same for everybody, and names no preview.
func (a *App) serveGuards(mux *http.ServeMux) {
	if a.guards == nil {
		return
	}
	mux.Handle("GET "+guardsPath+"/info/refs", a.guards)
	mux.Handle("POST "+guardsPath+"/git-upload-pack", a.guards)
}
