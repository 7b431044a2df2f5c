package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/internal/fault"
	"github.com/fairlead-dev/fairlead/internal/fault/beside"
)

// How keys are kept.
const (
	pause    = 10 * time.Second // between two fetches, whatever tokens name
	freshFor = 10 * time.Minute // then they are fetched again, in the background
	goodFor  = 24 * time.Hour   // then they are trusted no more, if no fetch succeeds
	maxTried = 16               // keys that are tried for a token that names none
)

// keys are the keys of an issuer.
type keys struct {
	name  string
	fetch func(context.Context) ([]jose.JSONWebKey, error)
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	set     []jose.JSONWebKey
	fetched time.Time     // when set was
	tried   time.Time     // when a fetch last began
	failure error         // of the last fetch
	flight  chan struct{} // closed when the fetch that is under way has ended
}

func newKeys(name string, opts Options, fetch func(context.Context) ([]jose.JSONWebKey, error)) *keys {
	return &keys{name: name, fetch: fetch, now: opts.Now, log: opts.Logger}
}

// find gives the keys that may have signed a token.
func (k *keys) find(ctx context.Context, h header) ([]crypto.PublicKey, error) {
	found, old := k.held(h)
	if len(found) > 0 {
		if old {
			k.begin(ctx)
		}
		return found, nil
	}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if found, _ = k.held(h); len(found) > 0 {
		return found, nil
	}
	return nil, fault.New(fault.Unauthenticated, "the token is signed with a key that %s does not have: unknown key %s", k.name, quoted(h.Key)).
		WithFix("Get a new token; right after the issuer's keys have changed, try again in %s.", pause)
}

// knows tells whether a token's key is there already.
func (k *keys) knows(h header) bool {
	found, _ := k.held(h)
	return len(found) > 0 && h.Key != ""
}

// held gives the matching keys of those that are there, and whether it is time
// to fetch them again.
func (k *keys) held(h header) (found []crypto.PublicKey, old bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	age := k.now().Sub(k.fetched)
	if age > goodFor {
		return nil, true
	}
	for _, key := range k.set {
		if (h.Key == "" || key.KeyID == h.Key) && (key.Algorithm == "" || key.Algorithm == h.Algorithm) && fits(key.Key, h.Algorithm) {
			found = append(found, key.Key)
		}
	}
	return found[:min(len(found), maxTried)], age > freshFor
}

// fits tells whether a key is of the kind that an algorithm needs.
func fits(key any, algorithm string) bool {
	switch key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	default:
		return false
	}
}

// refresh fetches the keys, or waits for the fetch that is under way. Soon
// after the last one it does neither, so that tokens with made-up keys cost
// the issuer nothing.
func (k *keys) refresh(ctx context.Context) error {
	if flight := k.begin(ctx); flight != nil {
		select {
		case <-flight:
		case <-ctx.Done():
			return fault.From(ctx.Err())
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failure == nil {
		return nil
	}
	return fault.New(fault.Unavailable, "the token cannot be checked now: the keys of %s could not be fetched", k.name).
		WithFix("Try again; if it stays, tell the operators, who see the reason in the server's log.").Because(k.failure).After(pause)
}

// begin starts a fetch unless it is too early, and gives what ends with it.
func (k *keys) begin(ctx context.Context) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.flight != nil || !k.tried.IsZero() && now.Sub(k.tried) < pause {
		return k.flight
	}
	k.tried, k.flight = now, make(chan struct{})
	later, flight := context.WithoutCancel(ctx), k.flight // whoever asked may hang up: others wait, too
	beside.Go(later, k.log, "fetching the keys of "+k.name, func() { k.update(later, flight) })
	return k.flight
}

func (k *keys) update(ctx context.Context, flight chan struct{}) {
	defer close(flight)
	ctx, cancel := context.WithTimeout(ctx, 2*fetchFor)
	defer cancel()
	set, err := k.ask(ctx)
	if err != nil {
		if panicked := new(fault.Panic); !errors.As(err, &panicked) { // else the stack is wanted
			err = errors.New(clipped(err.Error()))
		}
		k.log.WarnContext(ctx, "keys could not be fetched", "issuer", k.name, "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flight, k.failure = nil, err
	if err == nil {
		k.set, k.fetched = set, k.now()
	}
}

// ask fetches the keys. What panics, as of what an issuer says, is an error like
// others.
func (k *keys) ask(ctx context.Context) (set []jose.JSONWebKey, err error) {
	defer fault.Catch(&err, "fetching the keys of %s", k.name)
	return k.fetch(ctx)
}

func clipped(s string) string {
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "") + "…"
	}
	return s
}

// status tells how it stands with the keys.
func (k *keys) status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := Status{Name: k.name, Keys: len(k.set)}
	if k.failure != nil {
		s.Trouble = "its keys cannot be fetched"
		if !k.fetched.IsZero() {
			s.Trouble += fmt.Sprintf(" since %s", k.fetched.UTC().Format(time.RFC3339))
		}
	}
	return s
}

// fetchKeys reads a set of keys (RFC 7517).
func fetchKeys(ctx context.Context, client *http.Client, url string) ([]jose.JSONWebKey, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, application/jwk-set+json")
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return parseKeys(data)
}

// parseKeys gives the keys of a set that can verify signatures; others, which
// a set may hold, are left out.
func parseKeys(data []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil || set.Keys == nil {
		return nil, errors.New("the answer is no set of keys")
	}
	var out []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && usable(&key) {
			out = append(out, key)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("none of the %d keys can verify signatures", len(set.Keys))
	}
	return slices.Clip(out), nil
}

// Bounds of the modulus of an RSA key, in bits: shorter ones can be broken,
// longer ones only cost time.
const minRSA, maxRSA = 2048, 8192

func usable(key *jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	if k, ok := key.Key.(*rsa.PublicKey); ok {
		return k.N.BitLen() >= minRSA && k.N.BitLen() <= maxRSA
	}
	return true
}
