package oidc_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/access/oidc/oidctest"
)

const plain = "oidc: {issuer: ISSUER, audience: fairlead, name: idp}"

const alice = "user:default/alice  idp [] []"

func starts(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

func TestKeysThatChange(t *testing.T) {
	i := oidctest.New(t)
	l := newLock(t, i, plain)
	old := i.Token("JWT", i.With(nil))
	starts(t, "at first", l.who(t, old), alice)
	i.Rotate("key-2")
	starts(t, "a new key, at once", l.who(t, i.Token("JWT", i.With(nil))), "unauthenticated: the token is signed with a key that "+i.URL+` does not have: unknown key "key-2"`)
	l.clock.pass(11 * time.Second)
	starts(t, "a new key, a little later", l.who(t, i.Token("JWT", i.With(nil))), alice)
	i.Withdraw()
	l.clock.pass(11 * time.Minute)
	starts(t, "a withdrawn key, before it is known", l.who(t, old), alice)
	for l.verifier.Status()[0].Keys != 1 { // fetched in the background
		runtime.Gosched()
	}
	l.clock.pass(2 * time.Minute)
	starts(t, "a withdrawn key", l.who(t, old), "unauthenticated: the token is signed with a key")
}

func TestMadeUpKeysCostTheIssuerNothing(t *testing.T) {
	i := oidctest.New(t)
	l := newLock(t, i, plain)
	good := i.Token("JWT", i.With(nil))
	starts(t, "at first", l.who(t, good), alice)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	l.clock.pass(time.Minute)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := range 100 {
				l.who(t, oidctest.Sign(t, oidctest.Key(fmt.Sprintf("made-up-%d-%d", g, n), "ES256", key), "ES256", "JWT", i.With(nil)))
			}
		})
	}
	wg.Wait()
	if n := i.Asked("/keys"); n > 2 {
		t.Errorf("the keys were fetched %d times", n)
	}
	starts(t, "all the while", l.who(t, good), alice)
}

func TestAnIssuerThatIsDown(t *testing.T) {
	i := oidctest.New(t)
	i.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary", http.StatusBadGateway) })
	other := oidctest.New(t)
	l := newLock(t, i, `
tokens: [{name: ci, tokenEnv: CI, subject: ci}]
oidc: [{issuer: ISSUER, audience: fairlead, name: idp}, {issuer: "`+other.URL+`", audience: fairlead, name: idp}]
`)
	l.verifier.Warm(t.Context())
	if s := l.verifier.Status(); s[0].Trouble != "its keys cannot be fetched" || s[1].Trouble != "" || s[1].Keys != 1 {
		t.Errorf("status %+v", s)
	}
	token := i.Token("JWT", i.With(nil))
	starts(t, "its own", l.who(t, token), "unavailable: the token cannot be checked now: the keys of "+i.URL+" could not be fetched")
	starts(t, "another issuer's", l.who(t, other.Token("JWT", other.With(nil))), alice)
	starts(t, "a static token", l.who(t, "a-static-token-0123456789"), "user:default/ci  ci")
	if n := i.Asked("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("asked %d times", n)
	}
	i.Answer(nil)
	l.clock.pass(11 * time.Second)
	starts(t, "up again", l.who(t, token), alice)
	i.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	l.clock.pass(30 * time.Minute)
	starts(t, "down again, with the keys that are known", l.who(t, i.Token("JWT", i.With(oidctest.Claims{"n": 1}))), alice)
	l.clock.pass(24 * time.Hour)
	starts(t, "down for a day", l.who(t, i.Token("JWT", i.With(oidctest.Claims{"exp": time.Now().Add(1e6 * time.Second).Unix()}))), "unavailable: ")
}

// endless gives one byte for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestHostileIssuers(t *testing.T) {
	elsewhere := oidctest.New(t)
	discovery := func(keys string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"issuer": "http://%s", "jwks_uri": %q}`, r.Host, keys)
		}
	}
	huge := fmt.Sprintf(`{"keys":[{"kty":"RSA","kid":"key-1","e":"AQAB","n":%q}]}`, base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 200_000)))
	for name, serve := range map[string]http.HandlerFunc{
		"ten megabytes": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, io.LimitReader(endless{}, 10<<20)) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		},
		"garbage":      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x00\xff{")) },
		"deep nesting": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("["), 400_000)) },
		"nothing":      func(http.ResponseWriter, *http.Request) {},
		"not modified": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
		"another issuer's": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, elsewhere.URL, elsewhere.URL+"/keys")
		},
		"keys elsewhere in clear": discovery(elsewhere.URL + "/keys"),
		"keys in a file":          discovery("file:///etc/passwd"),
		"no keys":                 discovery(""),
		"no set of keys":          keysOf(`{"keys":null}`),
		"an empty set":            keysOf(`{"keys":[]}`),
		"secret keys":             keysOf(`{"keys":[{"kty":"oct","kid":"key-1","alg":"HS256","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"}]}`),
		"keys of no kind":         keysOf(`{"keys":[{"kty":"moon"},5,null,"x",{}]}`),
		"a huge key":              keysOf(huge),
		"a short key":             keysOf(`{"keys":[{"kty":"RSA","kid":"key-1","e":"AQAB","n":"` + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 64)) + `"}]}`),
		"a point off the curve":   keysOf(`{"keys":[{"kty":"EC","crv":"P-256","kid":"key-1","x":"AQ","y":"AQ"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			i := oidctest.New(t)
			i.Answer(serve)
			l := newLock(t, i, plain)
			starts(t, "its tokens", l.who(t, i.Token("JWT", i.With(nil))), "unavailable: the token cannot be checked now")
		})
	}
	if n := elsewhere.Asked("/keys") + elsewhere.Asked("/.well-known/openid-configuration"); n != 0 {
		t.Errorf("elsewhere was asked %d times", n)
	}
}

