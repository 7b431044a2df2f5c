package access

// Action names what an operation does; policy, quota and audit speak of it,
// and what clients are told of an operation follows from it.
type Action string

// The actions of the catalog and of access itself.
const (
	// ReadCatalog is reading entities, their relations, errors and sources.
	ReadCatalog Action = "catalog.read"
	// RefreshCatalog is asking a source to be read again now.
	RefreshCatalog Action = "catalog.refresh"
	// RegisterCatalog is having a further catalog file read, or trying that.
	RegisterCatalog Action = "catalog.register"
	// UnregisterCatalog is taking back such a file and the entities that it
	// gave.
	UnregisterCatalog Action = "catalog.unregister"
	// ReadApprovals is reading requests for approval: those of others that one
	// is not asked to decide on.
	ReadApprovals Action = "approvals.read"
	// DecideApprovals is granting and denying requests for approval. Whom a
	// request names may do it without a rule that allows it, but not against
	// one that denies it.
	DecideApprovals Action = "approvals.decide"
	// ReadAudit is reading the record of acts.
	ReadAudit Action = "audit.read"
	// ReadSelf is asking who one is.
	ReadSelf Action = "self.read"
	// ReadSchema is asking for the schema of GraphQL itself.
	ReadSchema Action = "schema.read"
)

// Actions are all actions there are, in a fixed order.
func Actions() []Action {
	return []Action{ReadCatalog, RefreshCatalog, RegisterCatalog, UnregisterCatalog, SearchExternal,
		ReadPreviews, CreatePreview, ExtendPreview, DeletePreview, ForcePreview, ReadStrays, SweepPreviews,
		ReadCredentials, RequestCredentials, CollectCredentials, RenewCredentials, RevokeCredentials, RevealCredentials,
		ReadProposals, ProposeChange, RunFleet, ReadHealth, ReadChecks, LinkForge, ReadApprovals, DecideApprovals, ReadAudit, ReadSelf, ReadSchema}
}

// Effect is what an action does to the world, in the terms of MCP's hints.
type Effect struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may remove or overwrite
	Idempotent  bool // doing it twice is doing it once
	Open        bool // reaches somebody outside, whom nobody here answers for
}

// Effect tells what the action does; an action nobody has described counts
// as the worst.
func (a Action) Effect() Effect {
	switch a {
	case ReadCatalog, ReadPreviews, ReadStrays, ReadCredentials, ReadProposals, ReadHealth, ReadChecks, ReadApprovals, ReadAudit, ReadSelf, ReadSchema:
		return Effect{ReadOnly: true, Idempotent: true}
	case RefreshCatalog, ProposeChange, RunFleet:
		return Effect{Idempotent: true}
	case SearchExternal:
		return Effect{Idempotent: true, Open: true}
	case RegisterCatalog, CreatePreview, ExtendPreview, RequestCredentials, CollectCredentials, RenewCredentials, RevealCredentials, LinkForge, DecideApprovals:
		return Effect{}
	case UnregisterCatalog, DeletePreview, ForcePreview, SweepPreviews, RevokeCredentials:
		return Effect{Destructive: true, Idempotent: true}
	default:
		return Effect{Destructive: true}
	}
}
