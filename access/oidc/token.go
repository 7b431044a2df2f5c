package oidc

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/internal/fault"
)

// maxToken is the largest token that is looked at, in bytes: as much as
// Backstage issues.
const maxToken = 32 << 10

// token is a signed token (a JWT) that has been taken apart and believed in
// nothing yet.
type token struct {
	raw    string
	header header
	claims claims
}

type header struct {
	Algorithm string `json:"alg"`
	Key       string `json:"kid"`
	Type      string `json:"typ"`
}

// claims are what a token says.
type claims map[string]any

// peek takes a token apart without believing it.
func peek(raw string) (*token, error) {
	if len(raw) > maxToken {
		return nil, fault.New(fault.Unauthenticated, "the bearer token has %d bytes, more than %d", len(raw), maxToken).
			WithFix("Have the issuer put less into it.")
	}
	t := &token{raw: raw}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 || !decode(parts[0], &t.header) || !decode(parts[1], &t.claims) || t.claims == nil {
		return nil, fault.New(fault.Unauthenticated, "the bearer token is neither one that this server knows nor a signed token (JWT)").
			WithFix("Check that it is complete.")
	}
	return t, nil
}

func decode(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(text, into) == nil
}

// signedAsAllowed refuses algorithms that are not on the list.
func (t *token) signedAsAllowed(allowed []string) error {
	if slices.Contains(allowed, t.header.Algorithm) {
		return nil
	}
	return fault.New(fault.Unauthenticated, "the token is signed with %s, which is not taken", quoted(t.header.Algorithm)).
		WithFix("Have its issuer sign with one of %s.", strings.Join(allowed, ", "))
}

// timely refuses a token before and after its time.
func (c claims) timely(now time.Time, skew time.Duration) error {
	expires, begins := c.time("exp"), c.time("nbf")
	from, dated := c["nbf"]
	switch {
	case dated && begins.IsZero() && from != float64(0):
		return fault.New(fault.Unauthenticated, "the token's claim nbf is no time").WithFix("Have its issuer write it in seconds since 1970.")
	case expires.IsZero():
		return fault.New(fault.Unauthenticated, "the token does not say when it expires").WithFix("Have its issuer write the claim exp.")
	case !now.Add(-skew).Before(expires):
		return fault.New(fault.Unauthenticated, "the token expired %s ago, at %s", now.Sub(expires).Round(time.Second), expires.Format(time.RFC3339)).
			WithFix("Get a new one: sign in again or refresh it.")
	case now.Add(skew).Before(begins):
		return fault.New(fault.Unauthenticated, "the token holds from %s on only, in %s", begins.Format(time.RFC3339), begins.Sub(now).Round(time.Second)).
			WithFix("Wait, or have the clocks of the issuer and of this server set.")
	default:
		return nil
	}
}

// maxTime is the last second that a token may name; it keeps arithmetic with
// what strangers write within bounds.
const maxTime = 1 << 40

// time reads a claim that is a number of seconds; the zero time if it is none.
func (c claims) time(name string) time.Time {
	n, ok := c[name].(float64)
	if !ok || n <= 0 || n > maxTime {
		return time.Time{}
	}
	return time.Unix(int64(n), 0).UTC()
}

// texts reads a claim that is a text or a list of texts.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	default:
		return nil
	}
}

// at finds a claim by its name, or by a path of names with dots between. begun
// tells whether there is at least the first part of the path.
func (c claims) at(path string) (value any, begun bool) {
	if v, ok := c[path]; ok {
		return v, true
	}
	first, rest, dotted := strings.Cut(path, ".")
	v, ok := c[first]
	if !ok || !dotted {
		return nil, ok
	}
	inner, _ := v.(map[string]any)
	value, _ = claims(inner).at(rest)
	return value, true
}

// forOneOf refuses a token that is for none of some audiences.
func (c claims) forOneOf(audiences []string) error {
	given := texts(c["aud"])
	if slices.ContainsFunc(given, func(a string) bool { return slices.Contains(audiences, a) }) {
		return nil
	}
	f := fault.New(fault.Unauthenticated, "the token is for the wrong audience %s", quoted(strings.Join(given, " ")))
	if len(given) == 0 {
		f = fault.New(fault.Unauthenticated, "the token names no audience")
	}
	return f.WithFix("Ask the issuer for a token for %s.", quoted(audiences[0]))
}

// quoted shows a text of a stranger's, shortened.
func quoted(s string) string {
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return strconv.Quote(s)
}

// credentialName is what a token is called where the configuration does not
// say.
func credentialName(name, kind, host string) string {
	if name != "" {
		return name
	}
	return kind + ":" + host
}

var _ access.Verifier = (*Verifier)(nil)
