package access

// The actions of credentials on loan. Each is done to the service that lends
// one.
const (
	// ReadCredentials is reading who holds which lease; what is lent is in none
	// of that. Whoever holds one sees it without a rule.
	ReadCredentials Action = "secrets.read"
	// RequestCredentials is having a credential issued.
	RequestCredentials Action = "secrets.request"
	// CollectCredentials is being handed what opens a credential's wrapping. No
	// rule lets anybody collect what another person holds.
	CollectCredentials Action = "secrets.collect"
	// RenewCredentials is putting off a lease's end.
	RenewCredentials Action = "secrets.renew"
	// RevokeCredentials is having a lease taken back. Whoever holds one may do
	// it without a rule.
	RevokeCredentials Action = "secrets.revoke"
	// RevealCredentials is being told a credential's values in the answer.
	RevealCredentials Action = "secrets.plain"
)
