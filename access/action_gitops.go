package access

// The actions of proposed changes. Each is done to the entity that a change is
// about.
const (
	// ReadProposals is reading proposals and what has become of them.
	ReadProposals Action = "gitops.read"
	// ProposeChange is pushing a branch and opening its pull request.
	ProposeChange Action = "gitops.propose"
)
