package mcp

import (
	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/secrets"
)

// secretsTools are the tools of credentials on loan; none where there is no
// room. No tool gives a credential, or what opens one.
func (d *door) secretsTools() []entry {
	s := d.Secrets
	if s == nil {
		return nil
	}
	const set = "secrets"
	return []entry{
		tool(d, "list_credentials", "List leases", "Lists credentials on loan, newest first: who holds which, until when, for what. No values.",
			access.ReadCredentials, s.List, renderLeases, traits[secrets.ListInput, secrets.Page]{toolset: set, less: fewerLeases}),
		tool(d, "request_credentials", "Borrow a credential", "Borrows a service's credential. You get a lease, never a value: run what needs it with `fairlead creds exec --lease LEASE -- CMD`.",
			access.RequestCredentials, s.Request, renderRequested, traits[secrets.RequestInput, secrets.Lease]{toolset: set}),
		tool(d, "revoke_credentials", "Give a credential back", "Ends a lease now; the credential stops working.",
			access.RevokeCredentials, s.Revoke, renderLease, traits[secrets.RevokeInput, secrets.Lease]{toolset: set,
				confirm: func(in *secrets.RevokeInput) string { return "End the lease " + oneLine(in.Lease) + "?" }}),
	}
}

func addLease(l *lines, r *secrets.Lease) {
	l.add("%s", joined(r.Lease, r.Name, prefixed("of", r.Service), prefixed("in", r.Environment), string(r.State), prefixed("until", r.ExpiresAt), prefixed("held by", r.Person), r.Agent))
	l.field("  reason", oneLine(r.Reason))
}

func renderLease(r *secrets.Lease) string {
	var l lines
	addLease(&l, r)
	return l.String()
}

func renderRequested(r *secrets.Lease) string {
	var l lines
	addLease(&l, r)
	if r.State == secrets.Live && r.Wrapping != secrets.WrappingOpened {
		l.field("use", "fairlead creds exec --lease "+r.Lease+" -- CMD")
	}
	return l.String()
}

func renderLeases(page *secrets.Page) string {
	var l lines
	if len(page.Items) == 0 {
		l.add("no leases")
	}
	for i := range page.Items {
		addLease(&l, &page.Items[i])
	}
	l.field("next_cursor", page.NextCursor)
	return l.String()
}

func fewerLeases(in *secrets.ListInput, out *secrets.Page) bool {
	in.Limit = len(out.Items) / 2
	return in.Limit > 0
}
