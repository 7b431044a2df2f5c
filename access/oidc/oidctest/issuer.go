// Package oidctest gives tests an issuer of tokens: a server that answers as
// an OpenID Connect provider, and as the back end of a Backstage.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Issuer issues tokens, and tells its keys to whoever asks.
type Issuer struct {
	// URL is the issuer, and the base URL of the back end.
	URL string

	t     testing.TB
	mu    sync.Mutex
	keys  []jose.JSONWebKey // the last one signs
	asked map[string]int
	users map[string][]string
	serve http.HandlerFunc
}

// New starts an issuer with one key of the kind ES256. It ends with the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, asked: map[string]int{}, users: map[string][]string{}}
	i.Rotate("key-1")
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	i.URL = s.URL
	return i
}

// Rotate makes a new key, which signs from now on, beside the earlier ones.
func (i *Issuer) Rotate(id string) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.Add(jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"})
}

// Add adds a private key, which signs from now on.
func (i *Issuer) Add(key jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = append(i.keys, key)
}

// Withdraw forgets all keys but the last.
func (i *Issuer) Withdraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = i.keys[len(i.keys)-1:]
}

// Answer has every request answered by a handler; nil ends that.
func (i *Issuer) Answer(by http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.serve = by
}

// Own has the back end tell what a user owns things as.
func (i *Issuer) Own(user string, as ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.users[user] = as
}

// Asked is how often a path has been asked for.
func (i *Issuer) Asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[path]
}

// ServeHTTP answers as an issuer does.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked[r.URL.Path]++
	serve, keys := i.serve, jose.JSONWebKeySet{}
	for _, k := range i.keys {
		keys.Keys = append(keys.Keys, k.Public())
	}
	i.mu.Unlock()
	switch {
	case serve != nil:
		serve(w, r)
	case r.URL.Path == "/.well-known/openid-configuration":
		i.give(w, map[string]any{"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"}})
	case r.URL.Path == "/keys", strings.HasSuffix(r.URL.Path, "/jwks.json"):
		i.give(w, keys)
	case r.URL.Path == "/api/auth/v1/userinfo":
		i.userinfo(w, r)
	default:
		http.NotFound(w, r)
	}
}

// userinfo answers as Backstage does to the token of a user.
func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	var claims struct {
		Sub string `json:"sub"`
	}
	if len(parts) != 3 || json.Unmarshal(decoded(i.t, parts[1]), &claims) != nil {
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.give(w, map[string]any{"claims": map[string]any{"sub": claims.Sub, "ent": i.users[claims.Sub]}})
}

func (i *Issuer) give(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

// Claims are what a token says.
type Claims = map[string]any

// With are the claims of a token of this issuer for Fairlead that lasts an
// hour, with others added or, where nil, taken out.
func (i *Issuer) With(others Claims) Claims {
	c := Claims{"iss": i.URL, "aud": "fairlead", "sub": "alice", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(c, others)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token signs claims with the newest key; typ is the token's type.
func (i *Issuer) Token(typ string, claims Claims) string {
	i.t.Helper()
	i.mu.Lock()
	key := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	return Sign(i.t, key, key.Algorithm, typ, claims)
}

// Sign signs claims with a key.
func Sign(t testing.TB, key jose.JSONWebKey, algorithm, typ string, claims Claims) string {
	t.Helper()
	opts := (&jose.SignerOptions{}).WithHeader("kid", key.KeyID)
	if typ != "" {
		opts = opts.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: key.Key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// User is the token of a user as Backstage issues it: with what the user owns
// things as, and the proof from which a limited token can be made.
func (i *Issuer) User(sub string, ent []string, others Claims) string {
	i.t.Helper()
	limited := strings.Split(i.Limited(sub), ".")
	c := i.With(Claims{"iss": i.URL + "/api/auth", "aud": "backstage", "sub": sub, "ent": ent, "uip": limited[2]})
	maps.Copy(c, others)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return i.Token("vnd.backstage.user", c)
}

// Limited is the limited token of a user as Backstage makes it of a user's
// token.
func (i *Issuer) Limited(sub string) string {
	i.t.Helper()
	return i.Token("vnd.backstage.limited-user", i.With(Claims{"iss": nil, "aud": nil, "sub": sub}))
}

// Plugin is the token of a back-end plug-in for another one, on behalf of the
// user of a limited token if that is not "".
func (i *Issuer) Plugin(id, target, behalf string) string {
	i.t.Helper()
	c := i.With(Claims{"iss": nil, "aud": target, "sub": id})
	if behalf != "" {
		c["obo"] = behalf
	}
	return i.Token("vnd.backstage.plugin", c)
}

// Key makes a private key for signing out of any kind of key.
func Key(id, algorithm string, key crypto.PrivateKey) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: algorithm, Use: "sig"}
}
