package mcp

import (
	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
)

// healthTools are the tools of what is deployed; none where nothing is known of
// that.
func (d *door) healthTools() []entry {
	if d.Health == nil {
		return nil
	}
	return []entry{
		tool(d, "get_deployment_health", "Health of a deployment", "Tells what is wanted and live in an environment, and whether it is well: verdict, grounds, what is not well, SLOs, alerts. After a deploy give the revision and ask until it is not progressing.",
			access.ReadHealth, d.Health.GetDeploymentHealth, (*gitops.DeploymentHealth).Text, traits[gitops.GetDeploymentHealthInput, gitops.DeploymentHealth]{toolset: "gitops", bounded: true}),
	}
}
