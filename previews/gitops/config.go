package gitops

import (
	"strings"

	"github.com/fairlead-dev/fairlead/previews/argocd"
)

// Config is the section gitops of the configuration of previews, beside the
// repository itself.
type Config struct {
	// Folder is where the files are; default previews.
	Folder string `yaml:"folder"`
	// Namespace is the one that Argo CD keeps its applications in; default
	// argocd.
	Namespace string `yaml:"namespace"`
	// Config is what previews by Argo CD take.
	argocd.Config `yaml:",inline"`
}

// Validate tells everything that is wrong with the section.
func (c *Config) Validate() []argocd.Problem {
	ps := c.Config.Validate()
	if strings.HasPrefix(c.Folder, "/") || strings.Contains("/"+c.Folder+"/", "/../") {
		ps = append(ps, argocd.Problem{Field: "folder", Message: "it is no folder of the repository"})
	}
	return ps
}
