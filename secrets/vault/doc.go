// Package vault lends credentials from HashiCorp Vault. It is the only user of
// Vault's client library, whose environment variables mean nothing here.
//
// Each credential hangs on a token of its own, its account: an orphan by the
// token role that Config.TokenRole names, with the policies of the service that
// it is for, metadata that tells Vault's audit for whom, and an end that nothing
// moves. To revoke the account is to revoke all that was drawn with it. Fairlead
// draws credentials wrapped, and so does not see them.
//
// Fairlead's own token needs little: to make and renew tokens by that role, to
// look at and revoke tokens by their accessors, and to read roles of engines, so
// that it knows how long their credentials live. It can draw no credential.
package vault
