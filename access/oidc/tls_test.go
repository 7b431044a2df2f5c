package oidc_test

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/oidc"
	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

func TestIssuersAreTrustedByTheirCertificates(t *testing.T) {
	i := oidctest.New(t)
	s := httptest.NewTLSServer(i)
	defer s.Close()
	i.URL = s.URL
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	cfg := access.OIDCConfigs{{Issuer: i.URL, Audience: access.Texts{"fairlead"}}}
	quiet := slog.New(slog.DiscardHandler)
	trusting := oidc.New(cfg, oidc.Options{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, Logger: quiet})
	if p, err := trusting.Verify(t.Context(), i.Token("JWT", i.With(nil))); err != nil || p.Subject != "alice" {
		t.Errorf("%+v, %v", p, err)
	}
	wary := oidc.New(cfg, oidc.Options{Logger: quiet})
	if p, err := wary.Verify(t.Context(), i.Token("JWT", i.With(nil))); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%+v, %v", p, err)
	}
}

func BenchmarkVerify(b *testing.B) {
	i := oidctest.New(b)
	v := oidc.New(access.OIDCConfigs{{Issuer: i.URL, Audience: access.Texts{"fairlead"}}}, oidc.Options{Logger: slog.New(slog.DiscardHandler)})
	token := i.Token("JWT", i.With(oidctest.Claims{"groups": []string{"payments", "search"}}))
	for b.Loop() {
		if _, err := v.Verify(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
