package access

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
)

const mask = "[secret]"

// Secret holds a value that must not be printed, marshalled or logged: each
// of these gives a mask. Only Reveal gives the value.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal gives the value, for the one place that needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero tells whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

// String gives the mask.
func (Secret) String() string { return mask }

// GoString gives the mask.
func (Secret) GoString() string { return mask }

// Format writes the mask whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) } // a formatter has nobody to tell

// MarshalJSON gives the mask.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// MarshalText gives the mask.
func (Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalYAML gives the mask.
func (Secret) MarshalYAML() (any, error) { return mask, nil }

// LogValue gives the mask.
func (Secret) LogValue() slog.Value { return slog.StringValue(mask) }

// tokenPrefix lets scanners find a Fairlead token that has leaked.
const tokenPrefix = "fairlead_"

// NewToken makes a static token: 256 random bits behind a prefix that secret
// scanners can look for.
func NewToken() Secret {
	var b [32]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return Secret{value: tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])}
}
