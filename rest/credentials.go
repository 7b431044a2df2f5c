package rest

import "github.com/fairlead-dev/fairlead/access"

// credentials are the routes of credentials on loan. What opens a credential's
// wrapping is given here alone.
func (d *door) credentials() []route {
	s := d.Secrets
	return []route{
		at("GET /api/v1/credentials", "list_credentials", "The leases that you hold or may see, newest first", access.ReadCredentials, s.List),
		at("POST /api/v1/credentials", "request_credentials", "Borrow a credential; its holder is given what opens its wrapping, once", access.RequestCredentials, s.Borrow),
		at("POST /api/v1/credentials/revoke-all", "revoke_all_credentials", "End all leases of a person, an agent or a service", access.RevokeCredentials, s.RevokeAll),
		at("GET /api/v1/credentials/{lease}", "get_credentials", "One lease", access.ReadCredentials, s.Get),
		at("DELETE /api/v1/credentials/{lease}", "revoke_credentials", "End a lease now", access.RevokeCredentials, s.Revoke),
		at("POST /api/v1/credentials/{lease}/renew", "renew_credentials", "Have a lease live longer", access.RenewCredentials, s.Renew),
		at("POST /api/v1/credentials/{lease}/wrap", "collect_credentials", "Give the holder of a lease what opens its wrapping", access.CollectCredentials, s.Collect),
		at("POST /api/v1/credentials/{lease}/opened", "confirm_credentials", "Say that you, its holder, have opened the wrapping", access.CollectCredentials, s.Confirm),
		at("POST /api/v1/credentials/{lease}/alarm", "report_credentials", "Say that somebody else has opened the wrapping; the lease ends", access.RevokeCredentials, s.Report),
		at("POST /api/v1/credentials/{lease}/beat", "beat_credentials", "Say that a lease bound to a session is still wanted", access.ReadCredentials, s.Beat),
		at("POST /api/v1/credentials/{lease}/plain", "reveal_credentials", "Tell the holder of a lease its values, where policy allows that", access.RevealCredentials, s.Reveal),
	}
}
