package vault_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/secrets"
)

// offering is reader's order with another offer.
func offering(o secrets.Offer) secrets.Order {
	order := reader("lease-of-" + o.Name)
	order.Offer = o
	return order
}

func TestKVIsReadAndItsWrappingGoesWithTheAccount(t *testing.T) {
	server, _, v := lender(t)
	server.Must(t, http.MethodPost, "secret/data/checkout/api-key", m{"data": m{"key": "canary-1", "port": 5432, "nested": m{"a": true}}}, nil)
	o := offering(secrets.Offer{Name: "api-key", Engine: secrets.EngineKV, Mount: "secret", Path: "checkout/api-key"})
	_, w := draw(t, v, o)
	got := values(t, v, w)
	if got["key"] != "canary-1" || got["port"] != "5432" || got["nested"] != `{"a":true}` || len(got) != 3 {
		t.Errorf("it gives %v", got)
	}
	a, w := draw(t, v, o)
	if err := v.Revoke(t.Context(), a.Handle); err != nil {
		t.Fatal(err)
	}
	_, err := v.Unwrap(t.Context(), w)
	fails(t, err, fault.FailedPrecondition)
	if there, err := v.Unopened(t.Context(), w.Accessor); err != nil || there {
		t.Errorf("the wrapping is there after the revocation: %v, %v", there, err)
	}
	_, w = draw(t, v, o)
	if err := v.Revoke(t.Context(), w.Accessor); err != nil { // as the room can, after a restart
		t.Fatal(err)
	}
	_, err = v.Unwrap(t.Context(), w)
	fails(t, err, fault.FailedPrecondition)
}

func TestKVOfVersionOne(t *testing.T) {
	server, _, v := lender(t)
	server.Must(t, http.MethodPost, "sys/mounts/old", m{"type": "kv", "options": m{"version": "1"}}, nil)
	server.Must(t, http.MethodPost, "old/checkout/key", m{"key": "canary-2"}, nil)
	server.Policy(t, "fairlead/default/checkout", `path "old/checkout/*" { capabilities = ["read"] }`)
	_, w := draw(t, v, offering(secrets.Offer{Name: "key", Engine: secrets.EngineKV, Mount: "old", Path: "checkout/key", Params: map[string]string{"version": "1"}}))
	if got := values(t, v, w); got["key"] != "canary-2" {
		t.Errorf("it gives %v", got)
	}
}

func TestPKIIssuesACertificateForTheLease(t *testing.T) {
	server, _, v := lender(t)
	server.Must(t, http.MethodPost, "sys/mounts/pki", m{"type": "pki"}, nil)
	server.Must(t, http.MethodPost, "pki/root/generate/internal", m{"common_name": "test", "key_type": "ec", "ttl": "700h"}, nil)
	server.Must(t, http.MethodPost, "pki/roles/service", m{"allowed_domains": "example.com", "allow_subdomains": true, "key_type": "ec", "max_ttl": "5m", "not_before_duration": "1s"}, nil)
	o := offering(secrets.Offer{Name: "client", Engine: secrets.EnginePKI, Mount: "pki", Role: "service",
		Params: map[string]string{"commonName": "checkout.example.com", "altNames": "a.example.com,b.example.com"}})
	o.TTL, o.MaxTTL = 10*time.Minute, time.Hour
	a, w := draw(t, v, o)
	if left := time.Until(w.CredentialExpiresAt); left > 5*time.Minute || left < 290*time.Second {
		t.Errorf("it is said to live for %s, and the role allows five minutes", left)
	}
	block, _ := pem.Decode([]byte(values(t, v, w)["certificate"]))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if late := cert.NotAfter.Sub(a.ExpiresAt); late < -2*time.Second || late > 2*time.Second {
		t.Errorf("the certificate ends %s after the account", late)
	}
	if fmt.Sprint(cert.DNSNames) != "[a.example.com b.example.com checkout.example.com]" {
		t.Errorf("it is for %v", cert.DNSNames)
	}
	before := time.Now()
	at, err := v.Renew(t.Context(), a.Handle, 30*time.Minute)
	if err != nil || at.After(a.ExpiresAt.Add(2*time.Second)) {
		t.Errorf("renewed for %s, %v, and a certificate is not renewed", at.Sub(before), err)
	}
}

func TestGenericEngine(t *testing.T) {
	_, database, v := lender(t)
	_, w := draw(t, v, offering(secrets.Offer{Name: "any", Engine: secrets.EngineGeneric, Mount: "database", Role: "reader"}))
	if !logsIn(t, as(t, database, values(t, v, w))) {
		t.Error("PostgreSQL does not let the user in")
	}
}

// securityTokens answers as the Security Token Service of AWS does, which alone
// stands in for it: Vault's engine is the real one.
func securityTokens(t *testing.T, lasts *string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		if r.FormValue("Action") == "GetCallerIdentity" {
			fmt.Fprint(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
			return
		}
		*lasts = r.FormValue("DurationSeconds")
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/reader/x</Arn><AssumedRoleId>X:x</AssumedRoleId></AssumedRoleUser>
<Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>canary-3</SecretAccessKey><SessionToken>canary-4</SessionToken><Expiration>%s</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>`, time.Now().Add(20*time.Minute).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAWS(t *testing.T) {
	server, _, v := lender(t)
	var lasts string
	sts := securityTokens(t, &lasts)
	server.Must(t, http.MethodPost, "sys/mounts/aws", m{"type": "aws"}, nil)
	server.Must(t, http.MethodPost, "aws/config/root", m{"access_key": "AKIAEXAMPLE", "secret_key": "canary-5", "region": "eu-west-1", "sts_endpoint": sts, "sts_region": "eu-west-1", "iam_endpoint": sts}, nil)
	server.Must(t, http.MethodPost, "aws/roles/reader", m{"credential_type": "assumed_role", "role_arns": "arn:aws:iam::123456789012:role/reader", "max_sts_ttl": "25m"}, nil)
	server.Policy(t, "fairlead/default/checkout", `path "aws/creds/reader" { capabilities = ["read"] }`)
	o := offering(secrets.Offer{Name: "bucket", Engine: secrets.EngineAWS, Mount: "aws", Role: "reader"})
	o.TTL, o.MaxTTL = 40*time.Minute, time.Hour
	a, w := draw(t, v, o)
	got := values(t, v, w)
	if got["access_key"] != "ASIAEXAMPLE" || got["secret_key"] != "canary-3" || got["security_token"] != "canary-4" {
		t.Errorf("it gives %v", got)
	}
	if lasts != "1500" {
		t.Errorf("AWS was asked for %s seconds", lasts)
	}
	if left := time.Until(a.ExpiresAt); left > 25*time.Minute {
		t.Errorf("the account lives for %s, and the role allows 25m", left)
	}
}
