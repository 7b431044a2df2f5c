package backstage

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const howToken = "To make one, add under backend.auth.externalAccess of its app-config.yaml an entry " +
	"{type: static, options: {token: …, subject: fairlead}, accessRestrictions: [{plugin: catalog}]}, and write the same token into %s."

// explain says which step failed and how to put it right. The end of the
// caller's own context is told as it is.
func (s *Source) explain(ctx context.Context, step string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f), errors.Is(err, errClosed):
		return err
	}
	if f = s.explainAnswer(step, err); f == nil {
		f = s.explainNetwork(step, err)
	}
	return f.Because(err)
}

func (s *Source) explainAnswer(step string, err error) *fault.Error {
	var status *statusError
	var alien *alienError
	var token *tokenError
	var odd *strangeError
	switch {
	case errors.As(err, &status):
		return s.explainStatus(step, status)
	case errors.As(err, &alien):
		return fault.New(fault.FailedPrecondition, "%s %s: the server redirects to %s, which is not followed because it is another host", step, s.desc.URL, alien.to).
			WithFix("If the back end is there now, write that URL. If it is a page to sign in at, name an address of the back end that is not behind it.")
	case errors.As(err, &token):
		return fault.New(fault.FailedPrecondition, "%s %s: %v", step, s.desc.URL, token).
			WithFix("Put one token there, on one line, and let the user that Fairlead runs as read it.")
	case errors.As(err, &odd):
		return fault.New(fault.FailedPrecondition, "%s %s: this does not answer as the catalog of a Backstage: %s", step, s.desc.URL, odd.what).
			WithFix("Check that url is the base of the back end (backend.baseUrl), not that of the pages, and that nothing between here and there changes its answers.")
	}
	return nil
}

func (s *Source) explainStatus(step string, e *statusError) *fault.Error {
	where := s.credentials.String()
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		what := "the back end refuses the token of " + where
		if !s.credentials.set() {
			what = "the back end asks for a token, and none is configured"
		}
		return fault.New(fault.FailedPrecondition, "%s %s: %s (HTTP %d)", step, s.desc.URL, what, e.status).
			WithFix("Use a token that the Backstage accepts and that may read the catalog. "+howToken, where)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return fault.New(fault.NotFound, "%s %s: this is not a Backstage catalog, or it is older than 1.13 (HTTP %d)", step, s.desc.URL, e.status).
			WithFix("Correct url: the base of the back end, such as https://backstage.example.com, or that of its catalog, which ends in /api/catalog.")
	case http.StatusBadRequest:
		return fault.New(fault.FailedPrecondition, "%s %s: the back end does not understand the question (HTTP 400)", step, s.desc.URL).
			WithFix("Check filter of the source: each is written as in Backstage, for example kind=component,spec.type=service.")
	}
	f := fault.New(fault.Unavailable, "%s %s: the back end answers with HTTP %d", step, s.desc.URL, e.status).
		WithFix("It is tried again; look at the logs of the Backstage if it stays so.")
	if e.retryAfter > 0 {
		f = f.After(e.retryAfter)
	}
	return f
}

func (s *Source) explainNetwork(step string, err error) *fault.Error {
	var host *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &host):
		return fault.New(fault.Unavailable, "%s %s: the host's address cannot be found", step, s.desc.URL).WithFix("Correct the URL, or check the name service.")
	case errors.As(err, &certificate), errors.As(err, &authority):
		return fault.New(fault.FailedPrecondition, "%s %s: the server's certificate is not trusted", step, s.desc.URL).
			WithFix("Add its authority to the system's certificates, or name a bundle by the environment variable SSL_CERT_FILE.")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return fault.New(fault.FailedPrecondition, "%s %s: the server does not speak TLS", step, s.desc.URL).WithFix("Correct the URL's scheme or port.")
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "%s %s: there was no whole answer within %s", step, s.desc.URL, s.limits.Timeout).
			WithFix("Look at the Backstage's health; raise limits.timeout of the source if it needs that long.")
	}
	return fault.New(fault.Unavailable, "%s %s: the server cannot be reached, or the connection broke", step, s.desc.URL).
		WithFix("Check that the back end is up and can be reached from here; it is tried again.")
}
