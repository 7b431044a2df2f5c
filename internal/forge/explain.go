package forge

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// Explain turns what went wrong into words that name the step and the host,
// and say what to do. A fault stays what it is. What the host said goes to the
// logs alone.
func (w Wire) Explain(step string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	}
	for _, explain := range []func(string, error) *fault.Error{w.explainStatus, w.explainOwn, w.explainNetwork} {
		if f := explain(step, err); f != nil {
			return f.Because(err)
		}
	}
	if errors.Is(err, context.Canceled) {
		return fault.From(err)
	}
	return fault.New(fault.Unavailable, "%s: %s does not answer as it should", step, w.Host).
		WithFix("Check that the address is that of the forge, and that nothing between here and there changes its answers.").Because(err)
}

// explainLent is for what a person's own account meets with.
func (w Wire) explainLent(step string, status *StatusError) *fault.Error {
	c := w.Credentials
	switch {
	case c.whose == "" || status.Limited:
	case status.Status == http.StatusUnauthorized:
		return fault.New(fault.FailedPrecondition, "%s: %s refuses %s: it was revoked, or has expired (HTTP 401)", step, w.Host, c).
			WithFix("Link the account anew: fairlead login --forge %s. Or have proposals made by Fairlead's own account again: fairlead login --forge %s --unlink.", c.forge, c.forge)
	case status.Status == http.StatusForbidden:
		return fault.New(fault.FailedPrecondition, "%s: %s does not allow that to %s (HTTP 403)", step, w.Host, c).
			WithFix("Ask for the right to do it there. Or have proposals made by Fairlead's own account: fairlead login --forge %s --unlink.", c.forge)
	}
	return nil
}

func (w Wire) explainStatus(step string, err error) *fault.Error {
	var status *StatusError
	if !errors.As(err, &status) {
		return nil
	}
	if f := w.explainLent(step, status); f != nil {
		return f
	}
	switch {
	case status.Limited:
		f := fault.New(fault.QuotaExceeded, "%s: %s refuses more requests for now (HTTP %d)", step, w.Host, status.Status).
			WithFix("Nothing is lost; it is tried again. If it happens often, lower limits.requestsPerMinute or configure webhooks.")
		return after(f, status.RetryAfter)
	case status.Status == http.StatusUnauthorized && !w.Credentials.Set():
		return fault.New(fault.Unauthenticated, "%s: %s asks for credentials, and none are configured", step, w.Host).
			WithFix("Name a token by credentials.tokenFile or credentials.tokenEnv.")
	case status.Status == http.StatusUnauthorized:
		return fault.New(fault.Unauthenticated, "%s: %s refuses the token: it is wrong, expired or revoked (HTTP 401); it comes from %s", step, w.Host, w.Credentials).
			WithFix("Put a valid token into %s; it is read anew for each request, so nothing needs a restart but environment variables.", w.Credentials)
	case status.Status == http.StatusForbidden && status.Header("X-Github-Sso") != "":
		return fault.New(fault.Forbidden, "%s: the organization at %s wants the token authorized for its single sign-on; it comes from %s", step, w.Host, w.Credentials).
			WithFix("Authorize the token for the organization in the forge's settings of tokens.")
	case status.Status == http.StatusForbidden:
		return fault.New(fault.Forbidden, "%s: %s does not allow that with %s (HTTP 403)", step, w.Host, w.Credentials).
			WithFix("Use a token that may read the organization's repositories and their metadata.")
	case status.Status == http.StatusNotFound:
		return fault.New(fault.NotFound, "%s: %s has no such thing, or hides it from %s (HTTP 404)", step, w.Host, w.Credentials).
			WithFix("Correct the name, or use a token that may see it.")
	case status.Status >= http.StatusInternalServerError:
		return after(fault.New(fault.Unavailable, "%s: %s is in trouble (HTTP %d)", step, w.Host, status.Status).
			WithFix("It is tried again; look at the forge if it stays."), status.RetryAfter)
	}
	return fault.New(fault.Unavailable, "%s: %s does not take the request (HTTP %d)", step, w.Host, status.Status).
		WithFix("Check that the address is that of the forge's API.")
}