// keysOf answers with a set of keys, found by discovery.
func keysOf(set string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_, _ = io.WriteString(w, set)
			return
		}
		fmt.Fprintf(w, `{"issuer": "http://%s", "jwks_uri": "http://%[1]s/keys"}`, r.Host)
	}
}

func TestASlowIssuerDelaysNobodyElse(t *testing.T) {
	i, other := oidctest.New(t), oidctest.New(t)
	asked, release := make(chan struct{}, 10), make(chan struct{})
	i.Answer(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		for n := 0; ; n++ { // a byte now and then
			select {
			case <-release:
				return
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond):
				_, _ = w.Write([]byte(" "))
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	l := newLock(t, i, "oidc: [{issuer: ISSUER, audience: fairlead, name: idp}, {issuer: \""+other.URL+"\", audience: fairlead, name: idp}]")
	answer := make(chan string, 1)
	go func() { answer <- l.who(t, i.Token("JWT", i.With(nil))) }()
	<-asked
	starts(t, "another issuer's", l.who(t, other.Token("JWT", other.With(nil))), alice)
	starts(t, "in the end", <-answer, "unavailable: ") // bounded by the fetch's own time
	close(release)
}

func TestAlgorithms(t *testing.T) {
	i := oidctest.New(t)
	secret := []byte("secret-secret-secret-secret-secret")
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ps := oidctest.Key("rsa-any", "", rsaKey)
	i.Add(ps)
	i.Add(oidctest.Key("rsa", "RS256", rsaKey))
	i.Add(oidctest.Key("ed", "EdDSA", edKey))
	i.Add(oidctest.Key("p384", "ES384", p384))
	l := newLock(t, i, plain)
	claims := i.With(nil)
	for _, alg := range []string{"RS256", "PS512"} {
		starts(t, alg, l.who(t, oidctest.Sign(t, ps, alg, "", claims)), alice)
	}
	starts(t, "EdDSA", l.who(t, oidctest.Sign(t, oidctest.Key("ed", "EdDSA", edKey), "EdDSA", "", claims)), alice)
	starts(t, "ES384", l.who(t, oidctest.Sign(t, oidctest.Key("p384", "ES384", p384), "ES384", "", claims)), alice)
	starts(t, "no key named", l.who(t, oidctest.Sign(t, oidctest.Key("", "ES384", p384), "ES384", "", claims)), alice)
	starts(t, "an algorithm that the key is not for", l.who(t, oidctest.Sign(t, oidctest.Key("rsa", "RS256", rsaKey), "RS512", "", claims)), "unauthenticated: the token is signed with a key")
	starts(t, "HS256", l.who(t, oidctest.Sign(t, jose.JSONWebKey{Key: secret, KeyID: "key-1"}, "HS256", "", claims)), `unauthenticated: the token is signed with "HS256", which is not taken`)
	parts := strings.Split(i.Token("", claims), ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	starts(t, "none", l.who(t, none), `unauthenticated: the token is signed with "none", which is not taken`)
	starts(t, "the signature of another", l.who(t, parts[0]+"."+strings.Split(i.Token("", i.With(oidctest.Claims{"sub": "root"})), ".")[1]+"."+parts[2]), "unauthenticated: the token's signature does not hold")
	starts(t, "no signature", l.who(t, parts[0]+"."+parts[1]+"."), "unauthenticated: the token's signature does not hold")
	starts(t, "half a token", l.who(t, parts[0]+"."+parts[1][:9]+"."), "unauthenticated: the bearer token is neither")
	starts(t, "a huge token", l.who(t, i.Token("", i.With(oidctest.Claims{"x": strings.Repeat("x", 40_000)}))), "unauthenticated: the bearer token has 53")
	starts(t, "another type", l.who(t, i.Token("logout+jwt", claims)), `unauthenticated: the token is of the type "logout+jwt"`)
	few := newLock(t, i, "oidc: {issuer: ISSUER, audience: fairlead, algorithms: [RS256], jwks: ISSUER/keys}")
	starts(t, "not on the list", few.who(t, i.Token("", claims)), `unauthenticated: the token is signed with "ES384", which is not taken`)
	starts(t, "on the list", few.who(t, oidctest.Sign(t, ps, "RS256", "", claims)), "user:default/alice")
}
