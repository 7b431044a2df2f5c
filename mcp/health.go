package mcp

import (
	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/gitops"
)

// ciTools are the tools of checks; none where no forge tells of them.
func (d *door) ciTools() []entry {
	if d.CI == nil {
		return nil
	}
	return []entry{
		tool(d, "get_ci_status", "CI of a commit", "How the checks of a service's commit went, and what failed.",
			access.ReadChecks, d.CI.GetCIStatus, (*gitops.CIStatus).Text, traits[gitops.GetCIStatusInput, gitops.CIStatus]{toolset: "gitops", bounded: true}),
	}
}

// healthTools are the tools of what is deployed; none where nothing is known of
// that.
func (d *door) healthTools() []entry {
	if d.Health == nil {
		return nil
	}
	return []entry{
		tool(d, "get_deployment_health", "Health of a deployment", "Whether a service is well where it is deployed, and on what grounds: wanted and live revision, what is not well, SLOs, alerts. After a deploy give its revision and ask until it no longer is progressing.",
			access.ReadHealth, d.Health.GetDeploymentHealth, (*gitops.DeploymentHealth).Text, traits[gitops.GetDeploymentHealthInput, gitops.DeploymentHealth]{toolset: "gitops", bounded: true}),
	}
}
