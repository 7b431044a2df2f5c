package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

// errAnswer is an answer that is not what was asked for, as one that is none of
// Vault's is.
var errAnswer = errors.New("the answer is not what was asked for")

// strange tells that there is an answer, and that nobody understands it.
func strange(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.Is(err, errAnswer) || errors.As(err, &syntax) || errors.As(err, &kind)
}

// statusOf is the status that Vault refused by; 0 where it did not answer.
func statusOf(err error) int {
	var refusal *api.ResponseError
	if errors.As(err, &refusal) {
		return refusal.StatusCode
	}
	return 0
}

// says tells whether Vault's refusal contains a text. Its texts are compared and
// go no further: what an engine reports may hold what it connects with.
func says(err error, texts ...string) bool {
	var refusal *api.ResponseError
	return errors.As(err, &refusal) && slices.ContainsFunc(refusal.Errors, func(e string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(e, t) })
	})
}

// gone tells that a token is not there, or not any more.
func gone(err error) bool {
	return statusOf(err) == http.StatusNotFound || says(err, "invalid accessor", "token not found", "failed to lookup the token", "bad token")
}

// cause is what logs may know of an error: of Vault's answers the status,
// 0 where that was a success, and of all else the text, which is of the network.
func cause(c call, err error) error {
	if status := statusOf(err); status != 0 || strange(err) {
		return fmt.Errorf("vault: %s %s: status %d", c.method, c.path, status)
	}
	return fmt.Errorf("vault: %s %s: %w", c.method, c.path, err)
}

// explain is the fault of a call that failed, where nothing more is known of
// what it was for.
func (v *Vault) explain(c call, err error) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	status := statusOf(err)
	switch {
	case strange(err):
		f = fault.New(fault.Unavailable, "what answers at %s is not understood as Vault", v.config.Address).
			WithFix("See that vault.address is Vault's own, and that nothing between answers in its place.").After(retryAfter)
	case status == 0:
		f = fault.New(fault.Unavailable, "Vault at %s does not answer", v.config.Address).
			WithFix("See that Vault runs and can be reached, and that its certificate is trusted; then try again.").After(retryAfter)
	case status == http.StatusServiceUnavailable && says(err, "sealed"):
		f = fault.New(fault.Unavailable, "Vault at %s is sealed", v.config.Address).
			WithFix("Unseal it (vault operator unseal); then try again.").After(retryAfter)
	case status == http.StatusNotImplemented:
		f = fault.New(fault.Unavailable, "Vault at %s is not initialized", v.config.Address).WithFix("Initialize it (vault operator init).")
	case status == http.StatusTooManyRequests:
		f = fault.New(fault.Unavailable, "Vault at %s takes no more requests for now", v.config.Address).
			WithFix("Try again later, or raise its quotas.").After(retryAfter)
	case status >= http.StatusInternalServerError, status == http.StatusPreconditionFailed:
		f = fault.New(fault.Unavailable, "Vault at %s failed at %s", v.config.Address, c.path).
			WithFix("Vault's own log says why; then try again.").After(retryAfter)
	case status == http.StatusForbidden:
		f = fault.New(fault.FailedPrecondition, "Vault does not let Fairlead use %s", c.path).WithFix("Add to the policy of Fairlead's own token: %s", grant(c))
	case status == http.StatusNotFound:
		f = fault.New(fault.FailedPrecondition, "Vault has nothing at %s", c.path).WithFix("Enable what is to be there, or correct the configuration.")
	default:
		f = fault.New(fault.FailedPrecondition, "Vault refuses %s", c.path).WithFix("Vault's audit says what was asked and why it was refused.")
	}
	return f.Because(cause(c, err))
}

const retryAfter = 5 * time.Second

// grant is the rule of a policy that allows a call.
func grant(c call) string {
	capabilities := map[string]string{http.MethodGet: `"read"`, http.MethodPut: `"update"`, methodList: `"list", "sudo"`}[c.method]
	return fmt.Sprintf(`path "%s" { capabilities = [%s] }`, c.path, capabilities)
}
