package oidc

import (
	"encoding/base64"
	"testing"
	"time"
)

// FuzzToken takes apart what strangers send: it must not fail but by a fault,
// and read no time that arithmetic cannot hold.
func FuzzToken(f *testing.F) {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	f.Add(part(`{"alg":"ES256","kid":"1","typ":"vnd.backstage.user"}`)+"."+part(`{"iss":"x","exp":1e300,"aud":["a",1],"act":{"sub":"b"}}`)+".AA", "act.sub")
	f.Add("..", ".")
	f.Add(part("null")+"."+part("null")+".", "")
	f.Fuzz(func(t *testing.T, raw, path string) {
		tok, err := peek(raw)
		if (err == nil) == (tok == nil) {
			t.Fatalf("token %v, error %v", tok, err)
		}
		if err != nil {
			return
		}
		now := time.Now()
		_ = tok.claims.timely(now, time.Minute)
		_ = tok.claims.forOneOf([]string{"fairlead"})
		_, _ = tok.claims.at(path)
		if exp := tok.claims.time("exp"); exp.Sub(now) < -100*365*24*time.Hour && !exp.IsZero() {
			t.Errorf("exp is %s", exp)
		}
	})
}

// FuzzKeys reads sets of keys: what it lets through must be usable.
func FuzzKeys(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AA"},{"kty":"OKP","crv":"Ed25519","x":"AA"},null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := parseKeys(data)
		if (err == nil) != (len(set) > 0) {
			t.Fatalf("%d keys, error %v", len(set), err)
		}
		for _, k := range set {
			if !k.IsPublic() || !fits(k.Key, "RS256") && !fits(k.Key, "ES256") && !fits(k.Key, "EdDSA") {
				t.Errorf("%T was taken", k.Key)
			}
		}
	})
}
