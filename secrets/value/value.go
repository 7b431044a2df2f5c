// Package value holds the values of credentials: what nobody prints, marshals
// or logs, and what is forgotten as soon as it has been used.
package value

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const mask = "•••"

// errHidden is what refuses to write a value down.
var errHidden = errors.New("a credential's value is never written down")

// Value is a secret in memory. It prints as •••, and refuses to become JSON,
// text or YAML, so that a mistake is an error and not a leak. Only Reveal gives
// what is in it. The zero Value holds nothing. Copies hold the same secret; it
// is wiped by one goroutine while no other looks into it.
type Value struct {
	// held gives where the secret is. It is a function because fmt follows
	// pointers in fields that are not exported, whatever the methods of what
	// they are in, and nothing follows a function.
	held func() *[]byte
}

// New takes over a secret: the caller no longer writes to b.
func New(b []byte) Value {
	if len(b) == 0 {
		return Value{}
	}
	return Value{func() *[]byte { return &b }}
}

// IsZero tells whether there is nothing in it, or nothing any more.
func (v Value) IsZero() bool { return v.held == nil || len(*v.held()) == 0 }

// Reveal lends the secret to do, which does not keep it.
func (v Value) Reveal(do func(secret []byte)) {
	if v.held != nil {
		do(*v.held())
	}
}

// Wipe forgets the secret, in all copies of the Value.
func (v Value) Wipe() {
	if v.held != nil {
		clear(*v.held())
		*v.held() = nil
	}
}

// String gives the mask.
func (Value) String() string { return mask }

// GoString gives the mask.
func (Value) GoString() string { return mask }

// Format writes the mask whatever the verb.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) } // a formatter has nobody to tell

// LogValue gives the mask.
func (Value) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalJSON refuses.
func (Value) MarshalJSON() ([]byte, error) { return nil, errHidden }

// MarshalText refuses.
func (Value) MarshalText() ([]byte, error) { return nil, errHidden }

// MarshalBinary refuses.
func (Value) MarshalBinary() ([]byte, error) { return nil, errHidden }

// GobEncode refuses.
func (Value) GobEncode() ([]byte, error) { return nil, errHidden }

// MarshalYAML refuses.
func (Value) MarshalYAML() (any, error) { return nil, errHidden }
