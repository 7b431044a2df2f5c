package loan

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
)

const (
	// maxAnswer bounds in bytes what is read of an issuer's answer.
	maxAnswer = 256 << 10
	// openWithin is how long the issuer is given to answer.
	openWithin = 15 * time.Second
)

// ErrUsed says that a wrapping token has been used already.
var ErrUsed = errors.New("the wrapping token is not valid")

// Opener opens wrappings at their issuer. It uses no proxy, follows no
// redirect, and trusts TLS alone, save on the machine itself.
type Opener struct {
	http     *http.Client
	insecure bool
}

// NewOpener makes an Opener. It trusts the system's certificate authorities
// and those in caFile, if that is not ""; insecure lets it speak plain HTTP with
// other machines. Fault: invalid (caFile).
func NewOpener(caFile string, insecure bool) (*Opener, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fault.New(fault.Invalid, "the file of certificate authorities %s cannot be read", caFile).WithFix("Name a PEM file that you may read.").Because(err)
		}
		if config.RootCAs, err = x509.SystemCertPool(); err != nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Invalid, "%s holds no certificate", caFile).WithFix("Name a PEM file of certificate authorities.")
		}
	}
	return &Opener{insecure: insecure, http: &http.Client{
		Timeout: openWithin,
		Transport: &http.Transport{
			TLSClientConfig: config, DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout: 5 * time.Second, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Open takes a credential out of its wrapping, and wipes the token. It is tried
// once: the token may have been used even where no answer comes. Faults:
// ErrUsed, invalid (where it is opened), unavailable (the issuer).
func (o *Opener) Open(ctx context.Context, l *Loan) (*Credential, error) {
	defer l.Wrap.Token.Wipe()
	at, err := o.check(l.Wrap.UnwrapURL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%q is not where a wrapping can be opened", l.Wrap.UnwrapURL).WithFix("Correct vault.address in the server's configuration.")
	}
	l.Wrap.Token.Reveal(func(token []byte) { req.Header.Set("X-Vault-Token", string(token)) })
	req.Header.Set("X-Vault-Request", "true")
	if l.Wrap.Namespace != "" {
		req.Header.Set("X-Vault-Namespace", l.Wrap.Namespace)
	}
	res, err := o.http.Do(req)
	req.Header.Del("X-Vault-Token")
	if err != nil {
		return nil, unreachable(ctx, at, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	defer func() { clear(body) }()
	switch {
	case err != nil:
		return nil, unreachable(ctx, at, err)
	case len(body) > maxAnswer:
		return nil, fault.New(fault.FailedPrecondition, "the credential of lease %s has more than %d KiB", l.Lease, maxAnswer>>10).WithFix("Lend smaller ones.")
	case res.StatusCode != http.StatusOK:
		return nil, refused(at, res.StatusCode, body)
	}
	return credential(l, body)
}

// check keeps tokens off networks that anybody may listen to.
func (o *Opener) check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.New(fault.Invalid, "%q is not where a wrapping can be opened", address).WithFix("Correct vault.address in the server's configuration.")
	case u.Scheme == "http" && !o.insecure && !loopback(u.Hostname()):
		return nil, fault.New(fault.Invalid, "the credential would come over plain HTTP from %s, where others can read it", u.Host).
			WithFix("Have Vault use TLS, or use --insecure if the network is private.")
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func unreachable(ctx context.Context, at *url.URL, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var unknown x509.UnknownAuthorityError
	f := fault.New(fault.Unavailable, "Vault at %s gives no answer", at.Host).WithFix("Check that this machine reaches it, then try again.")
	if errors.As(err, &unknown) {
		f = fault.New(fault.Unavailable, "the certificate of Vault at %s is of an authority that is not known here", at.Host).
			WithFix("Name a file with the authority's certificate: --vault-ca-file, or FAIRLEAD_VAULT_CA_FILE.")
	}
	return f.Because(err)
}

// refused is why the issuer does not open a wrapping. What else it says is not
// repeated.
func refused(at *url.URL, status int, body []byte) error {
	var answer struct {
		Errors []string `json:"errors"`
	}
	_ = json.NewDecoder(bytes.NewReader(body)).Decode(&answer) // what is no JSON says nothing
	text := strings.Join(answer.Errors, "\n")
	switch {
	case strings.Contains(text, "wrapping token is not valid or does not exist"), status == http.StatusForbidden:
		return ErrUsed
	case status == http.StatusServiceUnavailable && strings.Contains(text, "sealed"):
		return fault.New(fault.Unavailable, "Vault at %s is sealed", at.Host).WithFix("Have it unsealed, then try again.")
	case status/100 == 5 || status == http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "Vault at %s answers with status %d", at.Host, status).WithFix("Try again later.")
	}
	return fault.New(fault.FailedPrecondition, "what answers at %s does not open the wrapping: status %d", at.Host, status).
		WithFix("Check vault.address in the server's configuration, and what stands in front of Vault.")
}
