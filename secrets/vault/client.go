package vault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/vault/api"
)

// maxAnswer bounds an answer, and maxList that of a list, of which the largest
// is of all tokens.
const (
	maxAnswer = 4 << 20
	maxList   = 64 << 20
)

// newClient makes the library's client of the configuration alone. The library
// reads VAULT_… from the environment where it makes a client, whatever it is
// given, and fails by what it finds wrong there; so these are taken out of this
// process, for whose children a token of Vault is nothing either.
func newClient(c Config) (*api.Client, error) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "VAULT_") {
			if err := os.Unsetenv(name); err != nil {
				return nil, err
			}
		}
	}
	transport, err := transportOf(c)
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(&api.Config{
		Address: c.Address, Timeout: c.Timeout,
		// Nothing is tried again here: whoever issued twice would have lent
		// twice, and the room knows what to repeat.
		MaxRetries: 0,
		HttpClient: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	})
	if err != nil {
		return nil, err
	}
	client.SetWrappingLookupFunc(func(string, string) string { return "" }) // else the environment is asked
	if c.Namespace != "" {
		client.SetNamespace(c.Namespace)
	}
	return client, nil
}

// transportOf trusts and shows the certificates of the configuration.
func transportOf(c Config) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 16
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.ServerName}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("vault.caFile: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("vault.caFile: there is no certificate in %s", c.CAFile)
		}
	}
	if c.CertificateFile != "" {
		t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.CertificateFile, c.KeyFile)
			return &pair, err
		}
	}
	return bounded{t}, nil
}

// bounded ends answers that are too long.
type bounded struct{ next http.RoundTripper }

// RoundTrip does as http.RoundTripper says.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	most := int64(maxAnswer)
	if r.URL.Query().Get("list") == "true" {
		most = maxList
	}
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, most)
	}
	return resp, err
}

// call is one request to Vault.
type call struct {
	method string // http.MethodGet, http.MethodPut or methodList
	path   string // relative to /v1/
	token  string // whose; "" for a login
	query  url.Values
	body   map[string]any
	wrap   time.Duration // 0 for not at all
}

const methodList = "LIST"

// do sends a call. The answer may be nil, of none; a status that is no success
// is an *api.ResponseError.
func (v *Vault) do(ctx context.Context, c call) (*api.Secret, error) {
	client := v.client.WithRequestCallbacks(func(r *api.Request) {
		r.ClientToken = c.token
		if c.wrap > 0 {
			r.WrapTTL = seconds(c.wrap)
		}
	}).Logical()
	switch c.method {
	case http.MethodGet:
		secret, err := client.ReadWithDataWithContext(ctx, c.path, c.query)
		if secret == nil && err == nil {
			err = &api.ResponseError{HTTPMethod: c.method, StatusCode: http.StatusNotFound}
		}
		return secret, err
	case methodList:
		return client.ListWithContext(ctx, c.path)
	case http.MethodPut:
		return client.WriteWithContext(ctx, c.path, c.body)
	}
	return nil, errors.New("no such method: " + c.method)
}

// readSecret reads a file that holds one token. Errors say where it should be
// and nothing of what is there.
func readSecret(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the file %s cannot be read", file)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+1))
	token := strings.TrimSpace(string(text))
	switch {
	case err != nil || len(text) > maxToken:
		return "", fmt.Errorf("the file %s cannot be read", file)
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", fmt.Errorf("the file %s does not hold one token alone", file)
	}
	return token, nil
}

// maxToken is the size in bytes of the largest token.
const maxToken = 64 << 10
