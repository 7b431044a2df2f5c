package access

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Credential is what a request shows of who sends it.
type Credential struct {
	// Bearer is the token of the Authorization header, "" if there is none.
	Bearer string
	// Loopback tells that the request came over the loopback interface.
	Loopback bool
}

// CredentialOf reads the credential of an HTTP request.
func CredentialOf(r *http.Request) Credential {
	var c Credential
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		ip := net.ParseIP(host)
		c.Loopback = ip != nil && ip.IsLoopback()
	}
	return c
}

// Authenticator tells who shows a credential.
type Authenticator struct{}

// Authenticate makes the Caller that a credential stands for, or an
// unauthenticated fault.
func (a *Authenticator) Authenticate(_ context.Context, _ Credential) (Caller, error) {
	return Caller{}, fault.New(fault.Unauthenticated, "no credential")
}