func after(f *fault.Error, d time.Duration) *fault.Error {
	if d > 0 {
		return f.After(d)
	}
	return f
}

func (w Wire) explainOwn(step string, err error) *fault.Error {
	var credential *credentialError
	var alien *alienError
	switch {
	case errors.As(err, &credential):
		return fault.New(fault.Unauthenticated, "%s at %s: %v", step, w.Host, credential).
			WithFix("Put a token there that the user who runs Fairlead may read.")
	case errors.As(err, &alien):
		return fault.New(fault.FailedPrecondition, "%s: %s leads to %s, which is not followed because it is another host", step, w.Host, alien.to).
			WithFix("If that is where the forge is now, write that address in the configuration.")
	case errors.As(err, new(tooMuchError)):
		return fault.New(fault.FailedPrecondition, "%s: an answer of %s exceeds %d bytes", step, w.Host, maxAnswer).
			WithFix("Check that the address is that of the forge's API.")
	}
	return nil
}

func (w Wire) explainNetwork(step string, err error) *fault.Error {
	var unknownHost *net.DNSError
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var op net.Error
	switch {
	case errors.As(err, &unknownHost):
		return fault.New(fault.Unavailable, "%s: the address of %s cannot be found", step, w.Host).WithFix("Correct the address, or check the name service.")
	case errors.As(err, &certificate), errors.As(err, &authority):
		return fault.New(fault.FailedPrecondition, "%s: the certificate of %s is not trusted", step, w.Host).
			WithFix("Add its authority to the system's certificates, or name a bundle by the environment variable SSL_CERT_FILE.")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &op) && op.Timeout():
		return fault.New(fault.Unavailable, "%s: %s did not answer in time", step, w.Host).WithFix("It is tried again; raise limits.timeout if the forge is slow.")
	case errors.As(err, new(*net.OpError)):
		return fault.New(fault.Unavailable, "%s: %s cannot be reached, or the connection broke", step, w.Host).WithFix("Check that it is up and can be reached from here; it is tried again.")
	}
	return nil
}

// maxSaid bounds what is shown of what a host says, in characters.
const maxSaid = 200

// ExplainWrite is Explain for requests that change something: what the host
// refuses is told in its own words, clipped.
func (w Wire) ExplainWrite(step string, err error) error {
	var status *StatusError
	if !errors.As(err, &status) || status.Limited {
		return w.Explain(step, err)
	}
	if f := w.explainLent(step, status); f != nil {
		return f.Because(err)
	}
	switch status.Status {
	case http.StatusForbidden:
		return fault.New(fault.FailedPrecondition, "%s: %s does not allow that with %s (HTTP 403)", step, w.Host, w.Credentials).
			WithFix("Use a token that may write to the repository and to its pull requests.").Because(err)
	case http.StatusUnauthorized:
		f := fault.From(w.Explain(step, err))
		return fault.New(fault.FailedPrecondition, "%s", f.Message).WithFix("%s", f.Fix).Because(err)
	case http.StatusConflict, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLocked:
		return fault.New(fault.FailedPrecondition, "%s: %s refuses: %s", step, w.Host, said(status.Said)).
			WithFix("Put right what the forge says; rules of the repository may stand against it.").Because(err)
	}
	return w.Explain(step, err)
}

// said is what a host says in an answer that is no success, as one line.
func said(body string) string {
	var in struct {
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal([]byte(body), &in); err == nil {
		body = strings.Trim(string(in.Message)+" "+string(in.Error)+" "+string(in.Errors), " ")
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(body, ""))
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxSaid {
		return string(r[:maxSaid]) + "…"
	}
	return string(r)
}
