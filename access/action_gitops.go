package access

// The actions of proposed changes and of what is deployed. Each is done to the
// entity that a change is about, or that is deployed.
const (
	// ReadProposals is reading proposals and what has become of them.
	ReadProposals Action = "gitops.read"
	// ProposeChange is pushing a branch and opening its pull request.
	ProposeChange Action = "gitops.propose"
	// RunFleet is planning one change over many services, having it proposed for
	// them wave by wave, and stopping that. Each service's proposal is an act of
	// ProposeChange besides.
	RunFleet Action = "gitops.fleet"
	// ReadHealth is reading how a service is doing where it is deployed.
	ReadHealth Action = "gitops.health"
	// ReadChecks is reading how the checks of a commit went.
	ReadChecks Action = "gitops.checks"
	// LinkForge is linking one's own account at a forge, and taking that back. It
	// is done to no entity.
	LinkForge Action = "gitops.link"
)
